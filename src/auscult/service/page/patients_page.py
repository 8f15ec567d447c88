"""Hits by patient, on a time line, and as files to be saved."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse

from auscult.errors import QueryError
from auscult.interfaces import Assertion
from auscult.search.explain import describe
from auscult.search.patients import MOST_PASSAGES, PATIENT, FoundSentence, Patient, Patients, by_patient
from auscult.service.caller import Asking, Caller, allowed
from auscult.service.page.asking import ASSERTIONS, FURTHEST, Asked, document_path
from auscult.service.page.chips import chips_of, filters_of
from auscult.service.page.context import context_of, rendered, searcher_for
from auscult.service.page.search_page import as_csv, as_file, understand
from auscult.service.page.troubles import no_index
from auscult.service.routes import Stated, audited
from auscult.service.routes.patients import patients_response
from auscult.service.state import State
from auscult.understanding.understand import Understanding

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
        said: What its sentences say of the entity, the plainest first; empty where they do not mention it.
        x: Where it stands on the axis, in percent; None without a date.
        further: Sentences that are not shown.
    """

    title: str
    heading: str
    date: str
    href: str
    said: str
    x: float | None
    sentences: tuple[FoundSentence, ...]
    further: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPatient:
    """A patient; the first documents are shown at once, the others when they are asked for."""

    number: int
    patient: Patient
    href: str
    documents: tuple[ShownDocument, ...]
    further: tuple[ShownDocument, ...]


@dataclass(frozen=True, slots=True)
class Axis:
    """The time line that all patients share: where years stand on it, in percent."""

    first: float
    last: float
    ticks: tuple[tuple[float, str], ...]

    def place(self, date: str) -> float | None:
        """Return where a date stands on it, from 2 to 98; None for what is no date."""
        at = _years(date)
        return None if at is None else round(2 + 96 * (at - self.first) / ((self.last - self.first) or 1.0), 2)


@router.get("/patients")
def patients(request: Request, caller: Asking, state: Stated) -> Response:
    """Sentences found of each patient, on a time line."""
    asked = replace(Asked.of(request.query_params.multi_items()), path="/patients")
    audited(request, "patients", index=asked.index, query=asked.words)
    allowed(caller, "read", asked.index or None)
    page = context_of(request, state, caller, "patients", asked.index)
    if not page.may_ask:
        return no_index(page)
    searcher = searcher_for(state, asked.index, caller)
    values: dict[str, Any] = {"page": page, "asked": asked, "told": "", "chips": None, "shown": [], "trouble": ""}
    values |= {"filters": [], "counts": [], "axis": None, "total": (0, 0, 0), "cut": 0, "per_page": PER_PAGE}
    if not asked.is_empty:
        understood = understand(searcher, asked)
        asked = asked.settled(understood)
        found, trouble = Patients((), cut=False), ""
        try:
            found = by_patient(searcher, understood.query, where=asked.where, assertions=asked.assertions)
        except QueryError:
            trouble = _trouble(PATIENT in searcher.index.reader.fields, understood, asked)
        axis = _axis([each.date for patient in found.patients for each in patient.sentences])
        part = found.patients[asked.start : asked.start + PER_PAGE]
        shown = [_shown(number, each, asked, page.index, axis) for number, each in enumerate(part, asked.start + 1)]
        ids = list(dict.fromkeys(doc_id for each in part for doc_id in each.documents))
        audited(request, "patients", index=page.index, query=asked.words, doc_ids=ids, result=len(part))
        sums: Counter[Assertion] = Counter()
        for each in found.patients:
            sums.update(each.counts)
        values |= {
            "asked": asked,
            "told": asked.text if not asked.by_parts else describe(understood.query),
            "chips": chips_of(understood, asked, searcher),
            "shown": shown,
            "trouble": trouble,
            "filters": filters_of(searcher.index, asked),
            "counts": [
                (
                    each,
                    sums[each],
                    each in asked.assertions,
                    asked.with_assertion(each, each not in asked.assertions).at(),
                )
                for each in ASSERTIONS
                if sums[each] or each in asked.assertions
            ],
            "axis": axis,
            "total": _total(found),
            "cut": MOST_PASSAGES if found.cut else 0,
            "more": len(found.patients) > asked.start + PER_PAGE <= FURTHEST,
        }
    return HTMLResponse(rendered("patients.html", values))


_COLUMNS: Final = (
    "patient", "document", "title", "date", "heading", "sentence", "says", "probability", "score", "start", "end",
)  # fmt: skip


