"""Written questions, near misses and phrasings, and the documents of the six collections they are about.

The card of the questions says how they were written and what each field of the files means. A question says where its
answer is by ranges of characters in the text of its passage. The documents are built here as the product builds them,
so that a passage's number is its place in `Document.passages`.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import md5
from pathlib import Path
from types import MappingProxyType
from typing import Final

from auscult.catalogue import data_dir, locate
from auscult.documents import Document, Passage, Section
from auscult.documents.building import build_document
from auscult.files.records import Record, read_many
from auscult.ingest.sectioned import headed_sections
from auscult.understanding.reading import THIS_DISEASE, QuestionParser

_HELD_OUT, _HALVES = 12, 2


@dataclass(frozen=True, slots=True)
class WrittenQuestion:
    """A question that one passage answers.

    Attributes:
        question_id: Identifier.
        collection: Name of the collection.
        doc_id: Document in the collection.
        passage: Number of the passage in the document, from 0.
        heading: The passage's heading.
        manner: How the question is asked: "relative", "shorthand" and others.
        question: The question.
        answers: First and one past the last character of each sentence that answers, in the passage's text.
    """

    question_id: str
    collection: str
    doc_id: str
    passage: int
    heading: str
    manner: str
    question: str
    answers: tuple[tuple[int, int], ...]

    def sentence(self, passage: Passage) -> int:
        """Return the number of the sentence of its passage in which the answer begins; -1 for none."""
        begin = passage.start + self.answers[0][0] if self.answers else passage.end
        return next((number for number, each in enumerate(passage.sentences) if begin < each.end), -1)


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A question that its collection does not answer.

    Attributes:
        question_id: Identifier.
        collection: Name of the collection.
        doc_id: Document on its subject; empty for a subject without one.
        kind: What is missing: "absent aspect", "absent subject", "number" or "relation".
        manner: How the question is asked.
        question: The question.
    """

    question_id: str
    collection: str
    doc_id: str
    kind: str
    manner: str
    question: str


@dataclass(frozen=True, slots=True)
class Phrasing:
    """A way to ask for an aspect.

    Attributes:
        of: What has the aspect: "disease", "medicine", "test" or "note".
        aspect: The aspect.
        phrasing: The words, with {e} in the place of the name.
    """

    of: str
    aspect: str
    phrasing: str

    def without_name(self) -> tuple[str, ...]:
        """Return the words as they are read (`without_names`): of a disease by either word, as not all are known."""
        return tuple(self.phrasing.replace("{e}", word) for word in words_for(self.of == "disease"))


def words_for(is_disease: bool) -> tuple[str, ...]:
    """Return what may stand for the name of something."""
    return ("this", THIS_DISEASE) if is_disease else ("this",)


@dataclass(frozen=True, slots=True)
class Source:
    """How the records of a data set become documents of a collection.

    Attributes:
        name: Name in the catalogue.
        doc_id: Field of the identifier.
        title: Field of the title; empty where documents have none.
        sections: Return a record's sections.
        file: File in the data set's folder; empty where the data set is one file.
        is_measured: Check whether a document belongs to a test part.
    """

    name: str
    doc_id: str = "doc_id"
    title: str = "title"
    sections: Callable[[Record], list[Section]] = headed_sections
    file: str = ""
    is_measured: Callable[[Record], bool] = lambda record: False

    def documents(self, is_taken: Callable[[Record, str], bool]) -> Iterator[Document]:
        """Yield the documents that are taken, by their record and identifier."""
        path = locate(self.name)
        for record in read_many([path / self.file if self.file else path]):
            doc_id = record.text(self.doc_id)
            if is_taken(record, doc_id):
                title = record.text(self.title, "") if self.title else ""
                yield build_document(doc_id=doc_id, title=title, sections=self.sections(record))

    def for_training(self, kept_apart: Collection[str]) -> Iterator[Document]:
        """Yield the documents that may be trained on."""
        return self.documents(lambda record, doc_id: doc_id not in kept_apart and not self.is_measured(record))


def _is_measured_in_medquad(record: Record) -> bool:
    return record.text("split", "train") != "train" or bool(record.fields.get("overlaps_test_entity"))


def _is_measured_in_wikipedia(record: Record) -> bool:
    return record.fields.get("cdv_list") == "test"


def answers_of(record: Record) -> list[Section]:
    """Return the answers of a document of MedQuAD as sections, headed by the type of their question."""
    return [Section(each.text("qtype", ""), each.text("text")) for each in record.records("passages")]


def _one_section(heading: str, text: str) -> Callable[[Record], list[Section]]:
    """Return a reader of records that are one section; an empty field name stands for an empty heading."""
    return lambda record: [Section(record.text(heading, "") if heading else "", record.text(text))]


