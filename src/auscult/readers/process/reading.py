"""Many files through processes that read them, several at a time, their drafts in the files' order."""

from __future__ import annotations

import hashlib
import os
import time
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
from auscult.readers.registry import problem_of

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

    def read(
        self, files: Iterable[Found], known: Callable[[Found, str], bool], *, keep: bool = False
    ) -> Iterator[FileRead]:
        """The files, read.

        Args:
            files: In order.
            known: Whether a file, of a digest, need not be read.
            keep: Let the processes wait for more files, until `close`.
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
                if not keep:
                    self.close()

    def close(self) -> None:
        """End the processes."""
        for process in self._all:
            process.close()

    def _taken(self, future: Future[FileRead]) -> FileRead:
        read = future.result()
        with self._turn:
            self._held -= _size(read)
            self._next += 1
            self._turn.notify_all()
        return read

    def _one(self, number: int, file: Found, known: Callable[[Found, str], bool]) -> FileRead:
        # Files are read ahead as long as what waits is small; the one that is taken next never waits.
        with self._turn:
            self._turn.wait_for(lambda: self._stopped or self._held <= limits().document or number == self._next)
        read = self._read(file, known)
        with self._turn:
            self._held += _size(read)
        return read

    def _read(self, place: Found, known: Callable[[Found, str], bool]) -> FileRead:
        digest = ""
        try:
            content = place.content()
            digest = hashlib.sha256(content).hexdigest()
            if known(place, digest):
                return FileRead(place, digest, [], unchanged=True)
            process = self._free.get()
            try:
                # What a file was packed by is no part of its format.
                file = SourceFile(place.name.removesuffix(".gz"), content)
                return FileRead(place, digest, _with_rewritten([*process.read(file)], file, process))
            finally:
                self._free.put(process)
        except UnreadableError as problem:
            return FileRead(place, digest, [], problem)


def _with_rewritten(
    drafts: list[tuple[str, DraftDocument]], file: SourceFile, process: ReadingProcess
) -> list[tuple[str, DraftDocument]]:
    """Put what LibreOffice made of files that are to be rewritten in the place of their drafts.

    Args:
        drafts: Of a file, each with its format's name.
        file: That file.
        process: Reads what was made.

    Raises:
        UnreadableError: The file itself cannot be rewritten and read, or it encloses nothing that can.
    """
    kept: list[tuple[str, DraftDocument]] = []
    remarks: list[str] = []
    begun, most = time.monotonic(), limits().seconds
    for name, draft in drafts:
        if not draft.to_rewrite:
            kept.append((name, draft))
            continue
        inner = SourceFile(draft.to_rewrite, file.content if draft.content is None else draft.content)
        try:
            if time.monotonic() - begun > most:
                expected, remedy = f"files that are rewritten in {most} s", "name it alone"
                raise UnreadableError("timed out", expected, "too many in one file", remedy)
            if (newer := rewritten(inner)) is None:
                raise problem_of(inner) or UnreadableError("unknown kind", "a file to rewrite", "another", "report it")
            kept += [(form, _in_place_of(draft, made)) for form, made in process.read(newer) if not made.to_rewrite]
        except UnreadableError as problem:
            remarks.append(f"attachment {inner.name}: {problem.kind} ({problem.got})")
            if len(drafts) == 1:
                raise
    if remarks and kept:
        # A message's own text comes last.
        name, last = kept[-1]
        kept[-1] = name, replace(last, remarks=[*last.remarks, *remarks])
    return kept


def _in_place_of(draft: DraftDocument, made: DraftDocument) -> DraftDocument:
    """Return what was made of a file, with what the file that encloses it says of it."""
    key = "#".join(filter(None, (draft.key, made.key)))
    return replace(
        made,
        key=key,
        media_type=draft.media_type,
        content=draft.content,
        title=draft.title or made.title or (draft.to_rewrite if draft.key else ""),
        source=draft.source or made.source,
        url=draft.url or made.url,
        entity_ids=tuple(draft.entity_ids) or made.entity_ids,
        metadata={**made.metadata, **draft.metadata},
    )


def _size(read: FileRead) -> int:
    """Characters of a file's drafts."""
    return sum(len(draft.text) for _, draft in read.drafts)
