"""`auscult results`: write docs/results.md from the recorded results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from auscult.errors import DataError
from auscult.evaluation.report import write_report
from auscult.evaluation.writing import whole_or_nothing


def results(
    folder: Annotated[Path, typer.Argument(help="Folder of JSON records.")] = Path("benchmarks/results"),
    output: Annotated[Path, typer.Option(help="The page to write.")] = Path("docs/results.md"),
    check: Annotated[bool, typer.Option("--check", help="Only see whether the page is up to date.")] = False,
) -> None:
    """Write the page of results from recorded figures: evaluation, training, indexing, search."""
    page = write_report(folder)
    if check:
        if not output.is_file() or output.read_text(encoding="utf-8") != page:
            raise DataError(f"{output} as generated from {folder}", "another text", "run: auscult results")
        return
    with whole_or_nothing(output) as partial:
        partial.write_text(page, encoding="utf-8")
    typer.echo(f"Written: {output}")
