"""The tables of a whole index in PostgreSQL, and the store that reads their rows.

    state       one row: the manifest of the generation that is published, and which share of it this server has
    documents, passages, originals
                rows of the index's store (docs/reference/index-format.md) with their checksums, and columns that SQL
                filters by: id, title, fields, groups, and the vectors of passages
    segments, blocks
                files of search structures and of names, in blocks of 65,536 bytes
    knowledge   the knowledge base in one piece, for the views of groups
    jobs, items progress of writers that work together (`jobs.py`); searchers do not read them

Rows never change: a document that is replaced gets another key. A reader therefore sees a whole generation, as the
manifest lists. Rows that left the index (`gone`) stay while somebody reads an earlier generation (`readers.py`).
Documents, passages and originals are partitioned by hash of the document's key, blocks by their own key. Each of
several servers has the documents of its share, and everything else (`shares.py`).

Row policies apply to roles that do not own the tables. These see documents without the field `access`, and those of the
groups in the setting `auscult.groups`: ",GROUP,GROUP,", or "*" for all.
"""

from __future__ import annotations

import hashlib
import threading
import zlib
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from auscult.documents import Original
from auscult.engines.addresses import Place, no_whole_index, places_of
from auscult.errors import ConfigError, EngineError, IndexFolderError, ShareAwayError
from auscult.index.manifest import PASSAGE_DTYPE, Manifest
from auscult.index.store import Store
from auscult_engines.postgres_server import PostgresServer
from auscult_engines.shares import Shares
from auscult_engines.waiting import printable_value

VERSION: Final = 3
"""Version of the tables. Raise it when they change: searchers refuse other versions."""
PARTITIONS: Final = 8
EVERYBODY: Final = "*"
#: Rows that are cached: those of some answers.
_KEPT: Final = 1024
_NAMES: Final = ("state", "documents", "passages", "originals", "segments", "blocks", "knowledge", "jobs", "items")
_SEEN: Final = (
    "access IS NULL OR current_setting('auscult.groups', true) = '*' OR"
    " access && string_to_array(current_setting('auscult.groups', true), ',')"
)
_TABLES: Final = (
    "CREATE TABLE IF NOT EXISTS {state} (version int NOT NULL, identity text NOT NULL, generation bigint NOT NULL,"
    " approximate boolean NOT NULL, candidates text NOT NULL, manifest text NOT NULL, share int NOT NULL,"
    " shares int NOT NULL)",
    "CREATE TABLE IF NOT EXISTS {documents} (key bigint PRIMARY KEY, sum bigint NOT NULL, doc_id bytea NOT NULL,"
    " hash bytea NOT NULL, origin bytea NOT NULL, record text NOT NULL, tail bytea NOT NULL, id text NOT NULL,"
    " title text NOT NULL, fields jsonb NOT NULL, access text[], gone bigint) PARTITION BY HASH (key)",
    "CREATE TABLE IF NOT EXISTS {passages} (document bigint NOT NULL, key bigint NOT NULL, sum bigint NOT NULL,"
    " passage_id bytea NOT NULL, record text NOT NULL, text bytea NOT NULL, sentences bytea NOT NULL,"
    " vector vector(%d) NOT NULL, vectors bytea NOT NULL, windows bytea, doc_id text NOT NULL,"
    " fields jsonb NOT NULL, access text[], PRIMARY KEY (document, key))"
    " PARTITION BY HASH (document)",
    "CREATE TABLE IF NOT EXISTS {originals} (document bigint PRIMARY KEY, sum bigint NOT NULL, layout bytea NOT NULL,"
    " layout_sum bigint NOT NULL, content bytea NOT NULL, access text[]) PARTITION BY HASH (document)",
    "CREATE TABLE IF NOT EXISTS {segments} (name text NOT NULL, ending bigint NOT NULL, size bigint NOT NULL,"
    " gone bigint, PRIMARY KEY (name, ending))",
    "CREATE TABLE IF NOT EXISTS {blocks} (name text NOT NULL, ending bigint NOT NULL, number int NOT NULL,"
    " content bytea NOT NULL, PRIMARY KEY (name, ending, number)) PARTITION BY HASH (name, ending, number)",
    "CREATE TABLE IF NOT EXISTS {knowledge} (sum bigint PRIMARY KEY, content bytea NOT NULL, gone bigint)",
    # Without compression, PostgreSQL reads a part of a block without the rest.
    "ALTER TABLE {blocks} ALTER content SET STORAGE EXTERNAL",
    "CREATE INDEX IF NOT EXISTS documents_by_id ON {documents} USING hash (doc_id)",
)
_POSTGRES: Final = ("postgresql://", "postgres://")
_PARTITIONED: Final = ("documents", "passages", "originals", "blocks")
_GUARDED: Final = ("documents", "passages", "originals")


