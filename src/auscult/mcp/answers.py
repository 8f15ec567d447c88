"""What the tools answer: plain records, each sentence with its id. Without slots, in which the SDK sees defaults."""

from __future__ import annotations

from dataclasses import dataclass, field

from auscult.interfaces import Assertion


@dataclass(frozen=True)
class Sentence:
    """One sentence of a document, as its author wrote it.

    In what a search found, `assertions` are what it says of the entity asked about: that it is so ("affirmed"), is not
    ("negated"), is of the family, was ("historical"), or only may be ("hypothetical"). Empty where it does not mention
    the entity.
    """

    id: str
    text: str
    assertions: list[Assertion] = field(default_factory=list)


@dataclass(frozen=True)
class Passage:
    """A passage that may answer: sentences of it, which of them answer, and how many stand before and behind.

    `above` has the headings above its own, outermost first: they tell what a heading such as "Treatment" is of. In a
    book of many articles `title` is the article's, and `book` the book's. `place` says where in `file` it answers.
    """

    index: str
    document: str
    title: str
    book: str
    above: list[str]
    heading: str
    file: str
    place: str
    source: str
    url: str
    date: str
    probability: float | None
    note: str
    sentences: list[Sentence]
    answering: list[str]
    more_before: int
    more_behind: int


@dataclass(frozen=True)
class Found:
    """The answer to a search. Where nothing seems to answer, `nothing_here` says so: tell the user that first.

    `not_searched` says which part of the documents could not be searched; empty where all were. Tell the user that
    first, too: then nothing is known of what these documents say.
    """

    understood: str
    nothing_here: str
    not_searched: str
    passages: list[Passage]


@dataclass(frozen=True)
class Section:
    """Sentences that stand under one heading, with the headings above it."""

    above: tuple[str, ...]
    heading: str
    sentences: list[Sentence]


@dataclass(frozen=True)
class Reading:
    """A part of a document: sentences `first` to `last` (from 0; the last is not among them) of `sentences_in_all`."""

    index: str
    document: str
    title: str
    source: str
    url: str
    date: str
    first: int
    last: int
    sentences_in_all: int
    sections: list[Section]


@dataclass(frozen=True)
class Citation:
    """What an id names: the exact sentence, or that it does not exist, and why; `above` has the outer headings."""

    id: str
    exists: bool
    text: str = ""
    index: str = ""
    document: str = ""
    title: str = ""
    above: tuple[str, ...] = ()
    heading: str = ""
    file: str = ""
    place: str = ""
    source: str = ""
    url: str = ""
    date: str = ""
    problem: str = ""


@dataclass(frozen=True)
class Citations:
    """All of them, in the order asked."""

    all_exist: bool
    citations: list[Citation]


@dataclass(frozen=True)
class CoverageCell:
    """Whether an aspect of an entity is answered: "answers", "may answer" or "no answer", and the best sentence.

    What was found first, but is about a similar entity, is no answer: `similar` is its title.
    """

    entity: str
    aspect: str
    word: str
    probability: float
    note: str
    similar: str
    document: str
    title: str
    heading: str
    sentence: Sentence | None


@dataclass(frozen=True)
class CoverageTable:
    """A cell for every aspect of every entity."""

    index: str
    entities: list[str]
    aspects: list[str]
    cells: list[CoverageCell]


@dataclass(frozen=True)
class IndexAbout:
    """An index: how much it holds, and the fields that `where` may name, with their commonest values."""

    name: str
    documents: int
    passages: int
    sentences: int
    fields: dict[str, list[str]]


@dataclass(frozen=True)
class Indexes:
    """All that can be asked."""

    indexes: list[IndexAbout]
