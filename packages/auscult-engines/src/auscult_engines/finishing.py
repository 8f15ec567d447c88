"""The last step of a job that several writers share: publish their segments as the next generation.

One writer runs it while the others wait. It merges small segments on a disk of this machine. One change of one row then
publishes the whole generation.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from auscult.concepts import KnowledgeBase
from auscult.errors import DataError, EngineError
from auscult.index import Counts, Manifest, ModelRecord
from auscult.index.blocks import BLOCK, BlockFile
from auscult.index.manifest import SegmentRecord
from auscult.index.segment import Segment
from auscult.index.store import knowledge_checksum
from auscult.index.titles import subject
from auscult.index.writer import now, settle, with_knowledge_file
from auscult.ingest.elsewhere import WriteReport
from auscult.version import __version__
from auscult_engines import readers
from auscult_engines.jobs import Items, Job, Written, drop
from auscult_engines.postgres_server import PostgresServer
from auscult_engines.publishing import give_space_back, ids_of, put_file, show_generation
from auscult_engines.shares import Shares
from auscult_engines.sharing import ShareRecords
from auscult_engines.tables import FoundBy, PublishedState, published_state, schema_of, server_of, whole_place
from auscult_engines.whole import CACHE, Cache, ServedFile

#: Numbers for joined segments, above those of the job's writers.
_JOINED: Final = 2**10
#: Blocks that are fetched at once: 16 MB.
_AT_ONCE: Final = 256


@dataclass(frozen=True, slots=True)
class JobReport(WriteReport):
    """The result of a job.

    Attributes:
        generation: Number of the published generation.
        records: Records of the files of each share.
    """

    generation: int
    records: Sequence[ShareRecords]


def finish(job: Job, model: ModelRecord, corpus: str, knowledge_base: KnowledgeBase | None) -> JobReport:
    """Publish what a job wrote, unless another writer has done so. All shares must be finished.

    Args:
        job: The job.
        model: The model that encoded the documents.
        corpus: Name for the manifest.
        knowledge_base: Stored in the index together with the entities that documents are about.

    Raises:
        EngineError: The server cannot be reached, or the job was dropped.
    """
    place = whole_place(job.address)
    server, schema = server_of(place), schema_of(place)
    with server.alone(schema, patient=True) as run:
        query = "SELECT generation, removed, removed_ids FROM {jobs} WHERE job = %s"
        row = run.execute(server.composed(query), [job.number]).fetchone()
        if row is None:
            raise EngineError(f"this work on {server.name}", "none: another command dropped it", "give it again")
        items = Items(server, run, job)
        written = items.read_written()
        is_last_step = row[0] is None
        if is_last_step:
            finishing = _Finishing(server, run, job, written)
            row = finishing.finish(model, corpus, knowledge_base)
        state = published_state(server)
        if state is None:
            raise EngineError(f"an index on {server.name}", "none", "give the command again")
        # One writer waits for the readers of earlier generations; the others need not.
        patience = readers.PATIENCE if is_last_step else 0.0
        give_space_back(Shares([server]), [run], schema, state.generation, patience)
        counts = Manifest.parse(state.manifest, server.name).counts
        report = JobReport(
            sum(share.segment.documents for share in written if share.segment),
            sum(len(share.unchanged) for share in written),
            row[1],
            row[2],
            counts,
            row[0],
            items.records(),
        )
    server.close()
    return report


class _Finishing:
    """Writes and publishes the next generation.

    Args:
        server: Server of the index.
        run: Connection that holds the lock.
        job: The job.
        written: Results of the job's shares.
    """

    def __init__(self, server: PostgresServer, run: Any, job: Job, written: Sequence[Written]) -> None:
        self._server, self._run, self._job, self._written = server, run, job, written
        self._cache = Cache(CACHE)

    def finish(
        self, model: ModelRecord, corpus: str, knowledge_base: KnowledgeBase | None
    ) -> tuple[int, int, Sequence[str]]:
        """Return the number of the generation, how many documents were removed, and the ids of some of these."""
        state = published_state(self._server)
        before = _manifest_before(state, self._server, self._job, model)
        old = [self._segment(each, before.removed) for each in before.segments]
        living = set(chain.from_iterable(each.keys[each.living].tolist() for each in old))
        gone = living.difference(*(share.unchanged for share in self._written))
        new = [each.segment for each in self._written if each.segment]
        if not new and len(gone) == len(living):
            drop(self._server, self._run, self._job, state, model.dim)
            raise DataError("at least one document to index", "none", "check the paths")
        knowledge = None
        if knowledge_base is not None:
            records = chain.from_iterable(each.records() for each in self._written)
            knowledge = knowledge_base.with_documents([subject(each, knowledge_base) for each in records])
        content = b"" if knowledge is None else knowledge.to_bytes()
        total = knowledge_checksum(before.identity, content) if content else 0
        if state is not None and not (new or gone) and total == before.knowledge:
            return self._end_job(before.generation, 0, [])
        manifest, counts = self._merge(before, new, gone)
        manifest = replace(
            manifest,
            auscult_version=__version__,
            corpus=corpus,
            model=model,
            before=hashlib.sha256(state.manifest.encode()).hexdigest() if state else "",
            knowledge=total,
            knowledge_file=before.knowledge_file if total == before.knowledge else None,
            counts=counts,
        )
        if knowledge is not None:
            query = "INSERT INTO {knowledge} VALUES (%s, %s, NULL) ON CONFLICT (sum) DO UPDATE SET gone = NULL"
            self._execute(query, [total, content])
            manifest = self._with_knowledge_file(manifest, knowledge)
        with self._run.transaction():
            # The writers' segments that were merged into others.
            merged = [*{each.name for each in new}.difference(each.name for each in manifest.segments)]
            for query in ("DELETE FROM {blocks} WHERE name = ANY(%s)", "DELETE FROM {segments} WHERE name = ANY(%s)"):
                self._execute(query, [merged])
            show_generation(self._server, self._run, manifest, FoundBy(), [*gone])
            names = ids_of(self._server, self._run, gone)
            return self._end_job(manifest.generation, len(gone), names)

    def _merge(self, before: Manifest, new: Sequence[SegmentRecord], gone: Collection[int]) -> tuple[Manifest, Counts]:
        """Merge small segments and write the merged ones. Return the manifest and the contents of its segments."""
        removed = {*before.removed, *gone}
        with TemporaryDirectory(prefix="auscult-") as folder:
            segments = [self._segment(record, removed) for record in (*before.segments, *new)]
            manifest = settle(segments, removed, Path(folder), before, partial(self._fetch, Path(folder), removed))
            for record in {*manifest.segments}.difference(before.segments, new):
                put_file(self._server, self._run, record, BlockFile(Path(folder) / record.name, record.end))
        shown = [self._segment(record, manifest.removed) for record in manifest.segments]
        return manifest, sum((record.counts for record in shown), Counts(0, 0, 0))

    def _with_knowledge_file(self, manifest: Manifest, knowledge: KnowledgeBase) -> Manifest:
        """Write the file in which searchers look names up, if it has changed."""
        if manifest.knowledge_file is None:
            with TemporaryDirectory(prefix="auscult-") as folder:
                manifest = with_knowledge_file(manifest, Path(folder), knowledge)
                if (record := manifest.knowledge_file) is not None:
                    put_file(self._server, self._run, record, BlockFile(Path(folder) / record.name, record.end))
        return manifest

    def _segment(self, record: SegmentRecord, removed: Collection[int]) -> Segment:
        def opens(path: Path, end: int) -> ServedFile:
            return ServedFile(path, end, Shares([self._server]), self._cache)

        return Segment(Path(), record, removed, opens)

    def _fetch(self, folder: Path, removed: Collection[int], segment: Segment) -> Segment:
        """Copy a segment to this machine's disk."""
        record = segment.record
        name, blocks = record.name, -(-segment.file.size // BLOCK)
        with (folder / name).open("wb") as file:
            for first in range(0, blocks, _AT_ONCE):
                query = (
                    "SELECT content FROM {blocks} WHERE name = %s AND ending = %s AND number >= %s AND number < %s"
                    " ORDER BY number"
                )
                for (content,) in self._server.rows(query, [name, record.end, first, first + _AT_ONCE]):
                    file.write(content)
        return Segment(folder, record, removed)

    def _end_job(self, generation: int, removed: int, names: list[str]) -> tuple[int, int, Sequence[str]]:
        query = "UPDATE {jobs} SET generation = %s, removed = %s, removed_ids = %s WHERE job = %s"
        self._execute(query, [generation, removed, names, self._job.number])
        self._execute("DELETE FROM {jobs} WHERE job < %s", [self._job.number])
        return generation, removed, names

    def _execute(self, query: str, values: Sequence[object]) -> Any:
        return self._run.execute(self._server.composed(query), values)


def _manifest_before(state: PublishedState | None, server: PostgresServer, job: Job, model: ModelRecord) -> Manifest:
    """Return the published manifest, or one without documents, with the next numbers for this job."""
    # These are above the numbers of the job's writers and below those of the next job.
    following = Job(job.address, job.number + 1, job.identity)
    if state is not None:
        manifest = Manifest.parse(state.manifest, server.name)
    else:
        manifest = Manifest(
            auscult_version=__version__,
            created=now(),
            identity=job.identity,
            corpus="",
            model=model,
            generation=0,
            counts=Counts(0, 0, 0),
            segments=(),
            removed=(),
            next_document=0,
            next_passage=0,
            next_segment=0,
            known=0,
        )
    return replace(
        manifest,
        next_document=following.first_key,
        next_passage=following.first_key,
        next_segment=following.first_segment - _JOINED,
        known=following.first_key,
    )
