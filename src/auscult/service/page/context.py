"""What every page knows: who asks, which collections they may ask, how they like it to look."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from fastapi import Request

from auscult.index.manifest import Counts
from auscult.search import Searcher
from auscult.service.caller import ANYONE, NOBODY, Caller
from auscult.service.errors import Refusal
from auscult.service.page.purposes import purpose_of
from auscult.service.state import State

THEMES: Final = ("light", "dark")
_ROOM: Final = "auscult.service.page"


@cache
def static_path(name: str) -> str:
    """Address of a file of the page, another one for every content, so that browsers may keep it."""
    content = (files(_ROOM) / "static" / name).read_bytes()
    return f"/static/{name}?v={hashlib.sha256(content).hexdigest()[:12]}"


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
        who: The caller's name.
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
        """Address of a file of the page."""
        return static_path(name)


def searcher_for(state: State, index: str, caller: Caller) -> Searcher:
    """What answers a caller's questions to an index; the first that they may ask where none is named.

    Raises:
        Refusal: There is no such index for them, it is damaged, or not open yet.
    """
    served = state.served(index or None, caller)
    if served.trouble is not None and not served.is_open:
        remedy = "ask whoever runs this service to mend it"
        raise Refusal(503, "index_unavailable", "expected an index that is whole, got another", remedy)
    return served.opened.seen_by(caller.groups)


def context_of(request: Request, state: State, caller: Caller, name: str, index: str = "") -> PageContext:
    """What a page of a request knows."""
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
