"""The page of a document: its text as its author shaped it, the answer marked, curves beside it, a PDF's pages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final
from urllib.parse import quote, urlsplit

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from auscult.documents import Document, Original
from auscult.errors import ModelError, QueryError
from auscult.search import Searcher
from auscult.search.explain import describe, explain
from auscult.search.spans import SpanFinder, finder
from auscult.service.caller import Asking, allowed
from auscult.service.errors import Refusal
from auscult.service.page.asking import Asked, document_path
from auscult.service.page.context import context_of, rendered, searcher_for
from auscult.service.page.curves import CurvesView, curves_view
from auscult.service.page.hits import date_of
from auscult.service.page.reading import Answer, answer_in, parts_of
from auscult.service.page.search_page import understand
from auscult.service.routes import Stated, audited, documents, row_of
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


_SCALE: Final = 1.8
_SECONDS_KEPT: Final = 3_600


def sheet_path(index: str, doc_id: str, number: int) -> str:
    """Address of a page's picture, from 1."""
    return f"/sheet/{quote(index, safe='')}/{number}/{quote(doc_id, safe='/')}"


@router.get("/sheet/{index}/{number}/{doc_id:path}")
def sheet(request: Request, index: str, number: int, doc_id: str, caller: Asking, state: Stated) -> Response:
    """One page, as PNG."""
    if number < 1:
        raise Refusal(404, "no_page", "expected a page from 1 on, got one before", "see the document's text")
    answer = documents.page(request, doc_id, number - 1, caller, state, _SCALE, index)
    answer.headers["Cache-Control"] = f"private, max-age={_SECONDS_KEPT}"
    return answer


_MOST_BOXED: Final = 3_000
_ROOM: Final = 1.5
"""Points that a box is wider than its words on each side."""


@dataclass(frozen=True, slots=True)
class Boxed:
    """One line of a sentence on a page, in points."""

    sentence: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPage:
    """A page.

    Attributes:
        number: From 1.
        width: In points.
        height: In points.
        boxes: Of all its sentences, in order.
    """

    number: int
    width: float
    height: float
    boxes: tuple[Boxed, ...]


def pages_of(document: Document, original: Original | None, around: tuple[int, int]) -> list[ShownPage]:
    """The pages of a document; none where it is no PDF.

    Args:
        document: Whose sentences are boxed: all of them, or of a long one those near the answer.
        original: Its file's layout.
        around: First and one past the last sentence of what may be marked.
    """
    if original is None or not original.pages:
        return []
    sentences = list(enumerate(document.sentences))
    if len(sentences) > _MOST_BOXED:
        middle = sum(around) // 2
        sentences = sentences[max(0, middle - _MOST_BOXED // 2) : middle + _MOST_BOXED // 2]
    boxes: dict[int, list[Boxed]] = {}
    for number, sentence in sentences:
        for box in original.boxes(sentence.start, sentence.end):
            boxes.setdefault(box.page, []).append(
                Boxed(
                    number,
                    round(box.left - _ROOM, 1),
                    round(box.top - _ROOM / 2, 1),
                    round(box.right - box.left + 2 * _ROOM, 1),
                    round(box.bottom - box.top + _ROOM, 1),
                )
            )
    return [
        ShownPage(number=number + 1, width=width, height=height, boxes=tuple(boxes.get(number, ())))
        for number, (width, height) in enumerate(original.pages)
    ]
