"""Count how many times each word occurs in names, and add up several such counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import ItemsView, Iterable, Iterator, Mapping, Sequence


def count_words(names: Iterable[str]) -> Counter[str]:
    """Return how many times each word occurs in normalised names."""
    return Counter(word for name in names for word in name.split())


class SummedCounts(Mapping[str, int]):
    """A mapping that adds up several counts without copying them.

    Args:
        parts: The counts, each at least 1.
    """

    def __init__(self, parts: Sequence[Mapping[str, int]]) -> None:
        self._parts = parts

    def __getitem__(self, word: str) -> int:
        """Return the count of a word.

        Raises:
            KeyError: No part has the word.
        """
        total = sum(part.get(word, 0) for part in self._parts)
        if not total:
            raise KeyError(word)
        return total

    def __contains__(self, word: object) -> bool:
        return any(word in part for part in self._parts)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(word for part in self._parts for word in part))

    def items(self) -> ItemsView[str, int]:
        """Return all words with their summed counts."""
        total: Counter[str] = Counter()
        for part in self._parts:
            total.update(dict(part.items()))
        return total.items()

    def __len__(self) -> int:
        return sum(1 for _ in self)
