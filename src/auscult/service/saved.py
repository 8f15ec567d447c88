"""Searches that people keep under names of theirs: a file for each person, written whole or not at all.

A file has the addresses of searches, and nothing of their answers. Its name is a hash of the person's: it does not say
whose it is.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from auscult.errors import DataError
from auscult.files.json_text import parse_json
from auscult.files.writing import write_json

MOST: Final = 100
"""Searches that one person keeps."""
MOST_PEOPLE: Final = 10_000
"""Files: browsers without a key are people, too, and anybody on this machine can make one up."""
LONGEST_NAME: Final = 100
LONGEST_ADDRESS: Final = 8_000


class TooManyError(Exception):
    """No further search is kept: neither of this person (`own`), or of no further person."""

    def __init__(self, *, own: bool) -> None:
        super().__init__()
        self.own = own


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSearch:
    """A search that somebody keeps.

    Attributes:
        name: Theirs, unique among their searches.
        address: Of the search page: path and query.
        time: ISO 8601.
    """

    name: str
    address: str
    time: str


class SavedSearches:
    """All people's.

    Args:
        folder: Of their files; made with the first search.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()

    def of(self, person: str) -> list[SavedSearch]:
        """Return a person's searches, the last one first.

        Raises:
            DataError: Their file cannot be read.
        """
        path = self._path(person)
        try:
            return [SavedSearch(**each) for each in parse_json(path.read_bytes())]
        except FileNotFoundError:
            return []
        except (OSError, ValueError, TypeError) as error:
            remedy = "move it away; whoever it belongs to saves their searches again"
            raise DataError(f"saved searches in {path}", str(error), remedy) from error

    def add(self, person: str, search: SavedSearch) -> None:
        """Keep a search; one of its name is replaced. It is on the disk when this returns.

        Raises:
            TooManyError: They have as many as are kept, or as many people have some.
            DataError: Their file cannot be read or written.
        """
        with self._lock:
            kept = [each for each in self.of(person) if each.name != search.name]
            if len(kept) >= MOST:
                raise TooManyError(own=True)
            if not self._path(person).exists() and len([*self._folder.glob("*.json")]) >= MOST_PEOPLE:
                raise TooManyError(own=False)
            self._write(person, [search, *kept])

    def remove(self, person: str, name: str) -> None:
        """Keep a search no longer; nothing happens where there is none of this name.

        Raises:
            DataError: Their file cannot be read or written.
        """
        with self._lock:
            kept = self.of(person)
            left = [each for each in kept if each.name != name]
            if len(left) < len(kept):
                self._write(person, left)

    def _path(self, person: str) -> Path:
        return self._folder / f"{hashlib.sha256(person.encode()).hexdigest()[:32]}.json"

    def _write(self, person: str, searches: Sequence[SavedSearch]) -> None:
        write_json(self._path(person), [asdict(each) for each in searches])
