"""Find out what a sentence says of the entity: that it is there, denied, a relative's, only possible, or past.

A mention is a name of the entity in a sentence, found by its words in their normal form. ConText
(`concepts.context`) reads what the sentence asserts about it, by the rules of its language. A section's heading counts
for its sentences, and a list's lead-in for its items. Of several assertions about one mention the first in `_ORDER`
counts: "no family history of gout" is negated.

A search for a name alone is for what is there, but a short passage that only denies it is the more like the name. So
the score of a passage whose every mention is negated or hypothetical, one of them negated, counts `DENIED`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Final

from auscult.concepts.context import Context, find_contexts, heading_contexts
from auscult.documents.document import Passage
from auscult.index.words import analyse
from auscult.schema import Assertion
from auscult.understanding.query import Query
from auscult.understanding.reading import ASKING_WORDS
from auscult.understanding.saying import SAYING_NOTHING

DENIED: Final = 0.75
"""Share of its score that a passage keeps which only denies what was searched. Of "No evidence of pulmonary embolism."
and two reports that find one, these had 0.79 to 0.87 of its score; reports about something else had at most 0.2."""
_MOST_WORDS: Final = 5

_ORDER: Final[tuple[tuple[Context, Assertion], ...]] = (
    ("negated", "negated"),
    ("family", "family"),
    ("hypothetical", "hypothetical"),
    ("uncertain", "hypothetical"),
    ("historical", "historical"),
)
_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019\u2010\u2011-][^\W_]+)*")


class AssertionReader:
    """Reads what sentences say of an entity.

    Args:
        names: Names of the entity, or of several entities.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self.names = frozenset(terms for name in names if (terms := tuple(analyse(name))))
        self._holding = analyse.holding({term for terms in self.names for term in terms})
        self._by_first: dict[str, list[tuple[str, ...]]] = {}
        for terms in self.names:
            self._by_first.setdefault(terms[0], []).append(terms)
        # The same headings stand above all sentences of a passage.
        self._heading_contexts = lru_cache(maxsize=64)(heading_contexts)

    def read(
        self, sentence: str, headings: Sequence[str] = (), lead: str = "", *, language: str = "en"
    ) -> tuple[Assertion, ...]:
        """Return the assertions of a sentence about its mentions, each once; empty where it has no mention.

        Args:
            sentence: One sentence.
            headings: Headings of its section and of the sections around that.
            lead: For an item of a list, the sentence before the list ("Call us if you have:"); else empty.
            language: Code of the sentence's language. One without rules of its own is read as English.
        """
        sentence_terms = self._holding(sentence)
        # Most sentences have no word of any name, and there may be many names.
        if not sentence_terms or not any(sentence_terms.issuperset(terms) for terms in self.names):
            return ()
        above = self._heading_contexts(tuple(headings), language=language)
        before = f"{lead} " if lead else ""
        found = find_contexts(before + sentence, self._mentions(sentence, len(before)), language=language)
        contexts = [each | above for each in found]
        return tuple(dict.fromkeys(map(first_assertion, contexts)))

    def of_passage(self, passage: Passage, text: str, *, language: str = "en") -> list[tuple[Assertion, ...]]:
        """Return the assertions of each sentence of a passage about its mentions; empty for one without a mention."""
        headings = (*passage.above, passage.heading)
        assertions, lead = [], ""
        for sentence in passage.sentences:
            words = text[sentence.start - passage.start : sentence.end - passage.start]
            assertions.append(self.read(words, headings, lead if sentence.list_item else "", language=language))
            if not sentence.list_item:
                lead = words if words.endswith(":") else ""
        return assertions

    def denies(self, passage: Passage, text: str, *, language: str = "en") -> bool:
        """Return whether a passage has mentions, and only denies them, or says when they would be there."""
        asserted = frozenset(
            assertion for each in self.of_passage(passage, text, language=language) for assertion in each
        )
        return "negated" in asserted and asserted <= {"negated", "hypothetical"}

    def _mentions(self, sentence: str, offset: int) -> list[tuple[int, int]]:
        """Return where a sentence mentions one of the names; of several at one place the longest."""
        terms: list[str] = []
        places: list[tuple[int, int]] = []
        for word in _WORD.finditer(sentence):
            for term in _terms_of(word[0]):
                terms.append(term)
                places.append((word.start(), word.end()))
        mentions = []
        at = 0
        while at < len(terms):
            names = self._by_first.get(terms[at], ())
            length = max((len(name) for name in names if tuple(terms[at : at + len(name)]) == name), default=0)
            if length:
                mentions.append((offset + places[at][0], offset + places[at + length - 1][1]))
            at += length or 1
        return mentions


def first_assertion(contexts: Collection[Context]) -> Assertion:
    """Return the assertion about a mention by its contexts, the first in `_ORDER`; affirmed if there is none."""
    return next((assertion for context, assertion in _ORDER if context in contexts), "affirmed")


def names_asked(query: Query) -> tuple[str, ...]:
    """Return the names of a query's entity; of a question without one, its words, if they may be a name alone."""
    words = _WORD.findall(query.text)
    asks = any(word.lower() in _ASKING for word in words)
    alone = (query.text.strip(),) if 0 < len(words) <= _MOST_WORDS and not asks else ()
    return query.all_names or alone


def is_name_alone(query: Query) -> bool:
    """Return whether a query is a name, without a question about it and without "no" before it."""
    names = names_asked(query)
    if not query.text:
        return bool(names) and not query.aspects
    terms = {term for name in names for term in analyse(name)}
    return terms.issuperset(analyse(query.text)) and "negated" not in AssertionReader(names).read(query.text)


_ASKING: Final = SAYING_NOTHING | frozenset(ASKING_WORDS)


@lru_cache(maxsize=1 << 14)
def _terms_of(word: str) -> tuple[str, ...]:
    return tuple(analyse(word))


def assertion_label(assertions: Sequence[Assertion]) -> str:
    """Return the label of a sentence for people; empty where all its assertions are affirmed, or it has none."""
    return "" if set(assertions) <= {"affirmed"} else ", ".join(assertions)
