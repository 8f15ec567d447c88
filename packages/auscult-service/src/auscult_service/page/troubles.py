"""Errors as a page: one sentence, and what to do about it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlencode

from fastapi import Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.datastructures import Headers
from starlette.types import Message as Event
from starlette.types import Receive, Scope, Send

from auscult_service.caller import ANYONE
from auscult_service.guard.browsers import SafeHeaders
from auscult_service.layer import Layer
from auscult_service.page.asking import PageQuestion
from auscult_service.page.context import PageContext, context_of
from auscult_service.page.messages import Message, message
from auscult_service.page.templating import render

_NOT_OURS: Final = ("/api/", "/openapi", "/health", "/ready", "/metrics", "/static/")
_DROPPED: Final = frozenset({b"content-type", b"content-length"})
_AGAIN_SOON: Final = message("Wait a few seconds, and load this page again.")
_ASK_THEM: Final = message("Ask whoever runs this service.")
_NO_PAGE: Final = message("There is no such page.")
_BUSY: Final = message("Too many are asking at this moment.")
_NOT_KEPT: Final = message("What you sent could not be kept.")
_UNREADABLE: Final = message("The service could not read what was sent.")
_GO_BACK: Final = message("Go back, and send it again.")
WORDS: Final[Mapping[str, tuple[Message, Message]]] = MappingProxyType(
    {
        "unknown_index": (
            message("There is no collection of this name."),
            message("Choose one of those that you may ask."),
        ),
        "unknown_document": (
            message("This document is not here."),
            message("It may have been removed since; search for it again."),
        ),
        "unknown_job": (
            message("There is no upload of yours at this address."),
            message("Choose one from the list of uploads."),
        ),
        "not_ready": (
            message("The collection is still being opened."),
            message("Load this page again in a few seconds."),
        ),
        "index_unavailable": (
            message("The collection is damaged, and cannot be read."),
            message("Whoever runs this service can mend it with: auscult verify INDEX --repair"),
        ),
        "engine_unavailable": (
            message("The collection's server does not answer."),
            message("Load this page again in a minute."),
        ),
        "too_many": (_BUSY, _AGAIN_SOON),
        "busy": (_BUSY, _AGAIN_SOON),
        "ended": (message("A part of the service ended while it answered."), _AGAIN_SOON),
        "not_allowed": (
            message("Your key does not allow this."),
            message("Ask whoever runs this service for another key."),
        ),
        "read_only": (message("Documents cannot be added or removed here."), _ASK_THEM),
        "bad_group": (
            message("You cannot add documents for these groups."),
            message("Go back, and choose groups of your own."),
        ),
        "too_large": (message("This is more than is taken at once."), message("Send fewer or smaller files.")),
        "too_many_files": (
            message("These are more files than are taken at once."),
            message("Upload some of them, then the others, or a zip archive."),
        ),
        "no_files": (message("No file was chosen."), message("Go back and choose one, or drop some on the page.")),
        "too_slow": (message("The upload took too long."), message("Send fewer files at once.")),
        "no_space": (message("The service's disk is full."), _ASK_THEM),
        "cannot_keep": (_NOT_KEPT, _ASK_THEM),
        "cannot_read": (message("The saved searches are damaged, and cannot be read."), _ASK_THEM),
        "audit_unavailable": (message("The audit log cannot be written, so nothing is answered."), _ASK_THEM),
        "too_many_saved": (
            message("You have as many saved searches as are kept."),
            message("Remove one of them first."),
        ),
        "no_name": (message("A saved search needs a name."), message("Go back, and write one.")),
        "too_long": (message("The question is too long."), message("Ask in fewer words.")),
        "bad_query": (
            message("This cannot be understood as it stands."),
            message("Ask by a name, or by a code such as DOID:2986."),
        ),
        "cannot_encode": (
            message("The collection's model cannot read this question."),
            message("Ask in other words."),
        ),
        "invalid": (_UNREADABLE, _GO_BACK),
        "bad_json": (_UNREADABLE, _GO_BACK),
        "refused": (_UNREADABLE, _GO_BACK),
        "headers_too_large": (
            message("Your browser sends more than the service takes."),
            message("Ask in fewer words, or delete the cookies of this site."),
        ),
        "other_host": (
            message("The service does not go by this name."),
            message("Ask 127.0.0.1 or localhost."),
        ),
        "other_site": (
            message("Another site's page sent this."),
            message("Open the page of this service itself."),
        ),
        "no_page": (_NO_PAGE, message("Read the document's text.")),
        "no_original": (message("The document's file is not kept here."), message("Read the document's text.")),
        "not_found": (_NO_PAGE, message("Search for what you need.")),
        "method_not_allowed": (_NO_PAGE, message("Search for what you need.")),
        "not_installed": (message("A part of the service that this needs is not installed."), _ASK_THEM),
        "data_missing": (message("Data that this needs is not on the service's machine."), _ASK_THEM),
        "stopped": (
            message("The service was stopped before the files were added."),
            message("Upload them again."),
        ),
        "nothing_read": (
            message("None of the files could be added."),
            message("See below what is said of each."),
        ),
        "internal": (
            message("Something went wrong here."),
            message("Try again; if it stays so, tell whoever runs this service."),
        ),
    }
)
"""Headline and remedy by the code of an error, of a request or an upload."""
_OTHER: Final = (message("This could not be done."), message("The service says:"))


def no_index(page: PageContext) -> Response:
    """Return the page for a caller who may not use any index."""
    headline = message("There is no collection that you may ask.")
    return _render_trouble(page, 404, headline, message("Ask whoever runs this service to let you see one."))


class Troubles(Layer):
    """Answers browsers with a page instead of a JSON error; programs still get JSON."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its answer back."""
        accepted = Headers(scope=scope).get("accept", "")
        if "text/html" not in accepted or scope["path"].startswith(_NOT_OURS):
            await self.app(scope, receive, send)
            return
        start: Event | None = None
        body = b""
        begun = False

        async def sending(event: Event) -> None:
            nonlocal start, body, begun
            is_error = event["type"] == "http.response.start" and event["status"] >= 400
            if is_error and Headers(raw=event["headers"]).get("content-type", "").startswith("application/json"):
                start = event
                return
            if start is None:
                begun = True
                await send(event)
                return
            body += event.get("body", b"")
            if not event.get("more_body"):
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
    code = fields.get("code", "internal")
    headline, remedy = WORDS.get(code, _OTHER)
    # Options of the product are named by it alone, in English.
    detail = "" if code in WORDS else f"{fields.get('message', '')}; {fields.get('remedy', '')}"
    return _render_trouble(page, status, headline, remedy, fields.get("request_id", ""), detail)


def _render_trouble(
    page: PageContext, status: int, headline: Message, remedy: Message, request_id: str = "", detail: str = ""
) -> Response:
    values: dict[str, Any] = {
        "page": page,
        "question": PageQuestion(),
        "headline": headline,
        "remedy": remedy,
        "detail": detail,
        "request_id": request_id if status >= 500 else "",
        "back": "/" if page.may_ask else "",
    }
    return HTMLResponse(render("trouble.html", values), status)
