"""The routes of the API, a file a subject, and here what they share: parameters, checks, answers, audit records.

Routes are plain functions, which a bounded number of threads run.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Annotated, Any, Final, TypeVar

from fastapi import Depends, Path, Query, Request, Response
from pydantic import TypeAdapter

from auscult.index.reader import GenerationReader
from auscult.search import Searcher
from auscult.service import models
from auscult.service.caller import Caller, allowed
from auscult.service.errors import Refusal
from auscult.service.models import Error
from auscult.service.state import State

Answer = TypeVar("Answer")
ERRORS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"model": Error, "description": said}
    for status, said in (
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
"""A route's argument of what is served."""


def to_response(answer: Any, status: int = 200) -> Response:
    """Return an answer as JSON, written once by its own type: a second check of what was made would cost as much."""
    adapter = adapter_of(type(answer))  # type: ignore[arg-type]
    try:
        content = adapter.dump_json(answer)
    except ValueError:
        # Half a surrogate pair, which a document may hold: JSON can say it, UTF-8 cannot.
        content = json.dumps(adapter.dump_python(answer)).encode()
    return Response(content, status, media_type="application/json")


@cache
def adapter_of(kind: type[Answer]) -> TypeAdapter[Answer]:
    """Return what reads and writes the JSON of a kind of answer."""
    return TypeAdapter(kind)


def audited(request: Request, action: str, **said: object) -> None:
    """Note for the audit log what a request does: what was asked, which documents went out, what came of it."""
    request.state.audit = {"action": action, **said}


def searcher_of(
    request: Request, caller: Caller, state: State, action: str, index: str | None, **said: object
) -> Searcher:
    """Note a request for the audit log, and return the searcher over the documents that its caller sees.

    Raises:
        Refusal: The caller may not ask the index, or it is not open yet.
    """
    audited(request, action, index=index, **said)
    allowed(caller, "read", index)
    return state.searcher(index, caller)


IndexQuery = Annotated[str | None, Query(max_length=64, description="An index by its name; default: the first.")]
DocId = Annotated[str, Path(max_length=2_000, description="A document's id; it may hold slashes.")]


def row_of(reader: GenerationReader, doc_id: str) -> int:
    """Return a document's row.

    Raises:
        Refusal: There is no such document, for this caller.
    """
    row = reader.row_of(doc_id)
    if row is None:
        message = "expected the id of a document that you may see, got another"
        raise Refusal(404, "unknown_document", message, "take one from a search or from GET /api/v1/documents")
    return row


def conditions(given: list[str]) -> dict[str, models.Condition]:
    """Return filters of an address, as `auscult search --where` has them.

    Raises:
        Refusal: One is not of the form FIELD=VALUE, or there are too many.
    """
    values: dict[str, list[str]] = {}
    for each in given:
        field, equals, value = each.partition("=")
        if not (equals and field.strip() and value.strip()):
            message = "expected 'where' of the form FIELD=VALUE, got something else"
            raise Refusal(422, "invalid", message, "put the value behind an equals sign")
        values.setdefault(field.strip(), []).append(value.strip())
    found: dict[str, models.Condition] = {}
    for field, several in values.items():
        first, dots, last = several[0].partition("..")
        found[field] = models.Range(**{"from": first, "to": last}) if dots and len(several) == 1 else several
    return found
