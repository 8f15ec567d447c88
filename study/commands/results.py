"""`results`: write the pages of results, their figures and the tables of all figures, from the records."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from auscult.errors import DataError
from auscult.files.writing import write_text
from study.figures.breakdowns import check_figures
from study.pages.report import report_figures, write_pages, write_tables


def results(
    folder: Annotated[Path, typer.Argument(help="Folder of JSON records.")] = Path("benchmarks/results"),
    docs: Annotated[Path, typer.Option(help="Where results.md, the folder results and the folder figures are.")] = Path(
        "docs"
    ),
    tables: Annotated[Path | None, typer.Option(help="Where the tables go; by default below the records.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only see whether pages and tables are up to date and figures are there.")
    ] = False,
) -> None:
    """Write docs/results.md, a page a paper in docs/results, their figures, and every figure as CSV."""
    place = tables if tables is not None else folder / "tables"
    files = {docs / name: text for name, text in write_pages(folder).items()}
    files |= {place / name: text for name, text in write_tables(folder).items()}
    figures = report_figures(folder)
    stale = [path for path in [*(docs / "results").glob("*.md"), *place.glob("*.csv")] if path not in files]
    if check:
        _check(files, stale, [docs / "figures" / figure.name for figure in figures])
        return
    drawn = [figure for figure in figures if figure.draw is not None]
    if drawn:
        check_figures(docs / "figures")
    for figure in drawn:
        if figure.draw is not None:
            figure.draw(docs / "figures" / figure.name)
    for path, text in files.items():
        write_text(path, text)
    for path in stale:
        path.unlink()
    typer.echo(f"Written: {len(files)} files, {len(drawn)} figures")


def _check(files: dict[Path, str], stale: list[Path], figures: list[Path]) -> None:
    for path, text in files.items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            raise DataError(f"{path} as generated from the records", "another text", "run: make results")
    for path in stale:
        raise DataError(f"no {path}, which no record makes", "such a file", "run: make results")
    for path in figures:
        if not path.is_file():
            raise DataError(f"the figure {path}", "no such file", "run: make results")