COLLECTIONS: Final[Mapping[str, tuple[Source, ...]]] = MappingProxyType(
    {
        "medquad": (
            Source("medquad", sections=answers_of, file="documents.jsonl.gz", is_measured=_is_measured_in_medquad),
        ),
        "labels": (Source("drug-labels"),),
        "wikipedia": tuple(Source(name, is_measured=_is_measured_in_wikipedia) for name in ("simplewiki", "enwiki")),
        "nhs": (Source("nhs"),),
        "notes": (
            Source("aci-bench", "note_id", "chief_complaint"),
            Source("mts-dialog", "id", "", _one_section("section_header", "section_text")),
            Source("primock57", "note_id", "presenting_complaint", _one_section("", "note")),
        ),
        "abstracts": (Source("pmc-trials-abstracts", "pmcid"),),
    }
)
"""The data sets of each collection."""


def read_documents(collection: str, *, kept_apart: Collection[str] = ()) -> list[Document]:
    """Return the documents of a collection that may be trained on, in order.

    Args:
        collection: A name of `COLLECTIONS`.
        kept_apart: Identifiers of further documents to leave out, because questions are measured on them.

    Raises:
        CorpusMissingError: A data set is not on this machine; the remedy says how to get it.
        RecordError: A record lacks a field.
    """
    return [document for source in COLLECTIONS[collection] for document in source.for_training(kept_apart)]


def kept_apart() -> frozenset[str]:
    """Return the identifiers of documents that questions are measured on, and that nothing may be learned from.

    Raises:
        FileNotFoundError: The list is not on this machine.
    """
    with gzip.open(data_dir() / "questions_written/not_for_training.tsv.gz", "rt", encoding="utf-8") as lines:
        return frozenset(line.rstrip("\n").split("\t")[1] for line in lines)


def read_questions(folder: Path) -> list[WrittenQuestion]:
    """Return the questions of a folder, in order.

    Raises:
        RecordError: A record lacks a field.
    """
    return [
        WrittenQuestion(
            question_id=record.text("id"),
            collection=record.text("collection"),
            doc_id=record.text("doc_id"),
            passage=int(record.fields["passage"]),
            heading=record.text("heading", ""),
            manner=record.text("manner", ""),
            question=record.text("question"),
            answers=tuple((int(begin), int(end)) for begin, end in record.fields["answers"]),
        )
        for record in read_many([folder / "questions.jsonl.gz"])
    ]


def read_near_misses(folder: Path) -> list[NearMiss]:
    """Return the near misses of a folder, in order.

    Raises:
        RecordError: A record lacks a field.
    """
    return [
        NearMiss(
            record.text("id"), record.text("collection"), record.text("doc_id", ""),
            *(record.text(name) for name in ("kind", "manner", "question")),
        )
        for record in read_many([folder / "near_misses.jsonl.gz"])
    ]  # fmt: skip


def read_phrasings(folder: Path) -> list[Phrasing]:
    """Return the phrasings of a folder, in order.

    Raises:
        RecordError: A record lacks a field.
    """
    return [
        Phrasing(*(record.text(name) for name in ("of", "aspect", "phrasing")))
        for record in read_many([folder / "phrasings.jsonl.gz"])
    ]


def is_held_out(doc_id: str) -> bool:
    """Return whether a document's questions choose the epoch, and are not trained on: a twelfth of the documents."""
    return _place("h", doc_id, _HELD_OUT) == 0


def half_of(doc_id: str) -> int:
    """Return the half of the documents, 0 or 1, to which a document belongs; a teacher scores the half it never saw."""
    return _place("f", doc_id, _HALVES)


def without_names(text: str, parser: QuestionParser) -> str:
    """Return a question with "this disease" or "this" for its names, as the model of aspects reads it."""
    text = " ".join(text.split())
    return parser.asked_with_kinds(text, parser.names(text))


def shares_most(start: int, end: int, begin: int, stop: int) -> bool:
    """Return whether two ranges of characters share more than half of the shorter one."""
    return min(end, stop) - max(start, begin) > min(end - start, stop - begin) / 2


def right_passages(questions: Sequence[WrittenQuestion], documents: Sequence[Document]) -> list[list[tuple[str, int]]]:
    """Return for each question of one collection the passages with the text of its own, as document and number."""
    by_id = {document.doc_id: document for document in documents}
    same: dict[str, list[tuple[str, int]]] = {}
    for document in documents:
        for number, passage in enumerate(document.passages):
            same.setdefault(document.slice(passage), []).append((document.doc_id, number))
    own = (by_id[each.doc_id] for each in questions)
    return [
        same[document.slice(document.passages[each.passage])] for each, document in zip(questions, own, strict=True)
    ]


def _place(mark: str, doc_id: str, places: int) -> int:
    """Return the place of a document by a hash, which is the same everywhere."""
    return int(md5(f"{mark}{doc_id}".encode(), usedforsecurity=False).hexdigest(), 16) % places
