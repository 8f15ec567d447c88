"""The search page: the search box with its suggestions, the hits, and hits as files to download."""

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
from auscult.encoders.contract import languages_of
from auscult.errors import QueryError
from auscult.search import Findings, Searcher, SearchOptions
from auscult.search.certainty import doubt_of
from auscult.search.hits import Hit, date_of
from auscult.search.partial import LeftOut, ask_what_is_there
from auscult.search.patients import PATIENT
from auscult.understanding.aspects import question_about
from auscult.understanding.understand import Understanding
from auscult_service import answering
from auscult_service.caller import Asking, Caller, check_allowed
from auscult_service.names import Names
from auscult_service.page.asking import FURTHEST, PER_PAGE, PageQuestion
from auscult_service.page.chips import Choice, assertions_of, chips_of, filters_of
from auscult_service.page.context import PageContext, context_of, searcher_for
from auscult_service.page.hits import DATES, excerpt_of, merge_same_texts, show_hit
from auscult_service.page.language import Wording, language_of, wording
from auscult_service.page.messages import Either, LanguageName, Message, message
from auscult_service.page.saved_page import searches_of
from auscult_service.page.templating import render
from auscult_service.page.troubles import no_index
from auscult_service.page.words import wording_of
from auscult_service.routes import Stated, note_audit
from auscult_service.saved import SavedSearch
from auscult_service.state import State

router = APIRouter(include_in_schema=False)
_EXAMPLES: Final = ("symptoms", "treatment", "information", "causes", "side effects", "diagnosis")
_LOOKED_AT: Final = 60
_TITLES: Final = 4
_SAVED: Final = 6
NOTHING_TO_SAY: Final = message(
    "Nothing was recognised that something could be said of, and the filter asks for what is said of it."
)
"""Sentence for a filter of assertions where the question has no entity."""
_KEPT: WeakKeyDictionary[Searcher, tuple[str, ...]] = WeakKeyDictionary()


@router.get("/")
def front(request: Request, caller: Asking, state: Stated) -> Response:
    """Show the search box and the hits, or the start page without a question."""
    question = PageQuestion.of(request.query_params.multi_items())
    check_allowed(caller, "read")
    page = context_of(request, state, caller, "search", question.index)
    if not page.may_ask:
        return no_index(page)
    if not question.is_empty:
        note_audit(request, "search", index=question.index or page.index, query=question.words)
    searcher = searcher_for(state, question.index, caller)
    saved = searches_of(request, caller)
    if not question.is_empty:
        return HTMLResponse(render("search.html", _search(request, page, question, searcher, saved)))
    counts = searcher.index.manifest.counts
    nothing_asked = message("Nothing was asked yet: write a question, or the name of a disease or drug.")
    values = {
        "page": page,
        "question": question,
        "examples": ask_what_is_there(searcher, partial(_make_examples, question=question))[0],
        "saved": saved[:_SAVED],
        "counts": counts,
        "notice": nothing_asked if "q" in request.query_params else None,
    }
    return HTMLResponse(render("home.html", values))


def _search(
    request: Request, page: PageContext, question: PageQuestion, searcher: Searcher, saved: Sequence[SavedSearch]
) -> dict[str, Any]:
    """Search, and return the values of the page of hits."""
    counts = searcher.index.manifest.counts
    begun = time.perf_counter()
    (searcher, understood, question, number, hits), left_out = ask_what_is_there(
        searcher, partial(_find_hits, question=question)
    )
    took = round(1000 * (time.perf_counter() - begun))
    note_audit(
        request, "search", index=page.index, query=question.words, result=len(hits),
        doc_ids=list(dict.fromkeys(hit.doc_id for hit in hits)),
    )  # fmt: skip
    shown = [
        show_hit(hit, number, understood.query, question, page.index, searcher.knowledge_base)
        for number, hit in enumerate(hits, question.start + 1)
    ]
    unread = _name_unread(understood.language, searcher) if any(hit.unread for hit in hits) else None
    nothing = None if question.start or unread else _nothing_here([hit.probability for hit in hits])
    if question.assertions and not understood.query.all_names:
        nothing = NOTHING_TO_SAY
    # A question that needed earlier ones is judged in its completed words.
    judged = [(name, value) for name, value in question.parameters if name in ("q", "e", "a")]
    if question.earlier and understood.query.text:
        judged = [("q", understood.query.text)]
    return {
        "page": page,
        "question": question,
        "query": understood.query,
        "wording": question.text if not question.by_parts else wording_of(understood.query),
        "chips": chips_of(understood, question, searcher),
        "hits": merge_same_texts(shown),
        "address": (address := replace(question, start=0, index=page.index).at("/")),
        "saved_as": next((search.name for search in saved if search.address == address), ""),
        "judged": judged,
        "left_out": _name_left_out(left_out) if left_out else None,
        "nothing": None if left_out else nothing,
        "unread": unread,
        "more": number > question.start + PER_PAGE <= FURTHEST,
        "per_page": PER_PAGE,
        "filters": [*filters_of(searcher.index, question), *assertions_of(understood.query, question)],
        "patients": question.from_hit(0).at("/patients") if PATIENT in searcher.index.reader.fields else "",
        # Comparisons are over documents, so the filter of assertions does not apply.
        "compare": replace(question, assertions=()).at("/compare"),
        "coverage": question.at("/coverage", "", ("entity", understood.query.entity))
        if understood.query.entity
        else "",
        "counts": counts,
        "took": took,
    }