def whole_places(address: str) -> list[Place]:
    """Parse the address of a whole index: one server, or several with commas between them, each with a share.

    Raises:
        ConfigError: The address is not valid, names a server twice, or one that cannot have a whole index.
    """
    places = places_of(address)
    if not all(place.server.startswith(_POSTGRES) for place in places):
        raise no_whole_index(address)
    if len(set(places)) < len(places):
        raise ConfigError("each server once", f"one twice in '{address}'", "leave one out")
    return places


def whole_place(address: str) -> Place:
    """Parse the address of a whole index on one server.

    Raises:
        ConfigError: The address is not valid, or names several servers.
    """
    places = whole_places(address)
    if len(places) > 1:
        got, remedy = f"{len(places)} servers", "name one, or build a folder and publish it to several"
        raise ConfigError("one server, as several writers share no more", got, remedy)
    return places[0]


def schema_of(place: Place) -> str:
    """Return the schema of a whole index's tables."""
    return f"auscult_{place.collection}"


def server_of(place: Place, waits: Sequence[float] | None = None) -> PostgresServer:
    """Return the server of a whole index, without connecting to it.

    Args:
        place: Place of the index.
        waits: As `PostgresServer` takes them.
    """
    schema = schema_of(place)
    names = {"schema": schema, **{name: f"{schema}.{name}" for name in _NAMES}}
    for name in _PARTITIONED:
        names |= {f"{name}{number}": f"{schema}.{name}_{number}" for number in range(PARTITIONS)}
    return PostgresServer(place.server, names, waits, EVERYBODY)


def create(server: PostgresServer, run: Any, dim: int) -> None:
    """Create the tables that are missing.

    Args:
        server: Server of the index.
        run: A connection in a transaction.
        dim: Dimension of vectors.
    """
    run.execute("CREATE EXTENSION IF NOT EXISTS vector")
    run.execute(server.composed("CREATE SCHEMA IF NOT EXISTS {schema}"))
    for statement in _TABLES:
        run.execute(server.composed(statement.replace("%d", str(dim))))
    for name in _PARTITIONED:
        for number in range(PARTITIONS):
            part = f"CREATE TABLE IF NOT EXISTS {{{name}{number}}} PARTITION OF {{{name}}}"
            run.execute(server.composed(f"{part} FOR VALUES WITH (MODULUS {PARTITIONS}, REMAINDER {number})"))
    for name in _GUARDED:
        run.execute(server.composed(f"ALTER TABLE {{{name}}} ENABLE ROW LEVEL SECURITY"))
        run.execute(server.composed(f"DROP POLICY IF EXISTS seen ON {{{name}}}"))
        run.execute(server.composed(f"CREATE POLICY seen ON {{{name}}} FOR SELECT USING ({_SEEN})"))


def groups_setting(groups: Collection[str]) -> str:
    """Return groups as a value of the setting `auscult.groups`."""
    return "".join(f",{printable_value(group)}" for group in sorted(groups)) + ","


