"""`auscult index`: read a corpus, encode it, and write an index folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from auscult.cli.sources import HowOption, ReportOption, progressed, reading_choices, tell
from auscult.concepts.opening import ACCEPTED, DEFAULT, named_or_found
from auscult.encoders import load_model
from auscult.errors import ConfigError
from auscult.files.limits import peak_memory
from auscult.interfaces import DocumentEncoder
from auscult.search import BuildReport
from auscult.search.bulk import reading_in_bulk
from auscult.search.sources import NO_KNOWLEDGE, Stream, index_sources, lasting_name, open_sources

SkipBadOption = Annotated[bool, typer.Option("--skip-bad", help="Leave unreadable records out and count them.")]
BatchSizeOption = Annotated[int, typer.Option(help="Documents encoded at once.")]


class Quality(StrEnum):
    """The shipped encoders for documents that nobody trained on."""

    FAST = "fast"
    BEST = "best"


class ExecutorName(StrEnum):
    """Who reads documents (`search.bulk`)."""

    HERE = "here"
    PROCESSES = "processes"
    RAY = "ray"


def index(
    corpora: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH...",
            help="Files, folders, archives and patterns, of PDF, HTML, DOCX, Markdown, XML, FHIR, text, tables and "
            "JSON lines in any mixture; a folder of BEIR or MIMIC; or a corpus of the catalogue (`medquad`).",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="The index folder; an index in it is replaced at the very end."),
    ],
    quality: Annotated[
        Quality,
        typer.Option(help="Which shipped encoder reads: `fast`, or `best`, which takes several times as long."),
    ] = Quality.FAST,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="A model folder, or a shipped model's name, in place of --quality."),
    ] = None,
    split: Annotated[str | None, typer.Option(help="Only this split of the corpus.")] = None,
    knowledge: Annotated[
        list[str] | None,
        typer.Option(
            help=f"What entities are resolved with: {ACCEPTED}; repeatable for files. "
            f"Default: `{DEFAULT}`, where it is on this machine.",
        ),
    ] = None,
    no_knowledge: Annotated[bool, typer.Option("--no-knowledge", help="Take entities by their words only.")] = False,
    skip_bad: SkipBadOption = False,
    batch_size: BatchSizeOption = 32,
    executor: Annotated[
        ExecutorName | None,
        typer.Option(
            help="Who reads, in chunks that a stopped command does not read again: `here`, local `processes`, or the "
            "workers of a `ray` cluster (RAY_ADDRESS). Default: here, and from the beginning."
        ),
    ] = None,
    workers: Annotated[int, typer.Option(help="With --executor: how many; 0 for one a core.")] = 0,
    how: HowOption = None,
    report: ReportOption = None,
) -> None:
    """Build an index of documents, to be asked with `search` and `explain`.

    Example: `auscult index leaflets/ notes.zip --out my-index`
    """
    if batch_size < 1:
        raise ConfigError("a batch size of at least 1", str(batch_size), "choose a larger one")
    if knowledge and no_knowledge:
        raise ConfigError("--knowledge or --no-knowledge", "both", "leave one out")
    if workers and executor in (None, ExecutorName.HERE):
        raise ConfigError("--executor processes or ray beside it", "--workers without", "leave --workers out")
    sources = open_sources(corpora, reading_choices(how), index=out, skip_bad=skip_bad, report=report)
    model = model or quality.value
    encoder = load_model(model)
    known = None if no_knowledge else named_or_found(knowledge)
    try:
        with showing_progress() as (bar, task):
            done = index_sources(
                sources,
                _reader(encoder, model, out, executor, workers),
                out,
                knowledge_base=known,
                model_path=lasting_name(model),
                split=split,
                batch_size=batch_size,
                on_file=lambda read: bar.update(task, description=progressed(read)),
                on_batch=lambda counts: bar.update(task, description=counts.in_words()),
            )
    finally:
        # Also where nothing was left to index, which it may explain.
        tell(sources, report)
    if known is None and not no_knowledge:
        typer.echo(NO_KNOWLEDGE, err=True)
    typer.echo(_summary(done, out))


@contextmanager
def _reader(
    encoder: DocumentEncoder, model: str, out: Path, executor: ExecutorName | None, workers: int
) -> Iterator[tuple[DocumentEncoder, Stream]]:
    """The encoder that is built with, and what documents pass through on their way to it."""
    if executor is None:
        yield encoder, lambda documents: documents
        return
    with reading_in_bulk(encoder, lasting_name(model), out, executor=executor.value, workers=workers) as bulk:
        yield bulk, bulk.stream


def _summary(report: BuildReport, out: Path) -> str:
    return (
        f"{report.counts.in_words()} in {report.seconds:.1f} s "
        f"({report.sentences_per_second:,.0f} sentences/s), peak memory {peak_memory() / 1e6:,.0f} MB: {out}"
    )


@contextmanager
def showing_progress() -> Iterator[tuple[Progress, TaskID]]:
    """A line on stderr that tells how far it is, with its task."""
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        yield bar, bar.add_task("opening", total=None)
