"""Records that the tools return. They have no slots, as the SDK would take those for defaults."""

from __future__ import annotations

from dataclasses import dataclass, field

from auscult.schema import Assertion


@dataclass(frozen=True)
class Sentence:
    """One sentence of a document, as its author wrote it.

    In results of a search, `assertions` are what it says about the entity: that it is present ("affirmed"), absent
    ("negated"), of a relative ("family"), in the past ("historical"), or only possible ("hypothetical"). The list is
    empty where the sentence does not mention the entity.
    """

    id: str
    text: str
    assertions: list[Assertion] = field(default_factory=list)


@dataclass(frozen=True)
class Passage:
    """A passage that may answer: some sentences, which of them answer, and how many more are before and after them.

    `above` has the headings above its own, outermost first: they say what a heading such as "Treatment" is about. In a
    book of many articles, `title` is that of the article and `book` that of the book. `place` says where in `file` the
    answer is.
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

    `not_searched` says which part of the documents could not be searched; it is empty where all were. Tell the user
    that first, too: nothing is known about what these documents say.

    `language` is the code of the question's language (ISO 639-1), empty where it is not sure. Where `language_note` is
    not empty, passages have no probability, as the model does not read that language: tell the user what it says.
    """

    understood: str
    nothing_here: str
    not_searched: str
    passages: list[Passage]
    language: str = ""
    language_note: str = ""


@dataclass(frozen=True)
class Section:
    """The sentences under one heading, with the headings above it."""

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
    """The sentence of an id, or why it does not exist; `above` has the headings above its own."""

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
    """All citations, in the order of the ids."""

    all_exist: bool
    citations: list[Citation]


@dataclass(frozen=True)
class CoverageCell:
    """Whether an aspect of an entity is answered: "answers", "may answer" or "no answer", and the best sentence.

    A best passage that is about a similar entity is no answer; `similar` is its title.
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
    """An index: its size, and the fields that `where` may name, with their most frequent values."""

    name: str
    documents: int
    passages: int
    sentences: int
    fields: dict[str, list[str]]


@dataclass(frozen=True)
class Indexes:
    """All indexes that can be searched."""

    indexes: list[IndexAbout]
