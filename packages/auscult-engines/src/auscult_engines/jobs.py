"""A job that several writers share. Tables beside the index's hold its shares of files.

A writer processes a share in one transaction that locks the share's row. The rows of its documents, its segment and its
result are written together, or not at all. When a writer is killed, the server unlocks the row, and another writer
takes the share. Keys follow from the numbers of job and share, so that documents have the same order whoever writes
them. An address has one job at a time.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal
from uuid import uuid4

from auscult.errors import EngineError
from auscult.files.json_text import parse_json
from auscult.index import DocumentRecord, GenerationReader, Manifest, ModelRecord
from auscult.index.manifest import Numbers, SegmentRecord
from auscult_engines.postgres_server import PostgresServer
from auscult_engines.publishing import put_documents, put_file
from auscult_engines.sharing import ShareRecords
from auscult_engines.tables import (
    PublishedState,
    create,
    is_written_together,
    published_state,
    schema_of,
    server_of,
    whole_place,
)
from auscult_engines.waiting import printable_value

#: Bits of a key for the number of a document or passage in its share, and for the number of its share.
_INNER: Final = 28
_SHARES: Final = 20
#: A key has less than 62 bits.
_MOST_JOBS: Final = 2 ** (62 - _INNER - _SHARES)
_TABLES: Final = (
    "CREATE TABLE IF NOT EXISTS {jobs} (job int PRIMARY KEY, listing text NOT NULL, identity text NOT NULL,"
    " origins text[] NOT NULL, begun timestamptz NOT NULL DEFAULT now(), generation bigint, removed int,"
    " removed_ids text[])",
    "CREATE TABLE IF NOT EXISTS {items} (job int NOT NULL, number int NOT NULL, records text, kept bigint[],"
    " segment text, subjects text, PRIMARY KEY (job, number))",
)
Stage = Literal["records", "kept"]
"""The column of a share that is filled when its files were read, or its documents written."""
Subject = tuple[str, str, str, Sequence[str]]
"""Id, title, source and entities of a document that names its entities."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job, the same for all of its writers.

    Attributes:
        address: Address of the index.
        number: Number of the job, from 1.
        identity: Identity of the index.
    """

    address: str
    number: int
    identity: str

    @property
    def first_key(self) -> int:
        """Lower bound of the keys of the job's documents and passages, above those of all earlier jobs."""
        return self.number << (_SHARES + _INNER)

    @property
    def first_segment(self) -> int:
        """Lower bound of the numbers of the job's segments."""
        return self.number << _SHARES

    def numbers(self, share: int) -> Numbers:
        """Return the first numbers of a share."""
        first = self.first_key + (share << _INNER) + 1
        return Numbers(identity=self.identity, document=first, passage=first, segment=self.first_segment + share)


@dataclass(frozen=True, slots=True)
class Written:
    """The result of writing the documents of a share.

    Attributes:
        unchanged: Keys of the documents that the index had already.
        segment: Segment of all others; None where there are none.
        subjects: Documents that name their entities.
    """

    unchanged: Sequence[int]
    segment: SegmentRecord | None
    subjects: Sequence[Subject] = field(default=())

    def records(self) -> Iterator[DocumentRecord]:
        """Yield the subjects as records for a knowledge base."""
        for doc_id, title, source, entity_ids in self.subjects:
            yield DocumentRecord(doc_id, title, source, "", tuple(entity_ids), {})


