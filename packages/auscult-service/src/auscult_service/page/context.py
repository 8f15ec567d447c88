"""Values that every page shows, the templates, and the purpose of a session.

Values in templates are escaped, and pages have no inline script or style. The purpose is chosen at login, stored in a
cookie, and recorded in the audit log.
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
from starlette.types import Receive, Scope, Send

from auscult.search import Searcher
from auscult.telemetry import naming_extra
from auscult_service.caller import ANYONE, NOBODY, Caller
from auscult_service.errors import Refusal
from auscult_service.layer import Layer
from auscult_service.state import State

THEMES: Final = ("light", "dark")
_PACKAGE: Final = "auscult_service.page"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageContext:
    """The variable `page` of templates.

    Attributes:
        name: Name of the page ("search", "coverage", "add", ...).
        here: Its URL, to come back to.
        theme: "light", "dark", or empty for the preference of the system.
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
        indexes=names,
        index=chosen,
        who=caller.name,
        may_ask=bool(names),
        may_add=may_add,
        may_leave=caller not in (ANYONE, NOBODY),
        purpose=purpose_of(request),
    )


@cache
def _static_url(name: str) -> str:
    """Return the URL of a static file. It changes with the content, so browsers may store the file."""
    content = (files(_PACKAGE) / "static" / name).read_bytes()
    return f"/static/{name}?v={hashlib.sha256(content).hexdigest()[:12]}"


@cache
def _make_environment() -> Any:
    with naming_extra("serve", "jinja2"):
        from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(_PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["static"] = _static_url
    environment.filters["grouped"] = lambda number: f"{number:,}"
    environment.filters["percent"] = lambda share: f"{100 * share:.0f}\u202f%"
    environment.filters["spoken"] = lambda name: str(name).replace("_", " ")
    return environment


def render(template: str, values: Mapping[str, Any]) -> str:
    """Render a template.

    Args:
        template: Its file's name.
        values: Its variables; a missing one is an error.
    """
    text: str = _make_environment().get_template(template).render(values)
    return text


USUAL: Final = ("Treatment", "Quality of care", "Research", "Teaching")
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
