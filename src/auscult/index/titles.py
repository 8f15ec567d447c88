"""Documents by what they are called, at rest: a sorted line for each name, so that opening an index reads none.

NAME<tab>ROW    NAME: a title as `normalise_name` folds it, or the identifier of a document's only entity
                ROW: of the first document of that name
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from auscult.concepts.identifiers import normalise_identifiers
from auscult.concepts.names import normalise_name

TITLES: Final = "titles.txt"


class TitleTable:
    """Gathers the names of documents as they come."""

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}

    def add(self, row: int, title: str, entity_ids: Sequence[str]) -> None:
        """Name a document; of several identifiers it is not said which is its own."""
        identifiers = normalise_identifiers(list(entity_ids))
        for name in (normalise_name(title), *(identifiers if len(identifiers) == 1 else ())):
            if name:
                self._rows.setdefault(name, row)

    def file(self) -> bytes:
        """What is to be written."""
        lines = (f"{name}\t{row}\n".encode("utf-8", "surrogatepass") for name, row in self._rows.items())
        return b"".join(sorted(lines))


class Titles(Mapping[str, str]):
    """Titles by name or identifier.

    Args:
        content: Of the file.
        title: Gives a document's title by its row.
    """

    def __init__(self, content: bytes, title: Callable[[int], str]) -> None:
        self._content = content
        self._title = title

    @cached_property
    def _lines(self) -> list[bytes]:
        return self._content.splitlines()

    def __getitem__(self, name: str) -> str:
        """The title of the first document of a name.

        Raises:
            KeyError: No document has it.
        """
        sought = f"{name}\t".encode("utf-8", "surrogatepass")
        place = bisect_left(self._lines, sought)
        if place == len(self._lines) or not self._lines[place].startswith(sought):
            raise KeyError(name)
        return self._title(int(self._lines[place][len(sought) :]))

    def __iter__(self) -> Iterator[str]:
        return (line.partition(b"\t")[0].decode("utf-8", "surrogatepass") for line in self._lines)

    def __len__(self) -> int:
        return len(self._lines)
