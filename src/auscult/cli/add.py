"""`auscult add` and `auscult remove`: change an index that is there."""

from __future__ import annotations

from typing import Annotated

import typer

from auscult.cli.index import BatchSizeOption, SkipBadOption, counted, origin_of, showing_progress
from auscult.cli.options import IndexArgument, IndexModelOption
from auscult.corpora import open_corpus
from auscult.corpora.records import left_out
from auscult.errors import ConfigError
from auscult.index import IndexUpdate
from auscult.index.reader import open_current
from auscult.models import load_model
from auscult.search.build import update_index
from auscult.search.searcher import load_model_of

#: Ids that are named in a sentence.
_NAMED = 5


def add(
    index: IndexArgument,
    corpora: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="What `auscult index` takes: JSONL files, tables, folders, corpora."),
    ],
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove documents that came from the same place and are there no more.")
    ] = False,
    model: IndexModelOption = "",
    skip_bad: SkipBadOption = False,
    batch_size: BatchSizeOption = 32,
) -> None:
    """Add documents to an index, and replace those of the same ids that have changed; it is searched meanwhile.

    Example: `auscult add my-index new-documents.jsonl`
    """
    if batch_size < 1:
        raise ConfigError("a batch size of at least 1", str(batch_size), "choose a larger one")
    manifest = open_current(index).manifest
    encoder = load_model(model) if model else load_model_of(manifest.model)
    opened = [open_corpus(each, skip_bad=skip_bad) for each in corpora]
    try:
        with showing_progress() as (bar, task):
            report = update_index(
                {origin_of(named): corpus.documents() for named, corpus in zip(corpora, opened, strict=True)},
                encoder,
                index,
                prune=prune,
                batch_size=batch_size,
                progress=lambda counts: bar.update(task, description=counted(counts)),
            )
    finally:
        for corpus in opened:
            for line in left_out(corpus):
                typer.echo(f"skipped: {line}", err=True)
    what = (
        f"new: {report.new:,}, changed: {report.changed:,}, unchanged: {report.unchanged:,}, gone: {len(report.gone):,}"
    )
    if report.gone:
        named = ", ".join(report.gone[:_NAMED]) + (", ..." if len(report.gone) > _NAMED else "")
        what += f" ({'removed' if prune else 'still in the index; --prune removes them'}: {named})"
    typer.echo(f"{what}; {counted(report.counts)} in {report.seconds:.1f} s: {index}")


def remove(
    index: IndexArgument,
    doc_ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Ids of documents.")],
) -> None:
    """Remove documents from an index: they are found no more. `auscult optimize` frees their bytes.

    Example: `auscult remove my-index leaflet-gout`
    """
    with IndexUpdate(index) as update:
        update.delete(doc_ids)
        manifest = update.commit()
    typer.echo(f"removed: {len(set(doc_ids)):,}; {counted(manifest.counts)}: {index}")
