"""The routes of the API by subject. This file has what they share: parameters, checks, responses, audit records.

Routes are plain functions; a limited number of threads runs them.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Annotated, Any, Final

from fastapi import Depends, Path, Query, Request, Response
from pydantic import TypeAdapter

from auscult.index.reader import GenerationReader
from auscult.search import Searcher
from auscult_service import models
from auscult_service.caller import Caller, check_allowed
from auscult_service.errors import Refusal
from auscult_service.models import Error
from auscult_service.state import State

ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": Error, "description": description}
    for status, description in (
        (401, "No key, or one that is not known."),
        (403, "A key that may not do this."),
        (404, "There is no such thing, or not for this key."),
        (413, "More than is taken at once."),
        (422, "Something that cannot be understood, or out of range."),
        (429, "Too many requests; Retry-After says when to come again."),
        (503, "Not now; Retry-After says when to come again."),
    )
}


async def state_of(request: Request) -> State:
    """Return the app's state."""
    state: State = request.app.state.auscult
    return state


Stated = Annotated[State, Depends(state_of)]
"""Type of a route's parameter for the state of the app."""


def to_response(answer: Any, status: int = 200) -> Response:
    """Convert an answer to a JSON response by its own type. FastAPI would validate it again, which takes as long."""
    adapter = _adapter_of(type(answer))  # type: ignore[arg-type]
    try:
        content = adapter.dump_json(answer)
    except ValueError:
        # A lone surrogate, which a document may have: JSON can escape it, UTF-8 cannot encode it.
        content = json.dumps(adapter.dump_python(answer)).encode()
    return Response(content, status, media_type="application/json")


_adapter_of = cache(TypeAdapter)


def note_audit(request: Request, action: str, **details: object) -> None:
    """Note for the audit log what a request does: the query, the documents in the answer, and the result."""
    request.state.audit = {"action": action, **details}


def searcher_of(
    request: Request, caller: Caller, state: State, action: str, index: str | None, **details: object
) -> Searcher:
    """Note a request for the audit log, and return the searcher over the documents that its caller sees.

    Raises:
        Refusal: The caller may not use the index, or it is not open yet.
    """
    note_audit(request, action, index=index, **details)
    check_allowed(caller, "read", index)
    return state.searcher(index, caller)


IndexQuery = Annotated[str | None, Query(max_length=64, description="An index by its name; default: the first.")]
DocId = Annotated[str, Path(max_length=2_000, description="A document's id; it may hold slashes.")]


def row_of(reader: GenerationReader, doc_id: str) -> int:
    """Return a document's row.

    Raises:
        Refusal: There is no such document, or the caller does not see it.
    """
    row = reader.row_of(doc_id)
    if row is None:
        message = "expected the id of a document that you may see, got another"
        raise Refusal(404, "unknown_document", message, "take one from a search or from GET /api/v1/documents")
    return row


def conditions(given: list[str]) -> dict[str, models.Condition]:
    """Parse filters of a URL, written as for `auscult search --where`.

    Raises:
        Refusal: One is not of the form FIELD=VALUE.
    """
    values: dict[str, list[str]] = {}
    for text in given:
        field, equals, value = text.partition("=")
        if not (equals and field.strip() and value.strip()):
            message = "expected 'where' of the form FIELD=VALUE, got something else"
            raise Refusal(422, "invalid", message, "put the value behind an equals sign")
        values.setdefault(field.strip(), []).append(value.strip())
    filters: dict[str, models.Condition] = {}
    for field, several in values.items():
        first, dots, last = several[0].partition("..")
        filters[field] = models.Range(**{"from": first, "to": last}) if dots and len(several) == 1 else several
    return filters
