"""`auscult index`, `add` and `remove`: read documents, encode them, and write or change an index folder."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from auscult.cli.options import IndexArgument, IndexModelOption, pairs_of
from auscult.concepts import KnowledgeBase
from auscult.concepts.opening import ACCEPTED, DEFAULT, named_or_found
from auscult.encoders import load_model
from auscult.encoders.contract import DocumentEncoder
from auscult.engines import manifest_at
from auscult.errors import ConfigError, IndexFolderError, printable
from auscult.files.limits import peak_memory
from auscult.files.writing import write_json
from auscult.index.manifest import CURRENT
from auscult.index.reader import open_current
from auscult.ingest.elsewhere import encode_in_bulk, write_files
from auscult.ingest.files import Choices
from auscult.ingest.sources import (
    NO_KNOWLEDGE,
    Sources,
    Stream,
    held_files,
    index_sources,
    keep_row_ids,
    lasting_name,
    open_sources,
    with_kept_columns,
)
from auscult.ingest.updating import UpdateReport, remove_documents, update_index
from auscult.provenance import usable_cores
from auscult.readers.report import Problem, Report
from auscult.readers.rows import Columns
from auscult.readers.walking import place_of
from auscult.search.searcher import load_model_of
from auscult.telemetry import naming_extra

HowOption = Annotated[
    list[str] | None,
    typer.Option(
        "--read",
        metavar="KEY=VALUE",
        help="How to read files. Repeatable. `map=title=Name,text=Body,date=Datum`: columns of tables and fields "
        "of JSON, also for later `add`; `map:labs/*.csv=text=Result`: for files with such names. "
        "`deidentify=presidio`, `presidio:PIPELINE` or `MODULE:OBJECT`: remove who documents are about, before "
        "anything is stored. `originals=no`: do not keep the files. `access=GROUP`: who may see them.",
    ),
]
ReportOption = Annotated[
    Path | None, typer.Option("--report", help="Write a JSON report of what was read, and what was not, and why.")
]
ExcludeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude",
        metavar="PATTERN",
        help="Leave out files and folders by a pattern of .gitignore's syntax. Repeatable. A file `.auscultignore` "
        "has the patterns of its folder.",
    ),
]
_KEYS = ("map", "deidentify", "originals", "access")
_MAPPED = "map:"


def reading_choices(pairs: Sequence[str] | None, exclude: Sequence[str] | None = None) -> Choices:
    """Parse the values of `--read` and `--exclude`.

    Raises:
        ConfigError: A key is unknown or given twice, or has an invalid value.
    """
    values: dict[str, str] = {}
    for key, value in pairs_of("--read", pairs):
        if (key not in _KEYS and not key.startswith(_MAPPED)) or key in values:
            got = f"'{key}=' twice" if key in values else f"'{key}='"
            raise ConfigError(f"--read with {', '.join(f'{name}=' for name in _KEYS)}", got, "name each once")
        values[key] = value
    originals = values.get("originals", "yes")
    if originals not in ("yes", "no"):
        raise ConfigError("--read originals=yes or originals=no", repr(originals), "say one of them")
    return Choices(
        columns=Columns.parse(
            values.get("map", ""), {key.removeprefix(_MAPPED): values[key] for key in values if key.startswith(_MAPPED)}
        ),
        deidentify=values.get("deidentify", ""),
        originals=originals == "yes",
        access=values.get("access", ""),
        exclude=tuple(exclude or ()),
    )


def progressed(report: Report) -> str:
    """Return the progress of reading, in words."""
    return f"read {report.files:,} of {report.total:,} files, {report.documents.total():,} documents"


def tell(sources: Sources, report: Path | None, fresh: Sequence[Problem] | None = None) -> None:
    """Print on stderr what was left out and why, and write the report.

    Args:
        sources: Sources that were read.
        report: File for the report; None for no report.
        fresh: Print only these problems, as the others were printed before; None to print everything.
    """
    for line in sources.left_out() if fresh is None else (printable(f"not read: {problem}") for problem in fresh):
        typer.echo(line, err=True)
    if report is not None and sources.files is not None:
        write_json(report, sources.files.report.to_json())


#: Milliseconds after which watching reports even without a change. The first report says that watching has begun.
_TIMEOUT = 1_000


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


SkipBadOption = Annotated[bool, typer.Option("--skip-bad", help="Leave out unreadable records and count them.")]
BatchSizeOption = Annotated[int, typer.Option(help="Documents to encode at once.")]


class ExecutorName(StrEnum):
    """Where documents are encoded (`ingest.elsewhere`)."""

    HERE = "here"
    PROCESSES = "processes"
    RAY = "ray"


def index(
    corpora: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...",
            help="Files, folders, archives, patterns: PDF, HTML, office files, mail, Markdown, XML, FHIR, text, "
            "tables, JSON lines. Or a folder of BEIR or MIMIC, or a data set (`medquad`).",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The index folder; a new one, without --replace."),
    ] = None,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="ADDRESS",
            help="Write to PostgreSQL instead: `postgresql://USER@HOST/DATABASE`. Machines with the same files and "
            "command share the work. Only what is new or changed is encoded; documents of missing files are removed.",
        ),
    ] = "",
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="Replace the index in the folder, or one of other paths at the address. Readers see the old one until "
            "the end.",
        ),
    ] = False,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            "-m",
            help="The encoder: `fast`, `best` (several times slower), or a model folder.",
        ),
    ] = "fast",
    split: Annotated[str | None, typer.Option(help="Only this split of a corpus.")] = None,
    knowledge: Annotated[
        list[str] | None,
        typer.Option(
            help=f"Knowledge base for entities: {ACCEPTED}. Repeatable for files. Default: `{DEFAULT}`, if it is "
            "on this machine.",
        ),
    ] = None,
    no_knowledge: Annotated[bool, typer.Option("--no-knowledge", help="Find entities by their words only.")] = False,
    skip_bad: SkipBadOption = False,
    batch_size: BatchSizeOption = 32,
    executor: Annotated[
        ExecutorName | None,
        typer.Option(
            help="Read in chunks that a restarted command does not repeat: `here`, in local `processes`, or on a "
            "`ray` cluster (RAY_ADDRESS). Default: no chunks."
        ),
    ] = None,
    workers: Annotated[int, typer.Option(help="With --executor or --to: workers; 0 for one per core.")] = 0,
    how: HowOption = None,
    exclude: ExcludeOption = None,
    report: ReportOption = None,
) -> None:
    """Build an index of documents for `search`, `explain` and `serve`.

    Example: `auscult index leaflets/ notes.zip --out my-index`, or `auscult index leaflets/ --to postgresql://db/notes`
    """
    begun = time.perf_counter()
    if batch_size < 1:
        raise ConfigError("a batch size of at least 1", str(batch_size), "choose a larger one")
    if knowledge and no_knowledge:
        raise ConfigError("--knowledge or --no-knowledge", "both", "leave one out")
    if (out is None) == (not to):
        raise ConfigError("--out FOLDER or --to ADDRESS", "neither" if out is None else "both", "give one of them")
    if workers < 0:
        raise ConfigError("--workers of at least 0", str(workers), "choose more")
    choices = reading_choices(how, exclude)
    if out is None:
        if executor is not None or split is not None:
            named = "--split" if executor is None else "--executor"
            raise ConfigError("files that --workers read, with --to", named, f"leave {named} out")
        # Report a wrong address before anything large is opened.
        manifest_at(to)
        knowledge_base = None if no_knowledge else named_or_found(knowledge)
        sources = open_sources(corpora, choices, index=None, skip_bad=skip_bad, report=report)
        _index_at(
            to,
            sources,
            model,
            knowledge_base,
            workers or usable_cores(),
            batch_size,
            replace=replace,
            report=report,
        )
        if knowledge_base is None and not no_knowledge:
            typer.echo(NO_KNOWLEDGE, err=True)
        return
    if workers and executor in (None, ExecutorName.HERE):
        raise ConfigError("--executor processes or ray beside it", "--workers without", "leave --workers out")
    if not replace:
        _check_new(out)
    sources = open_sources(corpora, choices, index=out, skip_bad=skip_bad, report=report)
    encoder = load_model(model)
    knowledge_base = None if no_knowledge else named_or_found(knowledge)
    try:
        with showing_progress() as (bar, task):
            built = index_sources(
                sources,
                _reader(encoder, model, out, executor, workers),
                out,
                knowledge_base=knowledge_base,
                model_path=lasting_name(model),
                split=split,
                batch_size=batch_size,
                on_file=lambda read: bar.update(task, description=progressed(read)),
                on_batch=lambda counts: bar.update(task, description=counts.in_words()),
            )
    finally:
        # Also after an error: the report may say why there was nothing to index.
        tell(sources, report)
    if knowledge_base is None and not no_knowledge:
        typer.echo(NO_KNOWLEDGE, err=True)
    seconds = time.perf_counter() - begun
    typer.echo(
        f"{built.counts.in_words()} in {seconds:.1f} s ({built.counts.sentences / seconds:,.0f} sentences/s), "
        f"peak memory {peak_memory() / 1e6:,.0f} MB: {out}"
    )


def _index_at(
    address: str,
    sources: Sources,
    model: str,
    knowledge_base: KnowledgeBase | None,
    processes: int,
    batch_size: int,
    *,
    replace: bool,
    report: Path | None,
) -> None:
    """Write an index at an address, together with other machines that run the same command.

    Raises:
        ConfigError: A source does not consist of files.
    """
    begun = time.perf_counter()
    if sources.files is None or sources.corpora:
        remedy = "put it into a folder, in several files where several processes shall read it, and name that"
        raise ConfigError("files and folders with --to", f"'{next(iter(sources.corpora))}'", remedy)
    try:
        with showing_progress() as (bar, task):
            result = write_files(
                sources.files,
                address,
                load_model(model),
                lasting_name(model),
                knowledge_base=knowledge_base,
                processes=processes,
                batch_size=batch_size,
                replace=replace,
                progress=lambda read, written, of: bar.update(
                    task, description=f"shares of files: {of:,}, read: {read:,}, written: {written:,}"
                ),
            )
    finally:
        tell(sources, report)
    removed = f"removed: {result.removed:,}{naming(result.removed_ids, result.removed)}"
    typer.echo(
        f"written: {result.written:,} documents, unchanged: {result.unchanged:,}, {removed}; "
        f"{result.counts.in_words()} in {time.perf_counter() - begun:.1f} s: {address}"
    )


def naming(ids: Sequence[str], number: int) -> str:
    """Return the first ids of documents in brackets, with "..." if there are more; empty without ids."""
    return f" ({printable(', '.join(ids))}{', ...' if number > len(ids) else ''})" if ids else ""


def _check_new(out: Path) -> None:
    """Check that a folder has no index. On a terminal, ask whether it may be replaced.

    Raises:
        ConfigError: There is an index, and it may not be replaced.
    """
    # Unlike `Path.is_file`, it returns False for invalid names.
    if not os.path.isfile(out / CURRENT):  # noqa: PTH113
        return
    try:
        with closing(open_current(out)) as reader:
            got = f"an index of {reader.manifest.counts.documents:,} documents"
    except IndexFolderError:
        got = "an index that cannot be opened"
    if sys.stdin.isatty() and typer.confirm(f"{out} holds {got}. Replace it?", err=True):
        return
    remedy = f"name another folder, add to it (auscult add {out} PATH), or replace it with --replace"
    raise ConfigError(f"no index at {out} yet", got, remedy)


@contextmanager
def _reader(
    encoder: DocumentEncoder, model: str, out: Path, executor: ExecutorName | None, workers: int
) -> Iterator[tuple[DocumentEncoder, Stream]]:
    """Yield the encoder to index with, and the stream that documents pass before it."""
    if executor is None:
        yield encoder, lambda documents: documents
        return
    with encode_in_bulk(encoder, lasting_name(model), out, executor=executor.value, workers=workers) as bulk:
        yield bulk, bulk.stream


@contextmanager
def showing_progress() -> Iterator[tuple[Progress, TaskID]]:
    """Show a progress line on stderr, and yield it with its task."""
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        yield bar, bar.add_task("opening", total=None)


#: Ids that are named in a sentence.
_NAMED = 5


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
    if batch_size < 1:
        raise ConfigError("a batch size of at least 1", str(batch_size), "choose a larger one")
    choices = with_kept_columns(reading_choices(how, exclude), index)
    sources = open_sources(corpora, choices, index=index, skip_bad=skip_bad, report=report)
    keep_row_ids(sources, index)
    if watch and (sources.files is None or sources.corpora):
        raise ConfigError("files and folders for --watch", "a corpus of its own format", "leave it out")
    if watch:
        # First, as reading the files may take long.
        watching_library()
    prune = prune or watch

    @cache
    def encoder() -> DocumentEncoder:
        """Return the index's model, loaded once and only if there are documents to encode."""
        return load_model(model) if model else load_model_of(open_current(index).manifest.model)

    def update(*, again: bool) -> UpdateReport:
        reader = open_current(index)
        records = held_files(reader, sources.files)
        with (
            showing_progress() as (bar, task),
            sources.gathered(
                records,
                lambda done: bar.update(task, description=progressed(done)),
                prune=prune,
                # --restore applies to this command, not to later changes of the files.
                restored=None if again else restore or (),
            ) as gathered,
        ):
            reader.close()
            documents = {origin: corpus.documents() for origin, corpus in sources.corpora.items()}
            documents |= {origin: gathered.documents(origin) for origin in gathered.records}
            return update_index(
                documents,
                encoder() if sources.corpora or gathered.origins else None,
                index,
                prune=prune,
                gathered=gathered,
                files=sources.records(gathered),
                batch_size=batch_size,
                progress=lambda counts: bar.update(task, description=counts.in_words()),
            )

    earlier_problems: list[Problem] = []

    def once(*, again: bool = False) -> None:
        begun = time.perf_counter()
        try:
            updated = update(again=again)
        except BaseException:
            tell(sources, report)
            raise
        problems = sources.files.report.problems if sources.files is not None else []
        fresh = [problem for problem in problems if problem not in earlier_problems]
        earlier_problems[:] = problems
        tell(sources, report, fresh if again else None)
        if not again or updated.new or updated.changed or updated.gone or fresh:
            gone = f"gone: {len(updated.gone):,}"
            if updated.gone:
                named = ", ".join(updated.gone[:_NAMED]) + (", ..." if len(updated.gone) > _NAMED else "")
                gone += f" ({'removed' if prune else 'still in the index; --prune removes them'}: {named})"
            summary = f"new: {updated.new:,}, changed: {updated.changed:,}, unchanged: {updated.unchanged:,}, {gone}"
            summary += f", removed before: {updated.removed:,} (--restore ID)" if updated.removed else ""
            typer.echo(f"{summary}; {updated.counts.in_words()} in {time.perf_counter() - begun:.1f} s: {index}")

    once()
    if watch and sources.files is not None:
        typer.echo("watching; Ctrl-C ends it", err=True)
        for _ in changes(sources.files.paths, index):
            once(again=True)


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
