"""`tables`: what a record file of a bench holds, as tables on the terminal."""

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
    found = evaluation_records(read_records(records))
    for asked in dict.fromkeys(each.asked for each in found):
        for track in TRACKS:
            learned = [each for each in found if each.asked == asked and each.track == track]
            own = [each for each in found if each.asked == asked and each.track in ("untrained", track)]
            if not learned:
                continue
            shown = [bench_table(own, track), *beside_tables(own, track), *context_knowledge_tables(learned)]
            for table in (*shown, question_type_table(own), learning_table(own)):
                if table.rows:
                    table.print_to(console)
