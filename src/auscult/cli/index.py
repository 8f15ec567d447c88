"""`auscult index`: read documents, encode them, and write an index folder, or an index at an address."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from auscult.cli.reading import (
    BatchSizeOption,
    ExcludeOption,
    HowOption,
    ReportOption,
    SkipBadOption,
    check_batch_size,
    ids_in_brackets,
    parse_choices,
    print_left_out,
    reading_progress,
    show_progress,
)
from auscult.concepts import KnowledgeBase
from auscult.concepts.opening import ACCEPTED, DEFAULT
from auscult.encoders import load_model
from auscult.encoders.contract import DocumentEncoder
from auscult.engines import manifest_at
from auscult.errors import ConfigError, IndexFolderError
from auscult.files.limits import peak_memory
from auscult.index.manifest import CURRENT
from auscult.index.reader import open_current
from auscult.ingest.choosing import AUTO, ENGLISH_ENCODER
from auscult.ingest.elsewhere import encode_in_bulk, write_files
from auscult.ingest.knowledge import knowledge_for
from auscult.ingest.sources import NO_KNOWLEDGE, Sources, Stream, index_sources, lasting_name, open_sources
from auscult.provenance import usable_cores

PathsArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH...",
        help="Files, folders, archives, patterns: PDF, HTML, office files, mail, Markdown, XML, FHIR, text, "
        "tables, JSON lines. Or a folder of BEIR or MIMIC, or a data set (`medquad`).",
    ),
]
OutOption = Annotated[Path | None, typer.Option("--out", "-o", help="The index folder; a new one, without --replace.")]
AddressOption = Annotated[
    str,
    typer.Option(
        "--to",
        metavar="ADDRESS",
        help="Write to PostgreSQL instead: `postgresql://USER@HOST/DATABASE`. Machines with the same files and "
        "command share the work. Only what is new or changed is encoded; documents of missing files are removed.",
    ),
]
ReplaceOption = Annotated[
    bool,
    typer.Option(
        "--replace",
        help="Replace the index in the folder, or one of other paths at the address. Readers see the old one until "
        "the end.",
    ),
]
ModelOption = Annotated[
    str,
    typer.Option(
        "--model",
        "-m",
        help="The encoder: `fast`, `best` (several times slower), `multilingual` (English, French, Spanish, German), "
        "or a model folder. `auto`: `multilingual` if some documents are in French, Spanish or German, else `fast`; "
        "with --to, always `fast`.",
    ),
]
SplitOption = Annotated[str | None, typer.Option(help="Only this split of a corpus.")]
KnowledgeOption = Annotated[
    list[str] | None,
    typer.Option(
        help=f"Knowledge base for entities: {ACCEPTED}. Repeatable for files. Default: `{DEFAULT}`, if it is "
        "on this machine.",
    ),
]
NoKnowledgeOption = Annotated[bool, typer.Option("--no-knowledge", help="Find entities by their words only.")]


class ExecutorName(StrEnum):
    """Where documents are encoded (`ingest.elsewhere`)."""

    HERE = "here"
    PROCESSES = "processes"
    RAY = "ray"


ExecutorOption = Annotated[
    ExecutorName | None,
    typer.Option(
        help="Read in chunks that a restarted command does not repeat: `here`, in local `processes`, or on a "
        "`ray` cluster (RAY_ADDRESS). Default: no chunks."
    ),
]
WorkersOption = Annotated[int, typer.Option(help="With --executor or --to: workers; 0 for one per core.")]


def index(
    corpora: PathsArgument,
    out: OutOption = None,
    to: AddressOption = "",
    replace: ReplaceOption = False,
    model: ModelOption = AUTO,
    split: SplitOption = None,
    knowledge: KnowledgeOption = None,
    no_knowledge: NoKnowledgeOption = False,
    skip_bad: SkipBadOption = False,
    batch_size: BatchSizeOption = 32,
    executor: ExecutorOption = None,
    workers: WorkersOption = 0,
    how: HowOption = None,
    exclude: ExcludeOption = None,
    report: ReportOption = None,
) -> None:
    """Build an index of documents for `search`, `explain` and `serve`.

    Example: `auscult index leaflets/ notes.zip --out my-index`, or `auscult index leaflets/ --to postgresql://db/notes`
    """
    begun = time.perf_counter()
    check_batch_size(batch_size)
    if knowledge and no_knowledge:
        raise ConfigError("--knowledge or --no-knowledge", "both", "leave one out")
    if (out is None) == (not to):
        raise ConfigError("--out FOLDER or --to ADDRESS", "neither" if out is None else "both", "give one of them")
    if workers < 0:
        raise ConfigError("--workers of at least 0", str(workers), "choose more")
    choices = parse_choices(how, exclude)
    if out is None:
        # Before anything large is opened.
        if executor is not None or split is not None:
            named = "--split" if executor is None else "--executor"
            raise ConfigError("files that --workers read, with --to", named, f"leave {named} out")
        manifest_at(to)
    else:
        _check_folder(out, replace, executor, workers)
    sources = open_sources(corpora, choices, index=out, skip_bad=skip_bad, report=report)
    knowledge_base = None if no_knowledge else knowledge_for(knowledge)
    if out is None:
        cores = workers or usable_cores()
        named = ENGLISH_ENCODER if model == AUTO else model
        summary = _write_at(to, sources, named, knowledge_base, cores, batch_size, replace=replace, report=report)
    else:
        # Opened before files are read, so that a wrong name is told at once.
        encoder = None if model == AUTO else load_model(model)
        try:
            with show_progress() as (bar, task):
                built = index_sources(
                    sources,
                    lambda named: _open_reading(encoder or load_model(named), named, out, executor, workers),
                    out,
                    knowledge_base=knowledge_base,
                    model=model,
                    split=split,
                    batch_size=batch_size,
                    on_file=lambda read: bar.update(task, description=reading_progress(read)),
                    on_batch=lambda counts: bar.update(task, description=counts.in_words()),
                    say=lambda sentence: typer.echo(sentence, err=True),
                )
        finally:
            # Also after an error: the report may say why there was nothing to index.
            print_left_out(sources, report)
        seconds = time.perf_counter() - begun
        summary = (
            f"{built.counts.in_words()} in {seconds:.1f} s ({built.counts.sentences / seconds:,.0f} sentences/s), "
            f"peak memory {peak_memory() / 1e6:,.0f} MB: {out}"
        )
    if knowledge_base is None and not no_knowledge:
        typer.echo(NO_KNOWLEDGE, err=True)
    typer.echo(summary)


def _check_folder(out: Path, replace: bool, executor: ExecutorName | None, workers: int) -> None:
    """Check the options of an index folder, and that it has no index. On a terminal, ask whether to replace one.

    Raises:
        ConfigError: There is an index, and it may not be replaced.
    """
    if workers and executor in (None, ExecutorName.HERE):
        raise ConfigError("--executor processes or ray beside it", "--workers without", "leave --workers out")
    # Unlike `Path.is_file`, it returns False for invalid names.
    if replace or not os.path.isfile(out / CURRENT):  # noqa: PTH113
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
def _open_reading(
    encoder: DocumentEncoder, model: str, out: Path, executor: ExecutorName | None, workers: int
) -> Iterator[tuple[DocumentEncoder, Stream]]:
    """Yield the encoder to index with, and the stream that documents pass before it."""
    if executor is None:
        yield encoder, lambda documents: documents
        return
    with encode_in_bulk(encoder, lasting_name(model), out, executor=executor.value, workers=workers) as bulk:
        yield bulk, bulk.stream


def _write_at(
    address: str,
    sources: Sources,
    model: str,
    knowledge_base: KnowledgeBase | None,
    processes: int,
    batch_size: int,
    *,
    replace: bool,
    report: Path | None,
) -> str:
    """Write an index at an address, together with other machines that run the same command. Return what was done.

    Raises:
        ConfigError: A source does not consist of files.
    """
    begun = time.perf_counter()
    if sources.files is None or sources.corpora:
        remedy = "put it into a folder, in several files where several processes shall read it, and name that"
        raise ConfigError("files and folders with --to", f"'{next(iter(sources.corpora))}'", remedy)
    try:
        with show_progress() as (bar, task):
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
        print_left_out(sources, report)
    removed = f"removed: {result.removed:,}{ids_in_brackets(result.removed_ids, result.removed)}"
    return (
        f"written: {result.written:,} documents, unchanged: {result.unchanged:,}, {removed}; "
        f"{result.counts.in_words()} in {time.perf_counter() - begun:.1f} s: {address}"
    )
