"""Saved searches: one file for each person, written completely or not at all.

A file has the addresses of searches, but no answers. Its name is a hash of the person's name, so it does not reveal
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
from auscult_service.errors import Refusal

MOST: Final = 100
"""Searches that one person may save."""
MOST_PEOPLE: Final = 10_000
"""Limit on the number of files, as a caller without keys can pretend to be any number of browsers."""
LONGEST_NAME: Final = 100
LONGEST_ADDRESS: Final = 8_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedSearch:
    """A saved search.

    Attributes:
        name: Its name, unique among the person's searches.
        address: Path and query of the search page.
        time: When it was saved, ISO 8601.
    """

    name: str
    address: str
    time: str


class SavedSearches:
    """The saved searches of all people.

    Args:
        folder: The folder of their files; created with the first search.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()

    def of(self, person: str) -> list[SavedSearch]:
        """Return a person's searches, newest first.

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
        """Save a search, replacing one with the same name. It is on the disk when this returns.

        Raises:
            Refusal: The limit on the person's searches, or that on the number of people, is reached.
            DataError: The person's file cannot be read or written.
        """
        with self._lock:
            searches = [each for each in self.of(person) if each.name != search.name]
            if len(searches) >= MOST:
                raise _too_many(f"at most {MOST} saved searches", "remove one of yours first")
            if not self._path(person).exists() and len([*self._folder.glob("*.json")]) >= MOST_PEOPLE:
                limit = f"saved searches of at most {MOST_PEOPLE} people"
                raise _too_many(limit, "ask whoever runs this service to remove old ones")
            self._write(person, [search, *searches])

    def remove(self, person: str, name: str) -> None:
        """Delete a search; an unknown name is ignored.

        Raises:
            DataError: The person's file cannot be read or written.
        """
        with self._lock:
            searches = self.of(person)
            others = [each for each in searches if each.name != name]
            if len(others) < len(searches):
                self._write(person, others)

    def _path(self, person: str) -> Path:
        return self._folder / f"{hashlib.sha256(person.encode()).hexdigest()[:32]}.json"

    def _write(self, person: str, searches: Sequence[SavedSearch]) -> None:
        write_json(self._path(person), [asdict(each) for each in searches])


def _too_many(limit: str, remedy: str) -> Refusal:
    return Refusal(409, "too_many_saved", f"expected {limit}, got one more", remedy)
