"""Pages of a PDF as pictures, which boxes are laid over: as the API has them, and kept by the browser for an hour."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from fastapi import APIRouter, Request, Response

from auscult.service.caller import Asking
from auscult.service.errors import Refusal
from auscult.service.routes import documents
from auscult.service.routes.answers import Stated

router = APIRouter(include_in_schema=False)
_SCALE: Final = 1.8
_KEPT: Final = 3_600


def sheet_path(index: str, doc_id: str, number: int) -> str:
    """Address of a page's picture, from 1."""
    return f"/sheet/{quote(index, safe='')}/{number}/{quote(doc_id, safe='/')}"


@router.get("/sheet/{index}/{number}/{doc_id:path}")
def sheet(request: Request, index: str, number: int, doc_id: str, caller: Asking, state: Stated) -> Response:
    """One page, as PNG."""
    if number < 1:
        raise Refusal(404, "no_page", "expected a page from 1 on, got one before", "see the document's text")
    answer = documents.page(request, doc_id, number - 1, caller, state, _SCALE, index)
    answer.headers["Cache-Control"] = f"private, max-age={_KEPT}"
    return answer
