"""`auscult results`: write docs/results.md, and the figures it links to, from the recorded results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from auscult.errors import DataError
from auscult.evaluation.figures import check_figures
from auscult.evaluation.report import report_figures, write_report
from auscult.evaluation.writing import whole_or_nothing


def results(
    folder: Annotated[Path, typer.Argument(help="Folder of JSON records.")] = Path("benchmarks/results"),
    output: Annotated[
        Path, typer.Option(help="The page to write; its figures go into the folder figures beside it.")
    ] = Path("docs/results.md"),
    check: Annotated[
        bool, typer.Option("--check", help="Only see whether the page is up to date and its figures are there.")
    ] = False,
) -> None:
    """Write the page of results from recorded figures: evaluation, training, indexing, search.

    Learning curves and results by question type of every bench of rankers are drawn into the folder figures.
    """
    page, figures, place = write_report(folder), report_figures(folder), output.parent / "figures"
    if check:
        if not output.is_file() or output.read_text(encoding="utf-8") != page:
            raise DataError(f"{output} as generated from {folder}", "another text", "run: auscult results")
        for figure in figures:
            if not (place / figure.name).is_file():
                raise DataError(f"the figure {place / figure.name}", "no such file", "run: auscult results")
        return
    if figures:
        check_figures(place)
    for figure in figures:
        figure.draw(place / figure.name, figure.records)
    with whole_or_nothing(output) as partial:
        partial.write_text(page, encoding="utf-8")
    typer.echo(f"Written: {output}" + (f", {len(figures)} figures in {place}" if figures else ""))
