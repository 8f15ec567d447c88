"""Publish generations of an index to PostgreSQL, on one server or in shares on several.

The rows that the server lacks are written a few documents at a time, each document whole. One change of one row at the
end publishes the generation. A publisher that was killed resumes where it was. There is one publisher at a time: it
makes the change over the connection that holds the lock. A generation is published when all servers have its rows and
the engine that proposes its passages, if there is one, has their vectors.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import ExitStack, closing
from dataclasses import astuple, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Final

from auscult.engines.contract import Engine, Published, PublishReport
from auscult.errors import ConfigError, EngineError
from auscult.index import GenerationReader, Manifest
from auscult.index.blocks import BLOCK, BlockFile
from auscult.index.manifest import KnowledgeRecord, SegmentRecord
from auscult.index.reader import open_current
from auscult_engines import readers
from auscult_engines.connecting import open_engine
from auscult_engines.postgres import graph_of
from auscult_engines.postgres_server import PostgresServer
from auscult_engines.rows import batches, document_rows, vector_rows
from auscult_engines.shares import Shares
from auscult_engines.tables import (
    VERSION,
    FoundBy,
    PublishedState,
    create,
    is_written_together,
    published_state,
    schema_of,
    shares_at,
    whole_places,
)

_SOME_GONE: Final = " OR ".join(
    f"EXISTS (SELECT FROM {{{name}}} WHERE gone IS NOT NULL)" for name in ("documents", "segments", "knowledge")
)
_NAMED: Final = 5
"""How many ids of removed documents a report has."""
Progress = Callable[[int, int], None]


def publish(
    folder: str | Path,
    address: str,
    *,
    approximate: bool = False,
    candidates: str = "",
    progress: Progress | None = None,
) -> PublishReport:
    """Publish the index of a folder at an address. Searchers see it within a second.

    Args:
        folder: The index folder.
        address: "postgresql://USER@HOST/DATABASE#COLLECTION"; the user owns the tables, or may make them. Of several
            servers, with commas between them, each has a share of the documents.
        approximate: Let the servers propose passages by graphs of their vectors (HNSW), where comparing all of them
            takes too long. Otherwise searchers compare all vectors, as they do with a folder.
        candidates: Address of an engine that proposes passages instead (`open_engine`); empty for none.
        progress: Called with documents written and to be written to a server.

    Raises:
        ConfigError: An address is none, or passages are proposed twice.
        IndexFolderError: There is no index, or it is damaged.
        EngineError: The server cannot be reached or refuses, another index or a later generation is there, or somebody
            else publishes just now.
    """
    if approximate and candidates:
        remedy = "leave out --approximate, a graph in PostgreSQL, or --candidates"
        raise ConfigError("one that proposes passages", "two", remedy)
    key = schema_of(whole_places(address)[0])
    with closing(open_current(Path(folder))) as reader, ExitStack() as opened:
        manifest = reader.manifest
        # Before anything is written.
        vectors = opened.enter_context(closing(_Vectors(candidates, reader))) if candidates else None
        shares = shares_at(address)
        runs = [opened.enter_context(server.alone(key)) for server in shares.servers]
        if together := [server.name for server in shares.servers if is_written_together(server)]:
            got, remedy = "one that `auscult index --to` writes", "name another collection behind #"
            raise EngineError(f"an index of a folder, or none, on {together[0]}", got, remedy)
        found_by = FoundBy(approximate or bool(candidates), candidates)
        written = [_write_share(shares, share, run, reader, found_by, progress) for share, run in enumerate(runs)]
        if vectors is not None:
            vectors.write(progress)
        for share, (run, report) in enumerate(zip(runs, written, strict=True)):
            with run.transaction():
                server = shares.servers[share]
                show_generation(server, run, manifest, found_by, report.gone, share=share, shares=len(shares))
        each_share = [*zip(shares.servers, runs, written, strict=True)]
        names = [ids_of(server, run, report.gone) for server, run, report in each_share]
        give_space_back(shares, runs, key, manifest.generation, readers.PATIENCE)
        if vectors is not None:
            # Older generations may still be read, so the vectors of their documents stay, too.
            query = "SELECT key FROM {documents}"
            vectors.keep(
                key for server, run, _ in each_share for (key,) in run.execute(server.composed(query)).fetchall()
            )
    shares.close()
    documents, gone = (
        sum(counts) for counts in zip(*((each.documents, len(each.gone)) for each in written), strict=True)
    )
    removed = sorted(chain.from_iterable(names))[:_NAMED]
    return PublishReport(documents, gone, manifest.counts.passages, shares.name, removed)


@dataclass(frozen=True, slots=True)
class _Written:
    """What was written to a server.

    Attributes:
        documents: Number of documents.
        gone: Keys of documents of the earlier generation that the index no longer has.
    """

    documents: int
    gone: list[int]


def _write_share(
    shares: Shares,
    share: int,
    run: Any,
    reader: GenerationReader,
    found_by: FoundBy,
    progress: Progress | None,
) -> _Written:
    """Write the rows of its share that a server lacks, and the files that every server has."""
    server, manifest = shares.servers[share], reader.manifest
    with run.transaction():
        create(server, run, manifest.model.dim)
    state = published_state(server, share, len(shares))
    if state is not None:
        _check_successor(state, reader, found_by, server)
    rows = reader.documents[shares.are_on(reader.document_keys[reader.documents], [share])]
    keys = reader.document_keys[rows].tolist()
    has = dict(run.execute(server.composed("SELECT key, gone IS NULL FROM {documents}")).fetchall())
    missing = [row for row, key in zip(rows.tolist(), keys, strict=True) if key not in has]
    put_documents(server, run, reader, missing, progress)
    for segment in reader.segments:
        put_file(server, run, segment.record, segment.file)
    if (record := manifest.knowledge_file) is not None:
        put_file(server, run, record, BlockFile(reader.path / record.name, record.end))
    knowledge = reader.store.knowledge()
    if knowledge is not None:
        query = "INSERT INTO {knowledge} VALUES (%s, %s, NULL) ON CONFLICT (sum) DO UPDATE SET gone = NULL"
        run.execute(server.composed(query), [manifest.knowledge, knowledge])
    if found_by.approximate and not found_by.candidates:
        # Building the graph after all rows are written is many times as fast as row by row.
        run.execute(server.composed(graph_of(manifest.model.dim)))
    return _Written(len(missing), [key for key in has.keys() - {*keys} if has[key]])


class _Vectors:
    """Writes the vectors of an index's passages to the engine that proposes them.

    Args:
        address: Address of the engine.
        reader: Reader of the index.

    Raises:
        EngineError: The engine cannot be reached, or has the passages of another index.
    """

    def __init__(self, address: str, reader: GenerationReader) -> None:
        self._engine: Engine = open_engine(address)
        self._reader = reader
        model, manifest = reader.manifest.model, reader.manifest
        self._published = Published(model.dim, model.fingerprint, manifest.identity, manifest.generation)
        published = self._engine.published()
        if published is not None and replace(published, generation=manifest.generation) != self._published:
            remedy = "name another collection behind #"
            raise EngineError(f"vectors of this index, or none, on {self._engine.name}", "another's", remedy)
        self._has: set[int] = set()

    def write(self, progress: Progress | None) -> None:
        """Write the vectors that the engine lacks."""
        reader = self._reader
        if self._engine.published() is None:
            self._engine.create(replace(self._published, generation=-1))
        self._has = self._engine.documents()
        keys = reader.document_keys[reader.documents].tolist()
        missing = [row for row, key in zip(reader.documents.tolist(), keys, strict=True) if key not in self._has]
        count = 0
        for batch in batches(reader, missing):
            if rows := [each for row in batch for each in vector_rows(reader, row)]:
                self._engine.put(rows)
            count += len(batch)
            if progress is not None:
                progress(count, len(missing))
        self._engine.finish(self._published)

    def keep(self, documents: Iterable[int]) -> None:
        """Delete the documents that the engine had before, except these."""
        if gone := self._has.difference(documents):
            self._engine.drop(gone)

    def close(self) -> None:
        """End the connection."""
        self._engine.close()


def withdraw(address: str) -> str | None:
    """Delete the index at an address, and its vectors at an engine. Return the server's name; None without an index.

    Raises:
        EngineError: The server cannot be reached or refuses, or somebody publishes just now.
    """
    shares = shares_at(address)
    key = schema_of(whole_places(address)[0])
    with ExitStack() as opened:
        runs = [opened.enter_context(server.alone(key)) for server in shares.servers]
        states = [published_state(server, share, len(shares)) for share, server in enumerate(shares.servers)]
        # A first job that was not finished is deleted, too.
        if not any(states) and not any(map(is_written_together, shares.servers)):
            return None
        for state in filter(None, states):
            if state.found_by.candidates:
                with closing(open_engine(state.found_by.candidates)) as engine:
                    published = engine.published()
                    if published is not None and published.store == state.identity:
                        engine.destroy()
        for server, run in zip(shares.servers, runs, strict=True):
            run.execute(server.composed("DROP SCHEMA IF EXISTS {schema} CASCADE"))
    shares.close()
    return shares.name


def _check_successor(
    state: PublishedState, reader: GenerationReader, found_by: FoundBy, server: PostgresServer
) -> None:
    """Check that a generation may replace the published one.

    Raises:
        EngineError: It is of another index or was made with other options, or a later generation is published.
    """
    manifest = reader.manifest
    remedy = "name another collection behind #, or remove that one first (auscult publish INDEX ADDRESS --withdraw)"
    if (state.identity, state.found_by) != (manifest.identity, found_by):
        got = "another" if state.identity != manifest.identity else "one made otherwise (--approximate, --candidates)"
        raise EngineError(f"this index, or none, on {server.name}", got, remedy)
    is_same = Manifest.parse(state.manifest, server.name) == manifest
    if not is_same and state.generation >= manifest.generation:
        expected = f"an earlier generation than {manifest.generation} of this index on {server.name}"
        got = f"generation {state.generation}, of another copy of it"
        raise EngineError(expected, got, f"publish that copy; or {remedy}")


def put_documents(
    server: PostgresServer,
    run: Any,
    reader: GenerationReader,
    rows: Sequence[int],
    progress: Progress | None,
) -> None:
    """Write documents, each with its passages and its file in one transaction."""
    count = 0
    for batch in batches(reader, rows):
        with run.transaction():
            documents, passages, originals = [], [], []
            for row in batch:
                document, of_it, original = document_rows(reader, row)
                documents.append(document)
                passages += of_it
                originals += original
            for name, lines in (("passages", passages), ("originals", originals), ("documents", documents)):
                with run.cursor().copy(server.composed(f"COPY {{{name}}} FROM STDIN")) as copy:
                    for line in lines:
                        copy.write_row(line)
        count += len(batch)
        if progress is not None:
            progress(count, len(rows))


def put_file(server: PostgresServer, run: Any, record: SegmentRecord | KnowledgeRecord, derived: BlockFile) -> None:
    """Write a segment or the file of names, if the server lacks it."""
    file = record.name, record.end
    query = "UPDATE {segments} SET gone = NULL WHERE name = %s AND ending = %s RETURNING size"
    if run.execute(server.composed(query), file).fetchone():
        return
    content = memoryview(derived.content())
    with run.transaction():
        run.execute(server.composed("DELETE FROM {blocks} WHERE name = %s AND ending = %s"), file)
        with run.cursor().copy(server.composed("COPY {blocks} FROM STDIN")) as copy:
            for number in range(-(-len(content) // BLOCK)):
                copy.write_row((*file, number, bytes(content[number * BLOCK : (number + 1) * BLOCK])))
        run.execute(server.composed("INSERT INTO {segments} VALUES (%s, %s, %s, NULL)"), [*file, len(content)])


def ids_of(server: PostgresServer, run: Any, keys: Collection[int]) -> list[str]:
    """Return the ids of the first of some documents, for people."""
    query = server.composed("SELECT id FROM {documents} WHERE key = ANY(%s) ORDER BY id LIMIT %s")
    return [doc_id for (doc_id,) in run.execute(query, [[*keys], _NAMED]).fetchall()]


def show_generation(
    server: PostgresServer,
    run: Any,
    manifest: Manifest,
    found_by: FoundBy,
    gone: list[int],
    *,
    share: int = 0,
    shares: int = 1,
) -> None:
    """Publish a generation on a server, which has one of several shares."""
    generation = manifest.generation
    files: list[SegmentRecord | KnowledgeRecord] = [*manifest.segments]
    if manifest.knowledge_file is not None:
        files.append(manifest.knowledge_file)
    names, endings = [each.name for each in files], [each.end for each in files]
    for query, values in (
        ("UPDATE {documents} SET gone = %s WHERE key = ANY(%s) AND gone IS NULL", [generation, gone]),
        (
            "UPDATE {segments} SET gone = %s WHERE gone IS NULL AND NOT EXISTS (SELECT FROM"
            " unnest(%s::text[], %s::bigint[]) AS held (a, b) WHERE a = name AND b = ending)",
            [generation, names, endings],
        ),
        ("UPDATE {knowledge} SET gone = %s WHERE sum <> %s AND gone IS NULL", [generation, manifest.knowledge]),
        ("DELETE FROM {state}", []),
        (
            "INSERT INTO {state} (version, identity, generation, approximate, candidates, manifest, share, shares)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s)",
            [VERSION, manifest.identity, generation, *astuple(found_by), manifest.to_json(), share, shares],
        ),
    ):
        run.execute(server.composed(query), values or None)


def give_space_back(shares: Shares, runs: Sequence[Any], schema: str, latest: int, patience: float) -> None:
    """Delete the rows of generations that nobody reads. Wait some time for the readers of earlier generations.

    Args:
        shares: The servers.
        runs: A connection to each server.
        schema: Schema of the index's tables.
        latest: The published generation.
        patience: Seconds to wait at most.
    """
    until = time.monotonic() + patience
    for server, run in zip(shares.servers, runs, strict=True):
        if not run.execute(server.composed(f"SELECT {_SOME_GONE}")).fetchone()[0]:
            continue
        oldest = readers.oldest_read(run, schema, latest, until)
        with run.transaction():
            _remove_gone(server, run, oldest)


def _remove_gone(server: PostgresServer, run: Any, generation: int) -> None:
    """Delete the rows that left the index in a generation or before it."""
    for query in (
        "DELETE FROM {passages} WHERE document IN (SELECT key FROM {documents} WHERE gone <= %s)",
        "DELETE FROM {originals} WHERE document IN (SELECT key FROM {documents} WHERE gone <= %s)",
        "DELETE FROM {documents} WHERE gone <= %s",
        "DELETE FROM {blocks} AS b USING {segments} AS s"
        " WHERE s.gone <= %s AND (b.name, b.ending) = (s.name, s.ending)",
        "DELETE FROM {segments} WHERE gone <= %s",
        "DELETE FROM {knowledge} WHERE gone <= %s",
    ):
        run.execute(server.composed(query), [generation])
