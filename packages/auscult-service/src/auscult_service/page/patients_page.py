"""Hits by patient on a time line, and as files to download."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from auscult.errors import QueryError
from auscult.schema import Assertion
from auscult.search import Searcher
from auscult.search.patients import MOST_PASSAGES, PATIENT, FoundSentence, Patient, Patients, by_patient
from auscult_service.caller import Asking, Caller, check_allowed
from auscult_service.page.asking import ASSERTIONS, FURTHEST, PageQuestion, document_path
from auscult_service.page.chips import chips_of, filters_of
from auscult_service.page.context import context_of, searcher_for
from auscult_service.page.messages import Message, message
from auscult_service.page.search_page import NOTHING_TO_SAY, as_csv, as_file, understand
from auscult_service.page.templating import render
from auscult_service.page.troubles import no_index
from auscult_service.page.words import wording_of
from auscult_service.routes import Stated, note_audit
from auscult_service.routes.patients import patients_response
from auscult_service.state import State

router = APIRouter(include_in_schema=False)
PER_PAGE: Final = 20
_SHOWN: Final = 5
_SENTENCES: Final = 3
_DATE: Final = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?")
_MOST_TICKS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownDocument:
    """A document on a patient's time line.

    Attributes:
        assertion: The first of `ASSERTIONS` that one of its sentences makes about the entity; empty for none.
        x: Position on the axis in percent; None without a date.
        sentences: The sentences that are shown.
        further: Number of sentences that are not shown.
    """

    title: str
    heading: str
    date: str
    href: str
    assertion: str
    x: float | None
    sentences: tuple[FoundSentence, ...]
    further: int


@dataclass(frozen=True, slots=True)
class ShownPatient:
    """A patient with documents that are shown at once, and further ones that are shown on request."""

    number: int
    patient: Patient
    href: str
    documents: tuple[ShownDocument, ...]
    further: tuple[ShownDocument, ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """The time line that all patients share; `ticks` are positions in percent with their labels."""

    first: float
    last: float
    ticks: tuple[tuple[float, str], ...]

    def place(self, date: str) -> float | None:
        """Return the position of a date on the axis, from 2 to 98 percent; None for an invalid date."""
        at = _to_years(date)
        return None if at is None else round(2 + 96 * (at - self.first) / ((self.last - self.first) or 1.0), 2)


@router.get("/patients")
def patients(request: Request, caller: Asking, state: Stated) -> Response:
    """Show the sentences found for each patient on a time line."""
    question = replace(PageQuestion.of(request.query_params.multi_items()), path="/patients")
    note_audit(request, "patients", index=question.index, query=question.words)
    check_allowed(caller, "read", question.index or None)
    page = context_of(request, state, caller, "patients", question.index)
    if not page.may_ask:
        return no_index(page)
    searcher = searcher_for(state, question.index, caller)
    values: dict[str, Any] = {
        "page": page, "question": question, "wording": "", "chips": None, "patients": [], "trouble": None,
        "filters": [], "counts": [], "axis": None, "total": (0, 0, 0), "cut": 0, "per_page": PER_PAGE,
    }  # fmt: skip
    if not question.is_empty:
        values |= _search(request, question, searcher, page.index)
    return HTMLResponse(render("patients.html", values))


def _search(request: Request, question: PageQuestion, searcher: Searcher, index: str) -> dict[str, Any]:
    """Search, and return the values of the page that depend on the question."""
    understood = understand(searcher, question)
    question = question.settled(understood)
    result: Patients = Patients((), cut=False)
    trouble: Message | None = None
    try:
        result = by_patient(searcher, understood.query, where=question.where, assertions=question.assertions)
    except QueryError:
        if PATIENT not in searcher.index.reader.fields:
            trouble = message("No document here names a patient.")
        elif question.assertions and not understood.query.all_names:
            trouble = NOTHING_TO_SAY
        elif question.filtered:
            trouble = message("No document here agrees with the filters.")
        else:
            trouble = message("This cannot be looked for by patient.")
    axis = _lay_out_axis([sentence.date for patient in result.patients for sentence in patient.sentences])
    part = result.patients[question.start : question.start + PER_PAGE]
    shown = []
    for number, patient in enumerate(part, question.start + 1):
        documents = tuple(_show_document(sentences, question, index, axis) for sentences in patient.documents.values())
        href = replace(question, path="/").with_value(PATIENT, patient.name, chosen=True).at()
        shown.append(ShownPatient(number, patient, href, documents[:_SHOWN], documents[_SHOWN:]))
    ids = list(dict.fromkeys(doc_id for patient in part for doc_id in patient.documents))
    note_audit(request, "patients", index=index, query=question.words, doc_ids=ids, result=len(part))
    return {
        "question": question,
        "wording": question.text if not question.by_parts else wording_of(understood.query),
        "chips": chips_of(understood, question, searcher),
        "patients": shown,
        "trouble": trouble,
        "filters": filters_of(searcher.index, question),
        "counts": _count_assertions(result, question),
        "axis": axis,
        "total": (
            len(result.patients),
            sum(len(patient.documents) for patient in result.patients),
            sum(len(patient.sentences) for patient in result.patients),
        ),
        "cut": MOST_PASSAGES if result.cut else 0,
        "more": len(result.patients) > question.start + PER_PAGE <= FURTHEST,
    }


def _count_assertions(result: Patients, question: PageQuestion) -> list[tuple[Assertion, int, bool, str]]:
    """Return per assertion: the number of sentences, whether it is a filter, and the URL that switches the filter."""
    sums: Counter[Assertion] = Counter()
    for patient in result.patients:
        sums.update(patient.counts)
    counts = []
    for assertion in ASSERTIONS:
        is_chosen = assertion in question.assertions
        if sums[assertion] or is_chosen:
            counts.append(
                (assertion, sums[assertion], is_chosen, question.with_assertion(assertion, not is_chosen).at())
            )
    return counts


_COLUMNS: Final = (
    "patient", "document", "title", "date", "heading", "sentence", "says", "probability", "score", "start", "end",
)  # fmt: skip


@router.get("/patients.csv")
def as_table(request: Request, caller: Asking, state: Stated) -> Response:
    """Return all sentences as a table, by patient and date; `says` is what a sentence says about the entity."""
    rows = (
        [str("" if row[name] is None else row[name]) for name in _COLUMNS] for row in _find_rows(request, caller, state)
    )
    return as_file(as_csv(_COLUMNS, rows), "text/csv; charset=utf-8", "patients.csv")


@router.get("/patients.jsonl")
def as_lines(request: Request, caller: Asking, state: Stated) -> Response:
    """Return all sentences as JSON lines, with the columns of the table."""
    lines = "".join(json.dumps(row) + "\n" for row in _find_rows(request, caller, state))
    return as_file(lines.encode(), "application/jsonl", "patients.jsonl")


def _find_rows(request: Request, caller: Caller, state: State) -> list[dict[str, Any]]:
    question = PageQuestion.of(request.query_params.multi_items())
    note_audit(request, "export patients", index=question.index, query=question.words)
    check_allowed(caller, "read", question.index or None)
    served = state.served(question.index or None, caller)
    searcher = served.opened.seen_by(caller.groups)
    understood = understand(searcher, question)
    result = by_patient(searcher, understood.query, where=question.where, assertions=question.assertions)
    patients = [asdict(hits) for hits in patients_response(result)]
    ids = list(dict.fromkeys(doc_id for patient in result.patients for doc_id in patient.documents))
    note_audit(request, "export patients", index=served.name, query=question.words, doc_ids=ids, result=len(ids))
    return [
        {
            "patient": patient["patient"],
            "document": sentence["doc_id"],
            "sentence": sentence["text"],
            "says": ", ".join(sentence["assertions"]),
            **{name: sentence[name] for name in ("title", "date", "heading", "probability", "score", "start", "end")},
        }
        for patient in patients
        for sentence in patient["sentences"]
    ]


def _show_document(
    sentences: Sequence[FoundSentence], question: PageQuestion, index: str, axis: Axis | None
) -> ShownDocument:
    first = sentences[0]
    hit, date = first.hit, first.date
    assertions = {assertion for sentence in sentences for assertion in sentence.sentence.assertions}
    return ShownDocument(
        title=hit.title or hit.name,
        heading=hit.heading,
        date=date,
        href=replace(question, start=0).at(document_path(index, hit.doc_id), "answer", ("p", hit.passage_id)),
        assertion=next((assertion for assertion in ASSERTIONS if assertion in assertions), ""),
        x=axis.place(date) if axis else None,
        sentences=tuple(sentences[:_SENTENCES]),
        further=max(0, len(sentences) - _SENTENCES),
    )


def _lay_out_axis(dates: Sequence[str]) -> Axis | None:
    """Return the time line for dates; None where there are fewer than two different ones."""
    years = [at for at in map(_to_years, dates) if at is not None]
    if len(set(years)) < 2:
        return None
    first, last = min(years), max(years)
    whole = Axis(first, last, ())
    step = max(1, -(-(int(last) - int(first)) // _MOST_TICKS))
    years_shown = map(str, range(int(first) + 1, int(last) + 1, step))
    return replace(whole, ticks=tuple((at, year) for year in years_shown if (at := whole.place(year)) is not None))


def _to_years(date: str) -> float | None:
    """Return a date as a number of years (2024.5); None for an invalid date."""
    match = _DATE.match(date)
    if match is None:
        return None
    year, month, day = (int(part or 1) for part in match.groups())
    return year + (month - 1) / 12 + (day - 1) / 372
