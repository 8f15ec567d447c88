"""Beyond the hits: the stretch of a document that answers, and which aspects of which entities are answered at all."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from auscult.search.coverage import Cell, cover
from auscult.search.spans import Span, finder
from auscult.service import answering, hits, models, understood
from auscult.service.caller import Asking, allowed
from auscult.service.errors import Refusal
from auscult.service.routes.answers import ERRORS, Stated, audited, written
from auscult.service.routes.documents import row_of

router = APIRouter(tags=["search"])


@router.post("/spans", response_model=models.SpanTold, responses=ERRORS)
def spans(request: Request, asked: models.SpanRequest, caller: Asking, state: Stated) -> Response:
    """The stretch of a document that answers, found between its sentences; or a given one grown or shrunk by a step."""
    query = {"question": asked.question, "entity": asked.entity, "aspects": asked.aspects}
    audited(request, "view", index=asked.index, query=query, doc_ids=[asked.doc_id])
    allowed(caller, "read", asked.index)
    searcher = state.searcher(asked.index, caller)
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
    places = hits.places_of(searcher.index.reader.original_layout(row), span.start, span.end)
    return written(
        models.SpanTold(
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


@router.post("/coverage", response_model=models.CoverageTold, responses=ERRORS)
def coverage(request: Request, asked: models.CoverageRequest, caller: Asking, state: Stated) -> Response:
    """Entities down, aspects across: whether each is answered, and by which passage."""
    query = {"question": "", "entity": "; ".join(asked.entities), "aspects": asked.aspects}
    audited(request, "coverage", index=asked.index, query=query)
    allowed(caller, "read", asked.index)
    searcher = state.searcher(asked.index, caller)
    table = cover(searcher, asked.entities, asked.aspects, where=answering.conditions(asked.where))
    found = {cell.hit.doc_id for row in table.cells for cell in row if cell.hit}
    audited(request, "coverage", index=asked.index, query=query, doc_ids=sorted(found), result=len(found))
    return written(
        models.CoverageTold(
            entities=[understood.told(each) for each in table.entities],
            aspects=list(table.aspects),
            rows=[[_cell(cell) for cell in row] for row in table.cells],
        )
    )


def _cell(cell: Cell) -> models.CoverageCell:
    hit = cell.hit
    return models.CoverageCell(
        word=cell.word,
        probability=cell.probability,
        doc_id=hit.doc_id if hit else "",
        passage_id=hit.passage_id if hit else "",
        title=hit.title if hit else "",
        heading=hit.heading if hit else "",
        note=cell.note,
    )
