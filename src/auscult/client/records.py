"""What a service answers, as frozen records. Fields that a newer service adds are passed over."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True, kw_only=True)
class Concept:
    """A concept of the knowledge base, and how it was found: by identifier, name, synonym, or nearly ("fuzzy")."""

    code: str
    name: str
    matched: str
    how: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class UnderstoodEntity:
    """A thing that is asked about; without a concept it is searched for as words."""

    asked: str
    concept: Concept | None
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A misspelt word."""

    written: str
    read: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Understood:
    """How a question was understood."""

    entity: str
    entities: tuple[UnderstoodEntity, ...]
    alternatives: tuple[Concept, ...]
    aspects: tuple[str, ...]
    aspects_read: bool
    corrections: tuple[Correction, ...]
    unread: tuple[str, ...]
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle on a page (from 0), in points from its upper left corner."""

    page: int
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence of a hit: a half-open range of the document's text, its scores, and where the original has it."""

    start: int
    end: int
    text: str
    score: float
    entity_score: float
    aspect_score: float
    highlight: bool
    source_ranges: tuple[tuple[int, int], ...]
    boxes: tuple[Box, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One reason of a hit's score."""

    name: str
    words: str
    amount: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A passage that may answer."""

    rank: int
    index: str
    passage_id: str
    doc_id: str
    title: str
    heading: str
    above: tuple[str, ...]
    source: str
    url: str
    date: str
    metadata: Mapping[str, str]
    text: str
    start: int
    end: int
    excerpt: tuple[int, int]
    highlights: tuple[tuple[int, int], ...]
    sentences: tuple[Sentence, ...]
    score: float
    probability: float | None
    evidence: tuple[Evidence, ...]
    original: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingHere:
    """Whether nothing was found that answers, and how to say so."""

    flag: bool
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A page of hits, and how the question was understood."""

    understood: Understood
    hits: tuple[Hit, ...]
    nothing_here: NothingHere
    more: bool
    offset: int
    indexes: tuple[str, ...]
    milliseconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSummary:
    """A document in a list."""

    doc_id: str
    title: str
    source: str
    url: str
    date: str
    metadata: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentList:
    """A page of documents."""

    documents: tuple[DocumentSummary, ...]
    total: int
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A passage of a document: half-open ranges of its text."""

    passage_id: str
    heading: str
    above: tuple[str, ...]
    start: int
    end: int
    sentences: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginalFile:
    """The file that a document was read from."""

    name: str
    media_type: str
    encoding: str
    pages: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document with its text."""

    doc_id: str
    title: str
    source: str
    url: str
    date: str
    metadata: Mapping[str, str]
    index: str
    text: str
    passages: tuple[Passage, ...]
    entity_ids: tuple[str, ...]
    original: OriginalFile | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePassage:
    """A passage on the sentence axis: from its first sentence to one past its last."""

    passage_id: str
    heading: str
    first: int
    last: int
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
    passages: tuple[CurvePassage, ...]
    sentences: tuple[CurveSentence, ...]
    best: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A name that goes on from what was typed."""

    name: str
    matched: str
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """An index that is served."""

    name: str
    generation: int
    documents: int
    passages: int
    sentences: int
    model: str
    created: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedFile:
    """A file that could not be read, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """An upload: "waiting", "reading", "done", "failed" or "interrupted"."""

    job_id: str
    index: str
    standing: str
    files: int
    read: int
    documents: int
    new: int
    changed: int
    unchanged: int
    doc_ids: tuple[str, ...]
    skipped: tuple[SkippedFile, ...]
    error: str
    remedy: str
    created: str
    finished: str
    access: str


def made(kind: type[Made], told: Any) -> Made:
    """A record of what was answered.

    Raises:
        KeyError: A field is missing.
        TypeError: What was answered is of another shape.
    """
    record: Made = _value(kind, told)
    return record


@cache
def _hints(kind: type[Any]) -> dict[str, Any]:
    return get_type_hints(kind)


def _value(kind: Any, told: Any) -> Any:
    if is_dataclass(kind):
        hints = _hints(kind)  # type: ignore[arg-type]
        return kind(**{each.name: _value(hints[each.name], told[each.name]) for each in fields(kind)})  # type: ignore[operator]
    origin, inner = get_origin(kind), get_args(kind)
    if origin is tuple:
        kinds = [inner[0]] * len(told) if inner[-1] is Ellipsis else inner
        return tuple(_value(one, each) for one, each in zip(kinds, told, strict=True))
    if origin in (Union, types.UnionType):
        return None if told is None else _value(inner[0], told)
    return dict(told) if origin is Mapping else told
