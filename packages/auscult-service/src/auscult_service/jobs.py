"""Jobs for uploads: store the files, read them in a separate process, index them in one change, and delete them.

Each job has a record file in the data folder, so that its result is known after a restart. A job that had not ended is
"interrupted", and none of its documents is in the index. One job runs at a time.
"""

from __future__ import annotations

import logging
import queue
import re
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import BinaryIO, Final
from uuid import uuid4

from auscult.documents import Document
from auscult.errors import AuscultError
from auscult.files.json_text import parse_json
from auscult.files.writing import write_json
from auscult.index.fields import groups_in
from auscult.ingest.files import FilesCorpus
from auscult.ingest.updating import update_index
from auscult.provenance import now
from auscult.schema import JobTold, SkippedFile
from auscult_service.caller import Caller
from auscult_service.errors import Refusal, disk_refusal, refusal_of
from auscult_service.placing import ORIGIN, Placing
from auscult_service.state import State

_CHUNK: Final = 1 << 20
_STRANGE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff<>:\"|?*]+")
_LONGEST_NAME: Final = 120
_SOURCE: Final = "uploaded"


Skipped = tuple[str, str, str]
"""The name of a file that could not be read, why, and the kind of reason."""


@contextmanager
def read_files(folder: Path, looked_at: Callable[[int], None]) -> Iterator[tuple[Iterator[Document], list[Skipped]]]:
    """Yield the documents of uploaded files, and the files that could not be read.

    Args:
        folder: The folder of the files.
        looked_at: Called with the number of files that have been read so far.
    """
    corpus = FilesCorpus(folder, name=_SOURCE, skip_bad=True)
    with corpus.gather(progress=lambda report: looked_at(report.files)) as gathered:
        # A document that names no source got the name of the job's folder.
        documents = (
            replace(document, source=_find_source(folder, document.metadata.get("file", "")))
            if document.source == folder.name
            else document
            for document in gathered.documents()
        )
        yield (
            documents,
            [
                (problem.name, str(problem).removeprefix(f"{problem.name}: "), problem.kind)
                for problem in corpus.report.problems
            ],
        )


def _find_source(folder: Path, file: str) -> str:
    """Return the name of the folder that a file was uploaded in; "uploaded" where there was none."""
    first, _, rest = file.partition("/")
    if first.isdecimal() and rest and (folder / rest).exists():
        # Skip the number that `place_for` has put before the path.
        first, _, rest = rest.partition("/")
        folder = folder / file.partition("/")[0]
    return first if rest and (folder / first).is_dir() else _SOURCE


def place_for(folder: Path, name: str) -> Path:
    """Return the path for an uploaded file: always below the folder, and different from all existing files."""
    parts = [_STRANGE.sub("_", part).strip(" .")[-_LONGEST_NAME:] for part in re.split(r"[/\\]", name)]
    names = [part for part in parts if part][-8:] or ["document"]
    path = folder.joinpath(*names)
    number = 2
    while path.exists() or any(parent.is_file() for parent in path.parents):
        path = folder.joinpath(f"{number}", *names)
        number += 1
    return path