def begin(address: str, listing: str, origins: Sequence[str], shares: int, model: ModelRecord, *, replace: bool) -> Job:
    """Begin a job, or join the same one that others have begun.

    Args:
        address: "postgresql://USER@HOST/DATABASE#COLLECTION"; the user owns the tables, or may make them.
        listing: Digest of the files and of how they are read (`SharedFiles.listing`).
        origins: Origins of the files.
        shares: Number of shares.
        model: Model that encodes the documents.
        replace: Whether documents of other places, and another job that was not finished, may be removed.

    Raises:
        ConfigError: The address is not valid.
        EngineError: The server cannot be reached, or has another index or an unfinished job.
    """
    place = whole_place(address)
    server, schema = server_of(place), schema_of(place)
    listed = f"{listing} {model.fingerprint}"
    with server.alone(schema, patient=True) as run:
        state = published_state(server)
        _check(server, state, model)
        _create(server, run, model.dim)
        query = "SELECT job, listing, identity, origins, generation, begun FROM {jobs} ORDER BY job"
        jobs = run.execute(server.composed(query)).fetchall()
        number, identity = 1, uuid4().hex
        for job, other, identity, before, generation, begun in jobs:
            number = job + 1
            if generation is None and other == listed:
                return Job(address, job, identity)
            if generation is None and not replace:
                expected = f"no other job under way on {server.name}"
                remedy = "finish it by giving its command again where the files are the same, or drop it with --replace"
                raise EngineError(expected, f"one begun {begun:%Y-%m-%d %H:%M} of other files or choices", remedy)
            if generation is None:
                drop(server, run, Job(address, job, identity), state, model.dim)
            elif set(before) != {*map(printable_value, origins)} and not replace:
                got = f"an index of {', '.join(before)} on {server.name}"
                raise EngineError("the places that an index is of", got, "name them all, or say --replace")
        if number >= _MOST_JOBS:
            raise EngineError(f"fewer than {_MOST_JOBS:,} jobs on {server.name}", f"{number:,}", "name another after #")
        with run.transaction():
            query = "INSERT INTO {jobs} (job, listing, identity, origins) VALUES (%s, %s, %s, %s)"
            run.execute(server.composed(query), [number, listed, identity, [*map(printable_value, origins)]])
            run.execute(server.composed("DELETE FROM {items} WHERE job < %s"), [number])
            query = "INSERT INTO {items} (job, number) SELECT %s, generate_series(0, %s - 1)"
            run.execute(server.composed(query), [number, shares])
    server.close()
    return Job(address, number, identity)


def _create(server: PostgresServer, run: Any, dim: int) -> None:
    with run.transaction():
        create(server, run, dim)
        for statement in _TABLES:
            run.execute(server.composed(statement))


def _check(server: PostgresServer, state: PublishedState | None, model: ModelRecord) -> None:
    """Check that this model wrote the index together with others.

    Raises:
        EngineError: Another model made it, or it was published from a folder.
    """
    if state is None:
        return
    if not is_written_together(server):
        remedy = "change that folder and publish it again, or name another behind #"
        raise EngineError(f"an index on {server.name} that `auscult index --to` wrote", "one of a folder", remedy)
    model_of_index = Manifest.parse(state.manifest, server.name).model
    if model_of_index.fingerprint != model.fingerprint:
        remedy = "name that model, or another collection behind #"
        raise EngineError(
            f"the model '{model_of_index.name}', which made the index on {server.name}", f"'{model.name}'", remedy
        )


def drop(server: PostgresServer, run: Any, job: Job, state: PublishedState | None, dim: int) -> None:
    """Delete an unfinished job and all that it wrote. Its writers then fail."""
    if state is None:
        # The next job may have vectors of another length.
        run.execute(server.composed("DROP SCHEMA {schema} CASCADE"))
        _create(server, run, dim)
        return
    with run.transaction():
        # Waits for writers that hold rows.
        query = "DELETE FROM {items} WHERE job = %s RETURNING segment"
        items = run.execute(server.composed(query), [job.number]).fetchall()
        names = [parse_json(segment)["name"] for (segment,) in items if segment]
        for query in ("DELETE FROM {blocks} WHERE name = ANY(%s)", "DELETE FROM {segments} WHERE name = ANY(%s)"):
            run.execute(server.composed(query), [names])
        for query in (
            "DELETE FROM {passages} WHERE document > %s",
            "DELETE FROM {originals} WHERE document > %s",
            "DELETE FROM {documents} WHERE key > %s",
        ):
            run.execute(server.composed(query), [job.first_key])
        run.execute(server.composed("DELETE FROM {jobs} WHERE job = %s"), [job.number])


