"""Sessions of the page: who has typed a key once shows it by a cookie until the browser is closed.

The cookie is out of scripts' reach, goes to this service alone and never comes from another site's page
(SameSite=Strict); what changes something is taken from this site's own pages only (`guard.origins`), so that forms need
no token of their own. A revoked key ends its sessions at once.
"""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie
from typing import Final

from fastapi import Request, Response
from starlette.types import Scope

from auscult.service.access.gate import Gate
from auscult.service.caller import NOBODY, Caller
from auscult.service.guard.refusing import address_of, too_many

_PLAIN: Final = "auscult_session"
_SECURE: Final = "__Host-auscult_session"
_LONGEST: Final = 4_000


async def sign_in(request: Request, shown: str, response: Response) -> bool:
    """Keep a session in a response, where a key or a token is good; whether it is.

    Whether or not, the request goes into the audit log as "login".

    Raises:
        Refusal: What was shown from here was wrong too often.
    """
    gate: Gate = request.app.state.gate
    shown = shown.strip()
    caller: Caller = await gate.caller(shown) if len(shown) <= _LONGEST else NOBODY
    request.state.audit = {"action": "login", "result": int(caller != NOBODY)}
    if caller == NOBODY:
        wait = gate.failures.take(address_of(request.scope))
        if wait:
            raise too_many(wait)
        return False
    request.state.caller = caller
    secure = _is_secure(request.scope)
    response.set_cookie(_SECURE if secure else _PLAIN, shown, httponly=True, samesite="strict", secure=secure, path="/")
    return True


def sign_out(request: Request, response: Response) -> None:
    """End the session of whoever gets a response."""
    request.state.audit = {"action": "logout"}
    secure = _is_secure(request.scope)
    name = _SECURE if secure else _PLAIN
    response.delete_cookie(name, httponly=True, samesite="strict", secure=secure, path="/")


def shown_by_cookie(scope: Scope, cookies: str) -> str:
    """The key or token of a session; empty where there is none."""
    try:
        found = SimpleCookie(cookies).get(_SECURE if _is_secure(scope) else _PLAIN)
    except CookieError:
        return ""
    return found.value if found is not None else ""


def _is_secure(scope: Scope) -> bool:
    return str(scope.get("scheme", "http")) == "https"
