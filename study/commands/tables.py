"""`tables`: print the records of a bench as tables."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from auscult_lab.evaluation.bench_tables import bench_table, learning_table, question_type_table
from auscult_lab.evaluation.records import evaluation_records, read_records
from auscult_lab.evaluation.tracks import TRACKS
from study.pages.beside import beside_tables
from study.pages.context_knowledge import context_knowledge_tables


def tables(records: Annotated[Path, typer.Argument(help="Records of `auscult evaluate` or `bench --json`.")]) -> None:
    """Print every table of the records: measures beside published ones, wang2021's questions, types, learning."""
    console = Console()
    evaluations = evaluation_records(read_records(records))
    for task in dict.fromkeys(record.asked for record in evaluations):
        for track in TRACKS:
            learned = [record for record in evaluations if record.asked == task and record.track == track]
            compared = [
                record for record in evaluations if record.asked == task and record.track in ("untrained", track)
            ]
            if not learned:
                continue
            first_tables = [
                bench_table(compared, track),
                *beside_tables(compared, track),
                *context_knowledge_tables(learned),
            ]
            for table in (*first_tables, question_type_table(compared), learning_table(compared)):
                if table.rows:
                    table.print_to(console)
