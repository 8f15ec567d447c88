"""The options of `auscult index` and `auscult add` that say how files are read, and what is told of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from auscult.cli.options import pairs_of
from auscult.errors import ConfigError
from auscult.files.writing import write_json
from auscult.readers.records.rows import Columns
from auscult.readers.report import Report
from auscult.search.sources import Sources
from auscult.sources.files import Choices

HowOption = Annotated[
    list[str] | None,
    typer.Option(
        "--read",
        metavar="KEY=VALUE",
        help="How files are read; repeatable. `map=title=Name,text=Body,date=Datum`: what columns of tables and fields "
        "of JSON mean. `deidentify=presidio`, `presidio:PIPELINE` or `MODULE:OBJECT`: what takes out who documents are "
        "about, before anything is stored. `originals=no`: do not keep the files. `access=GROUP`: who may see them.",
    ),
]
ReportOption = Annotated[
    Path | None, typer.Option("--report", help="Write what was read, and what was not and why, as JSON.")
]
_KEYS = ("map", "deidentify", "originals", "access")


def reading_choices(given: Sequence[str] | None) -> Choices:
    """What `--read` says.

    Raises:
        ConfigError: A key is unknown or named twice, or its value is none.
    """
    told: dict[str, str] = {}
    for key, value in pairs_of("--read", given):
        if key not in _KEYS or key in told:
            got = f"'{key}=' twice" if key in told else f"'{key}='"
            raise ConfigError(f"--read with {', '.join(f'{name}=' for name in _KEYS)}", got, "name each once")
        told[key] = value
    originals = told.get("originals", "yes")
    if originals not in ("yes", "no"):
        raise ConfigError("--read originals=yes or originals=no", repr(originals), "say one of them")
    return Choices(
        columns=Columns.parse(told.get("map", "")),
        deidentify=told.get("deidentify", ""),
        originals=originals == "yes",
        access=told.get("access", ""),
    )


def progressed(report: Report) -> str:
    """How far reading is, in words."""
    return f"read {report.files:,} of {report.total:,} files, {report.documents.total():,} documents"


def tell(sources: Sources, report: Path | None) -> None:
    """Print on stderr what was left out and why, and write the report where one is asked for."""
    for line in sources.left_out():
        typer.echo(line, err=True)
    if report is not None and sources.files is not None:
        write_json(report, sources.files.report.to_json())
