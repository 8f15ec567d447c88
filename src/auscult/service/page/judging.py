"""The buttons below a hit: whether it answers, kept as the API keeps it."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from auscult.service.caller import Asking
from auscult.service.models import FeedbackRequest
from auscult.service.page.routing import own_path
from auscult.service.routes import feedback
from auscult.service.routes.answers import Stated

router = APIRouter(include_in_schema=False)


@router.post("/feedback")
def judge(
    request: Request,
    caller: Asking,
    state: Stated,
    answers: Annotated[Literal["yes", "no"], Form()],
    document: Annotated[str, Form(max_length=2_000)],
    passage: Annotated[str, Form(max_length=2_000)],
    q: Annotated[str, Form(max_length=2_000)] = "",
    e: Annotated[str, Form(max_length=2_000)] = "",
    a: Annotated[list[str] | None, Form(max_length=16)] = None,
    index: Annotated[str, Form(max_length=64)] = "",
    next: Annotated[str, Form(max_length=8_000)] = "/",  # noqa: A002 - a name of a form's field
) -> Response:
    """Keep a judgement, and go back to the hit; programs are answered as the API answers them."""
    said = FeedbackRequest(
        question="" if e or a else q,
        entity=e,
        aspects=a or [],
        index=index or None,
        doc_id=document,
        passage_id=passage,
        relevance=1 if answers == "yes" else 0,
        span=None,
    )
    kept = feedback.feedback(request, said, caller, state)
    if "application/json" in request.headers.get("accept", ""):
        return kept
    return RedirectResponse(own_path(next), 303)
