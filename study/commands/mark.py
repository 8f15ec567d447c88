"""`mark`: write into records which trainings repeated their first epoch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from study.epochs import mark_files


def mark(records: Annotated[Path, typer.Argument(help="Folder of JSON records.")]) -> None:
    """Mark records of trainings from before batch samplers were told the epoch; `results` reads them with or without.

    Example: `python -m study mark benchmarks/results`
    """
    changed = mark_files(records)
    typer.echo(f"Marked anew: {', '.join(path.name for path in changed) or 'none'}")
