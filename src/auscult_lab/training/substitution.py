"""Name substitution: the same article, as if it were about another entity.

A few thousand titles teach few entities. Most of what an article says of its subject it says with the subject's name,
so putting another name of the knowledge base in its place, in the title and wherever the title is repeated in the
text, gives a document whose every label is still right but for facts no one asks the document encoder to know. What
the encoder learns is to find the name a document is about, whatever the name. Not in arnold2020.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from auscult.concepts import KnowledgeBase
from auscult_lab.modules.averaged_words import tokenize

_LONGEST_NAME = 8


@dataclass(frozen=True, slots=True)
class NamePool:
    """Names to put in the place of a title.

    Attributes:
        names: Each as its words.
    """

    names: tuple[tuple[str, ...], ...]

    def draw(self, rng: random.Random) -> tuple[str, ...]:
        """One name, uniformly."""
        return self.names[rng.randrange(len(self.names))]


def name_pool(knowledge: KnowledgeBase, excluded: Sequence[str] = ()) -> NamePool:
    """Every name and synonym of up to eight words, without the excluded ones.

    Args:
        knowledge: Where names come from.
        excluded: Names that no training may see (the entities of test queries); compared by their words.
    """
    left_out = {tuple(tokenize(name)) for name in excluded}
    names = {
        words: None
        for concept in knowledge
        for name in concept.names
        if (words := tuple(tokenize(name))) and len(words) <= _LONGEST_NAME and words not in left_out
    }
    return NamePool(tuple(names))


def replace_words(sentence: Sequence[str], old: Sequence[str], new: Sequence[str]) -> list[str]:
    """The sentence with every occurrence of the words `old` replaced by `new`."""
    size, place = len(old), 0
    replaced: list[str] = []
    old = list(old)
    while place < len(sentence):
        if sentence[place] == old[0] and list(sentence[place : place + size]) == old:
            replaced.extend(new)
            place += size
        else:
            replaced.append(sentence[place])
            place += 1
    return replaced


def mentions_words(sentences: Sequence[Sequence[str]], words: Sequence[str]) -> bool:
    """Whether any sentence contains the words, in order and adjacent."""
    return bool(words) and any(
        sentence[i] == words[0] and list(sentence[i : i + len(words)]) == list(words)
        for sentence in sentences
        for i in range(len(sentence) - len(words) + 1)
    )
