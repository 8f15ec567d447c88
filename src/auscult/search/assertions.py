"""Find out what a sentence says of the entity: that it is there, denied, a relative's, only possible, or past.

A mention is a name of the entity in a sentence, found by its words in their normal form. ConText
(`concepts.recognition.context`) reads what the sentence asserts about it, in English. A section's heading counts for
its sentences, and a list's lead-in for its items. Of several assertions about one mention the first in `_ORDER` counts:
"no family history of gout" is negated.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from auscult.concepts.recognition.context import ContextFilter
from auscult.concepts.recognition.entity import Context, Entity
from auscult.index.words import analyse
from auscult.interfaces import Assertion

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
        self._context = ContextFilter()
        # The same headings stand above all sentences of a passage.
        self._under = lru_cache(maxsize=64)(self._context.under)

    def read(self, sentence: str, headings: Sequence[str] = (), lead: str = "") -> tuple[Assertion, ...]:
        """Return the assertions of a sentence about its mentions, each once; empty where it has no mention.

        Args:
            sentence: One sentence.
            headings: Headings of its section and of the sections around that.
            lead: For an item of a list, the sentence before the list ("Call us if you have:"); else empty.
        """
        sentence_terms = self._holding(sentence)
        # Most sentences have no word of any name, and there may be many names.
        if not sentence_terms or not any(sentence_terms.issuperset(terms) for terms in self.names):
            return ()
        above = self._under(tuple(headings))
        before = f"{lead} " if lead else ""
        marked = self._context.mark(before + sentence, self._mentions(sentence, len(before)))
        return tuple(dict.fromkeys(_assertion(mention.contexts | above) for mention in marked))

    def _mentions(self, sentence: str, offset: int) -> list[Entity]:
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
                start, end = places[at][0], places[at + length - 1][1]
                mentions.append(Entity(offset + start, offset + end, sentence[start:end]))
            at += length or 1
        return mentions


@lru_cache(maxsize=1 << 14)
def _terms_of(word: str) -> tuple[str, ...]:
    return tuple(analyse(word))


def _assertion(contexts: frozenset[Context]) -> Assertion:
    return next((assertion for context, assertion in _ORDER if context in contexts), "affirmed")


def assertion_label(assertions: Sequence[Assertion]) -> str:
    """Return the label of a sentence for people; empty where all its assertions are affirmed, or it has none."""
    return "" if set(assertions) <= {"affirmed"} else ", ".join(assertions)
