"""Routes for searches and what belongs to them: completion of names and aspects, spans, coverage, judgements."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel

from auscult import schema
from auscult.provenance import now
from auscult.schema import Assertion
from auscult.search.coverage import Cell, cover
from auscult.search.spans import find_answer
from auscult.understanding.aspects import QUESTIONS, question_about
from auscult.understanding.conversation import MOST_EARLIER
from auscult_service import answering, models
from auscult_service.caller import Asking, check_allowed
from auscult_service.errors import Refusal, disk_refusal
from auscult_service.feedback import Feedback, Judged
from auscult_service.routes import ERRORS, IndexQuery, Stated, conditions, note_audit, row_of, searcher_of, to_response

router = APIRouter(tags=["search"])
judgements = APIRouter(tags=["feedback"])


@router.post("/search", response_model=schema.SearchAnswer, responses=ERRORS)
def search(request: Request, body: models.SearchRequest, caller: Asking, state: Stated) -> Response:
    """The passages that answer a question, best first, with their evidence."""
    query = body.words
    names = body.indexes or ([body.index] if body.index else state.names(caller)[:1])
    note_audit(request, "search", index=",".join(names), query=query)
    check_allowed(caller, "read")
    for name in names:
        check_allowed(caller, "read", name)
    answer = answering.search(state, caller, body)
    ids = list(dict.fromkeys(hit.doc_id for hit in answer.hits))
    note_audit(request, "search", index=",".join(answer.indexes), query=query, doc_ids=ids, result=len(answer.hits))
    request.state.searched = dict.fromkeys(answer.indexes, not answer.nothing_here.flag)
    return to_response(answer)


@router.get("/search", response_model=schema.SearchAnswer, responses=ERRORS)
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
    rerank: Annotated[int | None, Query(ge=0, le=64)] = None,
    assertion: Annotated[
        list[Assertion] | None, Query(max_length=5, description="What hits may say of the entity; repeatable.")
    ] = None,
    conversation: Annotated[
        list[models.Words] | None,
        Query(max_length=MOST_EARLIER, description="Earlier questions, the first one first; repeatable."),
    ] = None,
) -> Response:
    """As POST /search. URLs end up in histories and logs, so use POST for a question about a person."""
    body = models.SearchRequest(
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
        assertions=assertion or [],
        conversation=conversation or [],
    )
    return search(request, body, caller, state)


Prefix = Annotated[str, Query(max_length=200, description="What was typed so far.", examples=["iga"])]
Most = Annotated[int, Query(ge=1, le=50)]
_VALUES: Final = 200


class Fields(BaseModel):
    """Fields in the order of their names."""

    fields: list[schema.FieldValues]


@router.get("/entities", response_model=schema.EntityCompletions, responses=ERRORS)
def entities(
    request: Request, caller: Asking, state: Stated, prefix: Prefix, index: IndexQuery = None, limit: Most = 10
) -> Response:
    """Diseases, conditions and titles with a word that begins with the prefix."""
    note_audit(request, "complete", index=index)
    check_allowed(caller, "read", index)
    return to_response(state.served(index, caller).opened.names_for(caller.groups).complete(prefix, limit))


@router.get("/aspects", response_model=schema.AspectCompletions, responses=ERRORS)
def aspects(
    request: Request, caller: Asking, state: Stated, prefix: Prefix = "", index: IndexQuery = None, limit: Most = 50
) -> Response:
    """Aspects with a word that begins with the prefix; all aspects for an empty prefix.

    With an index, aspects that it has headings for come first, and a prefix may begin with an entity ("gout tre").
    """
    note_audit(request, "complete", index=index)
    check_allowed(caller, "read", index)
    # Aspects that begin with the prefix come before those with a later word that does.
    typed = " ".join(prefix.lower().split())
    names = state.served(index, caller).opened.names_for(caller.groups) if index else None
    ordered = names.aspects()[1] if names else [*QUESTIONS]
    first = [name for name in ordered if name.startswith(typed)]
    matching = [*first, *(name for name in ordered if name not in first and f" {typed}" in name)]
    entity, behind = names.aspects(prefix) if names and typed and not matching else ("gout", [])
    return to_response(
        schema.AspectCompletions(
            aspects=[
                schema.AspectCompletion(aspect=name, example=question_about(name, entity))
                for name in (matching or behind)[:limit]
            ]
        )
    )


@router.get("/fields", response_model=Fields, responses=ERRORS)
def fields(request: Request, caller: Asking, state: Stated, index: IndexQuery = None) -> Response:
    """The fields that documents can be filtered by, with the number of documents by value."""
    passage_index = searcher_of(request, caller, state, "fields", index).index
    listed = []
    for field in passage_index.reader.fields:
        counts = passage_index.counts(field)
        commonest = dict(list(counts.items())[:_VALUES])
        listed.append(schema.FieldValues(field=field, values=commonest, distinct=len(counts)))
    return to_response(Fields(fields=listed))


@router.post("/spans", response_model=schema.SpanTold, responses=ERRORS)
def spans(request: Request, body: models.SpanRequest, caller: Asking, state: Stated) -> Response:
    """The span of a document that answers; or a given span, one step larger or smaller."""
    query = body.words
    searcher = searcher_of(request, caller, state, "view", body.index, query=query, doc_ids=[body.doc_id])
    understanding = answering.understand(searcher, body)
    row = row_of(searcher.index.reader, body.doc_id)
    found = find_answer(searcher, understanding.query, body.doc_id)
    span_finder, span = found.finder, found.span
    if body.step == "best":
        pass
    elif body.first >= body.last or body.last > len(span_finder.scores):
        message = "expected sentences of the document in 'first' and 'last', got others"
        raise Refusal(422, "bad_span", message, "take both from a span, or ask for the best one")
    else:
        given = span_finder.span(body.first, body.last)
        span = span_finder.grow(given) if body.step == "grow" else span_finder.shrink(given)
    if span is None:
        raise Refusal(
            404, "no_sentence", "expected a sentence about what was asked, got none", "choose another document"
        )
    note_audit(request, "view", index=body.index, query=query, doc_ids=[body.doc_id], result=1)
    places = answering.places_of(searcher.index.reader.original_layout(row), span.start, span.end)
    return to_response(
        schema.select_fields(schema.SpanTold, span, text=span_finder.document.text[span.start : span.end], **places)
    )


@router.post("/coverage", response_model=schema.CoverageTold, responses=ERRORS)
def coverage(request: Request, body: models.CoverageRequest, caller: Asking, state: Stated) -> Response:
    """A table of entities by aspects: whether each aspect is answered, and by which passage."""
    query = {"question": "", "entity": "; ".join(body.entities), "aspects": body.aspects}
    searcher = searcher_of(request, caller, state, "coverage", body.index, query=query)
    table = cover(searcher, body.entities, body.aspects, where=answering.conditions(body.where))
    doc_ids = {hit.doc_id for row in table.cells for cell in row for hit in (cell.hit, cell.similar) if hit}
    note_audit(request, "coverage", index=body.index, query=query, doc_ids=sorted(doc_ids), result=len(doc_ids))
    return to_response(
        schema.CoverageTold(
            entities=[answering.understood_response(understanding) for understanding in table.entities],
            aspects=list(table.aspects),
            rows=[[_to_cell(cell) for cell in row] for row in table.cells],
        )
    )


def _to_cell(cell: Cell) -> schema.CoverageCell:
    hit = cell.hit
    return schema.select_fields(
        schema.CoverageCell,
        cell,
        doc_id=hit.doc_id if hit else "",
        passage_id=hit.passage_id if hit else "",
        title=hit.title if hit else "",
        heading=hit.heading if hit else "",
        similar=cell.similar.title if cell.similar else "",
    )


@judgements.post("/feedback", status_code=201, response_model=schema.Kept, responses=ERRORS)
def feedback(request: Request, body: models.FeedbackRequest, caller: Asking, state: Stated) -> Response:
    """Store whether a hit answers. `auscult feedback` exports judgements, to evaluate and train models."""
    query = body.words
    note_audit(request, "feedback", index=body.index, query=query, doc_ids=[body.doc_id])
    check_allowed(caller, "read", body.index)
    if not (body.question.strip() or body.entity.strip() or any(map(str.strip, body.aspects))):
        message = "expected the question that was asked, got none"
        raise Refusal(422, "nothing_asked", message, "send what the hit was found by")
    served = state.served(body.index, caller)
    reader = served.opened.seen_by(caller.groups).index.reader
    rows = reader.passages_of(row_of(reader, body.doc_id))
    if body.passage_id not in {reader.passage_id(row) for row in rows}:
        message = "expected the id of a passage of the document, got another"
        raise Refusal(404, "unknown_passage", message, "take both from one hit")
    judged = Judged(
        index=served.name,
        question=body.question.strip(),
        entity=body.entity.strip(),
        aspects=tuple(body.aspects),
        doc_id=body.doc_id,
        passage_id=body.passage_id,
        relevance=body.relevance,
        span=body.span,
        caller=caller.name,
        time=now(),
    )
    store: Feedback = request.app.state.feedback
    try:
        store.add(judged)
    except OSError as error:
        raise disk_refusal(error) from error
    note_audit(request, "feedback", index=served.name, query=query, doc_ids=[body.doc_id], result=body.relevance)
    return to_response(schema.Kept(query_id=judged.query_id), 201)
