"""What goes over the wire, typed: requests with their limits, answers with what each field means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

MOST_WORDS = 2_000
"""Characters of a question, an entity or an aspect."""
MOST_HITS = 100
REACH = 1_000
_MOST_ASPECTS = 16
_MOST_FIELDS = 16
_MOST_VALUES = 100

Words = Annotated[str, Field(max_length=MOST_WORDS)]
IndexName = Annotated[str, Field(max_length=64, description="An index by its name; the first where none is named.")]


class Asked(BaseModel):
    """What requests share."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Told(BaseModel):
    """What answers share."""

    model_config = ConfigDict(frozen=True)


class Range(Asked):
    """Values between two, in the order of text, which dates as in 2024-05-31 have too; both belong to it."""

    first: str = Field("", alias="from", max_length=200, description="The least value; empty for no bound.")
    last: str = Field("", alias="to", max_length=200, description="The greatest value; '2024-05' is all of May.")


Value = Annotated[str, Field(max_length=500)]
Condition = Value | Annotated[list[Value], Field(min_length=1, max_length=_MOST_VALUES)] | Range
Where = Annotated[
    dict[Annotated[str, Field(max_length=100)], Condition],
    Field(
        max_length=_MOST_FIELDS,
        description="By field (`source`, or of documents' metadata; see /fields) a value, several of which one has to "
        "be there, or a range {from, to}. All fields have to agree.",
    ),
]


class Question(Asked):
    """What is asked: a question in words, or an entity with aspects; given parts win over the question's."""

    question: Words = Field("", description="In words: 'How is gout treated?'")
    entity: Words = Field("", description="A name, a synonym or an identifier (DOID:2986).")
    aspects: list[Words] = Field(default_factory=list, max_length=_MOST_ASPECTS, description="symptoms, treatment, ...")


class SearchRequest(Question):
    """A search."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"question": "How is gout treated?", "k": 5},
                {"entity": "gout", "aspects": ["treatment"], "where": {"source": "NHS"}, "group_by": "document"},
            ]
        }
    )

    index: IndexName | None = None
    indexes: list[IndexName] = Field(
        default_factory=list, max_length=32, description="Several at once; their hits are merged by score."
    )
    k: int = Field(10, ge=1, le=MOST_HITS, description="Hits of a page.")
    offset: int = Field(0, ge=0, le=REACH - 1, description="How many hits stand before the page.")
    group_by: str = Field(
        "passage", max_length=100, description="A hit for every `passage`, `document`, or value of a field."
    )
    where: Where = Field(default_factory=dict)
    score: Literal["fused", "model"] = Field("fused", description="By all evidence, or by the model's vectors alone.")
    rerank: int = Field(0, ge=0, le=64, description="First hits that are read once more, together with the question.")


class Concept(Told):
    """A concept of the knowledge base, and how it was found."""

    code: str = Field(description="Its identifier.", examples=["DOID:13189"])
    name: str = Field(description="Its preferred name.", examples=["gout"])
    matched: str = Field(description="The name, synonym or identifier that was matched.", examples=["gout"])
    how: Literal["identifier", "name", "synonym", "fuzzy"] = Field(description="What was matched; fuzzy: nearly.")
    score: float = Field(description="1 for an exact match, less for a looser one.")


class UnderstoodEntity(Told):
    """A thing that is asked about."""

    asked: str = Field(description="In the words it was asked in.")
    concept: Concept | None = Field(description="What it was taken for; null where it is searched for as words.")
    names: list[str] = Field(description="What it is looked for by.")


class Correction(Told):
    """A misspelt word."""

    written: str
    read: str


class Understood(Told):
    """How a request was understood; each part can be given in its place (`entity`, `aspects`)."""

    entity: str = Field(description="What hits are about, as the documents call it.")
    entities: list[UnderstoodEntity] = Field(description="Each thing that is asked about.")
    alternatives: list[Concept] = Field(description="Other readings of the entity, best first.")
    aspects: list[str] = Field(description="What is asked of it.")
    aspects_read: bool = Field(description="Whether the aspects come from the question's words.")
    corrections: list[Correction] = Field(description="Misspelt words, as they were read.")
    unread: list[str] = Field(description="Words that are neither; they are looked for as they are.")
    note: str = Field(description="One line for people; empty where there was nothing to understand.")


# There are hundreds of these in an answer, made by us: plain records cost a fifth of what checked ones do.
@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page, in points from its upper left corner."""

    page: Annotated[int, Field(description="From 0.")]
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a hit with its scores."""

    start: Annotated[int, Field(description="Of the document's text; `end` is exclusive.")]
    end: int
    text: str
    score: float
    entity_score: float
    aspect_score: float
    highlight: Annotated[bool, Field(description="Whether it is among the passage's best.")]
    source_ranges: Annotated[
        list[tuple[int, int]],
        Field(description="Of a highlighted sentence: where it stands in the decoded original file, half-open."),
    ]
    boxes: Annotated[
        list[Box], Field(description="Of a highlighted sentence: where it stands on the original's pages.")
    ]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One reason of a hit's score."""

    name: str
    words: Annotated[str, Field(description="The reason in words.", examples=["the title names what was asked about"])]
    amount: Annotated[float, Field(description="What it adds to the score.")]


