"""Many files through processes that read them, several at a time, their drafts in the files' order."""

from __future__ import annotations

import hashlib
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from queue import LifoQueue
from threading import Condition

from auscult.files.limits import limits
from auscult.readers.archives import Found
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.old_office import rewritten
from auscult.readers.process.worker import ReadingProcess
from auscult.readers.records.rows import Columns

_MOST = 4
#: Files that are read ahead of the one whose drafts are taken, for each process.
_AHEAD = 4


@dataclass(frozen=True, slots=True)
class FileRead:
    """What became of a file.

    Attributes:
        found: The file.
        digest: SHA-256 of its bytes; empty where there are none to be had.
        drafts: Its documents, each with its format's name; empty where it was not read.
        problem: Why it was not.
        unchanged: It need not be read.
    """

    found: Found
    digest: str
    drafts: list[tuple[str, DraftDocument]]
    problem: UnreadableError | None = None
    unchanged: bool = False


class Reading:
    """Reads files in processes of their own.

    Args:
        columns: What columns of tables mean.
        readers: Module and class of each reader by name; by default all that are installed.
        processes: How many; a core each, and no more than a few, where not given.
    """

    def __init__(
        self, columns: Columns | None = None, readers: Mapping[str, str] | None = None, processes: int = 0
    ) -> None:
        # Together they may take what this machine has.
        fit = max(1, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // limits().reading)
        number = processes or min(_MOST, os.cpu_count() or 1, fit)
        # The one that was used last is taken first: few files start few processes.
        self._free: LifoQueue[ReadingProcess] = LifoQueue()
        self._all = [ReadingProcess(columns, readers) for _ in range(number)]
        for process in self._all:
            self._free.put(process)
        self._turn = Condition()
        # Characters of drafts that wait to be taken, and the number of the file whose drafts are taken next.
        self._held = self._next = 0
        self._stopped = False

    def read(self, files: Iterable[Found], known: Callable[[Found, str], bool]) -> Iterator[FileRead]:
        """The files, read.

        Args:
            files: In order.
            known: Whether a file, of a digest, need not be read.
        """
        under_way: deque[Future[FileRead]] = deque()
        self._held, self._stopped = 0, False
        with ThreadPoolExecutor(len(self._all)) as threads:
            try:
                for number, found in enumerate(files, self._next):
                    under_way.append(threads.submit(self._one, number, found, known))
                    if len(under_way) >= _AHEAD * len(self._all):
                        yield self._taken(under_way.popleft())
                while under_way:
                    yield self._taken(under_way.popleft())
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
                for process in self._all:
                    process.close()

    def _taken(self, future: Future[FileRead]) -> FileRead:
        read = future.result()
        with self._turn:
            self._held -= _size(read)
            self._next += 1
            self._turn.notify_all()
        return read

    def _one(self, number: int, found: Found, known: Callable[[Found, str], bool]) -> FileRead:
        # Files are read ahead as long as what waits is small; the one that is taken next never waits.
        with self._turn:
            self._turn.wait_for(lambda: self._stopped or self._held <= limits().document or number == self._next)
        read = self._read(found, known)
        with self._turn:
            self._held += _size(read)
        return read

    def _read(self, found: Found, known: Callable[[Found, str], bool]) -> FileRead:
        digest = ""
        try:
            content = found.content()
            digest = hashlib.sha256(content).hexdigest()
            if known(found, digest):
                return FileRead(found, digest, [], unchanged=True)
            process = self._free.get()
            try:
                # What a file was packed by is no part of its format.
                file, media_type = rewritten(SourceFile(found.name.removesuffix(".gz"), content))
                drafts = list(process.read(file))
                if media_type:
                    drafts = [(name, replace(draft, media_type=media_type)) for name, draft in drafts]
                return FileRead(found, digest, drafts)
            finally:
                self._free.put(process)
        except UnreadableError as problem:
            return FileRead(found, digest, [], problem)


def _size(read: FileRead) -> int:
    """Characters of a file's drafts."""
    return sum(len(draft.text) for _, draft in read.drafts)
