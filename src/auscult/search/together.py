"""Writing an index at an address: by several processes, of one machine or of many, straight from the files.

Every process, here and elsewhere, takes shares that nobody else has, and all do both steps of each:

1. read its files, so that all know which texts are the same (`sources.sharing`);
2. encode the documents that the index lacks, and write them with their segment (`engines.jobs`).

The first that finds all shares done makes them the generation that is seen (`engines.finishing`).
"""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from itertools import groupby, islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryDirectory

from auscult.concepts import KnowledgeBase
from auscult.documents import Document
from auscult.encoders import load_model
from auscult.engines.finishing import JobReport, finish
from auscult.engines.jobs import Items, Job, Stage, Subject, Written, begin, opened
from auscult.errors import AuscultError, DataError
from auscult.files.limits import check_memory
from auscult.index import IndexWriter, ModelRecord
from auscult.index.reader import open_current
from auscult.index.store import content_hash
from auscult.interfaces import DocumentEncoder
from auscult.search.build import batches
from auscult.sources.files import FilesCorpus
from auscult.sources.sharing import SharedFiles, ShareRecords

#: Seconds between two looks at what others are doing.
_WAIT = 0.25
Progress = Callable[[int, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterTask:
    """What a process has to know to take part.

    Attributes:
        files: That are read.
        model: As `load_model` takes it.
        processes: How many take part on this machine.
        batch_size: Documents encoded at once.
    """

    job: Job
    files: FilesCorpus
    model: str
    processes: int
    batch_size: int


def write_together(
    files: FilesCorpus,
    address: str,
    encoder: DocumentEncoder,
    model: str,
    *,
    knowledge_base: KnowledgeBase | None = None,
    processes: int = 1,
    batch_size: int = 32,
    replace: bool = False,
    progress: Progress = lambda read, written, shares: None,
) -> JobReport:
    """Bring the index at an address to what files hold now, together with all who are given the same.

    Documents that the index has are not encoded again, and those that it has besides leave it.

    Args:
        files: That are read; their report is filled.
        address: "postgresql://USER@HOST/DATABASE#COLLECTION"; the user owns the tables, or may make them.
        encoder: Makes the vectors.
        model: What `load_model` takes to load the encoder, here and at searchers.
        knowledge_base: Kept in the index together with the entities that documents are about.
        processes: How many take part on this machine.
        batch_size: Documents encoded at once.
        replace: Whether documents of other places, and another job that was not finished, may be removed.
        progress: Called with how many shares were read and written, and how many there are.

    Raises:
        CorpusMissingError: A path leads nowhere.
        DataError: There are no documents, an id comes twice, or a worker died.
        EngineError: The server cannot be reached or refuses, or what is there is something else.
    """
    with files.shared() as shared:
        shared.find()
        described = ModelRecord.of(encoder, model)
        job = begin(address, shared.listing, files.origins, len(shared.shares), described, replace=replace)
        task = WriterTask(job=job, files=files, model=model, processes=processes, batch_size=batch_size)
        if processes == 1:
            with opened(job) as items:
                _Writer(shared, items, task, progress).write(lambda: encoder)
        else:
            _in_processes(task, progress)
        report = finish(job, described, files.name, knowledge_base)
        shared.tell(report.records)
    return report


class _Writer:
    """One of those who work together.

    Args:
        files: Found.
        items: Shares of them.
        task: What is done.
        progress: See `write_together`.
    """

    def __init__(self, files: SharedFiles, items: Items, task: WriterTask, progress: Progress) -> None:
        self._files, self._items, self._task = files, items, task
        self._progress = progress
        self._own: set[int] = set()

    def write(self, encoder: Callable[[], DocumentEncoder]) -> None:
        """Take shares until all are written.

        Args:
            encoder: Gives the encoder, when there is something to encode.
        """
        self._take_all("records", self._read)
        records = self._items.records()
        self._files.complete(records)
        self._take_all("kept", lambda number: self._write(number, records[number], encoder()))

    def _take_all(self, stage: Stage, done: Callable[[int], None]) -> None:
        shares = len(self._files.shares)
        while True:
            if _is_orphan():
                # A command that is given again finds its shares free.
                raise SystemExit(1)
            with self._items.taken(stage, self._own) as number:
                if number is not None:
                    done(number)
            if number is None:
                # Others are at work; should one of them end, its share is free again.
                left = self._items.left(stage)
                if not left:
                    return
                time.sleep(_WAIT)
            self._tell(stage, shares)

    def _tell(self, stage: Stage, shares: int) -> None:
        done = shares - self._items.left(stage)
        self._progress(*((done, 0) if stage == "records" else (shares, done)), shares)

    def _read(self, number: int) -> None:
        self._items.put_records(number, self._files.read(number))
        self._own.add(number)

    def _write(self, number: int, records: ShareRecords, encoder: DocumentEncoder) -> None:
        kept: list[int] = []
        subjects: list[Subject] = []
        origins: dict[str, str] = {}
        segment = None
        with (
            TemporaryDirectory(prefix="auscult-") as folder,
            IndexWriter(Path(folder) / "share", encoder, numbers=self._task.job.numbers(number)) as writer,
        ):
            documents = _noting(self._files.documents(number, records), origins, subjects)
            for batch in batches(self._lacking(documents, kept), self._task.batch_size):
                check_memory()
                for origin, those in groupby(batch, lambda document: origins[document.doc_id]):
                    writer.add([*those], origin=origin)
                check_memory([document.doc_id for document in batch])
            if writer.counts.documents:
                (segment,) = writer.commit().segments
                with closing(open_current(writer.folder)) as reader:
                    self._items.put(reader)
        self._items.put_written(number, Written(kept, segment, subjects))

    def _lacking(self, documents: Iterator[Document], kept: list[int]) -> Iterator[Document]:
        """Yield the documents that the index lacks, or has otherwise; note the keys of all others."""
        while some := [*islice(documents, self._task.batch_size)]:
            held = self._items.held([each.doc_id for each in some])
            for document in some:
                key, digest = held.get(document.doc_id, (0, b""))
                if digest == content_hash(document):
                    kept.append(key)
                else:
                    yield document


def _noting(
    documents: Iterator[tuple[Document, str]], origins: dict[str, str], subjects: list[Subject]
) -> Iterator[Document]:
    """Yield documents; note where they were read, and those that say which entities they are about."""
    for document, origin in documents:
        origins[document.doc_id] = origin
        if document.entity_ids:
            subjects.append((document.doc_id, document.title, document.source, document.entity_ids))
        yield document


def _is_orphan() -> bool:
    """Return whether the command that started this process is gone."""
    parent = multiprocessing.parent_process()
    return parent is not None and not parent.is_alive()


def _in_processes(task: WriterTask, progress: Progress) -> None:
    """Let processes do a job; those that die leave their shares to the others.

    Raises:
        AuscultError: That of a process that could not go on, where no other finished the job.
        DataError: All died.
    """
    # A copy of a process with threads may hang: each is started anew.
    context = multiprocessing.get_context("spawn")
    writers: dict[Connection, BaseProcess] = {}
    for _ in range(task.processes):
        ours, theirs = context.Pipe(duplex=False)
        process = context.Process(target=take_part, args=(task, theirs), daemon=True)
        process.start()
        theirs.close()
        writers[ours] = process
    errors = []
    while writers:
        ready = wait([*writers])
        for pipe in [each for each in writers if each in ready]:
            try:
                said = pipe.recv()
            except EOFError:
                writers.pop(pipe).join()
                continue
            if isinstance(said, AuscultError):
                errors.append(said)
            else:
                progress(*said)
    with opened(task.job) as items:
        left = items.left("kept")
    if left and errors:
        raise errors[0]
    if left:
        remedy = "see whether memory is short; choose fewer --workers, and give the command again"
        raise DataError("processes that write", f"{task.processes} that died, with {left:,} shares left", remedy)


def take_part(task: WriterTask, parent: Connection) -> None:
    """Do what a process that `write_together` starts does; its progress and its error go to the parent."""
    try:
        with task.files.shared() as shared, opened(task.job) as items:
            shared.find(processes=1)
            _Writer(shared, items, task, lambda *done: parent.send(done)).write(cache(lambda: load_model(task.model)))
    except AuscultError as error:
        parent.send(error)