@dataclass(frozen=True, slots=True)
class FoundBy:
    """How searchers select the passages to score.

    Attributes:
        approximate: Whether passages are proposed, so that some may be missed; otherwise all are scored.
        candidates: Address of the engine that proposes them; empty for the graphs of PostgreSQL.
    """

    approximate: bool = False
    candidates: str = ""


@dataclass(frozen=True, slots=True)
class PublishedState:
    """The generation that searchers see.

    Attributes:
        manifest: As `Manifest.to_json` wrote it.
    """

    identity: str
    generation: int
    found_by: FoundBy
    manifest: str


def shares_at(address: str, waits: Sequence[float] | None = None) -> Shares:
    """Return the servers of a whole index, without connecting to them.

    Args:
        address: As `whole_places` takes it.
        waits: As `PostgresServer` takes them.

    Raises:
        ConfigError: See `whole_places`.
    """
    return Shares([server_of(place, waits) for place in whole_places(address)])


def state_of_all(shares: Shares) -> PublishedState | None:
    """Return the last generation whose rows all servers have; None where nothing is published.

    Servers that are away are not waited for: all servers have the rows before one of them publishes a generation.

    Raises:
        EngineError: No server can be reached, a newer version of auscult made the tables, or their indexes differ.
    """
    states: list[PublishedState | None] = []
    for share in range(len(shares)):
        try:
            states.append(shares.on(share, partial(published_state, share=share, shares=len(shares))))
        except ShareAwayError:
            if not states and share == len(shares) - 1:
                raise
    published = [state for state in states if state is not None]
    if not published:
        return None
    if len({state.identity for state in published}) > 1 or len(published) < len(states):
        got = "others, or none, on some of them"
        raise EngineError(f"shares of one index on {shares.name}", got, "publish it to all of them at once")
    return max(published, key=lambda state: state.generation)


def published_state(server: PostgresServer, share: int = 0, shares: int = 1) -> PublishedState | None:
    """Return the published generation of a server; None where nothing is published.

    Args:
        server: The server.
        share: Number of the share that it should have, from 0.
        shares: Number of shares.

    Raises:
        EngineError: The server cannot be reached, has another share, or a newer version of auscult made the tables.
    """
    if not _is_there(server, "state"):
        return None
    versions = server.rows("SELECT version FROM {state}")
    if not versions:
        return None
    if versions[0][0] != VERSION:
        remedy = "upgrade auscult" if versions[0][0] > VERSION else "publish it again with this version, elsewhere"
        raise EngineError(f"tables of version {VERSION} on {server.name}", f"version {versions[0][0]}", remedy)
    rows = server.rows("SELECT share, shares, identity, generation, manifest, approximate, candidates FROM {state}")
    if rows and rows[0][:2] != (share, shares):
        expected = f"share {share + 1} of {shares} on {server.name}"
        remedy = "name the servers, with commas between them, in the order in which the index was published to them"
        raise EngineError(expected, f"share {rows[0][0] + 1} of {rows[0][1]}", remedy)
    if not rows:
        return None
    _, _, identity, generation, manifest, *found_by = rows[0]
    return PublishedState(identity, generation, FoundBy(*found_by), manifest)


def is_written_together(server: PostgresServer) -> bool:
    """Return whether several writers write the index together (`jobs.py`), rather than publish a folder."""
    return _is_there(server, "jobs")


def _is_there(server: PostgresServer, table: str) -> bool:
    name = server.composed(f"{{{table}}}").as_string(None)
    (row,) = server.rows("SELECT to_regclass(%s) IS NOT NULL", [name])
    return bool(row[0])