@router.get("/patients.csv")
def as_table(request: Request, caller: Asking, state: Stated) -> Response:
    """Every sentence found, a row each, by patient and in the order of time; `says` is what it says of the entity."""
    rows = (
        [str("" if each[name] is None else each[name]) for name in _COLUMNS] for each in _rows(request, caller, state)
    )
    return as_file(as_csv(_COLUMNS, rows), "text/csv; charset=utf-8", "patients.csv")


@router.get("/patients.jsonl")
def as_lines(request: Request, caller: Asking, state: Stated) -> Response:
    """Every sentence found, an object a line, with the columns of the table."""
    lines = "".join(json.dumps(each) + "\n" for each in _rows(request, caller, state))
    return as_file(lines.encode(), "application/jsonl", "patients.jsonl")


def _rows(request: Request, caller: Caller, state: State) -> list[dict[str, Any]]:
    asked = Asked.of(request.query_params.multi_items())
    audited(request, "export patients", index=asked.index, query=asked.words)
    allowed(caller, "read", asked.index or None)
    served = state.served(asked.index or None, caller)
    searcher = served.opened.seen_by(caller.groups)
    understood = understand(searcher, asked)
    found = by_patient(searcher, understood.query, where=asked.where, assertions=asked.assertions)
    told = [asdict(each) for each in patients_response(found)]
    ids = list(dict.fromkeys(doc_id for each in found.patients for doc_id in each.documents))
    audited(request, "export patients", index=served.name, query=asked.words, doc_ids=ids, result=len(ids))
    return [
        {
            "patient": patient["patient"],
            "document": each["doc_id"],
            "sentence": each["text"],
            "says": ", ".join(each["assertions"]),
            **{name: each[name] for name in ("title", "date", "heading", "probability", "score", "start", "end")},
        }
        for patient in told
        for each in patient["sentences"]
    ]


def _trouble(named: bool, understood: Understanding, asked: Asked) -> str:
    if not named:
        return "No document here names a patient."
    if asked.assertions and not understood.query.all_names:
        return "Nothing was recognised that something could be said of, and the filter asks for what is said of it."
    return "No document here agrees with the filters." if asked.filtered else "This cannot be looked for by patient."


def _total(found: Patients) -> tuple[int, int, int]:
    """Return how many patients, documents and sentences there are."""
    patients = found.patients
    return (
        len(patients),
        sum(len(each.documents) for each in patients),
        sum(len(each.sentences) for each in patients),
    )


def _shown(number: int, patient: Patient, asked: Asked, index: str, axis: Axis | None) -> ShownPatient:
    documents = tuple(_document(each, asked, index, axis) for each in patient.documents.values())
    return ShownPatient(
        number=number,
        patient=patient,
        href=replace(asked, path="/").with_value(PATIENT, patient.name, chosen=True).at(),
        documents=documents[:_SHOWN],
        further=documents[_SHOWN:],
    )


def _document(sentences: Sequence[FoundSentence], asked: Asked, index: str, axis: Axis | None) -> ShownDocument:
    first = sentences[0]
    hit, date = first.hit, first.date
    said = {one for each in sentences for one in each.sentence.assertions}
    return ShownDocument(
        title=hit.title or hit.doc_id,
        heading=hit.heading,
        date=date,
        href=replace(asked, start=0).at(document_path(index, hit.doc_id), "answer", ("p", hit.passage_id)),
        said=next((each for each in ASSERTIONS if each in said), ""),
        x=axis.place(date) if axis else None,
        sentences=tuple(sentences[:_SENTENCES]),
        further=max(0, len(sentences) - _SENTENCES),
    )


def _axis(dates: Sequence[str]) -> Axis | None:
    """Return the time line of dates; None where there are not two."""
    years = [at for at in map(_years, dates) if at is not None]
    if len(set(years)) < 2:
        return None
    first, last = min(years), max(years)
    whole = Axis(first, last, ())
    step = max(1, -(-(int(last) - int(first)) // _MOST_TICKS))
    return replace(whole, ticks=tuple(_ticks(whole, step)))


def _ticks(axis: Axis, step: int) -> Iterator[tuple[float, str]]:
    for year in range(int(axis.first) + 1, int(axis.last) + 1, step):
        at = axis.place(str(year))
        if at is not None:
            yield at, str(year)


def _years(date: str) -> float | None:
    """Return a date in years, as in 2024.5; None for what is none."""
    found = _DATE.match(date)
    if found is None:
        return None
    year, month, day = (int(each or 1) for each in found.groups())
    return year + (month - 1) / 12 + (day - 1) / 372
