"""Searching: by a question, or by entity and aspects."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from auscult.service import answering, models
from auscult.service.caller import Asking, Caller, allowed
from auscult.service.errors import Refusal
from auscult.service.metrics import Metrics
from auscult.service.routes.answers import ERRORS, Stated, audited, written
from auscult.service.state import State

router = APIRouter(tags=["search"])


@router.post("/search", response_model=models.SearchAnswer, responses=ERRORS)
def search(request: Request, asked: models.SearchRequest, caller: Asking, state: Stated) -> Response:
    """The passages that answer a question, best first, with their evidence."""
    return _answer(request, asked, caller, state)


@router.get("/search", response_model=models.SearchAnswer, responses=ERRORS)
def search_by_address(
    request: Request,
    caller: Asking,
    state: Stated,
    q: Annotated[models.Words, Query(description="A question in words.", examples=["How is gout treated?"])] = "",
    entity: Annotated[models.Words, Query(description="A name, a synonym or an identifier.")] = "",
    aspect: Annotated[list[models.Words] | None, Query(max_length=16, description="Repeatable.")] = None,
    index: Annotated[list[models.IndexName] | None, Query(max_length=32, description="Repeatable.")] = None,
    k: Annotated[int, Query(ge=1, le=models.MOST_HITS)] = 10,
    offset: Annotated[int, Query(ge=0, lt=models.REACH)] = 0,
    group_by: Annotated[str, Query(max_length=100)] = "passage",
    where: Annotated[
        list[str] | None,
        Query(max_length=100, description="FIELD=VALUE, or FIELD=FIRST..LAST; repeatable.", examples=["source=NHS"]),
    ] = None,
    score: Literal["fused", "model"] = "fused",
    rerank: Annotated[int, Query(ge=0, le=64)] = 0,
) -> Response:
    """As POST /search. Addresses end up in histories and logs: ask by POST what is about a person."""
    asked = models.SearchRequest(
        question=q,
        entity=entity,
        aspects=aspect or [],
        indexes=index or [],
        k=k,
        offset=offset,
        group_by=group_by,
        where=conditions(where or []),
        score=score,
        rerank=rerank,
    )
    return _answer(request, asked, caller, state)


def _answer(request: Request, asked: models.SearchRequest, caller: Caller, state: State) -> Response:
    query = {"question": asked.question, "entity": asked.entity, "aspects": asked.aspects}
    names = asked.indexes or ([asked.index] if asked.index else state.names(caller)[:1])
    audited(request, "search", index=",".join(names), query=query)
    allowed(caller, "read")
    for name in names:
        allowed(caller, "read", name)
    answer = answering.search(state, caller, asked)
    ids = list(dict.fromkeys(hit.doc_id for hit in answer.hits))
    audited(request, "search", index=",".join(answer.indexes), query=query, doc_ids=ids, result=len(answer.hits))
    metrics: Metrics = request.app.state.metrics
    for name in answer.indexes:
        metrics.searched(name, found=not answer.nothing_here.flag)
    return written(answer)


def conditions(given: list[str]) -> dict[str, models.Condition]:
    """Filters of an address, as `auscult search --where` has them.

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
