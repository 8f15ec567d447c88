"""The tables of a whole index in PostgreSQL: what is written, and how the rows that answers are made of are read.

    state       one row: the manifest of the generation that is published
    documents, passages, originals
                rows of the index' store (docs/index-format.md) with their checksums; beside them what SQL asks for: id,
                title, fields, groups, and of passages the vector and the words
    segments, blocks
                what is derived to find documents by, in blocks of 65,536 bytes
    knowledge   the knowledge base
    jobs, items what writers that work together have done (`engines.jobs`); no searcher reads them

A row is never changed: a document that is replaced gets another key. So a generation is seen whole, as its manifest
names what is of it, and rows of the one before stay until the next is published (`gone`), for those who still read it.
Documents, passages and originals are partitioned by hash of the document's key, blocks by their own.

Policies of rows let those who do not own the tables see documents without the field `access`, and those of the groups
in the setting `auscult.groups`: ",GROUP,GROUP,", or "*" for all.
"""

from __future__ import annotations

import hashlib
import threading
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from auscult.documents import Original
from auscult.engines.contract import POSTGRES, Place, place_of, printable_value
from auscult.engines.postgres_server import PostgresServer
from auscult.errors import ConfigError, EngineError, IndexFolderError
from auscult.index.manifest import PASSAGE_DTYPE, Manifest
from auscult.index.store import Store

VERSION: Final = 1
"""Of the tables. Whoever changes them raises it: searchers that know less refuse."""
PARTITIONS: Final = 8
EVERYBODY: Final = "*"
#: Rows that are kept after they were read: some answers'.
_KEPT: Final = 1024
_NAMES: Final = ("state", "documents", "passages", "originals", "segments", "blocks", "knowledge", "jobs", "items")
_SEEN: Final = (
    "access IS NULL OR current_setting('auscult.groups', true) = '*' OR"
    " access && string_to_array(current_setting('auscult.groups', true), ',')"
)
_TABLES: Final = (
    "CREATE TABLE IF NOT EXISTS {state} (version int NOT NULL, identity text NOT NULL, generation bigint NOT NULL,"
    " approximate boolean NOT NULL, manifest text NOT NULL)",
    "CREATE TABLE IF NOT EXISTS {documents} (key bigint PRIMARY KEY, sum bigint NOT NULL, doc_id bytea NOT NULL,"
    " hash bytea NOT NULL, origin bytea NOT NULL, record text NOT NULL, tail bytea NOT NULL, id text NOT NULL,"
    " title text NOT NULL, fields jsonb NOT NULL, access text[], gone bigint) PARTITION BY HASH (key)",
    "CREATE TABLE IF NOT EXISTS {passages} (document bigint NOT NULL, key bigint NOT NULL, sum bigint NOT NULL,"
    " passage_id bytea NOT NULL, record text NOT NULL, text bytea NOT NULL, sentences bytea NOT NULL,"
    " vector vector(%d) NOT NULL, vectors bytea NOT NULL, windows bytea, doc_id text NOT NULL,"
    " terms tsvector NOT NULL, fields jsonb NOT NULL, access text[], PRIMARY KEY (document, key))"
    " PARTITION BY HASH (document)",
    "CREATE TABLE IF NOT EXISTS {originals} (document bigint PRIMARY KEY, sum bigint NOT NULL, layout bytea NOT NULL,"
    " layout_sum bigint NOT NULL, content bytea NOT NULL, access text[]) PARTITION BY HASH (document)",
    "CREATE TABLE IF NOT EXISTS {segments} (name text NOT NULL, ending bigint NOT NULL, size bigint NOT NULL,"
    " gone bigint, PRIMARY KEY (name, ending))",
    "CREATE TABLE IF NOT EXISTS {blocks} (name text NOT NULL, ending bigint NOT NULL, number int NOT NULL,"
    " content bytea NOT NULL, PRIMARY KEY (name, ending, number)) PARTITION BY HASH (name, ending, number)",
    "CREATE TABLE IF NOT EXISTS {knowledge} (sum bigint PRIMARY KEY, content bytea NOT NULL, gone bigint)",
    # Not compressed, so that a piece is read without the rest.
    "ALTER TABLE {blocks} ALTER content SET STORAGE EXTERNAL",
    "CREATE INDEX IF NOT EXISTS documents_by_id ON {documents} USING hash (doc_id)",
)
_PARTITIONED: Final = ("documents", "passages", "originals", "blocks")
_GUARDED: Final = ("documents", "passages", "originals")


