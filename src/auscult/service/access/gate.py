"""The caller of a request: found by a key or a token in its header, or by the cookie of a session.

A session begins when somebody types a key on the page, and ends when the browser is closed. Its cookie is out of
scripts' reach, goes to this service alone and never comes from another site's page (SameSite=Strict). Requests that
change something are taken from this site's own pages only (`guard.browsers`), so that forms need no token of their own.
A revoked key ends its sessions at once.
"""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie
from typing import Final

import anyio.to_thread
from fastapi import Request, Response
from starlette.datastructures import Headers
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from auscult.errors import ConfigError
from auscult.service.access.keys import PREFIX, KeyFile
from auscult.service.access.tokens import Claims, Tokens
from auscult.service.caller import ANYONE, NOBODY, PROBES, Caller, address_of, is_probe, no_key
from auscult.service.errors import refuse, too_many
from auscult.service.guard.fairness import Buckets
from auscult.service.settings import Settings


def check_binding(settings: Settings) -> None:
    """Refuse a TLS certificate or key that cannot be read; `Settings` has refused what would serve strangers.

    Raises:
        ConfigError: A file is missing, or is no PEM file.
    """
    access = settings.access
    for what, path in (("certificate", access.certificate), ("certificate's key", access.certificate_key)):
        if path is None:
            continue
        try:
            content = path.read_bytes()
        except OSError as error:
            raise ConfigError(f"a TLS {what} at {path}", str(error.strerror), "correct the path") from error
        if b"-----BEGIN " not in content:
            raise ConfigError(f"a TLS {what} at {path}", "no PEM file", "convert it to PEM")


_SCHEME: Final = "bearer "
_FAILURES_PER_MINUTE: Final = 60


class Gate:
    """Knows everybody who may ask.

    Attributes:
        failures: How often an address may show what is no good.

    Raises:
        ConfigError: Keys, certificate or issuer's keys cannot be read.
    """

    def __init__(self, settings: Settings) -> None:
        check_binding(settings)
        access = settings.access
        self.failures = Buckets(_FAILURES_PER_MINUTE)
        self._keys = KeyFile(settings.keys) if settings.keys is not None else None
        self._tokens: Tokens | None = None
        if access.issuer:
            claims = Claims(role=access.role_claim, groups=access.groups_claim)
            self._tokens = Tokens(access.issuer, access.audience, access.issuer_keys, claims)

    @property
    def is_open(self) -> bool:
        """Whether everybody may ask: a service for this machine alone, without keys."""
        return self._keys is None and self._tokens is None

    async def caller(self, shown: str) -> Caller:
        """Return who has shown a key or token; `NOBODY` for a wrong one, or none."""
        if self.is_open:
            return ANYONE
        if not shown:
            return NOBODY
        if self._keys is not None and shown.startswith(PREFIX):
            key = self._keys.find(shown)
            return NOBODY if key is None else Caller(key.name, key.role, _names(key.indexes), _names(key.groups))
        if self._tokens is not None:
            # The issuer may be asked for its keys.
            bearer = await anyio.to_thread.run_sync(self._tokens.find, shown)
            if bearer is not None:
                return Caller(bearer.name, bearer.role, _names(bearer.indexes), frozenset(bearer.groups))
        return NOBODY


def _names(names: tuple[str, ...] | None) -> frozenset[str] | None:
    return None if names is None else frozenset(names)


_PLAIN: Final = "auscult_session"
_SECURE: Final = "__Host-auscult_session"
_LONGEST_KEY: Final = 4_000


async def sign_in(request: Request, shown: str, response: Response) -> bool:
    """Keep a session in a response, where a key or a token is good; whether it is.

    Whether or not, the request goes into the audit log as "login".

    Raises:
        Refusal: What was shown from here was wrong too often.
    """
    gate: Gate = request.app.state.gate
    shown = shown.strip()
    caller: Caller = await gate.caller(shown) if len(shown) <= _LONGEST_KEY else NOBODY
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


def shown_in(scope: Scope) -> str:
    """Return the key or token that a request shows in its header, else by the cookie of its session; empty for none."""
    headers = Headers(scope=scope)
    authorization = headers.get("authorization")
    # A session is not asked where a key is shown: whoever shows one means it.
    if authorization is not None:
        return authorization[len(_SCHEME) :].strip() if authorization[: len(_SCHEME)].lower() == _SCHEME else ""
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(_SECURE if _is_secure(scope) else _PLAIN)
    except CookieError:
        return ""
    return found.value if found is not None else ""


def _is_secure(scope: Scope) -> bool:
    return str(scope.get("scheme", "http")) == "https"


PUBLIC: Final = PROBES | {"/openapi.json"}
"""Addresses that need no key: they tell nothing of what is served."""
LOGIN: Final = "/login"
_READING: Final = frozenset({"GET", "HEAD"})


class Gatekeeper:
    """Puts the caller into a request's state.

    Pages may be asked by nobody: they lead to where a key is typed. All else needs one, before its body is read.
    """

    def __init__(self, app: ASGIApp, gate: Gate) -> None:
        self.app = app
        self._gate = gate

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if is_probe(scope):
            # What is shown is not looked at: somebody who showed wrong keys too often still hears that it lives.
            scope.setdefault("state", {})["caller"] = NOBODY
            await self.app(scope, receive, send)
            return
        shown = shown_in(scope)
        caller = await self._gate.caller(shown)
        scope.setdefault("state", {})["caller"] = caller
        if caller == NOBODY:
            wait = self._gate.failures.take(address_of(scope)) if shown else 0.0
            if wait:
                await refuse(too_many(wait), scope, receive, send)
                return
            path = scope["path"]
            is_page = scope["method"] in _READING and not path.startswith("/api/") and path != "/metrics"
            if not (path in PUBLIC or path == LOGIN or is_page):
                if "text/html" in Headers(scope=scope).get("accept", "") and not path.startswith("/api/"):
                    # A form of somebody whose session has ended.
                    scope["state"]["audit"] = {"action": "refused"}
                    await RedirectResponse(LOGIN, 303)(scope, receive, send)
                else:
                    await refuse(no_key(), scope, receive, send)
                return
        await self.app(scope, receive, send)
