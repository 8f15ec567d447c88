"""Which questions ask the same in nearly the same words.

Two are alike when they share `ALIKE` of their distinct stemmed words (Jaccard). Pairs are found without comparing all:
sets that share so much have one of their rarest words in common (prefix filtering).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from auscult.models.analysis import Analyzer

ALIKE = 0.8
_PLAIN = Analyzer()
_STEMMED = Analyzer(stop_words=True, stemming=True)


def words_of(text: str) -> tuple[str, ...]:
    """A text's words without case, accents and punctuation: equal for texts that say the same."""
    return tuple(_PLAIN(text))


def groups_of(texts: Sequence[str]) -> list[list[int]]:
    """Rows of texts that are alike, directly or through others; every row is in one group.

    Args:
        texts: In any order.

    Returns:
        Groups by their first row, rows in order.
    """
    # A question of stop words only is told apart by those.
    sets = [frozenset(_STEMMED(text)) or frozenset(_PLAIN(text)) for text in texts]
    times = Counter(word for words in sets for word in words)
    parent = list(range(len(sets)))

    def find(row: int) -> int:
        while parent[row] != row:
            parent[row] = parent[parent[row]]
            row = parent[row]
        return row

    holders: dict[str, list[int]] = {}
    for row, words in enumerate(sets):
        rarest = sorted(words, key=lambda word: (times[word], word))
        for word in rarest[: len(words) - math.ceil(ALIKE * len(words)) + 1]:
            for other in holders.setdefault(word, []):
                if find(other) != find(row) and len(words & sets[other]) >= ALIKE * len(words | sets[other]):
                    parent[max(find(row), find(other))] = min(find(row), find(other))
            holders[word].append(row)
    groups: dict[int, list[int]] = {}
    for row in range(len(sets)):
        groups.setdefault(find(row), []).append(row)
    return list(groups.values())


__all__ = ["ALIKE", "groups_of", "words_of"]
