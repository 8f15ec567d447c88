"""Read many files in several processes at a time. The drafts come in the order of the files."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from queue import LifoQueue
from threading import Condition

from auscult.files.limits import limits
from auscult.readers.archives import Found
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.elsewhere import load_task
from auscult.readers.process.worker import ReadingProcess
from auscult.readers.rows import Columns

_MOST = 4
#: Files per process that are read ahead of the one whose drafts are taken next.
_AHEAD = 4


@dataclass(frozen=True, slots=True)
class FileRead:
    """The result of reading a file.

    Attributes:
        found: The file.
        digest: SHA-256 of its bytes; "" if it has no readable bytes.
        drafts: Its documents, each with the name of its format; empty if it was not read.
        problem: Error, if it was not read.
        unchanged: Whether it need not be read.
    """

    found: Found
    digest: str
    drafts: list[tuple[str, DraftDocument]]
    problem: UnreadableError | None = None
    unchanged: bool = False


class Reading:
    """Reads files in separate processes.

    Args:
        columns: Mapping of the columns of tables.
        readers: Module and class of each reader, by name. Default: all installed readers.
        processes: Number of processes. Default: one per core, up to a small number.
    """

    def __init__(
        self, columns: Columns | None = None, readers: Mapping[str, str] | None = None, processes: int = 0
    ) -> None:
        # The memory of the machine limits the number of processes.
        fit = max(1, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // limits().reading)
        number = processes or min(_MOST, os.cpu_count() or 1, fit)
        # Last in, first out: few files start few processes.
        self._free: LifoQueue[ReadingProcess] = LifoQueue()
        self._all = [ReadingProcess(columns, readers) for _ in range(number)]
        for process in self._all:
            self._free.put(process)
        self._turn = Condition()
        # Characters of waiting drafts, and the number of the file whose drafts are taken next.
        self._held = self._next = 0
        self._stopped = False

    def read(
        self, files: Iterable[Found], known: Callable[[Found, str], bool], *, keep: bool = False
    ) -> Iterator[FileRead]:
        """Yield the result of each file.

        Args:
            files: The files, in order.
            known: Returns whether a file with a digest need not be read.
            keep: Whether the processes wait for more files, until `close`.
        """
        under_way: deque[Future[FileRead]] = deque()
        self._held, self._stopped = 0, False
        with ThreadPoolExecutor(len(self._all)) as threads:
            try:
                for number, found in enumerate(files, self._next):
                    under_way.append(threads.submit(self._read_in_turn, number, found, known))
                    if len(under_way) >= _AHEAD * len(self._all):
                        yield self._take(under_way.popleft())
                while under_way:
                    yield self._take(under_way.popleft())
            except BaseException:
                with self._turn:
                    self._stopped = True
                    self._turn.notify_all()
                for waiting in under_way:
                    waiting.cancel()
                for process in self._all:
                    process.kill()
                raise
            finally:
                threads.shutdown(cancel_futures=True)
                if not keep:
                    self.close()

    def close(self) -> None:
        """End the processes."""
        for process in self._all:
            process.close()

    def _take(self, future: Future[FileRead]) -> FileRead:
        read = future.result()
        with self._turn:
            self._held -= _count_characters(read)
            self._next += 1
            self._turn.notify_all()
        return read

    def _read_in_turn(self, number: int, file: Found, known: Callable[[Found, str], bool]) -> FileRead:
        # Files are read ahead while few characters wait. The file that is taken next is always read.
        with self._turn:
            self._turn.wait_for(lambda: self._stopped or self._held <= limits().document or number == self._next)
        read = self._read_file(file, known)
        with self._turn:
            self._held += _count_characters(read)
        return read

    def _read_file(self, place: Found, known: Callable[[Found, str], bool]) -> FileRead:
        digest = ""
        try:
            content = place.content()
            digest = hashlib.sha256(content).hexdigest()
            if known(place, digest):
                return FileRead(place, digest, [], unchanged=True)
            process = self._free.get()
            try:
                # Compression is not part of a file's format.
                file = SourceFile(place.name.removesuffix(".gz"), content)
                drafts = [*process.read(file)]
                if any(draft.to_rewrite for _, draft in drafts):
                    # This runs a program, which the reading process may not.
                    drafts = load_task("rewrite", "old office files are rewritten")(drafts, file, process.read)
                return FileRead(place, digest, drafts)
            finally:
                self._free.put(process)
        except UnreadableError as problem:
            return FileRead(place, digest, [], problem)


def _count_characters(read: FileRead) -> int:
    """Return the number of characters in a file's drafts."""
    return sum(len(draft.text) for _, draft in read.drafts)