class ServedStore(Store):
    """The rows of one generation on servers, read-only.

    Args:
        shares: The servers.
        content: The manifest, as it is published.
        groups: Groups whose documents are read, as a value of the setting `auscult.groups`.
        left_out: Shares that are not read.

    Attributes:
        document_keys: Keys of the generation's documents, rising; set by the code that opens the store.
        firsts: Key of the first passage of each document.
    """

    def __init__(
        self, shares: Shares, content: str, groups: str = EVERYBODY, left_out: frozenset[int] = frozenset()
    ) -> None:
        self.shares = shares
        self.path = Path(shares.name)
        self.document_keys: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self.firsts: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self._manifest_text = content
        self._groups = groups
        self._read_shares = [share for share in range(len(shares)) if share not in left_out]
        self._cached: dict[tuple[str, int], Sequence[Any]] = {}
        self._one = threading.Lock()

    def seen_by(self, groups: Collection[str]) -> ServedStore:
        """Return the view of the store for members of groups."""
        return self._view(groups_setting(groups), frozenset())

    def without(self, shares: frozenset[int]) -> ServedStore:
        """Return the view of the store without some shares."""
        return self._view(self._groups, shares)

    def _view(self, groups: str, left_out: frozenset[int]) -> ServedStore:
        view = ServedStore(self.shares, self._manifest_text, groups, left_out)
        view.document_keys, view.firsts = self.document_keys, self.firsts
        return view

    def close(self) -> None:
        """Close the connections; the next query opens new ones."""
        self.shares.close()

    def manifest(self) -> Manifest:
        """Return the manifest of this generation."""
        return Manifest.parse(self._manifest_text, self.shares.name)

    def checksum(self) -> str:
        """Return the SHA-256 of the manifest, in hexadecimal digits."""
        return hashlib.sha256(self._manifest_text.encode()).hexdigest()

    def knowledge(self) -> bytes | None:
        """Return the knowledge base; None where there is none."""
        checksum = self.manifest().knowledge
        if not checksum:
            return None
        rows = self.shares.rows("SELECT content FROM {knowledge} WHERE sum = %s", [checksum])
        if not rows:
            raise self._gone("knowledge base")
        content: bytes = self._check("knowledge", 1, (1, checksum, rows[0][0]))[0]
        return content

    def key_of(self, doc_id: str) -> int | None:
        """Return a document's key; None where no document of this generation has the id."""
        sought = doc_id.encode("utf-8", "surrogatepass")
        query = "SELECT key FROM {documents} WHERE doc_id = %s"
        for (key,) in self._rows(query, {share: [sought] for share in self._read_shares}):
            place = int(np.searchsorted(self.document_keys, key))
            if place < len(self.document_keys) and self.document_keys[place] == key:
                return int(key)
        return None

    def damaged(self, got: str) -> IndexFolderError:
        """Return the error for rows that differ from what was published."""
        remedy = "remove the index from it (auscult publish INDEX ADDRESS --withdraw), and publish it again"
        return IndexFolderError(f"what was published to {self.shares.name}", got, remedy)

    def read_ahead(self, passages: Sequence[int]) -> None:
        """Read the rows of passages and of their documents at once, and cache them."""
        self._read_rows("passages", passages)
        owners = [*{self._owner(key) for key in passages}]
        self._read_rows("documents", owners)
        with self._one:
            missing = [key for key in owners if ("layouts", key) not in self._cached]
        if missing:
            query = "SELECT document, layout, layout_sum FROM {originals} WHERE document = ANY(%s)"
            layouts = {("layouts", key): layout_row for key, *layout_row in self._rows(query, self._by_share(missing))}
            self._keep({("layouts", key): layouts.get(("layouts", key), []) for key in missing})

    def original_layout(self, key: int) -> Original | None:
        """Read `original` without its content."""
        query = "SELECT layout, layout_sum FROM {originals} WHERE document = ANY(%s)"
        with self._one:
            layout_row = self._cached.get(("layouts", int(key)))
        if layout_row is None:
            layout_row = next(iter(self._rows(query, self._by_share([int(key)]))), [])
        if not layout_row:
            return None
        layout, total = layout_row
        if zlib.crc32(layout) != total:
            raise self.damaged(f"a damaged row {key} in originals")
        return Original.from_bytes(layout, b"")

    def _find(self, table: str, key: int) -> list[Any]:
        self._read_rows(table, [int(key)])
        with self._one:
            row = self._cached.get((table, int(key)))
        # Other threads may have pushed the row out of the cache.
        return [row] if row is not None else self._find(table, key)

    def _read_rows(self, table: str, keys: Sequence[int]) -> None:
        with self._one:
            missing = [key for key in dict.fromkeys(keys) if (table, key) not in self._cached]
        if not missing:
            return
        if table == "documents":
            query = "SELECT key, sum, doc_id, hash, origin, record, tail FROM {documents} WHERE key = ANY(%s)"
            fetched = self._rows(query, self._by_share(missing))
            rows = [(*row[:4], row[4].decode("utf-8"), *row[5:]) for row in fetched]
        else:
            query = (
                "SELECT key, sum, passage_id, record, text, sentences, vector_send(vector), vectors, windows"
                " FROM {passages} WHERE document = ANY(%s) AND key = ANY(%s)"
            )
            fetched = self._rows(query, self._by_share(missing, self._owner))
            rows = [(*row[:6], _vector(row[6]).tobytes(), *row[7:]) for row in fetched]
        if len(rows) != len(missing):
            raise self._gone(table)
        self._keep({(table, row[0]): row for row in rows})

    def _keep(self, rows: Mapping[tuple[str, int], Sequence[Any]]) -> None:
        with self._one:
            self._cached |= rows
            while len(self._cached) > max(_KEPT, len(rows)):
                self._cached.pop(next(iter(self._cached)))

    def _original(self, key: int) -> Sequence[Any] | None:
        query = "SELECT document, sum, layout, content FROM {originals} WHERE document = ANY(%s)"
        rows = self._rows(query, self._by_share([int(key)]))
        return self._check("originals", key, rows[0]) if rows else None

    def _owner(self, passage: int) -> int:
        return int(self.document_keys[np.searchsorted(self.firsts, passage, "right") - 1])

    def _by_share(self, keys: Sequence[int], owner: Callable[[int], int] | None = None) -> dict[int, list[object]]:
        """Return, by share, the parameters of a statement that reads rows by their keys.

        Args:
            keys: Keys of documents or of passages.
            owner: Returns the document of a passage. The documents then come before the passages in the parameters.
        """
        documents: defaultdict[int, set[int]] = defaultdict(set)
        sought: defaultdict[int, list[int]] = defaultdict(list)
        for key in keys:
            document = key if owner is None else owner(key)
            share = self.shares.share_of(document)
            documents[share].add(document)
            sought[share].append(key)
        if owner is None:
            return {share: [rows] for share, rows in sought.items()}
        return {share: [[*documents[share]], rows] for share, rows in sought.items()}

    def _rows(self, query: str, values: Mapping[int, Sequence[object]]) -> list[Any]:
        """Return the rows of a statement on several shares.

        Args:
            query: The statement.
            values: Its parameters, by share.
        """
        by_share = self.shares.on_each(
            {
                share: partial(PostgresServer.rows, query=query, values=parameters, seen_by=self._groups)
                for share, parameters in values.items()
            }
        )
        return [row for rows in by_share for row in rows]

    def _gone(self, what: str) -> EngineError:
        generation = self.manifest().generation
        remedy = "open the index again, as a later generation has been published, or see what this role may read"
        return EngineError(f"the {what} of generation {generation} on {self.shares.name}", "none", remedy)

    def _read(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        raise EngineError("the folder of an index for this", f"an index on {self.shares.name}", "name its folder")

    def _write(self, statement: str, values: Sequence[Any] = ()) -> None:
        self._read(statement, values)


def _vector(sent: bytes) -> npt.NDArray[np.float32]:
    """Parse a vector as pgvector sends it: its length and 0 as uint16, and its numbers, big-endian."""
    return np.frombuffer(sent, ">f4", offset=4).astype(PASSAGE_DTYPE)
