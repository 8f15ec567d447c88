"""`auscult add` and `auscult remove`: change the documents of an index, once or whenever files change."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from auscult.cli.options import IndexArgument, IndexModelOption
from auscult.cli.reading import (
    BatchSizeOption,
    ExcludeOption,
    ReportOption,
    SkipBadOption,
    check_batch_size,
    parse_choices,
    print_left_out,
    reading_progress,
    show_progress,
)
from auscult.encoders import load_model
from auscult.encoders.contract import DocumentEncoder
from auscult.errors import ConfigError
from auscult.index.reader import open_current
from auscult.ingest.sources import Sources, describe_index, keep_row_ids, open_sources, with_kept_columns
from auscult.ingest.updating import UpdateReport, remove_documents, update_index
from auscult.readers.report import Problem
from auscult.readers.walking import place_of
from auscult.search.searcher import load_model_of
from auscult.telemetry import naming_extra

#: Ids that are named in a sentence.
_NAMED: Final = 5
#: Milliseconds after which watching reports even without a change. The first report says that watching has begun.
_TIMEOUT: Final = 1_000


def add(
    index: IndexArgument,
    corpora: Annotated[
        list[str],
        typer.Argument(metavar="PATH...", help="As for `auscult index`."),
    ],
    prune: Annotated[bool, typer.Option("--prune", help="Remove documents whose files are gone.")] = False,
    restore: Annotated[
        list[str] | None,
        typer.Option("--restore", metavar="ID", help="Accept a removed document again. Repeatable."),
    ] = None,
    model: IndexModelOption = "",
    skip_bad: SkipBadOption = False,
    batch_size: BatchSizeOption = 32,
    how: Annotated[
        list[str] | None,
        typer.Option("--read", metavar="KEY=VALUE", help="As for `auscult index`. Repeatable."),
    ] = None,
    exclude: ExcludeOption = None,
    report: ReportOption = None,
    watch: Annotated[
        bool,
        typer.Option("--watch", help="Follow all changes of the files, also removals, until Ctrl-C."),
    ] = False,
) -> None:
    """Add new documents to an index, and replace changed ones. Unchanged files are not read; searches continue.

    Example: `auscult add my-index leaflets/ --prune`
    """
    check_batch_size(batch_size)
    choices = with_kept_columns(parse_choices(how, exclude), index)
    sources = open_sources(corpora, choices, index=index, skip_bad=skip_bad, report=report)
    keep_row_ids(sources, index)
    if watch and (sources.files is None or sources.corpora):
        raise ConfigError("files and folders for --watch", "a corpus of its own format", "leave it out")
    if watch:
        # First, as reading the files may take long.
        watching_library()
    addition = _Addition(index, sources, model, batch_size, prune=prune or watch, report=report)
    addition.add(restore or ())
    if watch and sources.files is not None:
        typer.echo("watching; Ctrl-C ends it", err=True)
        for _ in changes(sources.files.paths, index):
            # --restore applies to this command, not to later changes of the files.
            addition.add(None)


class _Addition:
    """The documents of sources, which are added to an index, once or after each change of the files.

    Args:
        index: The index folder.
        sources: The sources.
        model: Folder of the index's model; empty for the place that the index names.
        batch_size: Documents encoded at once.
        prune: Remove documents whose files are gone.
        report: File for the report of what was read; None for no report.
    """

    def __init__(
        self, index: Path, sources: Sources, model: str, batch_size: int, *, prune: bool, report: Path | None
    ) -> None:
        self._index, self._sources, self._model = index, sources, model
        self._batch_size, self._prune, self._report = batch_size, prune, report
        self._problems: list[Problem] = []

    def add(self, restored: Collection[str] | None) -> None:
        """Add new and changed documents, and print what was done and left out.

        Args:
            restored: Ids of removed documents that may be added again. With None, after a change of the files, only
                what is new is printed.
        """
        is_first, begun = restored is not None, time.perf_counter()
        try:
            updated = self._update(restored)
        except BaseException:
            print_left_out(self._sources, self._report)
            raise
        problems = self._sources.files.report.problems if self._sources.files is not None else []
        fresh = [problem for problem in problems if problem not in self._problems]
        self._problems = problems
        print_left_out(self._sources, self._report, None if is_first else fresh)
        if is_first or updated.new or updated.changed or updated.gone or fresh:
            summary = f"new: {updated.new:,}, changed: {updated.changed:,}, unchanged: {updated.unchanged:,}, "
            summary += f"gone: {len(updated.gone):,}"
            if updated.gone:
                named = ", ".join(updated.gone[:_NAMED]) + (", ..." if len(updated.gone) > _NAMED else "")
                what = "removed" if self._prune else "still in the index; --prune removes them"
                summary += f" ({what}: {named})"
            summary += f", removed before: {updated.removed:,} (--restore ID)" if updated.removed else ""
            seconds = time.perf_counter() - begun
            typer.echo(f"{summary}; {updated.counts.in_words()} in {seconds:.1f} s: {self._index}")

    def _update(self, restored: Collection[str] | None) -> UpdateReport:
        """Read the sources, and update the index."""
        sources, reader = self._sources, open_current(self._index)
        records = describe_index(reader, sources.files)
        with (
            show_progress() as (bar, task),
            sources.gather(
                records,
                lambda read: bar.update(task, description=reading_progress(read)),
                prune=self._prune,
                restored=restored,
            ) as gathered,
        ):
            reader.close()
            documents = {origin: corpus.documents() for origin, corpus in sources.corpora.items()}
            documents |= {origin: gathered.documents(origin) for origin in gathered.records}
            return update_index(
                documents,
                self._encoder if sources.corpora or gathered.origins else None,
                self._index,
                prune=self._prune,
                gathered=gathered,
                files=sources.records(gathered),
                batch_size=self._batch_size,
                progress=lambda counts: bar.update(task, description=counts.in_words()),
            )

    @cached_property
    def _encoder(self) -> DocumentEncoder:
        """The index's model, loaded once and only if there are documents to encode."""
        return load_model(self._model) if self._model else load_model_of(open_current(self._index).manifest.model)


