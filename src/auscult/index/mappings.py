"""Mappings in a file, with text as keys. Keys are looked up by bisection, and values are created on access.

NAME/keys/…    the sorted keys, as `blocks.add_strings` writes them
NAME/ranks     position of each key in the original order, int32 (keys,); absent if that is not kept
"""

from __future__ import annotations

from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence, ValuesView
from functools import lru_cache
from typing import Final, Generic, TypeVar

import numpy as np

from auscult.index.blocks import BlockFile, BlockWriter, SortedStrings, add_strings

Value = TypeVar("Value")
#: Number of keys of each mapping whose positions are cached.
_KEPT: Final = 4096


class StoredMapping(Mapping[str, Value], Generic[Value]):
    """A mapping with keys of `add_keys`. Iterating over it reads all of it.

    Args:
        file: The file with the mapping.
        name: Name of its arrays.
        value: Returns the value of a key by the position of the key in sorted order.

    Attributes:
        sorted_keys: Its keys, sorted.
    """

    def __init__(self, file: BlockFile, name: str, value: Callable[[int], Value]) -> None:
        self._file = file
        self._name = name
        self._value = value
        self.sorted_keys = SortedStrings(file, f"{name}/keys")
        self._place = lru_cache(maxsize=_KEPT)(self.sorted_keys.find)

    def __getitem__(self, key: str) -> Value:
        """Return the value of a key.

        Raises:
            KeyError: There is no such key.
        """
        place = self._place(key)
        if place is None:
            raise KeyError(key)
        return self._value(place)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._place(key) is not None

    def __len__(self) -> int:
        return len(self.sorted_keys)

    def __iter__(self) -> Iterator[str]:
        keys = self.sorted_keys.all()
        return (keys[place] for place in self._order())

    def items(self) -> ItemsView[str, Value]:
        """Return all keys with their values, read at once."""
        keys = self.sorted_keys.all()
        return {keys[place]: self._value(place) for place in self._order()}.items()

    def values(self) -> ValuesView[Value]:
        """Return all values, read at once."""
        return dict(enumerate(map(self._value, self._order()))).values()

    def _order(self) -> Sequence[int]:
        """Return the sorted positions of all keys, in the original order of the keys."""
        ranks = f"{self._name}/ranks"
        if ranks not in self._file:
            return range(len(self))
        order: list[int] = np.argsort(self._file.array(ranks)).tolist()
        return order


def add_keys(writer: BlockWriter, name: str, keys: Sequence[str], *, ranked: bool = True) -> list[int]:
    """Write the keys of a mapping.

    Args:
        writer: Writer of the file.
        name: Name of the arrays.
        keys: Distinct keys.
        ranked: Whether to keep their order.

    Returns:
        For each position in sorted order, the number of the key in `keys`. Values must be written in this order.
    """
    order = sorted(range(len(keys)), key=keys.__getitem__)
    add_strings(writer, f"{name}/keys", (keys[number] for number in order))
    if ranked:
        writer.add(f"{name}/ranks", np.array(order, np.int64), "<i4")
    return order


def add_counts(writer: BlockWriter, name: str, counts: Mapping[str, int]) -> None:
    """Write counts of words."""
    words = [*counts.items()]
    order = add_keys(writer, name, [word for word, _ in words], ranked=False)
    writer.add(f"{name}/counts", np.array([words[number][1] for number in order], np.int64), "<i4")


def open_counts(file: BlockFile, name: str) -> StoredMapping[int]:
    """Open the counts that `add_counts` wrote."""
    counts = file.array(f"{name}/counts")
    return StoredMapping(file, name, lambda place: int(counts[place]))
