"""An index' passages on their way to a server: what it lacks is written, what is gone is removed.

Documents are written a few at a time and noted at the end, so that what was ended in the middle goes on where it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from auscult.engines.contract import EngineRow, Published, open_engine
from auscult.engines.served import SERVED, engine_of
from auscult.errors import EngineError
from auscult.files.writing import write_json
from auscult.index import GenerationReader, PassageIndex
from auscult.index.fields import fields_of
from auscult.index.words import analyse

_PASSAGES = 500


@dataclass(frozen=True, slots=True)
class PublishReport:
    """What was done.

    Attributes:
        written: Documents that the server lacked.
        removed: Documents that the index has no more.
        passages: That the server now has.
        engine: Its name.
    """

    written: int
    removed: int
    passages: int
    engine: str


def publish(
    folder: str | Path, url: str, *, approximate: bool = False, progress: Callable[[int, int], None] | None = None
) -> PublishReport:
    """Bring a server's collection to what an index holds now; searches then go there.

    Args:
        folder: Of the index.
        url: As `open_engine` takes it.
        approximate: Look for vectors in a graph (HNSW), which pays from about a million passages on.
        progress: Called with documents written and to be written.

    Raises:
        IndexFolderError: There is no index, or it is damaged.
        EngineError: The server cannot be reached, or the collection is another index'.
    """
    index = PassageIndex.open(folder)
    reader, manifest = index.reader, index.manifest
    engine = open_engine(url)
    try:
        told = Published(manifest.model.dim, manifest.model.fingerprint, manifest.identity, -1, approximate)
        there = engine.published()
        if there is not None and replace(there, generation=-1) != told:
            remedy = "name another behind #, or remove that one first (auscult publish INDEX --withdraw)"
            raise EngineError(f"a collection of this index on {engine.name}", "another, or made otherwise", remedy)
        if there is None:
            engine.create(told)
        else:
            # Half of two generations is none.
            engine.finish(told)
        keys = reader.document_keys[reader.documents]
        has = engine.documents()
        gone = has - set(keys.tolist())
        if gone:
            engine.drop(gone)
        missing = [row for row, key in zip(reader.documents.tolist(), keys.tolist(), strict=True) if key not in has]
        done = 0
        for documents, rows in _batches(reader, missing):
            engine.put(rows)
            done += documents
            if progress is not None:
                progress(done, len(missing))
        engine.finish(replace(told, generation=manifest.generation))
        write_json(Path(folder) / SERVED, {"url": url})
        return PublishReport(len(missing), len(gone), manifest.counts.passages, engine.name)
    finally:
        engine.close()


def withdraw(folder: str | Path) -> str | None:
    """Remove an index' collection from its server, and search without; the engine's name, None where there was none.

    Raises:
        EngineError: The server cannot be reached; the index is searched without it all the same.
    """
    url = engine_of(Path(folder))
    if url is None:
        return None
    (Path(folder) / SERVED).unlink()
    engine = open_engine(url)
    try:
        told = engine.published()
        if told is not None and told.store == PassageIndex.open(folder).manifest.identity:
            engine.destroy()
    finally:
        engine.close()
    return engine.name


def _batches(reader: GenerationReader, documents: list[int]) -> Iterator[tuple[int, list[EngineRow]]]:
    """How many documents, and the passages of these that have a sentence."""
    wordless = set(reader.wordless.tolist())
    number, rows = 0, []
    for document in documents:
        number += 1
        record = reader.document_record(document)
        fields = fields_of(record.source, record.metadata)
        key = int(reader.document_keys[document])
        for row in reader.passages_of(document):
            if row in wordless:
                continue
            text = " ".join((record.title, reader.passage(row).heading, reader.passage_text(row)))
            vector = np.asarray(reader.passage_vectors[[row]][0], np.float32)
            terms = tuple(dict.fromkeys(analyse(text)))
            rows.append(EngineRow(int(reader.passage_keys[row]), key, record.doc_id, vector, terms, fields))
        if len(rows) >= _PASSAGES:
            yield number, rows
            number, rows = 0, []
    if number:
        yield number, rows
