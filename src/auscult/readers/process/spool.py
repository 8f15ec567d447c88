"""Drafts that wait on the disk, in a file without a name: nobody else opens it, and it is gone with the process."""

from __future__ import annotations

import tempfile
from types import TracebackType
from typing import NamedTuple, Self

from auscult.readers.contract import DraftDocument
from auscult.readers.process.wire import draft_from_bytes, draft_to_bytes


class Place(NamedTuple):
    """Where a draft waits: its first byte, and how many there are."""

    start: int
    size: int


class Spool:
    """Drafts, each taken back as often as it is asked for."""

    def __init__(self) -> None:
        # Closed by whoever opened this.
        self._file = tempfile.TemporaryFile(prefix="auscult-")  # noqa: SIM115
        self._end = 0

    def put(self, draft: DraftDocument) -> Place:
        """Let a draft wait.

        Raises:
            OSError: The disk is full.
        """
        content = draft_to_bytes(draft)
        self._file.seek(self._end)
        self._file.write(content)
        place = Place(self._end, len(content))
        self._end += len(content)
        return place

    def get(self, place: Place) -> DraftDocument:
        """The draft that waits somewhere."""
        self._file.seek(place.start)
        return draft_from_bytes(self._file.read(place.size))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
