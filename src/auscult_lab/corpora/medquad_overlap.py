"""What documents of MedQuAD share with its test documents: names, UMLS concepts, passages.

MedQuAD is made of several sites that write about the same diseases, and repeat each other. `train-disjoint` leaves out
documents whose title is a test entity's name, or whose UMLS concepts are exactly a test document's; `train-strict`
leaves out all that share anything by the rules of `TestTraces`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Literal

from auscult.files.records import BadRecords, Record, RecordError, settle

Shared = Literal["name", "concept", "passage"]
"""What a document may share with a test document."""

NOT_A_NAME = "What I need to know about "
"""Before the names in titles of some NIDDK pages."""


def normalised_words(text: str) -> str:
    """Runs of the letters a to z and of digits, in lower case and without accents, joined by spaces."""
    folded = unicodedata.normalize("NFKD", text).casefold()
    return " ".join(re.findall(r"[a-z0-9]+", "".join(c for c in folded if not unicodedata.combining(c))))


def normalised_name(name: str | None) -> str:
    """`normalised_words` of a title or synonym, without NIDDK's "What I need to know about"."""
    return normalised_words((name or "").replace(NOT_A_NAME, ""))


class TestTraces:
    """Names, concepts and passages of the test documents, to find what other documents share with them.

    A document shares a *name* where its title or one of its synonyms is a title, synonym or CDV's entity of a test
    document, as `normalised_name` has them; a *concept* where any UMLS identifier of it is one of a test document; a
    *passage* where the words of one of its passages are those of a test passage, as `normalised_words` has them.

    Related diseases share nothing by these rules, and neither do other spellings that no field joins, nor passages
    that have some of their sentences in common.
    """

    __test__ = False

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._concepts: set[str] = set()
        self._passages: set[str] = set()

    def add(self, record: Record) -> None:
        """Remember a test document.

        Raises:
            RecordError: A field is missing or of the wrong type.
        """
        names, concepts, passages = _traces_of(record)
        self._names |= names
        self._concepts |= concepts
        self._passages |= passages

    def shared_by(self, record: Record) -> frozenset[Shared]:
        """What a document's record shares with a test document; empty for nothing.

        Raises:
            RecordError: A field is missing or of the wrong type.
        """
        names, concepts, passages = _traces_of(record)
        found: dict[Shared, bool] = {
            "name": not names.isdisjoint(self._names),
            "concept": not concepts.isdisjoint(self._concepts),
            "passage": not passages.isdisjoint(self._passages),
        }
        return frozenset(what for what, shared in found.items() if shared)


def _traces_of(record: Record) -> tuple[set[str], set[str], set[str]]:
    """Names, concepts and passages of a record, normalised."""
    names = (record.text("title", ""), record.text("entity", ""), *record.texts("synonyms"))
    passages = (passage.text("text") for passage in record.records("passages"))
    return (
        set(map(normalised_name, names)) - {""},
        set(record.texts("umls_cuis")),
        set(map(normalised_words, passages)) - {""},
    )


def strict_documents(
    records: Iterable[Record], *, skip_bad: bool = False, report: BadRecords | None = None
) -> frozenset[str]:
    """Ids of the training documents that share nothing with a test document (`TestTraces`): `train-strict`.

    Args:
        records: Of all documents, in any order.
        skip_bad: Leave out documents with bad fields, instead of raising.
        report: Where these are counted.

    Raises:
        RecordError: A field is missing or of the wrong type (unless `skip_bad`).
    """
    traces = TestTraces()
    train = []
    for record in records:
        if record.fields.get("split") == "train":
            train.append(record)
        elif record.fields.get("split") == "test":
            with _settled(skip_bad, report):
                traces.add(record)
    apart: set[str] = set()
    for record in train:
        with _settled(skip_bad, report):
            if not traces.shared_by(record):
                apart.add(record.text("doc_id"))
    return frozenset(apart)


@contextmanager
def _settled(skip_bad: bool, report: BadRecords | None) -> Iterator[None]:
    try:
        yield
    except RecordError as error:
        settle(error, skip_bad, report)
