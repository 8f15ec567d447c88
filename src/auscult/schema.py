"""The records of the API: hit, passage, document, job. The service, its page and the client share them.

They are plain dataclasses, for three reasons. The client can use them without the packages of the service. Pydantic and
FastAPI accept them as they are, with the descriptions of `described` fields. And an answer with hundreds of sentences
costs a fifth of one made of validating models.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Literal, TypeVar

Record = TypeVar("Record")
Assertion = Literal["affirmed", "negated", "family", "historical", "hypothetical"]
"""What a sentence says about an entity. Hypothetical is what is only possible: suspected, a risk, "if"."""


def described(description: str, examples: Sequence[str] = ()) -> Any:
    """Return a required field with a description, in the metadata that pydantic reads.

    Args:
        description: What the field means, for the API's documentation.
        examples: Examples of its values.
    """
    return field(metadata={"description": description} | ({"examples": [*examples]} if examples else {}))


def select_fields(kind: Callable[..., Record], source: object, **own: Any) -> Record:
    """Return a record with the fields that a source has under the same names, and some of its own.

    Example: `select_fields(Hit, found, index="leaflets", ...)` names only what a hit of the API has besides.

    Args:
        kind: A dataclass.
        source: Any object, such as a record of search.
        own: Fields that the source lacks, or has in another form.

    Raises:
        AttributeError: Neither has a field.
    """
    return kind(**{name: getattr(source, name) for name in _field_names(kind) if name not in own}, **own)


@cache
def _field_names(kind: Any) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))


@dataclass(frozen=True, slots=True, kw_only=True)
class Concept:
    """A concept of the knowledge base, and how it was matched."""

    code: str = described("Identifier.", examples=["DOID:13189"])
    name: str = described("Preferred name.", examples=["gout"])
    matched: str = described("The name, synonym or identifier that was matched.", examples=["gout"])
    how: Literal["identifier", "name", "synonym", "fuzzy"] = described("What was matched; fuzzy: nearly.")
    score: float = described("1 for an exact match, less for a looser one.")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderstoodEntity:
    """An entity of the question."""

    asked: str = described("Its words in the question.")
    concept: Concept | None = described("The matched concept; null where only its words are searched for.")
    names: list[str] = described("The names that are searched for.")
    likelihood: float = described("Probability that the question is about it; unlikely entities count less.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A misspelt word."""

    written: str
    read: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """How a request was understood. A request can name entity and aspects itself (`entity`, `aspects`)."""

    entity: str = described("The entity, as the documents call it.")
    entities: list[UnderstoodEntity] = described("All entities of the question.")
    alternatives: list[Concept] = described("Other concepts that the entity may mean, best first.")
    aspects: list[str] = described("The aspects.")
    aspects_read: bool = described("Whether the aspects were read from the question.")
    corrections: list[Correction] = described("Misspelt words, and how they were read.")
    unread: list[str] = described("Words that belong to neither; they are searched for as words.")
    note: str = described("One line for people; empty where there was nothing to understand.")
    taken_entity: str = described("The entity, if it was taken from an earlier question; else empty.")
    taken_aspects: list[str] = described("The aspects that were taken from earlier questions.")
    language: str = described(
        "Language of the question, by its code of ISO 639-1; empty where it is not sure. Spelling and aspects are read "
        "in English only.",
        examples=["de"],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle on a page, in points from its upper left corner."""

    page: int = described("Number of the page, from 0.")
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence of a hit with its scores."""

    start: int = described("Offset in the document's text; `end` is exclusive.")
    end: int
    text: str
    score: float
    entity_score: float
    aspect_score: float
    highlight: bool = described("Whether it answers.")
    assertions: list[Assertion] = described("What it says about its mentions of the entity; empty without a mention.")
    source_ranges: list[tuple[int, int]] = described(
        "Of a highlighted sentence: half-open ranges in the decoded original file."
    )
    boxes: list[Box] = described("Of a highlighted sentence: boxes on the pages of the original.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One reason for the score of a hit."""

    name: str
    words: str = described("The reason in words.", examples=["the title names what was asked about"])
    amount: float = described("What it adds to the score.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A passage that may answer."""

    rank: int = described("Rank from 1, over all pages.")
    index: str
    passage_id: str
    doc_id: str
    title: str = described("Title of the document; in a book of many articles, of the article.")
    book: str = described("Title of the document, where `title` is that of an article; else empty.")
    heading: str
    above: list[str] = described("The headings above its own, outermost first.")
    file: str = described("Name of the file below the indexed path; empty for a document that is not from a file.")
    place: str = described("Where in the file the answer is; empty where unknown.", examples=["page 3", "line 12"])
    source: str
    url: str
    date: str = described("Date of the document; empty where its metadata has none.")
    metadata: dict[str, str]
    text: str
    start: int = described("Offset of the passage in the document's text; `end` is exclusive.")
    end: int
    excerpt: tuple[int, int] = described("Range of the document's text around the highlighted sentences.")
    highlights: list[tuple[int, int]] = described(
        "Ranges of the document's text that answer, in order; a list is highlighted with its introduction."
    )
    sentences: list[Sentence]
    score: float = described("The sum of all evidence, comparable between questions and indexes.")
    probability: float | None = described(
        "Probability that the passage answers; null where only the model scores, or where it does not read the "
        "languages of both question and passage."
    )
    language: str = described(
        "Language of the passage, by its code of ISO 639-1; empty where it is not sure.", examples=["en"]
    )
    evidence: list[Evidence] = described("The summands of the score, largest first.")
    original: str | None = described("Media type of the original file; null where the file is not kept.")


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingHere:
    """Whether nothing that was found answers."""

    flag: bool = described("Never set where some documents were not searched, as these may answer.")
    sentence: str = described("For people; empty where something answers.")
    uncertain: bool = described("Set beside the flag where the best hit may answer all the same, though improbably.")


@dataclass(frozen=True, slots=True, kw_only=True)
class NotSearched:
    """Documents of an index that were not searched because some of its servers do not answer."""

    index: str
    shares: list[int] = described("Numbers of these servers, from 1.")
    of_shares: int
    documents: int = described("Number of documents that were not searched.")
    of_documents: int
    sentence: str = described("For people.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """Hits, and how the request was understood."""

    understood: Understood
    hits: list[Hit]
    nothing_here: NothingHere
    language_note: str = described(
        "Sentence for people that the model does not read the languages of the question and of all passages, so that "
        "these have no probability; empty where it does."
    )
    not_searched: list[NotSearched] = described("If not empty, show this to people first.")
    more: bool = described("Whether there are hits beyond this page.")
    offset: int
    indexes: list[str] = described("Names of the indexes that were searched.")
    milliseconds: float = described("Time that the search took in the service.")


@dataclass(frozen=True, slots=True, kw_only=True)
class PatientSentence:
    """A sentence that was found for a patient."""

    doc_id: str
    passage_id: str
    title: str
    date: str = described("Date of the document; empty where it has none.")
    heading: str
    file: str
    place: str = described("Where in the file the answer is; empty where unknown.")
    start: int = described("Offset in the document's text; `end` is exclusive.")
    end: int
    text: str
    assertions: list[Assertion] = described("What it says about the entity; empty without a mention.")
    score: float
    probability: float | None = described("Probability that its passage answers.")


@dataclass(frozen=True, slots=True, kw_only=True)
class PatientHits:
    """The sentences that were found for one patient."""

    patient: str = described("Value of the field `patient` of the documents.")
    documents: int = described("Number of documents.")
    counts: dict[Assertion, int] = described("Number of sentences by what they say about the entity.")
    first: str = described("The earliest date; empty where no document has one.")
    last: str
    sentences: list[PatientSentence] = described("Ordered by date; those of documents without a date are last.")


@dataclass(frozen=True, slots=True, kw_only=True)
class PatientList:
    """Patients, the one with the best passage first."""

    understood: Understood
    patients: list[PatientHits]
    more: bool = described("Whether there are further passages that were not checked.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """Status of the service."""

    status: Literal["alive", "ready"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """Versions of the service and its API."""

    auscult: str
    api: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """An index that is served."""

    name: str
    generation: int = described("Number that grows with every change.")
    documents: int
    passages: int
    sentences: int
    model: str = described("Name of the encoder of its vectors.")
    created: str = described("When this generation was published, ISO 8601.")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSummary:
    """A document in a list."""

    doc_id: str
    title: str
    source: str
    url: str
    date: str
    metadata: dict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentList:
    """A page of documents, last added first."""

    documents: list[DocumentSummary]
    total: int = described("Number of all documents.")
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageOf:
    """A passage of a document."""

    passage_id: str
    heading: str
    above: list[str] = described("The headings above its own, outermost first.")
    start: int
    end: int
    sentences: list[tuple[int, int]] = described("Half-open ranges of the document's text.")


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginalFile:
    """The file that a document was read from."""

    name: str
    media_type: str
    encoding: str = described("Encoding of a text file; empty for others.")
    pages: list[tuple[float, float]] = described("Widths and heights in points; empty for files without pages.")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentWhole(DocumentSummary):
    """A document with its text."""

    index: str
    text: str
    passages: list[PassageOf]
    entity_ids: list[str]
    original: OriginalFile | None = described("Null where the file is not kept.")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacesOf:
    """Where a range of a document's text is in its original file."""

    start: int
    end: int
    source_ranges: list[tuple[int, int]]
    boxes: list[Box]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldValues:
    """A field of documents, with the number of documents by value."""

    field: str
    values: dict[str, int] = described("The most frequent values, most frequent first.")
    distinct: int = described("Number of different values.")


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePassage:
    """A passage of a document, by the numbers of its sentences."""

    passage_id: str
    heading: str
    first: int = described("Number of its first sentence, from 0.")
    last: int = described("One past the number of its last sentence.")
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveSentence:
    """Range and scores of a sentence."""

    start: int
    end: int
    entity: float
    aspect: float
    combined: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """How well every sentence of a document answers."""

    understood: Understood
    doc_id: str
    title: str
    passages: list[CurvePassage]
    sentences: list[CurveSentence]
    best: int | None = described("Number of the best passage; null for a document without sentences.")


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityCompletion:
    """A name that completes what was typed."""

    name: str = described("The preferred name, or the title of a document.")
    matched: str = described("The name or synonym that matches what was typed.")
    code: str = described("Identifier of the concept; empty for a title.")


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityCompletions:
    """Names, best first."""

    entities: list[EntityCompletion]
    complete: bool = described("False while the service is still building its names after a start.")


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectCompletion:
    """An aspect that completes what was typed."""

    aspect: str
    example: str = described("An example question with this aspect.")


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectCompletions:
    """Aspects, best first."""

    aspects: list[AspectCompletion]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedFile:
    """A file that could not be read, or some of whose documents were left out."""

    name: str
    reason: str
    kind: str = field(default="", metadata={"description": "The reason in a few words, the same for all such files."})


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTold:
    """An upload with its progress and result."""

    job_id: str
    index: str
    caller: str
    access: str = described(
        "The groups that see its documents; empty for everybody who may search the index, unless a document "
        "names groups of its own."
    )
    standing: Literal["waiting", "reading", "done", "failed", "interrupted"] = described(
        "`interrupted`: the service was stopped before the end, and none of the documents is in the index."
    )
    created: str
    finished: str = described("Empty until it has ended.")
    files: int
    read: int = described("Number of files that have been read so far.")
    documents: int = described("Number of documents in these files.")
    new: int
    changed: int = described("Number of documents that replaced one with the same name and groups that you see.")
    unchanged: int
    doc_ids: list[str] = described("Ids of its documents.")
    skipped: list[SkippedFile]
    error: str
    remedy: str
    code: str = field(
        default="", metadata={"description": "A word by which programs recognise the error; empty without one."}
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JobList:
    """Jobs, newest first."""

    jobs: list[JobTold]


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """A document that was removed."""

    doc_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """The receipt for a stored judgement."""

    query_id: str = described("Id that all judgements of one question share.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanTold:
    """A span of sentences of a document."""

    doc_id: str
    start: int = described("Offset in the document's text; `end` is exclusive.")
    end: int
    first: int = described("Number of its first sentence, from 0.")
    last: int = described("One past the number of its last sentence.")
    score: float = described("Mean of the scores of its sentences.")
    text: str
    source_ranges: list[tuple[int, int]]
    boxes: list[Box]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageCell:
    """How well an aspect of an entity is answered."""

    word: Literal["answers", "may answer", "no answer"]
    probability: float = described("Probability that the passage answers; 0 without a passage.")
    doc_id: str = described("Document of the best passage about the entity; empty without a passage.")
    passage_id: str
    title: str
    heading: str
    note: str = described("Sentence that the best passage is about a similar entity; else empty.")
    similar: str = described("Title of that passage's document; else empty.")


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageTold:
    """A table with a row for each entity and a cell for each aspect."""

    entities: list[Understood]
    aspects: list[str]
    rows: list[list[CoverageCell]]
