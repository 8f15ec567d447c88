"""Rows of documents for a server: those for the tables of PostgreSQL, and those for an engine."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np

from auscult.engines.contract import EngineRow
from auscult.index import GenerationReader
from auscult.index.fields import ACCESS, groups_in
from auscult_engines.postgres import literal
from auscult_engines.waiting import printable_value

_TOGETHER: Final = 500
"""Passages that are written at once."""


def batches(reader: GenerationReader, rows: Sequence[int]) -> Iterator[list[int]]:
    """Yield rows of documents in batches of about 500 passages."""
    batch: list[int] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += len(reader.passages_of(row))
        if size >= _TOGETHER:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


_Row = tuple[Any, ...]


def document_rows(reader: GenerationReader, row: int) -> tuple[_Row, list[_Row], list[_Row]]:
    """Return the row of a document, the rows of its passages, and the row of its file if that is stored."""
    store, key = reader.store, int(reader.document_keys[row])
    total, (doc_id, digest, origin, record, tail) = store.row("documents", key)
    source_record = reader.document_record(row)
    name, title = printable_value(source_record.doc_id), printable_value(source_record.title)
    values = reader.fields_of_document(row)
    fields = json.dumps({printable_value(name): printable_value(value) for name, value in values.items()})
    access = _access(values)
    document = (key, total, doc_id, digest, origin.encode("utf-8"), record, tail, name, title, fields, access, None)
    passages: list[_Row] = []
    for number in reader.passages_of(row):
        passage_key = int(reader.passage_keys[number])
        total, (passage_id, record, text, sentences, _, vectors, windows) = store.row("passages", passage_key)
        stored = reader.stored(number)
        passages.append(
            (
                key,
                passage_key,
                total,
                passage_id,
                record,
                text,
                sentences,
                literal(stored.vector),
                vectors,
                windows,
                name,
                fields,
                access,
            )
        )
    original = store.row("originals", key) if reader.original_layout(row) is not None else None
    if original is None:
        return document, passages, []
    total, (layout, content) = original
    return document, passages, [(key, total, layout, zlib.crc32(layout), content, access)]


def vector_rows(reader: GenerationReader, row: int) -> list[EngineRow]:
    """Return the rows of a document's passages that have a sentence."""
    record = reader.document_record(row)
    values = reader.fields_of_document(row)
    numbers = np.setdiff1d(np.array(reader.passages_of(row), np.int64), reader.wordless)
    return [
        EngineRow(
            int(reader.passage_keys[number]),
            int(reader.document_keys[row]),
            record.doc_id,
            np.asarray(reader.passage_vectors[[number]][0], np.float32),
            values,
            _access(values),
        )
        for number in numbers.tolist()
    ]


def _access(values: Mapping[str, str]) -> list[str] | None:
    """Return the groups that may see a document with these fields; None where everybody may."""
    groups = values.get(ACCESS, "")
    return sorted(map(printable_value, groups_in(groups))) if groups.strip() else None