def keep(file: BinaryIO, path: Path) -> None:
    """Write an uploaded file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as target:
        shutil.copyfileobj(file, target, _CHUNK)


_LOG: Final = logging.getLogger("auscult.service")
_BATCH: Final = 8
_KEPT: Final = 500
ENDED: Final = frozenset({"done", "failed", "interrupted"})


class _StoppedError(Exception):
    """The service is stopping."""


class Jobs:
    """All jobs, and the thread that runs them.

    Args:
        folder: The folder for their records and for uploaded files.
    """

    def __init__(self, folder: Path, state: State) -> None:
        self._records = folder / "jobs"
        self._spool = folder / "uploads"
        self._state = state
        self._jobs: dict[str, JobTold] = {}
        self._lock = threading.Lock()
        self._waiting: queue.Queue[tuple[str, frozenset[str] | None] | None] = queue.Queue()
        self._stopping = threading.Event()
        self._worker: threading.Thread | None = None

    def start(self) -> None:
        """Read the records of earlier jobs, and start the thread."""
        for path in sorted(self._records.glob("*.json")):
            with suppress(OSError, ValueError, TypeError, KeyError):
                record = parse_json(path.read_text(encoding="utf-8"))
                # Records of 0.1.0 have no kinds.
                skipped = [
                    SkippedFile(name=str(name), reason=str(why), kind=str(*kind))
                    for name, why, *kind in record["skipped"]
                ]
                job = JobTold(**{**record, "doc_ids": list(record["doc_ids"]), "skipped": skipped})
                if job.standing not in ENDED:
                    job = replace(
                        job,
                        standing="interrupted",
                        finished=now(),
                        error="the service was stopped before the files were in the index",
                        remedy="upload them again",
                        code="stopped",
                    )
                    self._keep(job)
                self._jobs[job.job_id] = job
        shutil.rmtree(self._spool, ignore_errors=True)
        self._worker = threading.Thread(target=self._work, name="jobs", daemon=True)
        self._worker.start()

    def stop(self, seconds: float) -> None:
        """Stop the running job without changing the index, and start no other. Wait for at most some seconds."""
        self._stopping.set()
        self._waiting.put(None)
        if self._worker is not None:
            self._worker.join(seconds)

    @contextmanager
    def receiving(self) -> Iterator[tuple[str, Path]]:
        """Yield the id of a new job and the folder for its files. The folder is deleted after an error.

        Raises:
            OSError: The folder cannot be created.
        """
        job_id = uuid4().hex
        folder = self._spool / job_id
        try:
            folder.mkdir(parents=True)
            yield job_id, folder
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def begin(self, job_id: str, index: str, caller: Caller, access: str, files: int) -> JobTold:
        """Queue a job whose files are stored.

        Args:
            job_id: The id that `receiving` gave.
            index: Name of the index to add the documents to.
            caller: Who uploads.
            access: The groups that see the documents, as a document's field `access` has them; empty for everybody who
                may search the index, unless a document says otherwise.
            files: Number of files.

        Raises:
            DataError: The record of the job cannot be written.
        """
        job = JobTold(
            job_id=job_id,
            index=index,
            caller=caller.name,
            access=access,
            standing="waiting",
            created=now(),
            finished="",
            files=files,
            read=0,
            documents=0,
            new=0,
            changed=0,
            unchanged=0,
            doc_ids=[],
            skipped=[],
            error="",
            remedy="",
        )
        self._keep(job)
        for old in self.all()[_KEPT:]:
            if old.standing in ENDED:
                with self._lock:
                    self._jobs.pop(old.job_id, None)
                (self._records / f"{old.job_id}.json").unlink(missing_ok=True)
        self._waiting.put((job.job_id, caller.groups))
        return job

    def all(self) -> Sequence[JobTold]:
        """Return all jobs, newest first."""
        with self._lock:
            return sorted(self._jobs.values(), key=lambda job: job.created, reverse=True)

    def _keep(self, job: JobTold) -> None:
        skipped = [(each.name, each.reason, each.kind) for each in job.skipped]
        write_json(self._records / f"{job.job_id}.json", {**asdict(job), "skipped": skipped})
        # Only after the write: a job whose record cannot be written is refused.
        with self._lock:
            self._jobs[job.job_id] = job

    def _work(self) -> None:
        while (waiting := self._waiting.get()) is not None:
            job_id, groups = waiting
            try:
                if not self._stopping.is_set():
                    self._do(self._jobs[job_id], groups)
            except _StoppedError:
                # The next start marks its record as interrupted.
                return
            except AuscultError as error:
                refusal = refusal_of(error)
                self._fail(job_id, refusal)
            except OSError as error:
                refusal = disk_refusal(error)
                self._fail(job_id, refusal)
            except Exception as error:
                _LOG.error("job %s failed: %s", job_id, type(error).__name__)
                remedy = "ask whoever runs it to look into its log"
                self._fail(job_id, Refusal(500, "internal", "the service failed at this upload", remedy))
            finally:
                shutil.rmtree(self._spool / job_id, ignore_errors=True)

    def _fail(self, job_id: str, refusal: Refusal) -> None:
        failed = replace(
            self._jobs[job_id],
            standing="failed",
            finished=now(),
            error=refusal.message,
            remedy=refusal.remedy,
            code=refusal.code,
        )
        with suppress(AuscultError, OSError):
            self._keep(failed)
        self._jobs[job_id] = failed

    def _do(self, job: JobTold, groups: frozenset[str] | None) -> None:
        served = self._state.indexes[job.index]
        self._keep(replace(job, standing="reading"))
        ids: list[str] = []
        placing = Placing(served.folder, groups, groups_in(job.access))
        with (
            read_files(self._spool / job.job_id, lambda read: self._note_progress(job, read=read)) as (found, skipped),
            served.changing,
            closing(placing.place(found)) as documents,
        ):

            def follow() -> Iterator[Document]:
                for document in documents:
                    ids.append(document.doc_id)
                    self._note_progress(job, documents=len(ids))
                    yield document

            report = update_index(
                {ORIGIN: follow()},
                served.opened.searcher.encoder,
                served.folder,
                files=placing.files,
                batch_size=_BATCH,
                progress=lambda _: self._check_stop(),
            )
        self._state.refresh(job.index)
        skipped += placing.reasons()
        empty = len(skipped) > len(placing.known) and not ids
        self._keep(
            replace(
                self._jobs[job.job_id],
                standing="failed" if empty else "done",
                finished=now(),
                new=report.new,
                changed=report.changed,
                unchanged=report.unchanged,
                doc_ids=ids,
                skipped=[SkippedFile(name=name, reason=reason, kind=kind) for name, reason, kind in skipped],
                error="expected files that can be added, got none" if empty else "",
                remedy="see what is said of each" if empty else "",
                code="nothing_read" if empty else "",
            )
        )

    def _note_progress(self, job: JobTold, *, read: int | None = None, documents: int | None = None) -> None:
        """Update the progress of a job in memory only."""
        self._check_stop()
        with self._lock:
            current = self._jobs[job.job_id]
            self._jobs[job.job_id] = replace(
                current,
                read=current.read if read is None else read,
                documents=current.documents if documents is None else documents,
            )

    def _check_stop(self) -> None:
        if self._stopping.is_set():
            raise _StoppedError
