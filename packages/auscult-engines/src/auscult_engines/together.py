"""Write an index at an address by several processes, on one machine or many, from the files.

Every process takes shares of the files that no other process has. A share has two steps:

1. Read its files. Afterwards all processes know which texts are the same (`sharing.py`).
2. Encode the documents that the index lacks, and write them with their segment (`jobs.py`).

The first process that finds all shares finished publishes them as a generation (`finishing.py`).
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
from auscult.encoders.contract import DocumentEncoder
from auscult.errors import AuscultError, DataError
from auscult.files.limits import check_memory
from auscult.index import IndexWriter, ModelRecord
from auscult.index.reader import open_current
from auscult.index.store import content_hash
from auscult.ingest.building import batches
from auscult.ingest.files import FilesCorpus
from auscult_engines.finishing import JobReport, finish
from auscult_engines.jobs import Items, Job, Stage, Subject, Written, begin, open_items
from auscult_engines.sharing import SharedFiles, ShareRecords, share_files

#: Seconds between two looks at what others are doing.
_WAIT = 0.25
Progress = Callable[[int, int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class WriterTask:
    """What a process needs to take part.

    Attributes:
        job: The job at the address.
        files: Files to read.
        model: Name or path for `load_model`.
        processes: How many processes take part on this machine.
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
    """Make the index at an address hold the documents of files, together with all processes of the same job.

    Unchanged documents are not encoded again. Documents that the files do not hold are removed.

    Args:
        files: Files to read; their report is filled.
        address: "postgresql://USER@HOST/DATABASE#COLLECTION"; the user owns the tables, or may make them.
        encoder: Encodes the documents.
        model: What `load_model` takes to load the encoder, here and at searchers.
        knowledge_base: Stored in the index together with the entities that documents are about.
        processes: How many processes take part on this machine.
        batch_size: Documents encoded at once.
        replace: Whether documents of other places, and another job that was not finished, may be removed.
        progress: Called with how many shares were read and written, and how many there are.

    Raises:
        CorpusMissingError: A path leads nowhere.
        DataError: There are no documents, an id comes twice, or a worker died.
        EngineError: The server cannot be reached or refuses, or the address has something else than an index.
    """
    with share_files(files) as shared:
        shared.find()
        described = ModelRecord.of(encoder, model)
        job = begin(address, shared.listing, files.origins, len(shared.shares), described, replace=replace)
        task = WriterTask(job=job, files=files, model=model, processes=processes, batch_size=batch_size)
        if processes == 1:
            with open_items(job) as items:
                _Writer(shared, items, task, progress).write(lambda: encoder)
        else:
            _in_processes(task, progress)
        report = finish(job, described, files.name, knowledge_base)
        shared.tell(report.records)
    return report


class _Writer:
    """One of the processes that write an index together.

    Args:
        files: Files, found.
        items: Shares of the files.
        task: The task of all processes.
        progress: See `write_together`.
    """

    def __init__(self, files: SharedFiles, items: Items, task: WriterTask, progress: Progress) -> None:
        self._files, self._items, self._task = files, items, task
        self._progress = progress
        self._own: set[int] = set()

    def write(self, encoder: Callable[[], DocumentEncoder]) -> None:
        """Take shares until all are written.

        Args:
            encoder: Returns the encoder; called when there is something to encode.
        """
        self._take_all("records", self._read)
        records = self._items.records()
        self._files.complete(records)
        self._take_all("kept", lambda number: self._write(number, records[number], encoder()))

    def _take_all(self, stage: Stage, process: Callable[[int], None]) -> None:
        shares = len(self._files.shares)
        while True:
            if _is_orphan():
                # A command that is given again finds its shares free.
                raise SystemExit(1)
            with self._items.take(stage, self._own) as number:
                if number is not None:
                    process(number)
            if number is None:
                # Others are at work; should one of them end, its share is free again.
                unfinished = self._items.count_left(stage)
                if not unfinished:
                    return
                time.sleep(_WAIT)
            self._tell(stage, shares)

    def _tell(self, stage: Stage, shares: int) -> None:
        finished = shares - self._items.count_left(stage)
        self._progress(*((finished, 0) if stage == "records" else (shares, finished)), shares)

    def _read(self, number: int) -> None:
        self._items.put_records(number, self._files.read(number))
        self._own.add(number)

    def _write(self, number: int, records: ShareRecords, encoder: DocumentEncoder) -> None:
        unchanged: list[int] = []
        subjects: list[Subject] = []
        origins: dict[str, str] = {}
        segment = None
        with (
            TemporaryDirectory(prefix="auscult-") as folder,
            IndexWriter(Path(folder) / "share", encoder, numbers=self._task.job.numbers(number)) as writer,
        ):
            documents = _note_origins(self._files.documents(number, records), origins, subjects)
            for batch in batches(self._find_lacking(documents, unchanged), self._task.batch_size):
                check_memory()
                for origin, group in groupby(batch, lambda document: origins[document.doc_id]):
                    writer.add([*group], origin=origin)
                check_memory([document.doc_id for document in batch])
            if writer.counts.documents:
                (segment,) = writer.commit().segments
                with closing(open_current(writer.folder)) as reader:
                    self._items.put(reader)
        self._items.put_written(number, Written(unchanged, segment, subjects))

    def _find_lacking(self, documents: Iterator[Document], unchanged: list[int]) -> Iterator[Document]:
        """Yield new and changed documents; add the keys of the others to `unchanged`."""
        while batch := [*islice(documents, self._task.batch_size)]:
            indexed = self._items.keys_and_hashes([document.doc_id for document in batch])
            for document in batch:
                key, digest = indexed.get(document.doc_id, (0, b""))
                if digest == content_hash(document):
                    unchanged.append(key)
                else:
                    yield document


def _note_origins(
    documents: Iterator[tuple[Document, str]], origins: dict[str, str], subjects: list[Subject]
) -> Iterator[Document]:
    """Yield documents. Add the origin of each to `origins`, and those with entities to `subjects`."""
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
    """Run a job in processes. The shares of a process that dies are free for the others.

    Raises:
        AuscultError: A process failed, and no other finished the job.
        DataError: All processes died.
    """
    # A forked copy of a process with threads may hang.
    context = multiprocessing.get_context("spawn")
    writers: dict[Connection, BaseProcess] = {}
    for _ in range(task.processes):
        receiving, sending = context.Pipe(duplex=False)
        process = context.Process(target=take_part, args=(task, sending), daemon=True)
        process.start()
        sending.close()
        writers[receiving] = process
    errors = []
    while writers:
        ready = wait([*writers])
        for pipe in [each for each in writers if each in ready]:
            try:
                message = pipe.recv()
            except EOFError:
                writers.pop(pipe).join()
                continue
            if isinstance(message, AuscultError):
                errors.append(message)
            else:
                progress(*message)
    with open_items(task.job) as items:
        unwritten = items.count_left("kept")
    if unwritten and errors:
        raise errors[0]
    if unwritten:
        remedy = "see whether memory is short; choose fewer --workers, and give the command again"
        raise DataError("processes that write", f"{task.processes} that died, with {unwritten:,} shares left", remedy)


def take_part(task: WriterTask, parent: Connection) -> None:
    """Run in a process that `write_together` starts. Send progress and errors to the parent."""
    try:
        with share_files(task.files) as shared, open_items(task.job) as items:
            shared.find(processes=1)
            _Writer(shared, items, task, lambda *counts: parent.send(counts)).write(
                cache(lambda: load_model(task.model))
            )
    except AuscultError as error:
        parent.send(error)
