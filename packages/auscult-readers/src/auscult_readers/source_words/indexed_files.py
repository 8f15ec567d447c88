"""Find the files of an index, with the documents that were read from each and the remarks of the report.

A file that lies where it was read is taken from there: an index keeps only the rows, resources or messages of some. Of
a file that is gone, what the index keeps is all that can be compared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import NamedTuple

from auscult.documents import Document
from auscult.documents.original import Original
from auscult.errors import AuscultError
from auscult.index import PassageIndex
from auscult.ingest.file_records import MAPPED, NO_PLACES, FileRecord, is_hidden
from auscult.readers.contract import UnreadableError
from auscult.readers.walking import walk
from auscult_readers.source_words.checking import PDF
from auscult_readers.source_words.reader import OBJECTS, TABLE, type_of


class IndexedFile(NamedTuple):
    """A file of an index.

    Attributes:
        original: The file; its media type is by what it holds.
        documents: All documents that were read from it.
        remarks: What the report said of it.
    """

    original: Original
    documents: list[Document]
    remarks: tuple[str, ...]


def files_of(opened: PassageIndex) -> Iterator[IndexedFile]:
    """Yield each file of an index, and then each that only the index still keeps."""
    rows = {opened.reader.document_record(row).doc_id: row for row in opened.documents_where().tolist()}
    left = dict(rows)
    remarks: dict[str, tuple[str, ...]] = {}
    texts: dict[str, str] = {}
    store = opened.reader.store
    origins = [origin for origin in store.file_origins() if origin not in NO_PLACES and not is_hidden(origin)]
    records = {
        origin: {
            name: record
            for name, stored in store.files(origin).items()
            if (record := FileRecord.from_json(stored)).said
        }
        for origin in origins
    }
    is_mapped = MAPPED in store.file_origins()
    for of_origin in records.values():
        for record in of_origin.values():
            for said in record.said:
                remarks[said.doc_id] = record.remarks
                if said.doc_id in rows:
                    texts.setdefault(said.text, said.doc_id)
    for origin, of_origin in records.items():
        for name, content in _contents(origin, of_origin):
            record = of_origin[name]
            # The index has one document for two files with the same text.
            ids = dict.fromkeys(
                each.doc_id if each.doc_id in rows else texts.get(each.text, "") for each in record.said
            )
            found = [rows[doc_id] for doc_id in ids if doc_id in rows]
            if not found:
                continue
            original = _whole_file(opened, found, name, content, is_mapped)
            if original is None:
                continue
            documents = [opened.reader.document(row) for row in found]
            yield IndexedFile(original, documents, record.remarks)
            for each in record.said:
                left.pop(each.doc_id, None)
    yield from _kept(opened, left, remarks)


def _whole_file(opened: PassageIndex, rows: list[int], name: str, content: bytes, is_mapped: bool) -> Original | None:
    """Return a file as it lies there; None where what the index keeps of it serves better.

    Args:
        opened: The index.
        rows: Rows of the documents that were read from the file.
        name: Its name.
        content: Its bytes now.
        is_mapped: Whether a mapping says which columns of tables are read. The others are left out on purpose.
    """
    kept = opened.reader.original(rows[0])
    # The boxes of a PDF's words belong to the file that was read.
    if kept is None or (len(rows) == 1 and kept.media_type == PDF):
        return None
    media_type = type_of(name, content, kept.media_type)
    has_changed = media_type == kept.media_type and kept.content != content
    if has_changed or (is_mapped and media_type in (TABLE, OBJECTS)):
        return None
    return Original(name=name, media_type=media_type, content=content)


def _contents(origin: str, records: dict[str, FileRecord]) -> Iterator[tuple[str, bytes]]:
    """Yield the names and bytes of the files of an origin that are still there."""
    try:
        for found in walk(origin):
            if found.name in records:
                try:
                    yield found.name, found.content()
                except UnreadableError:
                    continue
    except AuscultError:
        return


def _kept(opened: PassageIndex, rows: dict[str, int], remarks: dict[str, tuple[str, ...]]) -> Iterator[IndexedFile]:
    """Yield the files that the index keeps, with all documents that were read from each."""
    groups: dict[tuple[str, str, bytes], list[str]] = {}
    for doc_id, row in rows.items():
        if (original := opened.reader.original(row)) is not None:
            digest = hashlib.sha256(original.content).digest()
            groups.setdefault((original.name, original.media_type, digest), []).append(doc_id)
    for ids in groups.values():
        if (original := opened.reader.original(rows[ids[0]])) is not None:
            documents = [opened.reader.document(rows[doc_id]) for doc_id in ids]
            yield IndexedFile(original, documents, remarks.get(ids[0], ()))
