"""What a search box needs: names and aspects that go on from what was typed, and the fields to filter by."""

from __future__ import annotations

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel

from auscult.service import completing, models
from auscult.service.caller import Asking, allowed
from auscult.service.routes.answers import ERRORS, Stated, audited, written

router = APIRouter(tags=["search"])
Prefix = Annotated[str, Query(max_length=200, description="What was typed so far.", examples=["iga"])]
Most = Annotated[int, Query(ge=1, le=50)]
IndexQuery = Annotated[str | None, Query(max_length=64, description="An index by its name; default: the first.")]
_VALUES: Final = 200


class Fields(BaseModel):
    """Fields in the order of their names."""

    fields: list[models.FieldValues]


@router.get("/entities", response_model=models.EntityCompletions, responses=ERRORS)
def entities(
    request: Request, caller: Asking, state: Stated, prefix: Prefix, index: IndexQuery = None, limit: Most = 10
) -> Response:
    """Diseases, conditions and titles one of whose words begins with what was typed."""
    audited(request, "complete", index=index)
    allowed(caller, "read", index)
    return written(state.served(index, caller).opened.names_for(caller.groups).complete(prefix, limit))


@router.get("/aspects", response_model=models.AspectCompletions, responses=ERRORS)
async def aspects(request: Request, caller: Asking, prefix: Prefix = "", limit: Most = 50) -> Response:
    """Aspects one of whose words begins with what was typed; all, where nothing was."""
    audited(request, "complete")
    allowed(caller, "read")
    return written(completing.aspects(prefix, limit))


@router.get("/fields", response_model=Fields, responses=ERRORS)
def fields(request: Request, caller: Asking, state: Stated, index: IndexQuery = None) -> Response:
    """The fields that documents can be filtered by, with how many documents have which value."""
    audited(request, "fields", index=index)
    allowed(caller, "read", index)
    held = state.searcher(index, caller).index
    found = []
    for field in held.reader.fields:
        counts = held.counts(field)
        commonest = dict(list(counts.items())[:_VALUES])
        found.append(models.FieldValues(field=field, values=commonest, distinct=len(counts)))
    return written(Fields(fields=found))
