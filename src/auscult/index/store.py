"""The source of truth of an index: documents, passages, sentences and vectors in an SQLite database.

Changes become visible with the commit of their transaction; a reader sees the commits up to its opening. Every row has
a CRC-32 of its values and its key, which detects damaged and misplaced rows.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from auscult.documents import Document, Original, Passage, Sentence
from auscult.encoders.contract import EncodedDocument, FloatArray
from auscult.errors import DataError, IndexFolderError
from auscult.index.blocks import decode, encode
from auscult.index.expansion import from_bytes, to_bytes
from auscult.index.manifest import (
    BEGINS_PARAGRAPH,
    ENDS_PARAGRAPH,
    LIST_ITEM,
    PASSAGE_DTYPE,
    SENTENCE_DTYPE,
    SENTENCE_ROW,
    Counts,
    Manifest,
)

_SCHEMA: Final = """
CREATE TABLE state (id INTEGER PRIMARY KEY, sum INTEGER, content TEXT);
CREATE TABLE knowledge (id INTEGER PRIMARY KEY, sum INTEGER, content BLOB);
CREATE TABLE documents (
    key INTEGER PRIMARY KEY, sum INTEGER, doc_id BLOB UNIQUE, hash BLOB, origin TEXT, record TEXT, tail BLOB
);
CREATE TABLE passages (
    key INTEGER PRIMARY KEY, sum INTEGER, passage_id BLOB UNIQUE, record TEXT, text BLOB, sentences BLOB,
    vector BLOB, vectors BLOB, terms BLOB
);
CREATE INDEX documents_by_origin ON documents (origin, doc_id);
CREATE TABLE originals (key INTEGER PRIMARY KEY, sum INTEGER, layout BLOB, content BLOB);
"""
# Records of the files that documents are from, so that they need not be read again. Absent until there are some.
_FILES: Final = (
    "CREATE TABLE IF NOT EXISTS files (key INTEGER PRIMARY KEY, sum INTEGER, origin TEXT, name BLOB, record TEXT);"
)
_OF_THE_SYSTEM: Final = frozenset(
    {
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_PERM,
    }
)
_TYPES: Final = {int: b"i", str: b"s", bytes: b"b"}
_REMEDY: Final = "put a backup in its place, or build the index again"


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    """A document without its text."""

    doc_id: str
    title: str
    source: str
    url: str
    entity_ids: tuple[str, ...]
    metadata: Mapping[str, str]


class StoredDocument(NamedTuple):
    """A row of the table of documents.

    Attributes:
        key: Its key.
        record: Its title, source and further fields.
        first: Key of its first passage.
        passages: Number of its passages.
        tail: The text after the last passage.
    """

    key: int
    record: DocumentRecord
    first: int
    passages: int
    tail: str

    def with_passages(self, passages: Sequence[StoredPassage], original: Original | None = None) -> Document:
        """Return the whole document, from its passages and its file."""
        record = self.record
        return Document(
            doc_id=record.doc_id,
            title=record.title,
            text="".join((*(passage.before + passage.text for passage in passages), self.tail)),
            passages=tuple(passage.passage for passage in passages),
            source=record.source,
            url=record.url,
            entity_ids=record.entity_ids,
            metadata=record.metadata,
            original=original,
        )


class StoredPassage(NamedTuple):
    """A row of the table of passages.

    Attributes:
        passage: The passage.
        before: The text between the previous passage and this one.
        text: Its text.
        vector: Its vector, (dim,).
        vectors: Vectors of its sentences, half precision, (sentences, dim).
        terms: Terms of its windows, as packed by `expansion.to_bytes`; empty for a model without terms.
    """

    passage: Passage
    before: str
    text: str
    vector: FloatArray
    vectors: npt.NDArray[np.float16]
    terms: bytes

    def text_of(self, sentence: Sentence) -> str:
        """Return the text of one of its sentences."""
        return self.text[sentence.start - self.passage.start : sentence.end - self.passage.start]


class Store:
    """An opened database.

    Args:
        mode: "ro" to read, "rw" to write, "rwc" to create a new one.

    Raises:
        FileNotFoundError: The database does not exist.
        IndexFolderError: The database is damaged.
    """

    def __init__(self, path: Path, mode: str = "ro") -> None:
        self.path = path
        # Python may give a connection's prepared statement to two threads at once.
        self._one = threading.Lock()
        self._mode = mode
        if mode != "rwc" and not path.is_file():
            raise FileNotFoundError(2, "No such file or directory", str(path))
        with self._damage():
            self._connection = self._connect(mode)

    def _connect(self, mode: str) -> sqlite3.Connection:
        name = f"file:{quote(str(self.path.absolute()))}?mode={mode}"
        connection = sqlite3.connect(name, uri=True, isolation_level=None, check_same_thread=False, timeout=30)
        if mode == "rwc":
            # A new database needs no journal: it becomes visible only with the rename that publishes its folder.
            connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;")
            connection.executescript(_SCHEMA)
        try:
            if mode != "rwc":
                connection.execute("PRAGMA synchronous=FULL")
            connection.execute("BEGIN" if mode == "ro" else "BEGIN IMMEDIATE")
            # The transaction begins with the first read.
            connection.execute("SELECT count(*) FROM state").fetchone()
        except sqlite3.OperationalError:
            connection.close()
            log = self.path.with_name(f"{self.path.name}-wal")
            read_only = os.statvfs(self.path.parent).f_flag & os.ST_RDONLY
            if mode != "ro" or (log.exists() and not read_only):
                raise
            # On a read-only disk nothing can change. SQLite opens an immutable database without its log, so it must
            # not be opened like that if there are commits in the log.
            if log.exists() and log.stat().st_size:
                expected = f"an index whose log has been merged, on the read-only disk of {self.path.parent}"
                remedy = "merge it where it may be written (auscult optimize INDEX), and copy it from there"
                raise IndexFolderError(expected, f"commits in {log.name}", remedy) from None
            connection = sqlite3.connect(f"{name}&immutable=1", uri=True, isolation_level=None, check_same_thread=False)
        return connection

    def seen_by(self, groups: Collection[str]) -> Store:
        """Return the store for a view of some groups: this one, as the view never requests hidden rows."""
        return self

    def read_ahead(self, passages: Sequence[int]) -> None:
        """Prepare to read passages by their keys. Does nothing here, as the file is local."""

    def close(self) -> None:
        """Discard what was not committed, and close. A second call has no effect."""
        self._connection.close()

    def commit(self, manifest: Manifest, *, last: bool = False) -> Manifest:
        """Commit the changes as the next generation.

        Args:
            manifest: Its manifest.
            last: For a new database: allow readers during later writes.

        Returns:
            The manifest as written, with the checksums of the database.
        """
        before = self.checksum() if self._read("SELECT 1 FROM state") else ""
        (known,) = self._read("SELECT coalesce(max(sum), 0) FROM knowledge")
        manifest = replace(manifest, before=before, knowledge=known[0])
        content = manifest.to_json()
        self._write("INSERT OR REPLACE INTO state VALUES (1, ?, ?)", (_sum(1, content), content))
        self._write("COMMIT")
        if last:
            self._write("PRAGMA journal_mode=WAL")
        return manifest

    def write_through(self) -> None:
        """Move commits from the log into the database, and empty the log as far as readers allow."""
        # Do not wait for readers: an open one would delay each commit by 30 seconds.
        self._write("PRAGMA busy_timeout=0")
        self._write("PRAGMA wal_checkpoint(TRUNCATE)")

    def manifest(self) -> Manifest:
        """Return the manifest of the generation that this reader sees."""
        return Manifest.parse(self._content("state"), str(self.path))

    @cached_property
    def identity(self) -> str:
        """Identity of the index (`Manifest.identity`), which checksums of rows begin with. Set for a new database."""
        return self.manifest().identity

    def checksum(self) -> str:
        """Return the SHA-256 of the manifest, in hexadecimal digits.

        The manifest has the checksums of the segments, and these have the keys of all rows.
        """
        return hashlib.sha256(self._content("state").encode()).hexdigest()

    def manifest_marker(self) -> bytes:
        """Return bytes of the manifest's row, as in the database's pages, that are unique to this generation."""
        row: tuple[int, str] = self._read("SELECT sum, content FROM state WHERE id = 1")[0]
        return marker_of(*row)

    def knowledge(self) -> bytes | None:
        """Return the knowledge base as `KnowledgeBase.save` wrote it; None without one."""
        sums = self._read("SELECT sum FROM knowledge")
        if self._mode == "ro" and self.manifest().knowledge != (sums[0][0] if sums else 0):
            raise self.damaged("the knowledge base of another generation")
        if not sums:
            return None
        content: bytes = self._content("knowledge", self.identity)
        return content

    def put_knowledge(self, content: bytes) -> None:
        """Store a knowledge base. The bytes of the previous one are overwritten."""
        self._write("PRAGMA secure_delete=ON")
        total = knowledge_checksum(self.identity, content)
        self._write("INSERT OR REPLACE INTO knowledge VALUES (1, ?, ?)", (total, content))

    def insert(self, document: Document, key: int, first: int, encoded: EncodedDocument, origin: str) -> None:
        """Write a document.

        Args:
            document: The document, with new ids.
            key: Key for the document.
            first: Key for its first passage.
            encoded: Its vectors and terms.
            origin: Where it was read.

        Raises:
            DataError: One of its ids is already in the database.
        """
        pieces, tail = _split_text(document)
        vectors, passages, expansion = encoded
        terms = [b""] * len(passages) if expansion is None else to_bytes(expansion)
        row = (encode(document.doc_id), content_hash(document), origin, _record_to_json(document, first), tail)
        self._insert("documents", key, document.doc_id, row)
        begin = 0
        for number, (passage, (gap, text)) in enumerate(zip(document.passages, pieces, strict=True)):
            end = begin + len(passage.sentences)
            values = (
                encode(passage.passage_id),
                json.dumps([passage.heading, passage.aspect, passage.start, passage.end, gap, *passage.above]),
                text,
                _pack_sentences(passage.sentences).tobytes(),
                passages[number].astype(PASSAGE_DTYPE).tobytes(),
                vectors[begin:end].astype(SENTENCE_DTYPE).tobytes(),
                terms[number],
            )
            self._insert("passages", first + number, passage.passage_id, values)
            begin = end
        if document.original is not None:
            file = (document.original.to_bytes(), zlib.compress(document.original.content))
            self._insert("originals", key, document.doc_id, file)

    def delete(self, key: int) -> Counts:
        """Delete a document, and return the counts of deleted documents, passages and sentences."""
        document = self.document(key)
        span = (document.first, document.first + document.passages)
        size = SENTENCE_ROW.itemsize
        sizes = self._read("SELECT total(length(sentences)) FROM passages WHERE key >= ? AND key < ?", span)
        self._write("DELETE FROM passages WHERE key >= ? AND key < ?", span)
        self._write("DELETE FROM documents WHERE key = ?", (key,))
        self._write("DELETE FROM originals WHERE key = ?", (key,))
        return Counts(1, document.passages, int(sizes[0][0]) // size)

    def key_of(self, doc_id: str) -> int | None:
        """Return the key of a document; None for an unknown id."""
        rows = self._read("SELECT key FROM documents WHERE doc_id = ?", (encode(doc_id),))
        return int(rows[0][0]) if rows else None

    def hash_of(self, key: int) -> bytes:
        """Return the `content_hash` of a document."""
        return bytes(self.row("documents", key)[1][1])

    def keys(self, first: int = 0, last: int = 2**62) -> list[int]:
        """Return the keys of all documents between two keys, in order."""
        return [key for (key,) in self._read("SELECT key FROM documents WHERE key BETWEEN ? AND ?", (first, last))]

    def ids_from(self, origin: str) -> list[str]:
        """Return the ids of the documents of an origin, in the order of their keys."""
        rows = self._read("SELECT doc_id FROM documents WHERE origin = ? ORDER BY key", (origin,))
        return [decode(doc_id) for (doc_id,) in rows]

    def has_ids_below(self, stem: str) -> bool:
        """Whether a document's id begins with a stem and "#", as the ids of a table's rows do."""
        between = encode(f"{stem}#"), encode(f"{stem}{chr(ord('#') + 1)}")
        return bool(self._read("SELECT 1 FROM documents WHERE doc_id >= ? AND doc_id < ? LIMIT 1", between))

    def document(self, key: int) -> StoredDocument:
        """Read the row of a document.

        Raises:
            IndexFolderError: The row is damaged or missing.
        """
        _, (doc_id, _, _, record, tail) = self.row("documents", key)
        title, source, url, entity_ids, metadata, first, passages = json.loads(record)
        document_record = DocumentRecord(
            decode(doc_id), title, source, url, tuple(entity_ids), MappingProxyType(metadata)
        )
        return StoredDocument(key, document_record, first, passages, decode(tail))

    def original(self, key: int) -> Original | None:
        """Read the file that a document was read from; None where it is not stored.

        Raises:
            IndexFolderError: The row is damaged.
        """
        row = self._original(key)
        return None if row is None else Original.from_bytes(row[0], zlib.decompress(row[1]))

    def original_layout(self, key: int) -> Original | None:
        """Read `original` without its content."""
        row = self._original(key)
        return None if row is None else Original.from_bytes(row[0], b"")

    def _original(self, key: int) -> Sequence[Any] | None:
        rows = self._find("originals", key)
        return self._check("originals", key, rows[0]) if rows else None

    @property
    def _has_files(self) -> bool:
        return bool(self._read("SELECT 1 FROM sqlite_master WHERE name = 'files'"))

    def whole(self, key: int) -> tuple[Document, EncodedDocument]:
        """Read a document with its file, its vectors and its terms.

        Raises:
            IndexFolderError: A row is damaged or missing.
        """
        stored = self.document(key)
        passages = [self.passage(stored.first + number) for number in range(stored.passages)]
        document = stored.with_passages(passages, self.original(key))
        terms = [passage.terms for passage in passages]
        return document, EncodedDocument(
            np.concatenate([passage.vectors for passage in passages]).astype(np.float32),
            np.stack([passage.vector for passage in passages]),
            from_bytes(terms) if any(terms) else None,
        )

    def passage(self, key: int) -> StoredPassage:
        """Read the row of a passage.

        Raises:
            IndexFolderError: The row is damaged or missing.
        """
        _, (passage_id, record, text, rows, vector, vectors, terms) = self.row("passages", key)
        # `above` is empty for a passage without headings above its own.
        heading, aspect, start, end, gap, *above = json.loads(record)
        sentences = tuple(
            Sentence(
                begin,
                stop,
                begins_paragraph=bool(flags & BEGINS_PARAGRAPH),
                ends_paragraph=bool(flags & ENDS_PARAGRAPH),
                list_item=bool(flags & LIST_ITEM),
            )
            for begin, stop, flags in np.frombuffer(rows, SENTENCE_ROW).tolist()
        )
        whole = decode(text)
        own = np.frombuffer(vector, PASSAGE_DTYPE)
        return StoredPassage(
            Passage(decode(passage_id), heading, start, end, sentences, aspect, tuple(above)),
            whole[:gap],
            whole[gap:],
            own,
            np.frombuffer(vectors, SENTENCE_DTYPE).reshape(len(sentences), len(own)),
            terms,
        )

    def files(self, origin: str) -> dict[str, str]:
        """Return the records of the files of an origin, by name.

        Raises:
            IndexFolderError: A row is damaged.
        """
        if not self._has_files:
            return {}
        keys = self._read("SELECT key FROM files WHERE origin = ? ORDER BY key", (origin,))
        rows = [self.row("files", key)[1] for (key,) in keys]
        return {decode(name): record for _, name, record in rows}

    def file_origins(self) -> list[str]:
        """Return the origins that have records of files (`files`)."""
        if not self._has_files:
            return []
        return [origin for (origin,) in self._read("SELECT DISTINCT origin FROM files ORDER BY origin")]

    def put_files(self, origin: str, records: Mapping[str, str]) -> None:
        """Replace the records of the files of an origin."""
        self._write(_FILES)
        self._write("DELETE FROM files WHERE origin = ?", (origin,))
        first = int(self._read("SELECT coalesce(max(key), 0) + 1 FROM files")[0][0])
        for key, (name, record) in enumerate(records.items(), first):
            self._insert("files", key, name, (origin, encode(name), record))

    def verify(self) -> Iterator[None]:
        """Check the structure of the database and then every document, yielding after each.

        Raises:
            IndexFolderError: Something is damaged.
        """
        result = self._read("PRAGMA integrity_check(1)")[0][0]
        if result != "ok":
            raise self.damaged(f"'{result}'")
        self.knowledge()
        yield
        passages = 0
        for key in self.keys():
            document = self.document(key)
            for number in range(document.passages):
                self.passage(document.first + number)
            self.original(key)
            passages += document.passages
            yield
        if self._has_files:
            for (key,) in self._read("SELECT key FROM files"):
                self.row("files", key)
        count = self._read("SELECT count(*) FROM passages")[0][0]
        if count != passages:
            raise self.damaged(f"{count} passages where documents have {passages}")

    def copy_into(self, path: Path, *, compact: bool) -> None:
        """Copy the database as this reader sees it to a new file.

        Args:
            path: The new file.
            compact: Leave out the bytes of deleted rows. The copy then also has commits since the opening.
        """
        if compact:
            self._write("COMMIT")
            self._write("VACUUM INTO ?", (str(path),))
            return
        target = sqlite3.connect(path)
        try:
            with self._damage():
                self._connection.backup(target)
        finally:
            target.close()

    def _insert(self, table: str, key: int, name: str, values: Sequence[Any]) -> None:
        """Write a row with its checksum; `name` names it in the error for an id that is there already."""
        marks = ",".join("?" * (2 + len(values)))
        try:
            statement = f"INSERT INTO {table} VALUES ({marks})"  # noqa: S608
            self._write(statement, (key, _sum(self.identity, key, *values), *values))
        except sqlite3.IntegrityError as error:
            kind = table.removesuffix("s")
            remedy = f"give each {kind} an id of its own"
            raise DataError(f"every {kind} id once", f"'{name}' a second time", remedy) from error

    def row(self, table: str, key: int) -> tuple[int, Sequence[Any]]:
        """Return the checksum and the stored values of a row of documents, passages, originals or files.

        Raises:
            IndexFolderError: The row is damaged or missing.
        """
        rows = self._find(table, key)
        if not rows:
            raise self.damaged(f"no row {key} in {table}")
        return rows[0][1], self._check(table, key, rows[0])

    def _find(self, table: str, key: int) -> list[Any]:
        """Return a list with the key, the checksum and the values of a row; an empty list for an unknown key."""
        return self._read(f"SELECT * FROM {table} WHERE key = ?", (int(key),))  # noqa: S608

    def _check(self, table: str, key: int, row: Sequence[Any]) -> Sequence[Any]:
        """Check a row, whose first values are key and checksum, and return its other values."""
        stored_key, checksum = row[:2]
        values = row[2:]
        if _sum(self.identity, stored_key, *values) != checksum or stored_key != key:
            raise self.damaged(f"a damaged row {key} in {table}")
        return values

    def _content(self, table: str, *seed: str) -> Any:
        """Return the content of a table of one row, whose checksum begins with some values."""
        rows = self._read(f"SELECT sum, content FROM {table} WHERE id = 1")  # noqa: S608
        if not rows or _sum(*seed, 1, rows[0][1]) != rows[0][0]:
            raise self.damaged(f"a damaged table '{table}'")
        return rows[0][1]

    def _read(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._damage(), self._one:
            return self._connection.execute(statement, values).fetchall()

    def _write(self, statement: str, values: Sequence[Any] = ()) -> None:
        with self._damage(), self._one:
            self._connection.execute(statement, values)

    @contextmanager
    def _damage(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
            raise
        except (sqlite3.Error, UnicodeDecodeError) as error:
            # SQLite does not report the system's error number for storage failures.
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code in _OF_THE_SYSTEM and self._mode == "ro":
                remedy = f"check the disk and the folder's permissions, or {_REMEDY}"
                raise IndexFolderError(f"to be able to read {self.path}", f"'{error}'", remedy) from error
            if code in _OF_THE_SYSTEM:
                raise OSError(28 if code == sqlite3.SQLITE_FULL else 5, str(error), str(self.path)) from error
            raise self.damaged(f"'{error}'") from error

    def damaged(self, got: str) -> IndexFolderError:
        """Return the error for a damaged database."""
        return IndexFolderError(f"what was written to {self.path}", got, _REMEDY)


def marker_of(checksum: int, content: str) -> bytes:
    """Return the first bytes that a row of the manifest has in the pages of the database."""
    return checksum.to_bytes(4, "big").lstrip(b"\0") + content[:200].encode()


def knowledge_checksum(identity: str, content: bytes) -> int:
    """Return the checksum of a knowledge base's row in an index (`Manifest.identity`)."""
    return _sum(identity, 1, content)