class Items:
    """The shares of a job, for one writer.

    Args:
        server: Server of the index.
        run: The writer's own connection.
        job: The job.
    """

    def __init__(self, server: PostgresServer, run: Any, job: Job) -> None:
        self._server, self._run, self._job = server, run, job

    @contextmanager
    def take(self, stage: Stage, preferred: Collection[int] = ()) -> Iterator[int | None]:
        """Lock a share that no other writer has and yield its number; None where there is none at the moment.

        The block is one transaction: what it writes is committed at its end, or rolled back.

        Args:
            stage: Step to do.
            preferred: Shares to take first.
        """
        query = (
            f"SELECT number FROM {{items}} WHERE job = %s AND {stage} IS NULL"  # noqa: S608
            " ORDER BY number = ANY(%s) DESC, number LIMIT 1 FOR UPDATE SKIP LOCKED"
        )
        with self._run.transaction():
            row = self._execute(query, [self._job.number, [*preferred]]).fetchone()
            yield None if row is None else int(row[0])

    def count_left(self, stage: Stage) -> int:
        """Return how many shares have not finished a step."""
        query = f"SELECT count(*) FROM {{items}} WHERE job = %s AND {stage} IS NULL"  # noqa: S608
        return int(self._execute(query, [self._job.number]).fetchone()[0])

    def put_records(self, number: int, records: ShareRecords) -> None:
        """Store the records of a share's files."""
        query = "UPDATE {items} SET records = %s WHERE job = %s AND number = %s"
        self._execute(query, [json.dumps(records.to_json()), self._job.number, number])

    def records(self) -> list[ShareRecords]:
        """Return the records of the files of all shares, in order."""
        query = "SELECT records FROM {items} WHERE job = %s ORDER BY number"
        rows = self._execute(query, [self._job.number]).fetchall()
        return [ShareRecords.from_json(records) for (records,) in rows]

    def keys_and_hashes(self, doc_ids: Sequence[str]) -> dict[str, tuple[int, bytes]]:
        """Return key and content hash of those documents that the index has, by id."""
        query = "SELECT doc_id, key, hash FROM {documents} WHERE doc_id = ANY(%s) AND key < %s AND gone IS NULL"
        sought = {doc_id.encode("utf-8", "surrogatepass"): doc_id for doc_id in doc_ids}
        rows = self._execute(query, [[*sought], self._job.first_key]).fetchall()
        return {sought[doc_id]: (key, digest) for doc_id, key, digest in rows}

    def put(self, reader: GenerationReader) -> None:
        """Write the documents and the segment of a share."""
        put_documents(self._server, self._run, reader, reader.documents.tolist(), None)
        for segment in reader.segments:
            put_file(self._server, self._run, segment.record, segment.file)

    def put_written(self, number: int, written: Written) -> None:
        """Store the result of a share."""
        query = "UPDATE {items} SET kept = %s, segment = %s, subjects = %s WHERE job = %s AND number = %s"
        segment = json.dumps(asdict(written.segment)) if written.segment else None
        subjects = json.dumps(written.subjects)
        self._execute(query, [[*written.unchanged], segment, subjects, self._job.number, number])

    def read_written(self) -> list[Written]:
        """Return the results of all shares, in order."""
        query = "SELECT kept, segment, subjects FROM {items} WHERE job = %s ORDER BY number"
        return [
            Written(unchanged, SegmentRecord(**parse_json(segment)) if segment else None, parse_json(subjects))
            for unchanged, segment, subjects in self._execute(query, [self._job.number]).fetchall()
        ]

    def _execute(self, query: str, values: Sequence[object]) -> Any:
        return self._run.execute(self._server.composed(query), values)


@contextmanager
def open_items(job: Job) -> Iterator[Items]:
    """Open the shares of a job.

    Raises:
        EngineError: The server cannot be reached.
    """
    server = server_of(whole_place(job.address))
    with server.connection() as run:
        yield Items(server, run, job)
    server.close()
