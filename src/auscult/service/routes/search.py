"""Searches, and what goes with them: names and aspects to choose from, spans, coverage, and judgements of hits."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel

from auscult import schema
from auscult.concepts.aspects import INFORMATION
from auscult.interfaces import Assertion
from auscult.provenance import now
from auscult.search.coverage import Cell, cover
from auscult.search.spans import Span, finder
from auscult.service import answering, models
from auscult.service.caller import Asking, allowed
from auscult.service.errors import Refusal, disk_refusal
from auscult.service.feedback import Feedback, Judged
from auscult.service.routes import ERRORS, IndexQuery, Stated, audited, conditions, row_of, searcher_of, to_response
from auscult.understanding.aspect_words import QUESTIONS, question_about
from auscult.understanding.conversation import MOST_EARLIER

router = APIRouter(tags=["search"])
judgements = APIRouter(tags=["feedback"])


@router.post("/search", response_model=schema.SearchAnswer, responses=ERRORS)
def search(request: Request, asked: models.SearchRequest, caller: Asking, state: Stated) -> Response:
    """The passages that answer a question, best first, with their evidence."""
    query = asked.words
    names = asked.indexes or ([asked.index] if asked.index else state.names(caller)[:1])
    audited(request, "search", index=",".join(names), query=query)
    allowed(caller, "read")
    for name in names:
        allowed(caller, "read", name)
    answer = answering.search(state, caller, asked)
    ids = list(dict.fromkeys(hit.doc_id for hit in answer.hits))
    audited(request, "search", index=",".join(answer.indexes), query=query, doc_ids=ids, result=len(answer.hits))
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
    rerank: Annotated[int, Query(ge=0, le=64)] = 0,
    assertion: Annotated[
        list[Assertion] | None, Query(max_length=5, description="What hits may say of the entity; repeatable.")
    ] = None,
    conversation: Annotated[
        list[models.Words] | None,
        Query(max_length=MOST_EARLIER, description="Earlier questions, the first one first; repeatable."),
    ] = None,
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
        assertions=assertion or [],
        conversation=conversation or [],
    )
    return search(request, asked, caller, state)


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
    """Diseases, conditions and titles one of whose words begins with what was typed."""
    audited(request, "complete", index=index)
    allowed(caller, "read", index)
    return to_response(state.served(index, caller).opened.names_for(caller.groups).complete(prefix, limit))


@router.get("/aspects", response_model=schema.AspectCompletions, responses=ERRORS)
def aspects(
    request: Request, caller: Asking, state: Stated, prefix: Prefix = "", index: IndexQuery = None, limit: Most = 50
) -> Response:
    """Aspects one of whose words begins with what was typed; all, where nothing was.

    With an index, those that it has headings for come first, and are completed behind an entity, too ("gout tre").
    """
    audited(request, "complete", index=index)
    allowed(caller, "read", index)
    # Those with a word that begins so, in their order; all where nothing was typed.
    typed = " ".join(prefix.lower().split())
    names = state.served(index, caller).opened.names_for(caller.groups) if index else None
    ordered = names.aspects()[1] if names else [*QUESTIONS, INFORMATION]
    first = [name for name in ordered if name.startswith(typed)]
    found = [*first, *(name for name in ordered if name not in first and f" {typed}" in name)]
    entity, behind = names.aspects(prefix) if names and typed and not found else ("gout", [])
    return to_response(
        schema.AspectCompletions(
            aspects=[
                schema.AspectCompletion(aspect=name, example=question_about(name, entity))
                for name in (found or behind)[:limit]
            ]
        )
    )


@router.get("/fields", response_model=Fields, responses=ERRORS)
def fields(request: Request, caller: Asking, state: Stated, index: IndexQuery = None) -> Response:
    """The fields that documents can be filtered by, with how many documents have which value."""
    held = searcher_of(request, caller, state, "fields", index).index
    found = []
    for field in held.reader.fields:
        counts = held.counts(field)
        commonest = dict(list(counts.items())[:_VALUES])
        found.append(schema.FieldValues(field=field, values=commonest, distinct=len(counts)))
    return to_response(Fields(fields=found))


@router.post("/spans", response_model=schema.SpanTold, responses=ERRORS)
def spans(request: Request, asked: models.SpanRequest, caller: Asking, state: Stated) -> Response:
    """The stretch of a document that answers, found between its sentences; or a given one grown or shrunk by a step."""
    query = asked.words
    searcher = searcher_of(request, caller, state, "view", asked.index, query=query, doc_ids=[asked.doc_id])
    understanding = answering.understand(searcher, asked)
    row = row_of(searcher.index.reader, asked.doc_id)
    found = finder(searcher, understanding.query, asked.doc_id)
    span: Span | None
    if asked.step == "best":
        span = found.best()
    elif asked.first >= asked.last or asked.last > len(found.scores):
        message = "expected sentences of the document in 'first' and 'last', got others"
        raise Refusal(422, "bad_span", message, "take both from a span, or ask for the best one")
    else:
        given = found.span(asked.first, asked.last)
        span = found.grow(given) if asked.step == "grow" else found.shrink(given)
    if span is None:
        raise Refusal(404, "no_sentence", "expected a document with sentences, got one without", "choose another")
    audited(request, "view", index=asked.index, query=query, doc_ids=[asked.doc_id], result=1)
    places = answering.places_of(searcher.index.reader.original_layout(row), span.start, span.end)
    return to_response(
        schema.SpanTold(
            doc_id=span.doc_id,
            start=span.start,
            end=span.end,
            first=span.first,
            last=span.last,
            score=span.score,
            text=found.document.text[span.start : span.end],
            source_ranges=places.source_ranges,
            boxes=places.boxes,
        )
    )


@router.post("/coverage", response_model=schema.CoverageTold, responses=ERRORS)
def coverage(request: Request, asked: models.CoverageRequest, caller: Asking, state: Stated) -> Response:
    """Entities down, aspects across: whether each is answered, and by which passage."""
    query = {"question": "", "entity": "; ".join(asked.entities), "aspects": asked.aspects}
    searcher = searcher_of(request, caller, state, "coverage", asked.index, query=query)
    table = cover(searcher, asked.entities, asked.aspects, where=answering.conditions(asked.where))
    found = {hit.doc_id for row in table.cells for cell in row for hit in (cell.hit, cell.similar) if hit}
    audited(request, "coverage", index=asked.index, query=query, doc_ids=sorted(found), result=len(found))
    return to_response(
        schema.CoverageTold(
            entities=[answering.understood_response(each) for each in table.entities],
            aspects=list(table.aspects),
            rows=[[_cell(cell) for cell in row] for row in table.cells],
        )
    )


def _cell(cell: Cell) -> schema.CoverageCell:
    hit = cell.hit
    return schema.CoverageCell(
        word=cell.word,
        probability=cell.probability,
        doc_id=hit.doc_id if hit else "",
        passage_id=hit.passage_id if hit else "",
        title=hit.title if hit else "",
        heading=hit.heading if hit else "",
        note=cell.note,
        similar=cell.similar.title if cell.similar else "",
    )


@judgements.post("/feedback", status_code=201, response_model=schema.Kept, responses=ERRORS)
def feedback(request: Request, said: models.FeedbackRequest, caller: Asking, state: Stated) -> Response:
    """Say whether a hit answers; `auscult feedback` makes a collection to measure and train models of it."""
    query = said.words
    audited(request, "feedback", index=said.index, query=query, doc_ids=[said.doc_id])
    allowed(caller, "read", said.index)
    if not (said.question.strip() or said.entity.strip() or any(map(str.strip, said.aspects))):
        message = "expected the question that was asked, got none"
        raise Refusal(422, "nothing_asked", message, "send what the hit was found by")
    served = state.served(said.index, caller)
    reader = served.opened.seen_by(caller.groups).index.reader
    rows = reader.passages_of(row_of(reader, said.doc_id))
    if said.passage_id not in {reader.passage_id(row) for row in rows}:
        message = "expected the id of a passage of the document, got another"
        raise Refusal(404, "unknown_passage", message, "take both from one hit")
    judged = Judged(
        index=served.name,
        question=said.question.strip(),
        entity=said.entity.strip(),
        aspects=tuple(said.aspects),
        doc_id=said.doc_id,
        passage_id=said.passage_id,
        relevance=said.relevance,
        span=said.span,
        caller=caller.name,
        time=now(),
    )
    kept: Feedback = request.app.state.feedback
    try:
        kept.add(judged)
    except OSError as error:
        raise disk_refusal(error) from error
    audited(request, "feedback", index=served.name, query=query, doc_ids=[said.doc_id], result=said.relevance)
    return to_response(schema.Kept(query_id=judged.query_id), 201)
