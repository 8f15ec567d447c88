"""The page of a document: its text as its author shaped it, the answer marked, curves beside it, a PDF's pages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlsplit

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from auscult.documents import Original
from auscult.errors import ModelError, QueryError
from auscult.search import Searcher
from auscult.search.explain import describe, explain
from auscult.search.spans import SpanFinder, finder
from auscult.service.caller import Asking, allowed
from auscult.service.page.answers import Answer, answer_in
from auscult.service.page.asking import Asked, document_path
from auscult.service.page.context import context_of, searcher_for
from auscult.service.page.curves import CurvesView, curves_view
from auscult.service.page.hits import date_of
from auscult.service.page.pages import pages_of
from auscult.service.page.reading import parts_of
from auscult.service.page.rendering import rendered
from auscult.service.page.search_page import understand
from auscult.service.page.sheets import sheet_path
from auscult.service.routes.answers import Stated, audited
from auscult.service.routes.documents import row_of
from auscult.understanding import Query

router = APIRouter(include_in_schema=False)
_SAID: Final = 8
_UNTOLD: Final = frozenset({"access"})


@router.get("/d/{index}/{doc_id:path}")
def document(request: Request, index: str, doc_id: str, caller: Asking, state: Stated) -> Response:
    """A document, for a question or for itself."""
    parameters = request.query_params
    asked = replace(Asked.of(parameters.multi_items()), index=index)
    said = {"question": asked.text, "entity": asked.entity, "aspects": list(asked.aspects)}
    audited(request, "view", index=index, query=said, doc_ids=[doc_id])
    allowed(caller, "read", index)
    searcher = searcher_for(state, index, caller)
    reader = searcher.index.reader
    row = row_of(reader, doc_id)
    found = reader.document(row)
    layout = reader.original_layout(row)
    parts = parts_of(found)
    query, curves, answer = None, None, None
    if not asked.is_empty:
        query = _query(searcher, asked)
        curves, weighed = _explained(searcher, query, doc_id)
        if weighed is not None:
            answer = answer_in(weighed, parts, parameters.get("p", ""), parameters.get("s", ""))
    audited(request, "view", index=index, query=said, doc_ids=[doc_id], result=1)
    page = replace(context_of(request, state, caller, "document", index), counts=searcher.index.manifest.counts)
    at = _addresses(asked, index, doc_id, parameters.get("p", ""), answer)
    values: dict[str, Any] = {
        "page": page,
        "asked": asked,
        "document": found,
        "title": found.title or doc_id,
        "date": date_of(found.metadata),
        "link": found.url if _is_web(found.url) else "",
        "fields": [each for each in found.metadata.items() if each[1] and each[0] not in _UNTOLD][:_SAID],
        "parts": parts,
        "query": query,
        "told": describe(query) or asked.text if query else "",
        "curves": curves,
        "answer": answer,
        "pages": pages_of(found, layout, answer.chain[-1] if answer else (0, 0)),
        "sheet": lambda number: sheet_path(index, doc_id, number),
        "original": _original(layout, index, doc_id),
        **at,
    }
    return HTMLResponse(rendered("document.html", values))


def _query(searcher: Searcher, asked: Asked) -> Query | None:
    try:
        return understand(searcher, asked).query
    except QueryError:
        return None


def _explained(searcher: Searcher, query: Query | None, doc_id: str) -> tuple[CurvesView | None, SpanFinder | None]:
    """Curves and spans; none for a question that the model has no vector for: its document can be read all the same."""
    if query is None:
        return None, None
    try:
        return curves_view(explain(searcher, query, doc_id)), finder(searcher, query, doc_id)
    except (QueryError, ModelError):
        return None, None


def _addresses(asked: Asked, index: str, doc_id: str, passage_id: str, answer: Answer | None) -> dict[str, str]:
    path = document_path(index, doc_id)

    def at(span: str) -> str:
        return asked.at(path, "answer", ("p", passage_id), ("s", span)) if span else ""

    return {
        "back": "" if asked.is_empty else asked.at("/"),
        "smaller": at(answer.smaller) if answer else "",
        "larger": at(answer.larger) if answer else "",
        "here": asked.at(path),
        "bare": path,
    }


def _original(layout: Original | None, index: str, doc_id: str) -> dict[str, str] | None:
    """The file that it was read from, to be saved."""
    if layout is None:
        return None
    api = document_path(index, doc_id).removeprefix("/d/").partition("/")[2]
    base = f"/api/v1/documents/{api}"
    return {"name": layout.name, "href": f"{base}/original?index={index}"}


def _is_web(url: str) -> bool:
    """Whether an address leads to the web, and nowhere else: documents may say anything."""
    try:
        return urlsplit(url).scheme in ("http", "https")
    except ValueError:
        return False
