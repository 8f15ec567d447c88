"""Values that every page shows, the templates, and the purpose of a session.

Everything that is put into a template is escaped, and no page holds script or style of its own. The purpose goes into
the audit log: it is chosen on the page of the login, and a cookie keeps it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final
from urllib.parse import quote, unquote

from fastapi import Request, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from auscult.errors import naming_extra
from auscult.index.manifest import Counts
from auscult.search import Searcher
from auscult.service.caller import ANYONE, NOBODY, Caller
from auscult.service.errors import Refusal
from auscult.service.state import State

THEMES: Final = ("light", "dark")
_PACKAGE: Final = "auscult.service.page"


@cache
def _digest_of(name: str) -> str:
    return hashlib.sha256((files(_PACKAGE) / "static" / name).read_bytes()).hexdigest()[:12]


@dataclass(frozen=True, slots=True, kw_only=True)
class PageContext:
    """What templates call `page`.

    Attributes:
        name: Of the page ("search", "coverage", "add", ...).
        here: Its address, to come back to.
        theme: "light", "dark", or empty for what the machine prefers.
        indexes: Names of those that the caller may ask.
        index: The one that is asked.
        counts: Of the caller's documents in it; None where there is nothing to count.
        purpose: What the caller said that answers are for.
    """

    name: str
    here: str
    theme: str
    indexes: tuple[str, ...]
    index: str
    counts: Counts | None
    who: str
    may_ask: bool
    may_judge: bool
    may_add: bool
    may_leave: bool
    purpose: str = ""

    @property
    def home(self) -> str:
        """Where the name leads."""
        return "/"

    def static(self, name: str) -> str:
        """Return the address of a file of the page, another one for every content, so that browsers may keep it."""
        return f"/static/{name}?v={_digest_of(name)}"


def searcher_for(state: State, index: str, caller: Caller) -> Searcher:
    """Return what answers a caller's questions to an index; to the first that they may ask where none is named.

    Raises:
        Refusal: There is no such index for them, it is damaged, or not open yet.
    """
    served = state.served(index or None, caller)
    if served.trouble is not None and not served.is_open:
        remedy = "ask whoever runs this service to mend it"
        raise Refusal(503, "index_unavailable", "expected an index that is whole, got another", remedy)
    return served.opened.seen_by(caller.groups)


def context_of(request: Request, state: State, caller: Caller, name: str, index: str = "") -> PageContext:
    """Return what the templates know of a request."""
    names = tuple(state.names(caller)) if caller != NOBODY else ()
    asked = index if index in names else next(iter(names), "")
    theme = request.cookies.get("theme", "")
    may_add = state.settings.changes and caller.role in ("write", "admin") and bool(names)
    return PageContext(
        name=name,
        here=f"{request.url.path}{'?' if request.url.query else ''}{request.url.query}",
        theme=theme if theme in THEMES else "",
        indexes=names,
        index=asked,
        counts=None,
        who=caller.name,
        may_ask=bool(names),
        may_judge=bool(names),
        may_add=may_add,
        may_leave=caller not in (ANYONE, NOBODY),
        purpose=purpose_of(request),
    )


@cache
def _environment() -> Any:
    with naming_extra("serve", "jinja2"):
        from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("auscult.service.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["grouped"] = lambda number: f"{number:,}"
    made.filters["percent"] = lambda share: f"{100 * share:.0f}\u202f%"
    made.filters["spoken"] = lambda name: str(name).replace("_", " ")
    return made


def rendered(template: str, values: Mapping[str, Any]) -> str:
    """Render a template.

    Args:
        template: Its file's name.
        values: What it names; one that it names and is not given is an error of ours.
    """
    text: str = _environment().get_template(template).render(values)
    return text


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
    """Return the purpose of a session; empty where none was given."""
    said = unquote(request.cookies.get(_COOKIE, ""))
    return "".join(filter(str.isprintable, said))[:_LONGEST]


def keep_purpose(answer: Response, purpose: str, *, secure: bool) -> None:
    """Keep a purpose until the browser is closed, or forget it."""
    said = purpose.strip()[:_LONGEST]
    if said:
        answer.set_cookie(_COOKIE, quote(said), httponly=True, samesite="strict", secure=secure)
    else:
        answer.delete_cookie(_COOKIE)
