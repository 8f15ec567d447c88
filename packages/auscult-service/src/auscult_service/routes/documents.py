"""Routes for documents: list them, read one, explain its scores, and get the file it was read from."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Final
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Request, Response

from auscult import schema
from auscult.documents import Original
from auscult.index.store import DocumentRecord
from auscult.readers.elsewhere import PageRenderer
from auscult.search.explain import explain
from auscult_service import answering, models
from auscult_service.caller import Asking, Caller
from auscult_service.errors import Refusal
from auscult_service.routes import (
    ERRORS,
    DocId,
    IndexQuery,
    Stated,
    conditions,
    note_audit,
    row_of,
    searcher_of,
    to_response,
)
from auscult_service.state import State

router = APIRouter(tags=["documents"])
_INERT: Final = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cache-Control": "private, no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Headers that keep a browser from running anything in an uploaded file."""


@router.get("/documents", response_model=schema.DocumentList, responses=ERRORS)
def documents(
    request: Request,
    caller: Asking,
    state: Stated,
    index: IndexQuery = None,
    k: Annotated[int, Query(ge=1, le=500)] = 50,
    offset: Annotated[int, Query(ge=0, le=2**31)] = 0,
    where: Annotated[
        list[str] | None,
        Query(max_length=100, description="FIELD=VALUE, or FIELD=FIRST..LAST; repeatable.", examples=["source=NHS"]),
    ] = None,
) -> Response:
    """Documents, last added first."""
    passage_index = searcher_of(request, caller, state, "list", index).index
    rows = passage_index.documents_where(answering.conditions(conditions(where or [])))[::-1]
    summaries = [summary(passage_index.reader.document_record(row)) for row in rows[offset : offset + k].tolist()]
    note_audit(request, "list", index=index, doc_ids=[summary_.doc_id for summary_ in summaries], result=len(summaries))
    return to_response(schema.DocumentList(documents=summaries, total=len(rows), offset=offset))


@router.post("/explain", response_model=schema.Curves, responses=ERRORS)
def curves(request: Request, body: models.ExplainRequest, caller: Asking, state: Stated) -> Response:
    """How well every sentence of a document answers, as three curves: for the entity, the aspects, and both."""
    query = body.words
    searcher = searcher_of(request, caller, state, "explain", body.index, query=query, doc_ids=[body.doc_id])
    understanding = answering.understand(searcher, body)
    if body.doc_id:
        row_of(searcher.index.reader, body.doc_id)
    score_curves = explain(searcher, understanding.query, body.doc_id)
    note_audit(request, "explain", index=body.index, query=query, doc_ids=[score_curves.document.doc_id], result=1)
    sentences = zip(
        score_curves.document.sentences, score_curves.entity, score_curves.aspect, score_curves.combined, strict=True
    )
    return to_response(
        schema.Curves(
            understood=answering.understood_response(understanding),
            doc_id=score_curves.document.doc_id,
            title=score_curves.document.title,
            passages=[*score_curves.passages],
            sentences=[
                schema.CurveSentence(start=at.start, end=at.end, entity=entity, aspect=aspect, combined=combined)
                for at, entity, aspect, combined in sentences
            ],
            best=score_curves.best,
        )
    )


@router.get(
    "/documents/{doc_id:path}/original",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}}, **ERRORS},
)
def original(request: Request, doc_id: DocId, caller: Asking, state: Stated, index: IndexQuery = None) -> Response:
    """The file that a document was read from, for download."""
    file = original_of(request, state, caller, index, doc_id)
    name = quote(file.name.rpartition("/")[2] or "document", safe="", errors="replace")
    headers = {**_INERT, "Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
    return Response(file.content, media_type=file.media_type or "application/octet-stream", headers=headers)


@router.get(
    "/documents/{doc_id:path}/pages/{page}.png",
    response_class=Response,
    responses={200: {"content": {"image/png": {}}}, **ERRORS},
)
def page(
    request: Request,
    doc_id: DocId,
    page: Annotated[int, Path(ge=0, le=100_000, description="From 0, as boxes count them.")],
    caller: Asking,
    state: Stated,
    scale: Annotated[float, Query(gt=0, le=4, description="Pixels a point.")] = 1.5,
    index: IndexQuery = None,
) -> Response:
    """A page of a PDF, or of a file of scanned pages, as an image."""
    file = original_of(request, state, caller, index, doc_id)
    if page >= len(file.pages):
        message = "expected a page of a PDF or of scans that is kept, got another"
        raise Refusal(404, "no_page", message, "see how many the document has: GET /api/v1/documents/ID")
    renderer: PageRenderer = request.app.state.page_renderer
    picture = renderer.render(file.content, page, scale)
    return Response(picture, media_type="image/png", headers=_INERT)


@router.get("/documents/{doc_id:path}/places", response_model=schema.PlacesOf, responses=ERRORS)
def places(
    request: Request,
    doc_id: DocId,
    caller: Asking,
    state: Stated,
    start: Annotated[int, Query(ge=0, le=2**32)],
    end: Annotated[int, Query(ge=0, le=2**32)],
    index: IndexQuery = None,
) -> Response:
    """Where a range of a document's text is in its original file."""
    reader = searcher_of(request, caller, state, "view", index, doc_ids=[doc_id]).index.reader
    places = answering.places_of(reader.original_layout(row_of(reader, doc_id)), start, end)
    return to_response(schema.PlacesOf(start=start, end=end, **places))


@router.get("/documents/{doc_id:path}", response_model=schema.DocumentWhole, responses=ERRORS)
def document(request: Request, doc_id: DocId, caller: Asking, state: Stated, index: IndexQuery = None) -> Response:
    """A document: its text, passages and sentences, and its metadata."""
    reader = searcher_of(request, caller, state, "view", index, doc_ids=[doc_id]).index.reader
    row = row_of(reader, doc_id)
    whole, file = reader.document(row), reader.original_layout(row)
    note_audit(request, "view", index=index, doc_ids=[doc_id], result=1)
    return to_response(
        schema.DocumentWhole(
            **asdict(summary(reader.document_record(row))),
            index=state.served(index, caller).name,
            text=whole.text,
            passages=[
                schema.select_fields(
                    schema.PassageOf,
                    passage,
                    above=list(passage.above),
                    sentences=[(sentence.start, sentence.end) for sentence in passage.sentences],
                )
                for passage in whole.passages
            ],
            entity_ids=list(whole.entity_ids),
            original=schema.select_fields(schema.OriginalFile, file, pages=list(file.pages)) if file else None,
        )
    )


def summary(record: DocumentRecord) -> schema.DocumentSummary:
    """Return a document without its text."""
    date, metadata = record.metadata.get("date", ""), dict(record.metadata)
    return schema.select_fields(schema.DocumentSummary, record, date=date, metadata=metadata)


def original_of(request: Request, state: State, caller: Caller, index: str | None, doc_id: str) -> Original:
    """Return the file that a document was read from.

    Raises:
        Refusal: There is no such document, or its file is not kept.
    """
    reader = searcher_of(request, caller, state, "original", index, doc_ids=[doc_id]).index.reader
    file = reader.original(row_of(reader, doc_id))
    if file is None:
        message = "expected a document whose file is kept, got one without"
        raise Refusal(404, "no_original", message, "read its text: GET /api/v1/documents/ID")
    note_audit(request, "original", index=index, doc_ids=[doc_id], result=1)
    return file