def watching_library() -> Any:
    """Return the package that watches files.

    Raises:
        MissingExtraError: The package is not installed.
    """
    with naming_extra("watch", "watchfiles"):
        import watchfiles
    return watchfiles


def changes(paths: Sequence[str], without: Path) -> Iterator[None]:
    """Yield once when watching has begun, and then after each change below the paths.

    Changes at the same time are one change.

    Args:
        paths: Files, folders and patterns.
        without: Folder whose changes do not count.

    Raises:
        MissingExtraError: The package is not installed.
    """
    watchfiles = watching_library()
    ignored = without.resolve()
    # Replacing a file is a change of its folder.
    places = {place if place.is_dir() else place.parent for place in map(place_of, paths)}
    try:
        begun = False
        for changed in watchfiles.watch(
            *places, watch_filter=None, raise_interrupt=True, rust_timeout=_TIMEOUT, yield_on_timeout=True
        ):
            if not begun or any(not Path(path).resolve().is_relative_to(ignored) for _, path in changed):
                begun = True
                yield
    except KeyboardInterrupt:
        return


def remove(
    index: IndexArgument,
    doc_ids: Annotated[list[str], typer.Argument(metavar="ID...", help="Document ids.")],
) -> None:
    """Remove documents from an index. They are no longer found; `auscult optimize` frees their bytes.

    They stay out until `auscult add` is given the file itself, or `--restore ID`.

    Example: `auscult remove my-index leaflet-gout`
    """
    manifest = remove_documents(index, doc_ids)
    typer.echo(f"removed: {len(set(doc_ids)):,}; {manifest.counts.in_words()}: {index}")
