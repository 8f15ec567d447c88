"""Hits to be taken along: as a table for spreadsheets, and as JSON as the API has it."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict, replace
from typing import Final

from fastapi import APIRouter, Request, Response

from auscult.interfaces import Hit
from auscult.service import hits, understood
from auscult.service.caller import Asking, Caller, allowed
from auscult.service.page.asking import Asked
from auscult.service.page.hits import date_of, excerpt
from auscult.service.page.search_page import find, understand
from auscult.service.routes.answers import Stated, audited
from auscult.service.state import State
from auscult.understanding.understand import Understanding

router = APIRouter(include_in_schema=False)
_MOST: Final = 100
_COLUMNS: Final = (
    "rank", "probability", "title", "heading", "source", "date", "answer", "passage", "document", "start", "end", "url",
)  # fmt: skip
#: A cell that begins so is a formula to a spreadsheet, and documents may say anything.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


@router.get("/export.csv")
def as_table(request: Request, caller: Asking, state: Stated) -> Response:
    """The first hundred hits as a table, its marked sentences under `answer`."""
    _, _, found = _hits(request, caller, state)
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow(_COLUMNS)
    for _, hit in found:
        table.writerow([_harmless(cell) for cell in _row(hit)])
    # Spreadsheets take a file for UTF-8 by its mark.
    return _saved(("\ufeff" + written.getvalue()).encode(), "text/csv; charset=utf-8", "hits.csv")


@router.get("/export.json")
def as_json(request: Request, caller: Asking, state: Stated) -> Response:
    """The first hundred hits, and how the question was understood."""
    asked, told, found = _hits(request, caller, state)
    searcher = state.searcher(asked.index or None, caller)
    listed = [asdict(hits.told(searcher, asked.index, row, hit)) for row, hit in found]
    answer = {"understood": asdict(understood.told(told)), "hits": listed}
    return _saved(json.dumps(answer, ensure_ascii=False, indent=1).encode(), "application/json", "hits.json")


def _hits(request: Request, caller: Caller, state: State) -> tuple[Asked, Understanding, list[tuple[int, Hit]]]:
    """Hits, each with its document's row."""
    asked = Asked.of(request.query_params.multi_items())
    said = {"question": asked.text, "entity": asked.entity, "aspects": list(asked.aspects)}
    audited(request, "export", index=asked.index, query=said)
    allowed(caller, "read", asked.index or None)
    served = state.served(asked.index or None, caller)
    searcher = served.opened.seen_by(caller.groups)
    told = understand(searcher, asked)
    findings = find(searcher, told, asked, _MOST)
    found = [(findings.document(number), findings.hit(number)) for number in range(len(findings))] if findings else []
    ids = list(dict.fromkeys(hit.doc_id for _, hit in found))
    audited(request, "export", index=served.name, query=said, doc_ids=ids, result=len(found))
    return replace(asked, index=served.name), told, found


def _row(hit: Hit) -> list[str]:
    blocks, _, _ = excerpt(hit)
    answer = " … ".join(piece.marker + piece.text for block in blocks for piece in block.pieces if piece.marked)
    return [
        str(hit.rank), "" if hit.probability is None else f"{hit.probability:.3f}", hit.title,
        " > ".join(filter(None, (*hit.above, hit.heading))), hit.source, date_of(hit.metadata), answer, hit.passage_id,
        hit.doc_id, str(hit.start), str(hit.end), hit.url,
    ]  # fmt: skip


def _harmless(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def _saved(content: bytes, kind: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(content, media_type=kind, headers=headers)