def _nothing_here(probabilities: Sequence[float | None]) -> Message | None:
    """Return the sentence that none of the hits answers, or perhaps none; None where one may (`nothing_here`)."""
    doubt = doubt_of(probabilities)
    if doubt is None:
        return None
    if doubt.best is None:
        return message("Nothing was found.")
    chance = round(100 * doubt.best)
    if doubt.certain:
        return message(
            "Nothing here seems to answer this; the nearest follow (the best of them with a chance of %(chance)s%%).",
            chance=chance,
        )
    return message(
        "Perhaps nothing here answers this; the nearest follow (the best of them with a chance of %(chance)s%%).",
        chance=chance,
    )


def _name_unread(language: str, searcher: Searcher) -> Message:
    """Return why hits have no probability: the model does not read the languages of question and passages."""
    names = [LanguageName(code) for code in sorted(languages_of(searcher.encoder))]
    if language in languages_of(searcher.encoder):
        return message(
            "Some hits are in a language that the model of this index does not read; it reads %(read)s only. They have "
            "no probability: read them yourself, or leave them out by the field language.",
            read=tuple(names),
        )
    return message(
        "The question is in %(asked)s, and the model of this index reads %(read)s only. So no probabilities are shown. "
        "Ask in %(either)s, or use an index in %(asked)s.",
        asked=LanguageName(language),
        read=tuple(names),
        either=Either(names),
    )


def _name_left_out(left_out: LeftOut) -> Message:
    """Return the sentence that says what was not searched."""
    return message(
        "A part of the collection was not searched: %(missing)s of %(all)s documents (share %(shares)s of %(of)s does"
        " not answer). What they say is missing here; ask again later.",
        missing=left_out.documents,
        all=left_out.of_documents,
        shares=tuple(map(str, left_out.shares)),
        of=left_out.of_shares,
    )


def _find_hits(
    searcher: Searcher, question: PageQuestion
) -> tuple[Searcher, Understanding, PageQuestion, int, list[Hit]]:
    """Search for the hits of one page.

    Returns:
        The searcher, how it understands the question, the question without earlier ones that it does not need, the
        number of hits that were found (at most one beyond the page), and the hits of the page.
    """
    understood = understand(searcher, question)
    question = question.settled(understood)
    findings = _find(searcher, understood, question, question.start + PER_PAGE + 1)
    number = len(findings) if findings else 0
    hits = (
        [findings.hit(number) for number in range(question.start, min(number, question.start + PER_PAGE))]
        if findings
        else []
    )
    return searcher, understood, question, number, hits


def understand(searcher: Searcher, question: PageQuestion) -> Understanding:
    """Understand a question of the page.

    Raises:
        QueryError: The question names an unknown identifier.
    """
    return Understanding(question.query) if question.as_words else searcher.understand(question.query, question.earlier)


def _find(searcher: Searcher, understood: Understanding, question: PageQuestion, number: int) -> Findings | None:
    """Find the first passages for a question; None where no document has the values of its filters."""
    try:
        return searcher.find(
            understood.query, number, SearchOptions(where=question.where, assertions=question.assertions)
        )
    except QueryError:
        if not question.filtered:
            raise
        return None


def _make_examples(searcher: Searcher, question: PageQuestion) -> list[Choice]:
    """Return example questions that the index answers: titles from all over the index, each with another aspect."""
    if searcher not in _KEPT:
        reader = searcher.index.reader
        titles = (reader.document_record(row).title for row in reader.documents[:50].tolist())
        _KEPT[searcher] = tuple(_make_questions(searcher)) or tuple(filter(None, dict.fromkeys(titles)))[:_TITLES]
    return [Choice(text, "", question.in_words(text).at()) for text in _KEPT[searcher]]


def _make_questions(searcher: Searcher) -> Iterator[str]:
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
    """Return suggestions for the search box, best first; `text` is the new content of the box."""
    note_audit(request, "complete", index=index)
    check_allowed(caller, "read", index or None)
    names = state.served(index or None, caller).opened.names_for(caller.groups)
    suggestions = options(names, q[:200], wording(language_of(request)))
    return JSONResponse({"options": suggestions}, headers={"Cache-Control": "no-store"})


