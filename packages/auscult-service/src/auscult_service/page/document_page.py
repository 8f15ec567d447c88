"""The page of a document: its text with the answer marked, the curves of its scores, and the pages of a PDF."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final
from urllib.parse import quote, urlsplit

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from auscult.documents import Document, Original
from auscult.errors import ModelError, QueryError
from auscult.search.explain import ScoreCurves, explain
from auscult.search.hits import date_of, display_name
from auscult.search.spans import find_answer
from auscult_service.caller import Asking, check_allowed
from auscult_service.errors import Refusal
from auscult_service.page.asking import PageQuestion, document_path
from auscult_service.page.context import context_of, searcher_for
from auscult_service.page.hits import DATES, language_in
from auscult_service.page.reading import answer_in, parts_of, split_marker
from auscult_service.page.search_page import understand
from auscult_service.page.templating import render
from auscult_service.page.words import wording_of
from auscult_service.routes import Stated, documents, note_audit, row_of

WIDTH: Final = 100
_MOST_POINTS: Final = 600
_MOST_PEAKS: Final = 5
_APART: Final = 2


@dataclass(frozen=True, slots=True)
class Peak:
    """A sentence that scores higher than its neighbours."""

    sentence: int
    x: float
    text: str
    heading: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One curve.

    Attributes:
        name: "entity", "aspect" or "combined".
        area: SVG path of the area under the curve.
        line: SVG path of the curve.
        peaks: Its peaks, best first.
    """

    name: str
    area: str
    line: str
    peaks: tuple[Peak, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvesView:
    """The drawing of a document's scores.

    Attributes:
        curves: The curves, the combined one last.
        sentences: Number of sentences, which is the height of the drawing.
        passages: First sentences of the passages, without the very first.
        scores: The combined score of every sentence from 0 to 100, for scripts and screen readers.
    """

    curves: tuple[Curve, ...]
    sentences: int
    passages: tuple[int, ...]
    scores: tuple[int, ...]

    @property
    def peaks(self) -> tuple[Peak, ...]:
        """Peaks of the combined curve, in the order of the text."""
        return tuple(sorted(self.curves[-1].peaks, key=lambda peak: peak.sentence)) if self.curves else ()


def curves_view(curves: ScoreCurves) -> CurvesView | None:
    """Return the drawing of a document's curves; None where there is nothing to draw."""
    if len(curves.combined) < _APART:
        return None
    sentences = curves.document.sentences
    texts = [split_marker(" ".join(curves.document.slice(sentence).split()))[1] for sentence in sentences]
    headings = [span.heading for span in curves.passages for _ in range(span.last - span.first)]
    drawn = [("entity", curves.entity), ("aspect", curves.aspect), ("combined", curves.combined)]
    # A model without parts for entity and aspect has only the combined curve.
    visible = [(name, scores) for name, scores in drawn if any(scores)]
    top = max(max(scores) for _, scores in visible) if visible else 0.0
    if top <= 0:
        return None
    return CurvesView(
        curves=tuple(_draw_curve(name, scores, texts, headings) for name, scores in visible),
        sentences=len(sentences),
        passages=tuple(span.first for span in curves.passages if 0 < span.first < span.last),
        scores=tuple(round(100 * max(0.0, score) / (max(curves.combined) or 1.0)) for score in curves.combined),
    )


def _draw_curve(name: str, raw: Sequence[float], texts: Sequence[str], headings: Sequence[str]) -> Curve:
    # Smoothed with a quarter of each neighbour and scaled to 1, as peaks are hard to see in a ragged line.
    padded = [raw[0], *raw, raw[-1]]
    smooth = [max(0.0, 0.25 * a + 0.5 * b + 0.25 * c) for a, b, c in zip(padded, padded[1:], padded[2:], strict=False)]
    highest = max(smooth) or 1.0
    scores = [score / highest for score in smooth]
    step = max(1, -(-len(scores) // _MOST_POINTS))
    points = [
        (WIDTH * max(scores[first : first + step]), first + min(step, len(scores) - first) / 2)
        for first in range(0, len(scores), step)
    ]
    points = [(points[0][0], 0), *points, (points[-1][0], len(scores))]
    coordinates = [f"{x:.1f},{y:g}" for x, y in points]
    line = "M" + "L".join(coordinates)
    area = f"M0,0L{'L'.join(coordinates)}L0,{len(scores)}Z"
    peaks = tuple(
        Peak(number, round(WIDTH * scores[number], 1), texts[number], headings[number])
        for number in _find_peaks(scores)
    )
    return Curve(name=name, area=area, line=line, peaks=peaks)


def _find_peaks(scores: Sequence[float]) -> list[int]:
    """Return the sentences that score higher than their neighbours, best first, with a distance between them."""
    ends = (-1.0, *scores, -1.0)
    tops = [
        number
        for number, (before, here) in enumerate(pairwise(ends[:-1]))
        if here >= before and here > ends[number + 2]
    ]
    peaks: list[int] = []
    for number in sorted(tops, key=lambda number: -scores[number]):
        if scores[number] > 0 and all(abs(number - other) > _APART for other in peaks):
            peaks.append(number)
        if len(peaks) == _MOST_PEAKS:
            break
    return peaks


router = APIRouter(include_in_schema=False)
_MOST_FIELDS: Final = 8
_HIDDEN_FIELDS: Final = frozenset({"access"})


@router.get("/d/{index}/{doc_id:path}")
def document(request: Request, index: str, doc_id: str, caller: Asking, state: Stated) -> Response:
    """Show a document, with or without a question."""
    parameters = request.query_params
    question = replace(PageQuestion.of(parameters.multi_items()), index=index)
    note_audit(request, "view", index=index, query=question.words, doc_ids=[doc_id])
    check_allowed(caller, "read", index)
    searcher = searcher_for(state, index, caller)
    reader = searcher.index.reader
    row = row_of(reader, doc_id)
    document = reader.document(row)
    layout = reader.original_layout(row)
    parts = parts_of(document)
    query, curves, answer = None, None, None
    if not question.is_empty:
        with suppress(QueryError):
            understood = understand(searcher, question)
            query, question = understood.query, question.settled(understood)
    if query is not None:
        # A model may have no vector for the query.
        with suppress(QueryError, ModelError):
            curves = curves_view(explain(searcher, query, doc_id))
            found = find_answer(searcher, query, doc_id, parameters.get("p", ""))
            answer = answer_in(found, parameters.get("s", ""))
    note_audit(request, "view", index=index, query=question.words, doc_ids=[doc_id], result=1)
    path = document_path(index, doc_id)

    def at(span: str) -> str:
        return question.at(path, "answer", ("p", parameters.get("p", "")), ("s", span)) if span else ""

    saved = f"/api/v1/documents/{quote(doc_id, safe='/')}/original?index={index}"
    values: dict[str, Any] = {
        "page": context_of(request, state, caller, "document", index),
        "question": question,
        "document": document,
        "title": display_name(document.title, doc_id, document.metadata.get("file", "")),
        "language": language_in(document.metadata),
        "date": date_of(document.metadata, DATES),
        "link": document.url if _is_web(document.url) else "",
        "fields": [pair for pair in document.metadata.items() if pair[1] and pair[0] not in _HIDDEN_FIELDS][
            :_MOST_FIELDS
        ],
        "parts": parts,
        "wording": wording_of(query) or question.text if query else "",
        "curves": curves,
        "answer": answer,
        "pages": pages_of(document, layout, answer.chain[-1] if answer else (0, 0)),
        "sheet": lambda number: f"/sheet/{quote(index, safe='')}/{number}/{quote(doc_id, safe='/')}",
        "original": {"name": layout.name, "href": saved} if layout is not None else None,
        "back": "" if question.is_empty else question.at("/"),
        "smaller": at(answer.smaller) if answer else "",
        "larger": at(answer.larger) if answer else "",
    }
    return HTMLResponse(render("document.html", values))


def _is_web(url: str) -> bool:
    """Return whether a URL may be a link. A document may give any, such as one that runs a script."""
    try:
        return urlsplit(url).scheme in ("http", "https")
    except ValueError:
        return False


_SCALE: Final = 1.8
_SECONDS_KEPT: Final = 3_600


@router.get("/sheet/{index}/{number}/{doc_id:path}")
def sheet(request: Request, index: str, number: int, doc_id: str, caller: Asking, state: Stated) -> Response:
    """Return one page of a PDF as PNG."""
    if number < 1:
        raise Refusal(404, "no_page", "expected a page from 1 on, got one before", "see the document's text")
    answer = documents.page(request, doc_id, number - 1, caller, state, _SCALE, index)
    answer.headers["Cache-Control"] = f"private, max-age={_SECONDS_KEPT}"
    return answer


_MOST_BOXED: Final = 3_000
_ROOM: Final = 1.5
"""Points that a box extends beyond its words on each side."""


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
    """A page of a PDF.

    Attributes:
        number: Number of the page, from 1.
        width: Width in points.
        height: Height in points.
        boxes: Boxes of its sentences, in order.
    """

    number: int
    width: float
    height: float
    boxes: tuple[Boxed, ...]


def pages_of(document: Document, original: Original | None, around: tuple[int, int]) -> list[ShownPage]:
    """Return the pages of a document with boxes around its sentences; empty for a document without pages.

    Args:
        document: The document. Of a long one, only sentences near the answer get boxes.
        original: Layout of its file.
        around: First sentence of the largest possible answer, and one past its last.
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
