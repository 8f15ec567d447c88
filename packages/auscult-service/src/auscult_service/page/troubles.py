"""Errors as a page: one sentence, and what to do about it."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urlencode

from fastapi import Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from auscult_service.caller import ANYONE
from auscult_service.guard.browsers import SafeHeaders
from auscult_service.layer import Layer
from auscult_service.page.asking import PageQuestion
from auscult_service.page.context import PageContext, context_of, render

_NOT_OURS: Final = ("/api/", "/openapi", "/health", "/ready", "/metrics", "/static/")
_DROPPED: Final = frozenset({b"content-type", b"content-length"})
_WORDS: Final = {
    "unknown_index": ("There is no collection of this name.", "Choose one of those that you may ask."),
    "unknown_document": ("This document is not here.", "It may have been removed since; search for it again."),
    "not_ready": ("The collection is still being opened.", "Load this page again in a few seconds."),
    "index_unavailable": (
        "The collection is damaged, and cannot be read.",
        "Whoever runs this service can mend it with: auscult verify INDEX --repair",
    ),
    "engine_unavailable": ("The collection's server does not answer.", "Load this page again in a minute."),
    "too_many": ("Too many are asking at this moment.", "Wait a few seconds, and load this page again."),
    "busy": ("Too many are asking at this moment.", "Wait a few seconds, and load this page again."),
    "not_allowed": ("Your key does not allow this.", "Ask whoever runs this service for another key."),
    "too_large": ("This is more than is taken at once.", "Send fewer or smaller files."),
    "bad_query": ("This cannot be understood as it stands.", "Ask by a name, or by a code such as DOID:2986."),
    "no_page": ("There is no such page.", "Read the document's text."),
    "not_found": ("There is no such page.", "Search for what you need."),
    "internal": ("Something went wrong here.", "Try again; if it stays so, tell whoever runs this service."),
}


def no_index(page: PageContext) -> Response:
    """Return the page for a caller who may not use any index."""
    return _render_trouble(
        page, 404, "There is no collection that you may ask.", "Ask whoever runs this service to let you see one."
    )


class Troubles(Layer):
    """Answers browsers with a page instead of a JSON error; programs still get JSON."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its answer back."""
        accepted = Headers(scope=scope).get("accept", "")
        if "text/html" not in accepted or scope["path"].startswith(_NOT_OURS):
            await self.app(scope, receive, send)
            return
        start: Message | None = None
        body = b""
        begun = False

        async def sending(message: Message) -> None:
            nonlocal start, body, begun
            is_error = message["type"] == "http.response.start" and message["status"] >= 400
            if is_error and Headers(raw=message["headers"]).get("content-type", "").startswith("application/json"):
                start = message
                return
            if start is None:
                begun = True
                await send(message)
                return
            body += message.get("body", b"")
            if not message.get("more_body"):
                begun = True
                others = [pair for pair in start["headers"] if pair[0].lower() not in _DROPPED]
                answer = trouble(Request(scope), start["status"], body)
                answer.raw_headers = [*others, *answer.raw_headers]
                await answer(scope, receive, send)

        try:
            await self.app(scope, receive, sending)
        except Exception:
            # An outer middleware logs the exception.
            if not begun:
                await SafeHeaders(trouble(Request(scope), 500, b""))(scope, receive, send)
            raise


def trouble(request: Request, status: int, body: bytes) -> Response:
    """Return an error of the API as a page; without a valid key, redirect to the login."""
    if status == 401:
        path = f"{request.url.path}{'?' if request.url.query else ''}{request.url.query}"
        wanted = path if request.method == "GET" else "/"
        return RedirectResponse(f"/login?{urlencode({'next': wanted})}", 303)
    page = context_of(request, request.app.state.auscult, getattr(request.state, "caller", ANYONE), "trouble")
    fields: dict[str, str] = {}
    with suppress(ValueError, TypeError, KeyError, AttributeError):
        fields = {name: str(value) for name, value in json.loads(body)["error"].items()}
    headline, remedy = _WORDS.get(fields.get("code", "internal"), ("", ""))
    if not headline:
        headline, remedy = _to_sentence(fields.get("message", "")), _to_sentence(fields.get("remedy", ""))
    return _render_trouble(page, status, headline, remedy, fields.get("request_id", ""))


def _to_sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _render_trouble(page: PageContext, status: int, headline: str, remedy: str, request_id: str = "") -> Response:
    values: dict[str, Any] = {
        "page": page,
        "question": PageQuestion(),
        "headline": headline,
        "remedy": remedy,
        "request_id": request_id if status >= 500 else "",
        "back": "/" if page.may_ask else "",
        "back_words": "To the search",
    }
    return HTMLResponse(render("trouble.html", values), status)