def options(names: Names, typed: str, words: Wording) -> list[dict[str, str]]:
    """Return suggestions: names that begin with the whole text, then aspects, then names for its last words."""
    begun, completions = _find_completions(names, typed)
    suggestions = [
        {
            "text": f"{begun}{completion.name}",
            "name": completion.name,
            "how": words.say(message("also called %(name)s", name=completion.matched))
            if completion.matched.casefold() != completion.name.casefold()
            else "",
        }
        for completion in completions
    ]
    comes_first = bool(begun) or not suggestions
    if comes_first:
        entity, aspects = names.aspects(typed) if typed.strip() else ("", [])
        questions = [f"{entity} {aspect}" for aspect in aspects]
    else:
        ordered = sorted(_ASPECTS_ASKED, key=lambda aspect: aspect not in names.headed)
        questions = [question_about(aspect, completions[0].name) for aspect in ordered]
    further = [{"text": question, "name": question, "how": ""} for question in questions]
    return [*further, *suggestions][:_MOST_OPTIONS] if comes_first else [*suggestions, *further][:_MOST_OPTIONS]


def _find_completions(names: Names, typed: str) -> tuple[str, list[Any]]:
    """Return the words before the completed ones, and the completions."""
    words = typed.split(" ")
    for number in (len(words), *range(min(_TAIL, len(words) - 1), 0, -1)):
        tail = " ".join(words[len(words) - number :])
        inside = number < len(words)
        if len(tail.strip()) >= (_SHORTEST if inside else 1) and not (
            inside and words[-number].lower() in FUNCTION_WORDS
        ):
            completions = names.complete(tail, _MOST_OPTIONS if number < len(words) else _MOST_OPTIONS - 3).entities
            if completions:
                return " ".join((*words[: len(words) - number], "")) if number < len(words) else "", list(completions)
    return "", []


_MOST_EXPORTED: Final = 100
_COLUMNS: Final = (
    "rank", "probability", "title", "heading", "source", "date", "answer", "said", "passage", "document", "start",
    "end", "url",
)  # fmt: skip
#: Spreadsheets take a cell with such a beginning for a formula, and documents may contain anything.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


@router.get("/export.csv")
def as_table(request: Request, caller: Asking, state: Stated) -> Response:
    """Return the first hundred hits as a table, with their marked sentences under `answer`."""
    _, _, hits = _find_all(request, caller, state)
    return as_file(as_csv(_COLUMNS, (_to_cells(hit) for _, hit in hits)), "text/csv; charset=utf-8", "hits.csv")


def _to_cells(hit: Hit) -> list[str]:
    assertions = dict.fromkeys(
        assertion for sentence in hit.sentences if sentence.marked for assertion in sentence.assertions
    )
    answer = " … ".join(
        sentence.marker + sentence.text
        for paragraph in excerpt_of(hit).paragraphs
        for sentence in paragraph.sentences
        if sentence.marked
    )
    return [
        str(hit.rank), "" if hit.probability is None else f"{hit.probability:.3f}", hit.title,
        " > ".join(hit.headings), hit.source, date_of(hit.metadata, DATES), answer,
        ", ".join(assertions), hit.passage_id, hit.doc_id, str(hit.start), str(hit.end), hit.url,
    ]  # fmt: skip


@router.get("/export.json")
def as_json(request: Request, caller: Asking, state: Stated) -> Response:
    """Return the first hundred hits as JSON, with how the question was understood."""
    question, understood, hits = _find_all(request, caller, state)
    searcher = state.searcher(question.index or None, caller)
    listed = [asdict(answering.hit_response(searcher, question.index, row, hit)) for row, hit in hits]
    answer = {"understood": asdict(answering.understood_response(understood)), "hits": listed}
    return as_file(json.dumps(answer, ensure_ascii=False, indent=1).encode(), "application/json", "hits.json")


def _find_all(
    request: Request, caller: Caller, state: State
) -> tuple[PageQuestion, Understanding, list[tuple[int, Hit]]]:
    """Return the question, how it was understood, and the hits with the rows of their documents."""
    question = PageQuestion.of(request.query_params.multi_items())
    note_audit(request, "export", index=question.index, query=question.words)
    check_allowed(caller, "read", question.index or None)
    served = state.served(question.index or None, caller)
    searcher = served.opened.seen_by(caller.groups)
    understood = understand(searcher, question)
    findings = _find(searcher, understood, question, _MOST_EXPORTED)
    hits = [(findings.document(number), findings.hit(number)) for number in range(len(findings))] if findings else []
    ids = list(dict.fromkeys(hit.doc_id for _, hit in hits))
    note_audit(request, "export", index=served.name, query=question.words, doc_ids=ids, result=len(hits))
    return replace(question, index=served.name), understood, hits


def as_csv(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """Return a table as CSV that spreadsheets read as UTF-8, and whose cells they do not run as formulas."""
    written = io.StringIO()
    table = csv.writer(written)
    table.writerow(columns)
    for row in rows:
        table.writerow([f"'{cell}" if cell.startswith(_FORMULA) else cell for cell in row])
    # Spreadsheets recognise UTF-8 by its byte order mark. Lone surrogates, which a document may have, are replaced.
    return ("\ufeff" + written.getvalue()).encode("utf-8", "replace")


def as_file(content: bytes, kind: str, name: str) -> Response:
    """Return a response that a browser saves as a file."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(content, media_type=kind, headers=headers)
