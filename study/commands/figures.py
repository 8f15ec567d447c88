"""`figures`: draw every figure that the data of a record file allow."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from auscult.files.writing import file_name
from auscult_lab.evaluation.bench_tables import in_table_order
from auscult_lab.evaluation.records import evaluation_records, read_records
from study.errors.classes import read_errors
from study.figures.bench import bench_figures
from study.figures.breakdowns import check_figures, draw_figures


def figures(
    records: Annotated[Path, typer.Argument(help="Records of `auscult evaluate` or `bench --json`.")],
    out: Annotated[Path, typer.Option(help="Folder for the figures; each task's in one of its own in it.")],
    errors: Annotated[
        Path | None, typer.Option(help="Also of these wrong answers, as `errors` writes them: arnold2020, Figure 8.")
    ] = None,
) -> None:
    """Draw match rates, results by source, aspect, question type and length, and learning curves, as PNG and SVG."""
    check_figures(out)
    evaluations = evaluation_records(read_records(records))
    wrong = read_errors(errors) if errors is not None else {}
    written: list[Path] = []
    for task in dict.fromkeys(record.asked for record in evaluations):
        of_task = in_table_order([record for record in evaluations if record.asked == task])
        folder = out / file_name(" ".join((task.corpus, task.protocol, task.split, task.subset)))
        written += draw_figures(
            folder, of_task, {record.label: wrong[record.label] for record in of_task if record.label in wrong}
        )
        for figure in bench_figures(file_name(task.corpus), task.title, of_task):
            for suffix in (".png", ".svg"):
                path = (folder / figure.name).with_suffix(suffix)
                figure.draw(path, figure.records)
                written.append(path)
    for path in written:
        typer.echo(str(path))