class Hit(Told):
    """A passage that may answer."""

    rank: int = Field(description="From 1, over all pages.")
    index: str
    passage_id: str
    doc_id: str
    title: str
    heading: str
    above: list[str] = Field(description="The headings above its own, outermost first.")
    source: str
    url: str
    date: str = Field(description="Of the document, where its metadata has one; else empty.")
    metadata: dict[str, str]
    text: str
    start: int = Field(description="Of the passage in the document's text; `end` is exclusive.")
    end: int
    excerpt: tuple[int, int] = Field(description="The stretch around the best sentences: of the document's text.")
    highlights: list[tuple[int, int]] = Field(description="The best sentences: of the document's text, in order.")
    sentences: list[Sentence]
    score: float = Field(description="The sum of all evidence, which compares between questions and indexes.")
    probability: float | None = Field(description="That the passage answers; null where the model alone scored.")
    evidence: list[Evidence] = Field(description="What the score is made of, most first.")
    original: str | None = Field(description="The media type of the original file, where it is kept.")


class NothingHere(Told):
    """Whether nothing was found that answers."""

    flag: bool
    sentence: str = Field(description="For people; empty where something answers.")


class SearchAnswer(Told):
    """Hits, and how the request was understood."""

    understood: Understood
    hits: list[Hit]
    nothing_here: NothingHere
    more: bool = Field(description="Whether there are hits beyond this page.")
    offset: int
    indexes: list[str] = Field(description="Which were asked.")
    milliseconds: float = Field(description="What it took here.")


class ErrorBody(Told):
    """What went wrong."""

    code: str = Field(description="A word that programs tell it by.", examples=["bad_query"])
    message: str = Field(description="What was expected, and what came.")
    remedy: str = Field(description="What to do about it.")
    request_id: str = Field(description="The request's id, as in the answer's header X-Request-ID.")


class Error(Told):
    """The shape of everything that goes wrong."""

    error: ErrorBody


class Health(Told):
    """How the service is."""

    status: Literal["alive", "ready"]


class Version(Told):
    """Which version answers."""

    auscult: str
    api: str


class Index(Told):
    """An index that is served."""

    name: str
    generation: int = Field(description="Grows with every change.")
    documents: int
    passages: int
    sentences: int
    model: str = Field(description="The encoder whose vectors it holds.")
    created: str = Field(description="When this generation was published, ISO 8601.")


class DocumentSummary(Told):
    """A document in a list."""

    doc_id: str
    title: str
    source: str
    url: str
    date: str
    metadata: dict[str, str]


class DocumentList(Told):
    """A page of documents, the last that were added first."""

    documents: list[DocumentSummary]
    total: int = Field(description="How many there are, all told.")
    offset: int


class PassageOf(Told):
    """A passage of a document."""

    passage_id: str
    heading: str
    above: list[str] = Field(description="The headings above its own, outermost first.")
    start: int
    end: int
    sentences: list[tuple[int, int]] = Field(description="Of the document's text, half-open.")


class OriginalFile(Told):
    """The file that a document was read from."""

    name: str
    media_type: str
    encoding: str = Field(description="That a text source was decoded by; empty for others.")
    pages: list[tuple[float, float]] = Field(description="Widths and heights in points; empty for sources of text.")


class DocumentWhole(DocumentSummary):
    """A document with its text."""

    index: str
    text: str
    passages: list[PassageOf]
    entity_ids: list[str]
    original: OriginalFile | None = Field(description="Null where the file is not kept.")


class PlacesOf(Told):
    """Where a stretch of a document's text stands in its original."""

    start: int
    end: int
    source_ranges: list[tuple[int, int]]
    boxes: list[Box]


class FieldValues(Told):
    """A field that documents have, and how many have which value."""

    field: str
    values: dict[str, int] = Field(description="The commonest, most first.")
    distinct: int = Field(description="How many values there are.")


class ExplainRequest(Question):
    """A question to one document."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"entity": "gout", "aspects": ["treatment"], "doc_id": "leaflet-gout"}]}
    )

    index: IndexName | None = None
    doc_id: str = Field("", max_length=2_000, description="Empty for the document of the best hit.")


class CurvePassage(Told):
    """A passage on the sentence axis."""

    passage_id: str
    heading: str
    first: int = Field(description="Number of its first sentence, from 0.")
    last: int = Field(description="One past its last.")
    score: float


class CurveSentence(Told):
    """A sentence's place and scores."""

    start: int
    end: int
    entity: float
    aspect: float
    combined: float