def whole_place(address: str) -> Place:
    """Take apart the address of a whole index.

    Raises:
        ConfigError: It is none, or of a server that keeps no whole index.
    """
    place = place_of(address)
    if not place.server.startswith(POSTGRES):
        expected = "postgresql://USER@HOST/DATABASE, which alone keeps a whole index"
        raise ConfigError(expected, f"'{address}'", "name such a database, or the index' folder")
    return place


def schema_of(place: Place) -> str:
    """Return the schema that a whole index' tables are in."""
    return f"auscult_{place.collection}"


def server_of(place: Place, waits: Sequence[float] | None = None) -> PostgresServer:
    """Return the server of a whole index; nothing is asked of it yet.

    Args:
        place: Of the index.
        waits: As `PostgresServer` takes them.
    """
    schema = schema_of(place)
    names = {"schema": schema, **{name: f"{schema}.{name}" for name in _NAMES}}
    for name in _PARTITIONED:
        names |= {f"{name}{number}": f"{schema}.{name}_{number}" for number in range(PARTITIONS)}
    # As an engine's own table, for `PostgresEngine`.
    names["table"] = names["passages"]
    return PostgresServer(place.server, names, "see that it runs and can be reached", waits, EVERYBODY)


def create(server: PostgresServer, run: Any, dim: int) -> None:
    """Make the tables where there are none.

    Args:
        server: Of the index.
        run: A connection with a transaction.
        dim: Of vectors.
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


def groups_told(groups: Collection[str]) -> str:
    """Return groups as the setting `auscult.groups` says them."""
    return "".join(f",{printable_value(group)}" for group in sorted(groups)) + ","


@dataclass(frozen=True, slots=True)
class PublishedState:
    """What is published.

    Attributes:
        approximate: Whether passages are proposed by the server, which may miss some.
        manifest: As `Manifest.to_json` wrote it.
    """

    identity: str
    generation: int
    approximate: bool
    manifest: str


def published_state(server: PostgresServer) -> PublishedState | None:
    """Return what is published; None where nothing is.

    Raises:
        EngineError: The server cannot be reached, or a newer version of auscult made the tables.
    """
    if not _is_there(server, "state"):
        return None
    versions = server.rows("SELECT version FROM {state}")
    if not versions:
        return None
    if versions[0][0] != VERSION:
        remedy = "upgrade auscult" if versions[0][0] > VERSION else "publish it again with this version, elsewhere"
        raise EngineError(f"tables of version {VERSION} on {server.name}", f"version {versions[0][0]}", remedy)
    found = server.rows("SELECT identity, generation, approximate, manifest FROM {state}")
    return PublishedState(*found[0]) if found else None


def is_written_together(server: PostgresServer) -> bool:
    """Return whether an index is, or shall be, written by several writers (`engines.jobs`), and is not of a folder."""
    return _is_there(server, "jobs")


def _is_there(server: PostgresServer, table: str) -> bool:
    name = server.composed(f"{{{table}}}").as_string(None)
    (found,) = server.rows("SELECT to_regclass(%s) IS NOT NULL", [name])
    return bool(found[0])


class ServedStore(Store):
    """The rows of one generation, read from a server; nothing is written through it.

    Args:
        server: Of the index.
        content: The manifest, as it is published.
        groups: Whose documents are seen, as the setting `auscult.groups` says it.

    Attributes:
        document_keys: Of the generation, rising; set by whoever opens it.
        firsts: Key of the first passage of each of them.
    """

    def __init__(self, server: PostgresServer, content: str, groups: str = EVERYBODY) -> None:
        self.server = server
        self.path = Path(server.name)
        self.document_keys: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self.firsts: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self._told = content
        self._groups = groups
        self._held: dict[tuple[str, int], Sequence[Any]] = {}
        self._one = threading.Lock()

    def seen_by(self, groups: Collection[str]) -> ServedStore:
        """Return the rows that some groups see."""
        view = ServedStore(self.server, self._told, groups_told(groups))
        view.document_keys, view.firsts = self.document_keys, self.firsts
        return view

    def close(self) -> None:
        """End the connections; the next question makes others."""
        self.server.close()

    def manifest(self) -> Manifest:
        """Return the manifest of this generation."""
        return Manifest.parse(self._told, self.server.name)

    def checksum(self) -> str:
        """Return the SHA-256 of the manifest, in hexadecimal digits."""
        return hashlib.sha256(self._told.encode()).hexdigest()

    def knowledge(self) -> bytes | None:
        """Return the knowledge base; None where there is none."""
        told = self.manifest().knowledge
        if not told:
            return None
        found = self.server.rows("SELECT content FROM {knowledge} WHERE sum = %s", [told])
        if not found:
            raise self._gone("knowledge base")
        content: bytes = self._checked("knowledge", 1, (1, told, found[0][0]))[0]
        return content

    def key_of(self, doc_id: str) -> int | None:
        """Return a document's key; None where no document of this generation has the id."""
        sought = doc_id.encode("utf-8", "surrogatepass")
        for (key,) in self._rows("SELECT key FROM {documents} WHERE doc_id = %s", [sought]):
            place = int(np.searchsorted(self.document_keys, key))
            if place < len(self.document_keys) and self.document_keys[place] == key:
                return int(key)
        return None

    def damaged(self, got: str) -> IndexFolderError:
        """Return the error of a server that holds something else than was written."""
        remedy = "remove the index from it (auscult publish INDEX ADDRESS --whole --withdraw), and publish it again"
        return IndexFolderError(f"what was published to {self.server.name}", got, remedy)

    def read_ahead(self, passages: Sequence[int]) -> None:
        """Read rows of passages and of their documents at once, and keep them for who asks for them next."""
        self._read_rows("passages", passages)
        owners = [*{self._owner(key) for key in passages}]
        self._read_rows("documents", owners)
        with self._one:
            sought = [key for key in owners if ("layouts", key) not in self._held]
        if sought:
            query = "SELECT document, layout, layout_sum FROM {originals} WHERE document = ANY(%s)"
            found = {("layouts", key): told for key, *told in self._rows(query, [sought])}
            self._keep({("layouts", key): found.get(("layouts", key), []) for key in sought})

    def original_layout(self, key: int) -> Original | None:
        """Read `original` without its content."""
        query = "SELECT layout, layout_sum FROM {originals} WHERE document = %s"
        with self._one:
            told = self._held.get(("layouts", int(key)))
        if told is None:
            told = next(iter(self._rows(query, [int(key)])), [])
        if not told:
            return None
        layout, total = told
        if zlib.crc32(layout) != total:
            raise self.damaged(f"a damaged row {key} in originals")
        return Original.from_bytes(layout, b"")

    def _find(self, table: str, key: int) -> list[Any]:
        self._read_rows(table, [int(key)])
        with self._one:
            held = self._held.get((table, int(key)))
        # Others may have read so much meanwhile that it has gone.
        return [held] if held is not None else self._find(table, key)

    def _read_rows(self, table: str, keys: Sequence[int]) -> None:
        with self._one:
            sought = [key for key in dict.fromkeys(keys) if (table, key) not in self._held]
        if not sought:
            return
        if table == "documents":
            query = "SELECT key, sum, doc_id, hash, origin, record, tail FROM {documents} WHERE key = ANY(%s)"
            rows = [(*row[:4], row[4].decode("utf-8"), *row[5:]) for row in self._rows(query, [sought])]
        else:
            query = (
                "SELECT key, sum, passage_id, record, text, sentences, vector_send(vector), vectors, windows"
                " FROM {passages} WHERE document = ANY(%s) AND key = ANY(%s)"
            )
            found = self._rows(query, [[*{self._owner(key) for key in sought}], sought])
            # An index of before lacks the last.
            rows = [(*row[:6], _vector(row[6]).tobytes(), *row[7 : 9 - (row[8] is None)]) for row in found]
        if len(rows) != len(sought):
            raise self._gone(table)
        self._keep({(table, row[0]): row for row in rows})

    def _keep(self, rows: Mapping[tuple[str, int], Sequence[Any]]) -> None:
        with self._one:
            self._held |= rows
            while len(self._held) > max(_KEPT, len(rows)):
                self._held.pop(next(iter(self._held)))

    def _original(self, key: int) -> Sequence[Any] | None:
        query = "SELECT document, sum, layout, content FROM {originals} WHERE document = %s"
        found = self._rows(query, [int(key)])
        return self._checked("originals", key, found[0]) if found else None

    def _owner(self, passage: int) -> int:
        return int(self.document_keys[np.searchsorted(self.firsts, passage, "right") - 1])

    def _rows(self, query: str, values: Sequence[object]) -> list[Any]:
        return self.server.rows(query, values, self._groups)

    def _gone(self, what: str) -> EngineError:
        generation = self.manifest().generation
        remedy = "open the index again, as two later generations have been published, or see what this role may read"
        return EngineError(f"the {what} of generation {generation} on {self.server.name}", "none", remedy)

    def _read(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        raise EngineError("the folder of an index for this", f"an index on {self.server.name}", "name its folder")

    def _write(self, statement: str, values: Sequence[Any] = ()) -> None:
        self._read(statement, values)


def _vector(sent: bytes) -> npt.NDArray[np.float32]:
    """Return a vector as pgvector sends it: its length and 0 as uint16, and its numbers, big-endian."""
    return np.frombuffer(sent, ">f4", offset=4).astype(PASSAGE_DTYPE)
