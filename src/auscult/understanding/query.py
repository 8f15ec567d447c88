"""A query: an entity, aspects of it, and the words it was asked in (arnold2020 section 3); and its text for models."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from auscult.concepts.names import normalise_name
from auscult.understanding.asking import SAYING_NOTHING
from auscult.understanding.aspect_words import ASPECT_WORDS


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked: an entity and one or more aspects of it.

    Attributes:
        query_id: Unique in its split; empty for an ad-hoc query.
        entity: The entity as the user named it, or its preferred name once resolved.
        aspects: Aspects as headings ("symptoms", "exams and tests"); several are averaged.
        entity_id: Identifier in the knowledge base, empty when unresolved.
        text: The original question, empty when there was none.
        names: Further names of the entity: what it was asked by, and synonyms.
        several: Where several things are asked about together, the names of each; the entity has all of them in its
            words then, and no names.
        gist: What a long message asks, in short; empty where all of the text asks.
        likelihoods: That each of `each` is asked about, in (0, 1]; empty where somebody named it.
        titled: What a question is about is certain, and a title of the collection.
    """

    query_id: str
    entity: str
    aspects: tuple[str, ...] = ()
    entity_id: str = ""
    text: str = ""
    names: tuple[str, ...] = ()
    several: tuple[tuple[str, ...], ...] = ()
    gist: str = ""
    likelihoods: tuple[float, ...] = ()
    titled: bool = False

    @property
    def asked(self) -> str:
        """What is asked in words: the gist of a long message, else the whole text."""
        return self.gist or self.text

    @property
    def each(self) -> tuple[tuple[str, ...], ...]:
        """The names of each thing that is asked about; none where there is no entity."""
        return self.several or ((self.all_names,) if self.entity else ())

    @property
    def all_names(self) -> tuple[str, ...]:
        """The entity and its further names, each once; none where there is no entity."""
        further = (*self.names, *(name for names in self.several for name in names))
        return tuple(dict.fromkeys(name for name in (self.entity, *further) if name)) if self.entity else ()

    @property
    def terms(self) -> str:
        """Entity and aspects as one string of words, as term-based models are queried."""
        return " ".join((self.entity, *self.aspects)).strip()


Question = Literal["otherwise", "rather", "never"]


def query_text(query: Query, *, between: str = " ", question: Question = "otherwise") -> str:
    """Return a query as the text that a model reads: its entity and aspects, or the question.

    Rankers, TF-IDF and BM25 read "IgA nephropathy symptoms"; CAPR and CK-HQA (grundmann2021, 3.1) read
    "IgA nephropathy ; symptoms". Models that count words ignore the order; a transformer was trained with one.

    Args:
        query: What is asked.
        between: Stands between entity and aspects, and between aspects.
        question: When its own words are the text: where it has neither entity nor aspects ("otherwise"), wherever it
            has some ("rather"), or "never".
    """
    if question == "rather" and query.text:
        return query.text
    parts = between.join(part for part in (query.entity, *query.aspects) if part)
    return parts or ("" if question == "never" else query.text)


_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")


def unread_words(query: Query, names: Iterable[str] = ()) -> list[str]:
    """Return what a question says beyond its entity and aspects: "more common men" of "Is gout more common in men?".

    Each word comes once. Words that say nothing of what is asked ("how", "tell") are left out.

    Args:
        query: As it was understood. Without a question in words there are none.
        names: What else its entities are called in it.
    """
    return [*_unread_words(query, tuple(names))]


# One question is asked for it several times.
@lru_cache(maxsize=64)
def _unread_words(query: Query, names: tuple[str, ...]) -> tuple[str, ...]:
    text = query.asked
    for words in ASPECT_WORDS:
        if words.aspect in query.aspects:
            text = words.pattern.sub(" ", text)
    known = {word for name in (*query.all_names, *query.aspects, *names) for word in normalise_name(name).split()}
    candidates = (
        word for word in _WORD.findall(text) if SAYING_NOTHING.isdisjoint((word.lower(), normalise_name(word)))
    )
    return tuple(dict.fromkeys(word for word in candidates if not known.issuperset(normalise_name(word).split())))
