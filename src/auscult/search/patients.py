"""The sentences about each patient, in order of time, from documents that name a patient.

A sentence counts if it names the entity of the query, whatever it asserts about it. It also counts if it is marked in a
passage that may answer (`search.certainty`). Clinical notes rarely explain what they mention, and a count of patients
must not miss them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from auscult.errors import QueryError
from auscult.index.fields import ANY, Between, Where
from auscult.schema import Assertion
from auscult.search.certainty import DOUBTFUL
from auscult.search.findings import Findings
from auscult.search.hits import Hit, SentenceScore, date_of
from auscult.search.searcher import Searcher, SearchOptions
from auscult.understanding.query import Query

PATIENT: Final = "patient"
"""The field of metadata that names a document's patient, as readers of CDA, FHIR and HL7 fill it."""
MOST_PASSAGES: Final = 500
"""Passages to read, the best ones first."""
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
    """A patient and the sentences about them, earliest document first; documents without a date come last."""

    name: str
    sentences: tuple[FoundSentence, ...]

    @property
    def documents(self) -> dict[str, list[FoundSentence]]:
        """The sentences by their documents' ids."""
        by_document: dict[str, list[FoundSentence]] = {}
        for sentence in self.sentences:
            by_document.setdefault(sentence.hit.doc_id, []).append(sentence)
        return by_document

    @property
    def counts(self) -> dict[Assertion, int]:
        """How many sentences make each assertion about the entity, most frequent first."""
        return dict(
            Counter(
                assertion for sentence in self.sentences for assertion in sentence.sentence.assertions
            ).most_common()
        )

    @property
    def dates(self) -> tuple[str, str]:
        """The first and the last date; empty where no document has one."""
        dates = [sentence.date for sentence in self.sentences if sentence.date]
        return (min(dates), max(dates)) if dates else ("", "")


@dataclass(frozen=True, slots=True)
class Patients:
    """Patients, the one with the best passage first.

    Attributes:
        patients: Patients with at least one sentence.
        cut: Whether there are more passages than the best `MOST_PASSAGES`, which alone were read.
    """

    patients: tuple[Patient, ...]
    cut: bool


def by_patient(
    searcher: Searcher, query: Query, *, where: Where = ANY, assertions: Collection[Assertion] = ()
) -> Patients:
    """Find what documents say of each patient.

    Args:
        searcher: An opened index, or the view of it that somebody may see.
        query: The query, understood.
        where: Only documents whose fields have these values.
        assertions: Only sentences that make one of these assertions about the entity; empty for all.

    Raises:
        QueryError: No document names a patient, a filter names what no document has, or there is nothing to assert of.
    """
    if PATIENT not in searcher.index.reader.fields:
        expected = f"an index whose documents name patients (the field '{PATIENT}')"
        raise QueryError(expected, "one without", "search it as it is")
    options = SearchOptions(where={PATIENT: Between(), **where}, assertions=assertions)
    findings = searcher.find(query, MOST_PASSAGES + 1, options)
    by_name: dict[str, list[FoundSentence]] = {}
    for number in range(min(len(findings), MOST_PASSAGES)):
        name = searcher.index.reader.document_record(findings.document(number)).metadata.get(PATIENT, "").strip()
        sentences = [*_find_counting(findings, number, assertions)] if name else []
        if sentences:
            by_name.setdefault(name, []).extend(sentences)
    patients = (
        Patient(
            name,
            tuple(sorted(found, key=lambda each: (each.date or _UNDATED, each.hit.doc_id, each.sentence.start))),
        )
        for name, found in by_name.items()
    )
    return Patients(tuple(patients), len(findings) > MOST_PASSAGES)


def _find_counting(findings: Findings, number: int, assertions: Collection[Assertion]) -> Iterator[FoundSentence]:
    may_answer = (findings.probability(number) or 0.0) >= DOUBTFUL
    if not (may_answer or any(findings.asserted(number))):
        return
    hit = findings.hit(number)
    for sentence in hit.sentences:
        names = bool(sentence.assertions)
        if assertions:
            counts = names and not set(assertions).isdisjoint(sentence.assertions)
        else:
            counts = names or (may_answer and sentence.marked)
        if counts:
            yield FoundSentence(hit, sentence)
