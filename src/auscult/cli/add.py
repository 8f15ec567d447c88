"""`auscult add` and `auscult remove`: change an index that is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from auscult.cli.index import BatchSizeOption, SkipBadOption, showing_progress
from auscult.cli.options import IndexArgument, IndexModelOption
from auscult.cli.sources import HowOption, ReportOption, progressed, reading_choices, tell
from auscult.cli.watching import changes
from auscult.encoders import load_model
from auscult.errors import ConfigError
from auscult.index import IndexUpdate
from auscult.index.reader import open_current
from auscult.interfaces import DocumentEncoder
from auscult.readers.report import Problem
from auscult.search.build import UpdateReport, update_index
from auscult.search.searcher import load_model_of
from auscult.search.sources import Sources, held_files, open_sources

#: Ids that are named in a sentence.
_NAMED = 5


def add(
    index: IndexArgument,
    corpora: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="What `auscult index` takes: files, folders, archives, corpora."),
    ],
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove documents that came from the same place and are there no more.")
    ] = False,
    model: IndexModelOption = "",
    skip_bad: SkipBadOption = False,
    batch_size: BatchSizeOption = 32,
    how: HowOption = None,
    report: ReportOption = None,
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Go on and follow every change of the files, removals too, until Ctrl-C."),
    ] = False,
) -> None:
    """Add documents to an index, and replace those of the same ids that have changed; it is searched meanwhile.

    Files that are as they were are not read again.

    Example: `auscult add my-index leaflets/ --prune`
    """
    if batch_size < 1:
        raise ConfigError("a batch size of at least 1", str(batch_size), "choose a larger one")
    sources = open_sources(corpora, reading_choices(how), index=index, skip_bad=skip_bad, report=report)
    if watch and (sources.files is None or sources.known):
        raise ConfigError("files and folders for --watch", "a corpus of its own format", "leave it out")
    encoders: list[DocumentEncoder] = []

    def encoder() -> DocumentEncoder:
        """The index' model, loaded when there is something to read, and once."""
        if not encoders:
            encoders.append(load_model(model) if model else load_model_of(open_current(index).manifest.model))
        return encoders[0]

    known: list[Problem] = []

    def once(*, again: bool = False) -> None:
        try:
            done = _update(index, sources, encoder, prune=prune or watch, batch_size=batch_size)
        except BaseException:
            tell(sources, report)
            raise
        problems = sources.files.report.problems if sources.files is not None else []
        if not again or done.new or done.changed or done.gone or problems != known:
            known[:] = problems
            tell(sources, report)
            typer.echo(_summary(done, index, pruned=prune or watch))

    once()
    if watch and sources.files is not None:
        typer.echo("watching; Ctrl-C ends it", err=True)
        for _ in changes(sources.files.paths, index):
            once(again=True)


def _update(
    index: Path, sources: Sources, encoder: Callable[[], DocumentEncoder], *, prune: bool, batch_size: int
) -> UpdateReport:
    reader = open_current(index)
    with (
        showing_progress() as (bar, task),
        sources.gathered(
            held_files(reader, sources.files), lambda done: bar.update(task, description=progressed(done))
        ) as gathered,
    ):
        reader.close()
        documents = {origin: corpus.documents() for origin, corpus in sources.known.items()}
        documents |= {origin: gathered.documents(origin) for origin in gathered.records}
        return update_index(
            documents,
            encoder() if sources.known or gathered.origins else None,
            index,
            prune=prune,
            kept=gathered.kept,
            dropped=gathered.dropped,
            files=gathered.files(prune=prune),
            batch_size=batch_size,
            progress=lambda counts: bar.update(task, description=counts.in_words()),
        )


def _summary(done: UpdateReport, index: Path, *, pruned: bool) -> str:
    told = f"new: {done.new:,}, changed: {done.changed:,}, unchanged: {done.unchanged:,}, gone: {len(done.gone):,}"
    if done.gone:
        named = _names(done.gone)
        told += f" ({'removed' if pruned else 'still in the index; --prune removes them'}: {named})"
    return f"{told}; {done.counts.in_words()} in {done.seconds:.1f} s: {index}"


def _names(doc_ids: Sequence[str]) -> str:
    return ", ".join(doc_ids[:_NAMED]) + (", ..." if len(doc_ids) > _NAMED else "")


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
    typer.echo(f"removed: {len(set(doc_ids)):,}; {manifest.counts.in_words()}: {index}")
