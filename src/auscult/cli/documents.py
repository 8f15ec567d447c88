"""`auscult list`, `show` and `export`: the documents of an index."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from auscult.cli.options import IndexArgument, WhereOption, conditions
from auscult.documents import Document
from auscult.errors import QueryError, printable
from auscult.files.writing import check_file, whole_or_nothing
from auscult.index import PassageIndex
from auscult.index.store import DocumentRecord
from auscult.search.findings import place_of

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def list_documents(index: IndexArgument, where: WhereOption = None, as_json: AsJson = False) -> None:
    """List the documents of an index, one per line: id, title, source and file. --json prints all fields.

    Example: `auscult list my-index --where source=NHS --json`
    """
    opened = PassageIndex.open(index)
    for row in opened.documents_where(conditions(where)).tolist():
        record = opened.reader.document_record(row)
        columns = (record.doc_id, record.title, record.source, record.metadata.get("file", ""))
        typer.echo(json.dumps(_described(record)) if as_json else "\t".join(map(printable, columns)))


def show(
    index: IndexArgument,
    doc_id: Annotated[str, typer.Argument(metavar="DOC", help="A document id.")],
    as_json: AsJson = False,
) -> None:
    """Print a document: its fields, then its text by passages, with the headings above each.

    Example: `auscult show my-index leaflets/gout.pdf`
    """
    reader = PassageIndex.open(index).reader
    row = reader.row_of(doc_id)
    if row is None:
        raise QueryError("the id of a document in the index", f"'{doc_id}'", f"see them all: auscult list {index}")
    document = reader.document(row)
    places = [place_of(reader, row, passage, passage.start, passage.end) for passage in document.passages]
    if as_json:
        passages = [
            {
                "passage_id": passage.passage_id,
                "heading": passage.heading,
                "above": passage.above,
                "place": place,
                "start": passage.start,
                "end": passage.end,
                "sentences": [(sentence.start, sentence.end) for sentence in passage.sentences],
            }
            for passage, place in zip(document.passages, places, strict=True)
        ]
        typer.echo(json.dumps({**_described(reader.document_record(row)), "text": document.text, "passages": passages}))
        return
    fields = {"id": doc_id, "title": document.title, "source": document.source, "url": document.url}
    for name, value in {**fields, **document.metadata}.items():
        if value:
            typer.echo(printable(f"{name}: {value}"))
    for passage, place in zip(document.passages, places, strict=True):
        heading = " \u203a ".join(filter(None, (*passage.above, passage.heading)))
        typer.echo(f"\n## {printable('  '.join(filter(None, (heading, place, passage.passage_id))))}")
        for line in document.slice(passage).splitlines():
            typer.echo(printable(line))


def export(
    index: IndexArgument,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The file to write; default: standard output.")
    ] = None,
    vectors: Annotated[
        Path | None,
        typer.Option(help="Also write vectors of passages to this NumPy file (.npz), as `passage_ids` and `vectors`."),
    ] = None,
    where: WhereOption = None,
) -> None:
    """Export documents as JSON lines that `auscult index` and `add` read, with the same ids, passages and fields.

    Example: `auscult export my-index --out documents.jsonl --vectors vectors.npz`
    """
    for path in filter(None, (out, vectors)):
        check_file(path)
    opened = PassageIndex.open(index)
    reader = opened.reader
    rows = opened.documents_where(conditions(where)).tolist()
    with (
        nullcontext() if out is None else whole_or_nothing(out) as partial,
        nullcontext(sys.stdout) if partial is None else partial.open("w", encoding="utf-8") as file,
    ):
        for row in rows:
            # Half of a surrogate pair is nothing that a file of text can hold.
            line = json.dumps(_record(reader.document(row)), ensure_ascii=False).encode("utf-8", "replace")
            file.write(line.decode() + "\n")
    if vectors is not None:
        passages = [passage for row in rows for passage in reader.passages_of(row)]
        ids = [reader.passage_id(passage) for passage in passages]
        document_vectors = [np.asarray(reader.passage_vectors[passage : passage + 1]) for passage in passages]
        with whole_or_nothing(vectors) as partial, partial.open("wb") as written:
            np.savez(written, passage_ids=np.array(ids, np.str_), vectors=np.concatenate(document_vectors))


def _described(record: DocumentRecord) -> dict[str, Any]:
    return {
        "doc_id": record.doc_id,
        "title": record.title,
        "source": record.source,
        "url": record.url,
        "entity_ids": record.entity_ids,
        "metadata": dict(record.metadata),
    }


def _record(document: Document) -> dict[str, Any]:
    """Return a document in the public schema (`ingest.rows`)."""
    sections = [
        {"id": passage.passage_id, "heading": passage.heading, "above": passage.above, "text": document.slice(passage)}
        for passage in document.passages
    ]
    return {
        "id": document.doc_id,
        "title": document.title,
        "source": document.source,
        "url": document.url,
        "entity_ids": document.entity_ids,
        "metadata": dict(document.metadata),
        "sections": sections,
    }
