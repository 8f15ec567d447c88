"""What somebody needs answers for, as the audit log keeps it: said when logging in, and sent along by a cookie."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, unquote

from fastapi import Request, Response
from starlette.types import ASGIApp, Receive, Scope, Send

USUAL: Final = ("Treatment", "Quality of care", "Research", "Teaching")
_COOKIE: Final = "purpose"
_HEADER: Final = b"x-purpose"
_LONGEST: Final = 200


class Purposes:
    """Tells the audit log the purpose that a session was begun for, where a request names none of its own."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] == "http" and not any(name == _HEADER for name, _ in scope["headers"]):
            purpose = purpose_of(Request(scope))
            if purpose:
                sent = purpose.encode("latin-1", "replace")
                scope = {**scope, "headers": [*scope["headers"], (_HEADER, sent)]}
        await self.app(scope, receive, send)


def purpose_of(request: Request) -> str:
    """The purpose of a session; empty where none was given."""
    said = unquote(request.cookies.get(_COOKIE, ""))
    return "".join(filter(str.isprintable, said))[:_LONGEST]


def keep_purpose(answer: Response, purpose: str, *, secure: bool) -> None:
    """Keep a purpose until the browser is closed, or forget it."""
    said = purpose.strip()[:_LONGEST]
    if said:
        answer.set_cookie(_COOKIE, quote(said), httponly=True, samesite="strict", secure=secure)
    else:
        answer.delete_cookie(_COOKIE)
