"""Pages of a PDF as pictures, which boxes are laid over."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote

from fastapi import APIRouter, Request, Response

from auscult.readers.page_images import PageRenderer
from auscult.service.caller import Asking, allowed
from auscult.service.errors import Refusal
from auscult.service.routes.answers import Stated, audited
from auscult.service.routes.documents import row_of

router = APIRouter(include_in_schema=False)
_SCALE: Final = 1.8
_PDF: Final = "application/pdf"
_KEPT: Final = 3_600


def sheet_path(index: str, doc_id: str, number: int) -> str:
    """Address of a page's picture, from 1."""
    return f"/sheet/{quote(index, safe='')}/{number}/{quote(doc_id, safe='/')}"


@router.get("/sheet/{index}/{number}/{doc_id:path}")
def sheet(request: Request, index: str, number: int, doc_id: str, caller: Asking, state: Stated) -> Response:
    """One page, as PNG."""
    audited(request, "view", index=index, doc_ids=[doc_id])
    allowed(caller, "read", index)
    reader = state.searcher(index, caller).index.reader
    file = reader.original(row_of(reader, doc_id))
    if file is None or file.media_type != _PDF or not 1 <= number <= len(file.pages):
        message = "expected a page of a PDF that is kept, got another"
        raise Refusal(404, "not_found", message, "see the document's text")
    renderer: PageRenderer = request.app.state.page_renderer
    picture = renderer.render(file.content, number - 1, _SCALE)
    audited(request, "view", index=index, doc_ids=[doc_id], result=1)
    return Response(picture, media_type="image/png", headers={"Cache-Control": f"private, max-age={_KEPT}"})
