"""The page of hits: the search box and what completes it, the hits, and hits as files to be saved."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any, Final
from weakref import WeakKeyDictionary

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from auscult.concepts.names import FUNCTION_WORDS
from auscult.errors import QueryError
from auscult.interfaces import Hit
from auscult.search import Findings, Searcher, SearchOptions
from auscult.search.certainty import nothing_here
from auscult.search.explain import describe
from auscult.search.partial import ask_what_is_there
from auscult.search.patients import PATIENT
from auscult.service import answering
from auscult.service.caller import Asking, Caller, allowed
from auscult.service.page.asking import FURTHEST, PER_PAGE, Asked
from auscult.service.page.chips import Choice, assertions_of, chips_of, filters_of
from auscult.service.page.context import context_of, rendered, searcher_for
from auscult.service.page.hits import blocks_of, date_of, grouped, view_of
from auscult.service.page.saved_page import searches_of
from auscult.service.page.troubles import no_index
from auscult.service.routes import Stated, audited
from auscult.service.state import Names, State
from auscult.understanding.aspect_words import question_about
from auscult.understanding.understand import Understanding

router = APIRouter(include_in_schema=False)
_EXAMPLES: Final = ("symptoms", "treatment", "information", "causes", "side effects", "diagnosis")
_LOOKED_AT: Final = 60
_TITLES: Final = 4
_SAVED: Final = 6
_KEPT: WeakKeyDictionary[Searcher, tuple[str, ...]] = WeakKeyDictionary()


@router.get("/")
def front(request: Request, caller: Asking, state: Stated) -> Response:
    """The box, and below it what answers what was asked."""
    asked = Asked.of(request.query_params.multi_items())
    allowed(caller, "read")
    page = context_of(request, state, caller, "search", asked.index)
    if not page.may_ask:
        return no_index(page)
    if not asked.is_empty:
        audited(request, "search", index=asked.index or page.index, query=asked.words)
    searcher = searcher_for(state, asked.index, caller)
    page = replace(page, counts=searcher.index.manifest.counts)
    if asked.is_empty:
        counts = searcher.index.manifest.counts
        home = {
            "page": page,
            "asked": asked,
            "examples": ask_what_is_there(searcher, partial(examples, asked=asked))[0],
            "saved": [Choice(each.name, "", each.address) for each in searches_of(request, caller)[:_SAVED]],
            "figures": [(name, getattr(counts, name)) for name in ("documents", "passages", "sentences")],
            "notice": "Nothing was asked yet: write a question, or the name of a disease or drug."
            if "q" in request.query_params
            else "",
        }
        return HTMLResponse(rendered("home.html", home))
    begun = time.perf_counter()
    (searcher, understood, asked, number, shown), left_out = ask_what_is_there(searcher, partial(_shown, asked=asked))
    took = round(1000 * (time.perf_counter() - begun))
    audited(
        request, "search", index=page.index, query=asked.words, result=len(shown),
        doc_ids=list(dict.fromkeys(hit.doc_id for hit in shown)),
    )  # fmt: skip
    views = [
        view_of(hit, number, understood.query, asked, page.index, searcher.knowledge_base)
        for number, hit in enumerate(shown, asked.start + 1)
    ]
    values: dict[str, Any] = {
        "page": page,
        "asked": asked,
        "query": understood.query,
        "told": asked.text if not asked.by_parts else describe(understood.query),
        "chips": chips_of(understood, asked, searcher),
        "views": grouped(views),
        "address": (address := replace(asked, start=0, index=page.index).at("/")),
        "saved_as": next((each.name for each in searches_of(request, caller) if each.address == address), ""),
        "judged": judged(understood, asked),
        "left_out": left_out.sentence if left_out else "",
        "nothing": "" if left_out else _nothing(understood, asked, shown),
        "more": number > asked.start + PER_PAGE <= FURTHEST,
        "per_page": PER_PAGE,
        "filters": [*filters_of(searcher.index, asked), *assertions_of(understood.query, asked)],
        "patients": asked.from_hit(0).at("/patients") if PATIENT in searcher.index.reader.fields else "",
        # The columns are of documents, whatever their sentences say.
        "compare": replace(asked, assertions=()).at("/compare"),
        "coverage": asked.at("/coverage", "", ("entity", understood.query.entity)) if understood.query.entity else "",
        "took": took,
    }
    return HTMLResponse(rendered("search.html", values))


def _shown(searcher: Searcher, asked: Asked) -> tuple[Searcher, Understanding, Asked, int, list[Hit]]:
    """Return the searcher, how an address is understood, it as that leaves it, how many hits there are, its own."""
    understood = understand(searcher, asked)
    asked = asked.settled(understood)
    found = find(searcher, understood, asked, asked.start + PER_PAGE + 1)
    number = len(found) if found else 0
    shown = [found.hit(each) for each in range(asked.start, min(number, asked.start + PER_PAGE))] if found else []
    return searcher, understood, asked, number, shown


def understand(searcher: Searcher, asked: Asked) -> Understanding:
    """Return how an address is understood.

    Raises:
        QueryError: It names an identifier that is not known.
    """
    return Understanding(asked.query) if asked.as_words else searcher.understand(asked.query, asked.earlier)


def _nothing(understood: Understanding, asked: Asked, shown: Sequence[Hit]) -> str:
    """Return the sentence that says why nothing is shown that answers; empty where something may."""
    if asked.assertions and not understood.query.all_names:
        return "Nothing was recognised that something could be said of, and the filter asks for what is said of it."
    return "" if asked.start else nothing_here([hit.probability for hit in shown])


def judged(understood: Understanding, asked: Asked) -> list[tuple[str, str]]:
    """Return the question that a judgement of a hit is about: in whole words, where it needed earlier ones."""
    told = [(name, value) for name, value in asked.parameters if name in ("q", "e", "a")]
    return [("q", understood.query.text)] if asked.earlier and understood.query.text else told


def find(searcher: Searcher, understood: Understanding, asked: Asked, number: int) -> Findings | None:
    """Find the first passages of an address; None where its filters name what no document has."""
    try:
        return searcher.find(understood.query, number, SearchOptions(where=asked.where, assertions=asked.assertions))
    except QueryError:
        if not asked.filtered:
            raise
        return None


def examples(searcher: Searcher, asked: Asked) -> list[Choice]:
    """Return questions that documents of the index answer: about titles far apart in it, each about another aspect."""
    if searcher not in _KEPT:
        reader = searcher.index.reader
        titles = (reader.document_record(row).title for row in reader.documents[:50].tolist())
        _KEPT[searcher] = tuple(_questions(searcher)) or tuple(filter(None, dict.fromkeys(titles)))[:_TITLES]
    return [Choice(question, "", asked.in_words(question).at()) for question in _KEPT[searcher]]


def _questions(searcher: Searcher) -> Iterator[str]:
    reader, resolver = searcher.index.reader, searcher.parser.resolver
    rows = reader.documents
    seen: set[str] = set()
    for number, aspect in enumerate(_EXAMPLES):
        for row in rows[len(rows) * (2 * number + 1) // (2 * len(_EXAMPLES)) :][:_LOOKED_AT].tolist():
            title = reader.document_record(row).title
            if not 3 <= len(title) <= 40 or title in seen:
                continue
            headings = " ".join(reader.passage(passage).heading.casefold() for passage in reader.passages_of(row))
            if aspect in headings and resolver.resolve(title, limit=1, fuzzy=False):
                seen.add(title)
                yield question_about(aspect, title)
                break


_MOST_OPTIONS: Final = 8
_ASPECTS_ASKED: Final = ("symptoms", "treatment", "causes", "diagnosis")
_TAIL: Final = 4
_SHORTEST: Final = 2


@router.get("/complete")
def complete(request: Request, caller: Asking, state: Stated, q: str = "", index: str = "") -> Response:
    """Suggestions for the box, best first: `text` is what it then holds."""
    audited(request, "complete", index=index)
    allowed(caller, "read", index or None)
    names = state.served(index or None, caller).opened.names_for(caller.groups)
    return JSONResponse({"options": options(names, q[:200])}, headers={"Cache-Control": "no-store"})


def options(names: Names, typed: str) -> list[dict[str, str]]:
    """Return what a box may hold next: names that begin with all that was typed, aspects, names for its last words."""
    begun, found = _completions(names, typed)
    told = [
        {
            "text": f"{begun}{each.name}",
            "name": each.name,
            "how": f"also called {each.matched}" if each.matched.casefold() != each.name.casefold() else "",
        }
        for each in found
    ]
    if begun or not told:
        entity, aspects = names.aspects(typed) if typed.strip() else ("", [])
        questions = [f"{entity} {aspect}" for aspect in aspects]
        return [*map(_option, questions), *told][:_MOST_OPTIONS]
    asked = sorted(_ASPECTS_ASKED, key=lambda aspect: aspect not in names.headed)
    return [*told, *(_option(question_about(aspect, found[0].name)) for aspect in asked)][:_MOST_OPTIONS]


def _option(text: str) -> dict[str, str]:
    return {"text": text, "name": text, "how": ""}


def _completions(names: Names, typed: str) -> tuple[str, list[Any]]:
    """Return the words before those that are completed, and what completes them."""
    words = typed.split(" ")
    for number in (len(words), *range(min(_TAIL, len(words) - 1), 0, -1)):
        tail = " ".join(words[len(words) - number :])
        inside = number < len(words)
        if len(tail.strip()) >= (_SHORTEST if inside else 1) and not (
            inside and words[-number].lower() in FUNCTION_WORDS
        ):
            found = names.complete(tail, _MOST_OPTIONS if number < len(words) else _MOST_OPTIONS - 3).entities
            if found:
                return " ".join((*words[: len(words) - number], "")) if number < len(words) else "", list(found)
    return "", []


_MOST_EXPORTED: Final = 100
_COLUMNS: Final = (
    "rank", "probability", "title", "heading", "source", "date", "answer", "said", "passage", "document", "start",
    "end", "url",
)  # fmt: skip
#: A cell that begins so is a formula to a spreadsheet, and documents may say anything.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


@router.get("/export.csv")
def as_table(request: Request, caller: Asking, state: Stated) -> Response:
    """The first hundred hits as a table, its marked sentences under `answer`."""
    _, _, found = _hits(request, caller, state)
    return as_file(as_csv(_COLUMNS, (_cells(hit) for _, hit in found)), "text/csv; charset=utf-8", "hits.csv")


def _cells(hit: Hit) -> list[str]:
    blocks, _, _ = blocks_of(hit)
    said = dict.fromkeys(each for sentence in hit.sentences if sentence.marked for each in sentence.assertions)
    answer = " … ".join(piece.marker + piece.text for block in blocks for piece in block.pieces if piece.marked)
    return [
        str(hit.rank), "" if hit.probability is None else f"{hit.probability:.3f}", hit.title,
        " > ".join(filter(None, (*hit.above, hit.heading))), hit.source, date_of(hit.metadata), answer,
        ", ".join(said), hit.passage_id, hit.doc_id, str(hit.start), str(hit.end), hit.url,
    ]  # fmt: skip


@router.get("/export.json")
def as_json(request: Request, caller: Asking, state: Stated) -> Response:
    """The first hundred hits, and how the question was understood."""
    asked, told, found = _hits(request, caller, state)
    searcher = state.searcher(asked.index or None, caller)
    listed = [asdict(answering.hit_response(searcher, asked.index, row, hit)) for row, hit in found]
    answer = {"understood": asdict(answering.understood_response(told)), "hits": listed}
    return as_file(json.dumps(answer, ensure_ascii=False, indent=1).encode(), "application/json", "hits.json")


def _hits(request: Request, caller: Caller, state: State) -> tuple[Asked, Understanding, list[tuple[int, Hit]]]:
    """Return hits, each with its document's row."""
    asked = Asked.of(request.query_params.multi_items())
    audited(request, "export", index=asked.index, query=asked.words)
    allowed(caller, "read", asked.index or None)
    served = state.served(asked.index or None, caller)
    searcher = served.opened.seen_by(caller.groups)
    told = understand(searcher, asked)
    findings = find(searcher, told, asked, _MOST_EXPORTED)
    found = [(findings.document(number), findings.hit(number)) for number in range(len(findings))] if findings else []
    ids = list(dict.fromkeys(hit.doc_id for _, hit in found))
    audited(request, "export", index=served.name, query=asked.words, doc_ids=ids, result=len(found))
    return replace(asked, index=served.name), told, found


def as_csv(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """Return a table as CSV that spreadsheets take for UTF-8, and for text alone."""
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow(columns)
    for row in rows:
        table.writerow([f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in row])
    # Spreadsheets take a file for UTF-8 by its mark. Half a surrogate pair, which a document may hold, it cannot say.
    return ("\ufeff" + written.getvalue()).encode("utf-8", "replace")


def as_file(content: bytes, kind: str, name: str) -> Response:
    """Return an answer that a browser saves under a name."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(content, media_type=kind, headers=headers)
