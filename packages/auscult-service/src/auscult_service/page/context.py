"""Values that every page shows, and the purpose of a session.

The purpose is chosen at login, stored in a cookie, and recorded in the audit log.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

from fastapi import Request, Response
from starlette.types import Receive, Scope, Send

from auscult.search import Searcher
from auscult_service.caller import ANYONE, NOBODY, Caller
from auscult_service.errors import Refusal
from auscult_service.layer import Layer
from auscult_service.page.language import language_of
from auscult_service.page.messages import Message, message
from auscult_service.state import State

THEMES: Final = ("light", "dark")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageContext:
    """The variable `page` of templates.

    Attributes:
        name: Name of the page ("search", "coverage", "add", ...).
        here: Its URL, to come back to.
        theme: "light", "dark", or empty for the preference of the system.
        language: Language of the page, one of `LANGUAGES`.
        indexes: Names of the indexes that the caller may use.
        index: Name of the current index.
        who: Name of the caller; empty for an anonymous one.
        may_ask: Whether the caller may search.
        may_add: Whether the caller may upload.
        may_leave: Whether the caller has a session to end.
        purpose: Purpose of the session; empty where none was given.
    """

    name: str
    here: str
    theme: str
    language: str
    indexes: tuple[str, ...]
    index: str
    who: str
    may_ask: bool
    may_add: bool
    may_leave: bool
    purpose: str = ""


def searcher_for(state: State, index: str, caller: Caller) -> Searcher:
    """Return the caller's searcher of an index; without a name, of the first that they may use.

    Raises:
        Refusal: The index does not exist or is not allowed, is damaged, or is not open yet.
    """
    served = state.served(index or None, caller)
    if served.trouble is not None and not served.is_open:
        remedy = "ask whoever runs this service to mend it"
        raise Refusal(503, "index_unavailable", "expected an index that is whole, got another", remedy)
    return served.opened.seen_by(caller.groups)


def context_of(request: Request, state: State, caller: Caller, name: str, index: str = "") -> PageContext:
    """Return the values of a request for all templates."""
    names = tuple(state.names(caller)) if caller != NOBODY else ()
    chosen = index if index in names else next(iter(names), "")
    theme = request.cookies.get("theme", "")
    may_add = state.settings.changes and caller.role in ("write", "admin") and bool(names)
    return PageContext(
        name=name,
        here=f"{request.url.path}{'?' if request.url.query else ''}{request.url.query}",
        theme=theme if theme in THEMES else "",
        language=language_of(request),
        indexes=names,
        index=chosen,
        who=caller.name,
        may_ask=bool(names),
        may_add=may_add,
        may_leave=caller not in (ANYONE, NOBODY),
        purpose=purpose_of(request),
    )


USUAL: Final[tuple[Message, ...]] = (
    message("Treatment"), message("Quality of care"), message("Research"), message("Teaching"),
)  # fmt: skip
"""Purposes that the login offers."""
_COOKIE: Final = "purpose"
_HEADER: Final = b"x-purpose"
_LONGEST: Final = 200


class Purposes(Layer):
    """Adds the purpose of the session to a request that names none, for the audit log."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if not any(name == _HEADER for name, _ in scope["headers"]):
            purpose = purpose_of(Request(scope))
            if purpose:
                sent = purpose.encode("latin-1", "replace")
                scope = {**scope, "headers": [*scope["headers"], (_HEADER, sent)]}
        await self.app(scope, receive, send)


def purpose_of(request: Request) -> str:
    """Return the purpose of a session; empty where none was given."""
    purpose = unquote(request.cookies.get(_COOKIE, ""))
    return "".join(filter(str.isprintable, purpose))[:_LONGEST]


def keep_purpose(answer: Response, purpose: str, *, secure: bool) -> None:
    """Store a purpose in a cookie until the browser is closed; an empty one deletes the cookie."""
    text = purpose.strip()[:_LONGEST]
    if text:
        answer.set_cookie(_COOKIE, quote(text), httponly=True, samesite="strict", secure=secure)
    else:
        answer.delete_cookie(_COOKIE)
