"""What routes share: the app's state, answers that are written where they were made, errors for the documentation."""

from __future__ import annotations

import json
from functools import cache
from typing import Annotated, Any, Final, TypeVar

from fastapi import Depends, Request, Response
from pydantic import TypeAdapter

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
    """The app's state."""
    state: State = request.app.state.auscult
    return state


Stated = Annotated[State, Depends(state_of)]
"""A route's argument of what is served."""


def written(answer: Any, status: int = 200) -> Response:
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
    """Leave for the audit log what a request does: what was asked, which documents went out, what came of it."""
    request.state.audit = {"action": action, **said}
