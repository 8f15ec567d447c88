"""Sentences found of each patient, in the order of time, in documents that name one.

A sentence counts where it names what is asked about, whatever it says of it, or answers in a passage that may answer
(`search.certainty`). Clinical notes rarely explain what they mention, and a count of patients must not miss them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from auscult.errors import QueryError
from auscult.index import ANY, Between, Where
from auscult.interfaces import Assertion, Hit, SentenceScore
from auscult.search.certainty import DOUBTFUL
from auscult.search.findings import Findings
from auscult.search.searcher import Searcher, SearchOptions
from auscult.search.side_by_side import date_of
from auscult.understanding import Query

PATIENT: Final = "patient"
"""The field of metadata that names a document's patient, as readers of CDA, FHIR and HL7 fill it."""
MOST_PASSAGES: Final = 500
"""Passages that are looked at, the best ones first."""
_UNDATED: Final = "~"


@dataclass(frozen=True, slots=True)
class FoundSentence:
    """A sentence that was found, with the passage that it stands in."""

    hit: Hit
    sentence: SentenceScore

    @property
    def date(self) -> str:
        """The document's date; empty where it has none."""
        return date_of(self.hit.metadata)


@dataclass(frozen=True, slots=True)
class Patient:
    """A patient with what was found of them, the earliest document first; documents without a date stand last."""

    name: str
    sentences: tuple[FoundSentence, ...]

    @property
    def documents(self) -> dict[str, list[FoundSentence]]:
        """The sentences by their documents' ids."""
        found: dict[str, list[FoundSentence]] = {}
        for each in self.sentences:
            found.setdefault(each.hit.doc_id, []).append(each)
        return found

    @property
    def counts(self) -> dict[Assertion, int]:
        """How many sentences say which of the entity, most first."""
        return dict(Counter(said for each in self.sentences for said in each.sentence.assertions).most_common())

    @property
    def dates(self) -> tuple[str, str]:
        """The first and the last date; empty where no document has one."""
        dates = [each.date for each in self.sentences if each.date]
        return (min(dates), max(dates)) if dates else ("", "")


@dataclass(frozen=True, slots=True)
class Patients:
    """Patients, the one with the best passage first.

    Attributes:
        patients: Of whom something was found.
        cut: Whether only the best `MOST_PASSAGES` passages were looked at, and there are more.
    """

    patients: tuple[Patient, ...]
    cut: bool


def by_patient(
    searcher: Searcher, query: Query, *, where: Where = ANY, assertions: Collection[Assertion] = ()
) -> Patients:
    """Find what documents say of each patient.

    Args:
        searcher: An opened index, or the view of it that somebody may see.
        query: As it was understood.
        where: Only documents whose fields agree.
        assertions: Only sentences that say one of these of the entity; empty for all.

    Raises:
        QueryError: No document names a patient, a filter names what no document has, or there is nothing to assert of.
    """
    if PATIENT not in searcher.index.reader.fields:
        expected = f"an index whose documents name patients (the field '{PATIENT}')"
        raise QueryError(expected, "one without", "search it as it is")
    options = SearchOptions(where={PATIENT: Between(), **where}, assertions=assertions)
    found = searcher.find(query, MOST_PASSAGES + 1, options)
    by_name: dict[str, list[FoundSentence]] = {}
    for number in range(min(len(found), MOST_PASSAGES)):
        name = searcher.index.reader.document_record(found.document(number)).metadata.get(PATIENT, "").strip()
        sentences = [*_counting(found, number, assertions)] if name else []
        if sentences:
            by_name.setdefault(name, []).extend(sentences)
    patients = (Patient(name, tuple(sorted(sentences, key=_time))) for name, sentences in by_name.items())
    return Patients(tuple(patients), len(found) > MOST_PASSAGES)


def _counting(found: Findings, number: int, assertions: Collection[Assertion]) -> Iterator[FoundSentence]:
    may_answer = (found.probability(number) or 0.0) >= DOUBTFUL
    if not (may_answer or any(found.asserted(number))):
        return
    hit = found.hit(number)
    for sentence in hit.sentences:
        names = bool(sentence.assertions)
        if assertions:
            counts = names and not set(assertions).isdisjoint(sentence.assertions)
        else:
            counts = names or (may_answer and sentence.marked)
        if counts:
            yield FoundSentence(hit, sentence)


def _time(each: FoundSentence) -> tuple[str, str, int]:
    return each.date or _UNDATED, each.hit.doc_id, each.sentence.start