class Curves(Told):
    """How every sentence of a document answers."""

    understood: Understood
    doc_id: str
    title: str
    passages: list[CurvePassage]
    sentences: list[CurveSentence]
    best: int | None = Field(description="Number of the best passage; null where no sentence is.")


class EntityCompletion(Told):
    """A name that goes on from what was typed."""

    name: str = Field(description="The preferred name, or a document's title.")
    matched: str = Field(description="The name or synonym that holds what was typed.")
    code: str = Field(description="The concept's identifier; empty for a title alone.")


class EntityCompletions(Told):
    """Names, best first."""

    entities: list[EntityCompletion]
    complete: bool = Field(description="False while names are still being gathered after a start.")


class AspectCompletion(Told):
    """An aspect that goes on from what was typed."""

    aspect: str
    example: str = Field(description="A question that asks for it.")


class AspectCompletions(Told):
    """Aspects, best first."""

    aspects: list[AspectCompletion]


class SkippedFile(Told):
    """A file that could not be read, or of which documents were left out."""

    name: str
    reason: str


class JobTold(Told):
    """An upload, and what became of it."""

    job_id: str
    index: str
    caller: str
    access: str = Field(
        description="The groups that see its documents; empty for everybody who may ask the index, unless a document "
        "names groups of its own."
    )
    standing: Literal["waiting", "reading", "done", "failed", "interrupted"] = Field(
        description="`interrupted`: the service was stopped first, and nothing is in the index."
    )
    created: str
    finished: str = Field(description="Empty while it is at work.")
    files: int
    read: int = Field(description="Files that have been read so far.")
    documents: int = Field(description="Documents that these held.")
    new: int
    changed: int = Field(description="Documents that replaced others of the same name and groups, of those you see.")
    unchanged: int
    doc_ids: list[str] = Field(description="Of its documents.")
    skipped: list[SkippedFile]
    error: str
    remedy: str


class JobList(Told):
    """Jobs, the last one first."""

    jobs: list[JobTold]


class Removed(Told):
    """A document that is found no more."""

    doc_id: str


class FeedbackRequest(Question):
    """What somebody says of a hit."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "question": "How is gout treated?",
                    "doc_id": "leaflet-gout",
                    "passage_id": "gout-3",
                    "relevance": 1,
                    "span": [184, 224],
                }
            ]
        }
    )

    index: IndexName | None = None
    doc_id: str = Field(max_length=2_000)
    passage_id: str = Field(max_length=2_000)
    relevance: int = Field(ge=0, le=3, description="0: it does not answer; 1 to 3: it does, and how well.")
    span: tuple[Annotated[int, Field(ge=0, le=2**31)], Annotated[int, Field(ge=0, le=2**31)]] | None = Field(
        None, description="Which characters of the document's text answer, half-open."
    )


class Kept(Told):
    """That a judgement is kept."""

    query_id: str = Field(description="The same for all judgements of one question.")


class SpanRequest(Question):
    """The stretch of a document that answers, or what is a step larger or smaller than one."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"question": "How is gout treated?", "doc_id": "leaflet-gout"}]}
    )

    index: IndexName | None = None
    doc_id: str = Field(max_length=2_000)
    step: Literal["best", "grow", "shrink"] = "best"
    first: int = Field(0, ge=0, le=2**31, description="Of the span that grows or shrinks: its first sentence, from 0.")
    last: int = Field(0, ge=0, le=2**31, description="One past its last sentence.")


class SpanTold(Told):
    """A stretch of sentences of a document."""

    doc_id: str
    start: int = Field(description="Of the document's text; `end` is exclusive.")
    end: int
    first: int = Field(description="Number of its first sentence, from 0.")
    last: int = Field(description="One past its last sentence.")
    score: float = Field(description="The mean of its sentences' scores.")
    text: str
    source_ranges: list[tuple[int, int]]
    boxes: list[Box]


class CoverageRequest(Asked):
    """Which aspects of which entities are answered?"""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"entities": ["gout", "migraine"], "aspects": ["symptoms", "treatment"]}]}
    )

    index: IndexName | None = None
    entities: list[Words] = Field(min_length=1, max_length=200)
    aspects: list[Words] = Field(
        default_factory=list, max_length=100, description="Empty for those that the collection has headings for."
    )
    where: Where = Field(default_factory=dict)


class CoverageCell(Told):
    """What is known of an aspect of an entity."""

    word: Literal["answered", "perhaps", "not found"]
    probability: float = Field(description="That the passage answers; 0 where there is none.")
    doc_id: str = Field(description="Of the best passage; empty where there is none.")
    passage_id: str
    title: str
    heading: str
    note: str = Field(description="That it is about something similar; else empty.")


class CoverageTold(Told):
    """A table: a row an entity, a cell an aspect."""

    entities: list[Understood]
    aspects: list[str]
    rows: list[list[CoverageCell]]
