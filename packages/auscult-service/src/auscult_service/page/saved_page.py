"""Saved searches: save a search with its filters under a name, list, open and delete it.

They belong to the holder of a key. Without keys they belong to the browser, which is known by a cookie that scripts
cannot read.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Final
from urllib.parse import parse_qsl, urlsplit

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from auscult.errors import DataError
from auscult.provenance import now
from auscult_service.caller import Asking, Caller, check_allowed
from auscult_service.errors import Refusal, disk_refusal
from auscult_service.page.asking import PageQuestion
from auscult_service.page.context import context_of
from auscult_service.page.messages import Either, Said, message
from auscult_service.page.templating import render
from auscult_service.page.troubles import no_index
from auscult_service.page.words import ASSERTIONS, field_name
from auscult_service.routes import Stated, note_audit
from auscult_service.saved import LONGEST_ADDRESS, LONGEST_NAME, SavedSearch, SavedSearches

router = APIRouter(include_in_schema=False)
_COOKIE: Final = "saved"
_BROWSER: Final = "browser "
_LONGEST_COOKIE: Final = 100
_A_YEAR: Final = 31_536_000


@router.get("/saved")
def saved(request: Request, caller: Asking, state: Stated) -> Response:
    """Show the caller's saved searches."""
    note_audit(request, "saved searches")
    check_allowed(caller, "read")
    page = context_of(request, state, caller, "saved")
    if not page.may_ask:
        return no_index(page)
    try:
        kept = _store(request).of(_person(request, caller))
    except DataError as error:
        expected = "expected saved searches that can be read, got a damaged file"
        raise Refusal(
            503, "cannot_read", expected, "ask whoever runs this service to look at its data folder"
        ) from error
    searches = [(each, question := question_at(each.address), narrowed(question)) for each in kept]
    return HTMLResponse(render("saved.html", {"page": page, "question": PageQuestion(), "searches": searches}))


def narrowed(question: PageQuestion) -> list[Said]:
    """Return the filters of a question in words: "source: NHS or GARD", "date: from 2020 to 2021-06", "negated"."""
    parts: list[Said] = [
        message("%(field)s: %(values)s", field=field_name(name), values=Either(values))
        for name, values in question.fields.items()
    ]
    for name, (first, last) in question.bounds.items():
        field = field_name(name)
        if first and last:
            parts.append(message("%(field)s: from %(first)s to %(last)s", field=field, first=first, last=last))
        elif first or last:
            parts.append(
                message("%(field)s: from %(first)s", field=field, first=first)
                if first
                else message("%(field)s: to %(last)s", field=field, last=last)
            )
    return [*parts, Either(ASSERTIONS[each] for each in question.assertions)] if question.assertions else parts


@router.post("/saved")
def save(
    request: Request,
    caller: Asking,
    state: Stated,
    name: Annotated[str, Form(max_length=LONGEST_NAME)] = "",
    address: Annotated[str, Form(max_length=LONGEST_ADDRESS)] = "",
) -> Response:
    """Save a search, and go back to it."""
    question = question_at(address)
    note_audit(request, "save search", index=question.index, query=question.words)
    check_allowed(caller, "read", question.index or None)
    question = replace(question, index=state.served(question.index or None, caller).name)
    named = " ".join(name.split())
    if question.is_empty or not named:
        expected = "expected a search and a name for it, got one without the other"
        raise Refusal(422, "no_name", expected, "go back, and write a name")
    answer = RedirectResponse(question.at("/"), 303)
    person = _person(request, caller)
    if not person:
        token = secrets.token_urlsafe(24)
        person = _BROWSER + token
        secure = request.url.scheme == "https"
        answer.set_cookie(_COOKIE, token, max_age=_A_YEAR, httponly=True, samesite="strict", secure=secure)
    try:
        _store(request).add(person, SavedSearch(name=named, address=question.at("/"), time=now()))
    except DataError as error:
        raise disk_refusal(error) from error
    return answer


@router.post("/saved/remove")
def remove(
    request: Request, caller: Asking, name: Annotated[str, Form(max_length=LONGEST_NAME)], state: Stated
) -> Response:
    """Delete a saved search."""
    note_audit(request, "remove saved search")
    check_allowed(caller, "read")
    try:
        _store(request).remove(_person(request, caller), name)
    except DataError as error:
        raise disk_refusal(error) from error
    return RedirectResponse("/saved", 303)


def searches_of(request: Request, caller: Caller) -> list[SavedSearch]:
    """Return the caller's saved searches; an empty list where they cannot be read, which their own page reports."""
    with suppress(DataError):
        return _store(request).of(_person(request, caller))
    return []


def question_at(address: str) -> PageQuestion:
    """Return the question of a URL of the search page, from the first hit on.

    Raises:
        Refusal: The question is too long.
    """
    try:
        query = urlsplit(address).query
    except ValueError:
        query = ""
    return replace(PageQuestion.of(parse_qsl(query, keep_blank_values=True, max_num_fields=None)), start=0)


def _person(request: Request, caller: Caller) -> str:
    """Return the name under which a caller's searches are stored; empty for a browser without a cookie."""
    if caller.name:
        return f"caller {caller.name}"
    token = request.cookies.get(_COOKIE, "")
    return _BROWSER + token if token and len(token) <= _LONGEST_COOKIE else ""


def _store(request: Request) -> SavedSearches:
    store: SavedSearches = request.app.state.saved
    return store
