"""What people say of hits."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from auscult import schema
from auscult.provenance import now
from auscult.service import models
from auscult.service.caller import Asking, allowed
from auscult.service.errors import Refusal, disk_refusal
from auscult.service.feedback import Feedback, Judged
from auscult.service.routes import ERRORS, Stated, audited, row_of, written

router = APIRouter(tags=["feedback"])


@router.post("/feedback", status_code=201, response_model=schema.Kept, responses=ERRORS)
def feedback(request: Request, said: models.FeedbackRequest, caller: Asking, state: Stated) -> Response:
    """Say whether a hit answers; `auscult feedback` makes a collection to measure and train models of it."""
    query = {"question": said.question, "entity": said.entity, "aspects": said.aspects}
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
    return written(schema.Kept(query_id=judged.query_id), 201)
