"""Options of the commands that read documents, and what these commands print of their work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from auscult.cli.options import pairs_of
from auscult.errors import ConfigError, printable
from auscult.files.writing import write_json
from auscult.ingest.files import Choices
from auscult.ingest.sources import Sources
from auscult.readers.report import Problem, Report
from auscult.readers.rows import Columns

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
SkipBadOption = Annotated[bool, typer.Option("--skip-bad", help="Leave out unreadable records and count them.")]
BatchSizeOption = Annotated[int, typer.Option(help="Documents to encode at once.")]
_KEYS = ("map", "deidentify", "originals", "access")
_MAPPED = "map:"


def parse_choices(pairs: Sequence[str] | None, exclude: Sequence[str] | None) -> Choices:
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
    maps_of_files = {key.removeprefix(_MAPPED): value for key, value in values.items() if key.startswith(_MAPPED)}
    return Choices(
        columns=Columns.parse(values.get("map", ""), maps_of_files),
        deidentify=values.get("deidentify", ""),
        originals=originals == "yes",
        access=values.get("access", ""),
        exclude=tuple(exclude or ()),
    )


def reading_progress(report: Report) -> str:
    """Return the progress of reading, in words."""
    return f"read {report.files:,} of {report.total:,} files, {report.documents.total():,} documents"


def print_left_out(sources: Sources, report: Path | None, fresh: Sequence[Problem] | None = None) -> None:
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


def check_batch_size(batch_size: int) -> None:
    """Check the value of `--batch-size`.

    Raises:
        ConfigError: It is below 1.
    """
    if batch_size < 1:
        raise ConfigError("a batch size of at least 1", str(batch_size), "choose a larger one")


def ids_in_brackets(ids: Sequence[str], number: int) -> str:
    """Return the first ids of documents in brackets, with "..." if there are more; empty without ids."""
    return f" ({printable(', '.join(ids))}{', ...' if number > len(ids) else ''})" if ids else ""


@contextmanager
def show_progress() -> Iterator[tuple[Progress, TaskID]]:
    """Show a progress line on stderr, and yield it with its task."""
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        yield bar, bar.add_task("opening", total=None)
