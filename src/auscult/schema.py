"""One shape each of hit, passage, document and job: what the service answers, its page shows and its client returns.

Plain dataclasses, for three reasons. The client reads them without the service's packages. Pydantic and FastAPI take
them as they are, `described` fields with their words included. And hundreds of sentences in an answer, made here, cost
a fifth of what models cost that check them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Assertion = Literal["affirmed", "negated", "family", "historical", "hypothetical"]
"""What a sentence says of a thing. Hypothetical is all that only may be: suspected, possible, a risk, "if"."""


def described(description: str, examples: Sequence[str] = ()) -> Any:
    """Return a required field with a description, in the metadata that pydantic reads.

    Args:
        description: What the field means, for the API's documentation.
        examples: Values that it may have.
    """
    return field(metadata={"description": description} | ({"examples": [*examples]} if examples else {}))


@dataclass(frozen=True, slots=True, kw_only=True)
class Concept:
    """A concept of the knowledge base, and how it was found."""

    code: str = described("Its identifier.", examples=["DOID:13189"])
    name: str = described("Its preferred name.", examples=["gout"])
    matched: str = described("The name, synonym or identifier that was matched.", examples=["gout"])
    how: Literal["identifier", "name", "synonym", "fuzzy"] = described("What was matched; fuzzy: nearly.")
    score: float = described("1 for an exact match, less for a looser one.")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderstoodEntity:
    """A thing that is asked about."""

    asked: str = described("In the words it was asked in.")
    concept: Concept | None = described("What it was taken for; null where it is searched for as words.")
    names: list[str] = described("What it is looked for by.")
    likelihood: float = described("That it is asked about, from 0 to 1; the less likely, the less it counts.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A misspelt word."""

    written: str
    read: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """How a request was understood; each part can be given in its place (`entity`, `aspects`)."""

    entity: str = described("What hits are about, as the documents call it.")
    entities: list[UnderstoodEntity] = described("Each thing that is asked about.")
    alternatives: list[Concept] = described("Other readings of the entity, best first.")
    aspects: list[str] = described("What is asked of it.")
    aspects_read: bool = described("Whether the aspects come from the question's words.")
    corrections: list[Correction] = described("Misspelt words, as they were read.")
    unread: list[str] = described("Words that are neither; they are looked for as they are.")
    note: str = described("One line for people; empty where there was nothing to understand.")
    taken_entity: str = described("The entity, where earlier questions of the conversation had it; else empty.")
    taken_aspects: list[str] = described("The aspects that only earlier questions had.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle on a page, in points from its upper left corner."""

    page: int = described("From 0.")
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence of a hit with its scores."""

    start: int = described("Of the document's text; `end` is exclusive.")
    end: int
    text: str
    score: float
    entity_score: float
    aspect_score: float
    highlight: bool = described("Whether it is among those that answer.")
    assertions: list[Assertion] = described("What it says of its mentions of the entity; empty where it has none.")
    source_ranges: list[tuple[int, int]] = described(
        "Of a highlighted sentence: where it stands in the decoded original file, half-open."
    )
    boxes: list[Box] = described("Of a highlighted sentence: where it stands on the original's pages.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One reason of a hit's score."""

    name: str
    words: str = described("The reason in words.", examples=["the title names what was asked about"])
    amount: float = described("What it adds to the score.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A passage that may answer."""

    rank: int = described("From 1, over all pages.")
    index: str
    passage_id: str
    doc_id: str
    title: str = described("Of the document; in a book of many articles, of the article.")
    book: str = described("The document's title, where `title` is an article's; else empty.")
    heading: str
    above: list[str] = described("The headings above its own, outermost first.")
    file: str = described("The file's name below what was indexed; empty where the document is of none.")
    place: str = described(
        "Where in the file it answers; empty where that is not known.", examples=["page 3", "line 12"]
    )
    source: str
    url: str
    date: str = described("Of the document, where its metadata has one; else empty.")
    metadata: dict[str, str]
    text: str
    start: int = described("Of the passage in the document's text; `end` is exclusive.")
    end: int
    excerpt: tuple[int, int] = described("The stretch around the highlighted sentences: of the document's text.")
    highlights: list[tuple[int, int]] = described(
        "The sentences that answer, a list with its lead-in: of the document's text, in order."
    )
    sentences: list[Sentence]
    score: float = described("The sum of all evidence, which compares between questions and indexes.")
    probability: float | None = described("That the passage answers; null where the model alone scored.")
    evidence: list[Evidence] = described("What the score is made of, most first.")
    original: str | None = described("The media type of the original file, where it is kept.")


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingHere:
    """Whether nothing was found that answers."""

    flag: bool = described("Never set where some documents were not searched: these may answer.")
    sentence: str = described("For people; empty where something answers.")


@dataclass(frozen=True, slots=True, kw_only=True)
class NotSearched:
    """Documents of an index that were not searched, since some of its servers are away."""

    index: str
    shares: list[int] = described("Numbers of these servers, from 1.")
    of_shares: int
    documents: int = described("How many were not searched.")
    of_documents: int
    sentence: str = described("For people.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """Hits, and how the request was understood."""

    understood: Understood
    hits: list[Hit]
    nothing_here: NothingHere
    not_searched: list[NotSearched] = described("Tell people first where it is not empty.")
    more: bool = described("Whether there are hits beyond this page.")
    offset: int
    indexes: list[str] = described("Which were asked.")
    milliseconds: float = described("What it took here.")


@dataclass(frozen=True, slots=True, kw_only=True)
class PatientSentence:
    """A sentence that was found of a patient."""

    doc_id: str
    passage_id: str
    title: str
    date: str = described("Of the document; empty where it has none.")
    heading: str
    file: str
    place: str = described("Where in the file the passage answers; empty where that is not known.")
    start: int = described("Of the document's text; `end` is exclusive.")
    end: int
    text: str
    assertions: list[Assertion] = described("What it says of the entity; empty where it does not mention it.")
    score: float
    probability: float | None = described("That its passage answers.")


@dataclass(frozen=True, slots=True, kw_only=True)
class PatientHits:
    """What was found of one patient."""

    patient: str = described("As the field `patient` of the documents has it.")
    documents: int = described("In how many documents.")
    counts: dict[Assertion, int] = described("How many sentences say which of the entity.")
    first: str = described("The earliest date; empty where no document has one.")
    last: str
    sentences: list[PatientSentence] = described("In the order of the documents' dates; those without one last.")


@dataclass(frozen=True, slots=True, kw_only=True)
class PatientList:
    """Patients, the one with the best passage first."""

    understood: Understood
    patients: list[PatientHits]
    more: bool = described("Whether there are passages beyond those that were looked at.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """How the service is."""

    status: Literal["alive", "ready"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """Which version answers."""

    auscult: str
    api: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """An index that is served."""

    name: str
    generation: int = described("Grows with every change.")
    documents: int
    passages: int
    sentences: int
    model: str = described("The encoder whose vectors it holds.")
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
    """A page of documents, the last that were added first."""

    documents: list[DocumentSummary]
    total: int = described("How many there are, all told.")
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageOf:
    """A passage of a document."""

    passage_id: str
    heading: str
    above: list[str] = described("The headings above its own, outermost first.")
    start: int
    end: int
    sentences: list[tuple[int, int]] = described("Of the document's text, half-open.")


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginalFile:
    """The file that a document was read from."""

    name: str
    media_type: str
    encoding: str = described("That a text source was decoded by; empty for others.")
    pages: list[tuple[float, float]] = described("Widths and heights in points; empty for sources of text.")


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
    """Where a stretch of a document's text stands in its original."""

    start: int
    end: int
    source_ranges: list[tuple[int, int]]
    boxes: list[Box]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldValues:
    """A field that documents have, and how many have which value."""

    field: str
    values: dict[str, int] = described("The commonest, most first.")
    distinct: int = described("How many values there are.")


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePassage:
    """A passage on the sentence axis."""

    passage_id: str
    heading: str
    first: int = described("Number of its first sentence, from 0.")
    last: int = described("One past its last.")
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveSentence:
    """A sentence's place and scores."""

    start: int
    end: int
    entity: float
    aspect: float
    combined: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Curves:
    """How every sentence of a document answers."""

    understood: Understood
    doc_id: str
    title: str
    passages: list[CurvePassage]
    sentences: list[CurveSentence]
    best: int | None = described("Number of the best passage; null where no sentence is.")


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityCompletion:
    """A name that goes on from what was typed."""

    name: str = described("The preferred name, or a document's title.")
    matched: str = described("The name or synonym that holds what was typed.")
    code: str = described("The concept's identifier; empty for a title alone.")


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityCompletions:
    """Names, best first."""

    entities: list[EntityCompletion]
    complete: bool = described("False while names are still being gathered after a start.")


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectCompletion:
    """An aspect that goes on from what was typed."""

    aspect: str
    example: str = described("A question that asks for it.")


@dataclass(frozen=True, slots=True, kw_only=True)
class AspectCompletions:
    """Aspects, best first."""

    aspects: list[AspectCompletion]


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedFile:
    """A file that could not be read, or of which documents were left out."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTold:
    """An upload, and what became of it."""

    job_id: str
    index: str
    caller: str
    access: str = described(
        "The groups that see its documents; empty for everybody who may ask the index, unless a document "
        "names groups of its own."
    )
    standing: Literal["waiting", "reading", "done", "failed", "interrupted"] = described(
        "`interrupted`: the service was stopped first, and nothing is in the index."
    )
    created: str
    finished: str = described("Empty while it is at work.")
    files: int
    read: int = described("Files that have been read so far.")
    documents: int = described("Documents that these held.")
    new: int
    changed: int = described("Documents that replaced others of the same name and groups, of those you see.")
    unchanged: int
    doc_ids: list[str] = described("Of its documents.")
    skipped: list[SkippedFile]
    error: str
    remedy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JobList:
    """Jobs, the last one first."""

    jobs: list[JobTold]


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """A document that is found no more."""

    doc_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """That a judgement is kept."""

    query_id: str = described("The same for all judgements of one question.")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpanTold:
    """A stretch of sentences of a document."""

    doc_id: str
    start: int = described("Of the document's text; `end` is exclusive.")
    end: int
    first: int = described("Number of its first sentence, from 0.")
    last: int = described("One past its last sentence.")
    score: float = described("The mean of its sentences' scores.")
    text: str
    source_ranges: list[tuple[int, int]]
    boxes: list[Box]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageCell:
    """What is known of an aspect of an entity."""

    word: Literal["answers", "may answer", "no answer"]
    probability: float = described("That the passage answers; 0 where there is none.")
    doc_id: str = described("Of the best passage about the entity; empty where there is none.")
    passage_id: str
    title: str
    heading: str
    note: str = described("That what was found first is about something similar; else empty.")
    similar: str = described("The title of that; else empty.")


@dataclass(frozen=True, slots=True, kw_only=True)
class CoverageTold:
    """A table: a row an entity, a cell an aspect."""

    entities: list[Understood]
    aspects: list[str]
    rows: list[list[CoverageCell]]