def content_hash(document: Document) -> bytes:
    """Return the SHA-256 of a document with all its fields, 32 bytes."""
    digest = hashlib.sha256(_record_to_json(document, 0).encode())
    for part in (document.doc_id, document.text, *(p.passage_id for p in document.passages)):
        content = encode(part)
        digest.update(len(content).to_bytes(8, "little") + content)
    for passage in document.passages:
        fields = [passage.heading, passage.aspect, passage.start, passage.end, *passage.above]
        digest.update(json.dumps(fields).encode())
        digest.update(_pack_sentences(passage.sentences).tobytes())
    if document.original is not None:
        digest.update(document.original.to_bytes() + hashlib.sha256(document.original.content).digest())
    return digest.digest()


def _record_to_json(document: Document, first: int) -> str:
    # ASCII, so that any string survives, even one with a lone surrogate.
    return json.dumps(
        [
            document.title,
            document.source,
            document.url,
            document.entity_ids,
            dict(document.metadata),
            first,
            len(document.passages),
        ]
    )


def _split_text(document: Document) -> tuple[list[tuple[int, bytes]], bytes]:
    """Split the text by passage: the length of the gap before it, and gap and passage as bytes; then the tail."""
    reached = 0
    pieces = []
    for passage in document.passages:
        if not reached <= passage.start <= passage.end <= len(document.text):
            raise DataError(
                "passages in order inside the text",
                f"'{passage.passage_id}' of document '{document.doc_id}' at [{passage.start}, {passage.end})",
                "correct its offsets",
            )
        pieces.append((passage.start - reached, encode(document.text[reached : passage.end])))
        reached = passage.end
    return pieces, encode(document.text[reached:])


def _pack_sentences(sentences: Sequence[Sentence]) -> npt.NDArray[Any]:
    rows = [
        (
            sentence.start,
            sentence.end,
            BEGINS_PARAGRAPH * sentence.begins_paragraph
            + ENDS_PARAGRAPH * sentence.ends_paragraph
            + LIST_ITEM * sentence.list_item,
        )
        for sentence in sentences
    ]
    return np.array(rows, SENTENCE_ROW)


def _sum(*values: int | str | bytes) -> int:
    """Return the CRC-32 of values, their types and their lengths."""
    total = 0
    for value in values:
        content = value if isinstance(value, bytes) else encode(str(value))
        # The type is covered, too, as a flipped bit may turn bytes into text.
        kind = _TYPES[type(value)]
        total = zlib.crc32(content, zlib.crc32(b"%c%d " % (kind, len(content)), total))
    return total
