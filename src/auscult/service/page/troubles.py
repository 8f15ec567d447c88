"""What goes wrong, as a page: one sentence, and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.exceptions import HTTPException

from auscult.errors import AuscultError
from auscult.service.caller import ANYONE
from auscult.service.errors import Refusal, invalid, refusal_of, request_id_of, unforeseen
from auscult.service.page.asking import Asked
from auscult.service.page.context import PageContext, context_of
from auscult.service.page.rendering import rendered

_NOT_OURS: Final = ("/api/", "/openapi", "/health", "/ready", "/metrics", "/static/")
_KINDS: Final = (Refusal, AuscultError, RequestValidationError, HTTPException)
_WORDS: Final = {
    "unknown_index": ("There is no collection of this name.", "Choose one of those that you may ask."),
    "unknown_document": ("This document is not here.", "It may have been removed since; search for it again."),
    "not_ready": ("The collection is still being opened.", "Load this page again in a few seconds."),
    "index_unavailable": (
        "The collection is damaged, and cannot be read.",
        "Whoever runs this service can mend it with: auscult repair INDEX",
    ),
    "engine_unavailable": ("The collection's server does not answer.", "Load this page again in a minute."),
    "too_many": ("Too many are asking at this moment.", "Wait a few seconds, and load this page again."),
    "busy": ("Too many are asking at this moment.", "Wait a few seconds, and load this page again."),
    "not_allowed": ("Your key does not allow this.", "Ask whoever runs this service for another key."),
    "too_large": ("This is more than is taken at once.", "Send fewer or smaller files."),
    "bad_query": ("This cannot be understood as it stands.", "Ask by a name, or by a code such as DOID:2986."),
    "not_found": ("There is no such page.", "Search for what you need."),
    "internal": ("Something went wrong here.", "Try again; if it stays so, tell whoever runs this service."),
}


def no_index(page: PageContext) -> Response:
    """That there is nothing that the caller may ask."""
    return _page(
        page, 404, "There is no collection that you may ask.", "Ask whoever runs this service to let you see one."
    )


def add_troubles(app: FastAPI) -> None:
    """Show people what goes wrong as a page, and programs as before."""
    before: dict[Any, Any] = {kind: app.exception_handlers[kind] for kind in _KINDS}

    async def refused(request: Request, error: Exception) -> Response:
        if request.url.path.startswith(_NOT_OURS):
            handler = before.get(type(error)) or next(each for kind, each in before.items() if isinstance(error, kind))
            answer: Response = await handler(request, error)
            return answer
        return trouble(request, _refusal(error))

    for kind in _KINDS:
        app.add_exception_handler(kind, refused)


def trouble(request: Request, refusal: Refusal) -> Response:
    """A refusal as a page; who has shown no key is asked for it."""
    if refusal.status == 401:
        asked_for = f"{request.url.path}{'?' if request.url.query else ''}{request.url.query}"
        return RedirectResponse(login_path(asked_for), 303)
    page = context_of(request, request.app.state.auscult, getattr(request.state, "caller", ANYONE), "trouble")
    headline, remedy = _WORDS.get(refusal.code, ("", ""))
    if not headline:
        headline, remedy = _sentence(refusal.message), _sentence(refusal.remedy)
    return _page(page, refusal.status, headline, remedy, request_id_of(request), refusal.headers)


def login_path(next_: str) -> str:
    """Where a key is asked for, and then what was wanted is shown."""
    return f"/login?{urlencode({'next': next_})}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _refusal(error: Exception) -> Refusal:
    if isinstance(error, Refusal):
        return error
    if isinstance(error, AuscultError):
        return refusal_of(error)
    if isinstance(error, RequestValidationError):
        return invalid(error.errors())
    if isinstance(error, HTTPException):
        code = {404: "not_found", 413: "too_large", 429: "too_many"}.get(error.status_code, "bad_query")
        return Refusal(error.status_code, code, "", "", error.headers)
    return unforeseen()


def _page(
    page: PageContext,
    status: int,
    headline: str,
    remedy: str,
    request_id: str = "",
    headers: Mapping[str, str] | None = None,
) -> Response:
    values = {
        "page": page,
        "asked": Asked(),
        "headline": headline,
        "remedy": remedy,
        "request_id": request_id if status >= 500 else "",
        "back": "/" if page.may_ask else "",
        "back_words": "To the search",
    }
    return HTMLResponse(rendered("trouble.html", values), status, dict(headers or {}))
