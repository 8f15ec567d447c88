"""Time of the workbench from a user's files to the page, in its own process.

    AUSCULT_DATA=... python benchmarks/workbench.py [--backbone ENCODER] [--minutes 15] [--questions 500]

The data is that of examples/make_user_data.py: biomedical questions and passages as three CSV files. The time is that
of `auscult try` in a new folder: checking, planning, training, ranking, writing the page.

Writes benchmarks/results/workbench.json. Needs: pip install 'auscult[lab]'
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from auscult.files.writing import write_json
from auscult.provenance import stamp
from auscult_lab.evaluation.records import evaluation_records, read_records

HERE = Path(__file__).resolve().parent
RESULT = HERE / "results" / "workbench.json"
EXAMPLE = HERE.parent / "examples" / "make_user_data.py"


def make_data(folder: Path, questions: int, passages: int) -> None:
    """Make a user's files."""
    command = [str(EXAMPLE), str(folder), "--questions", str(questions), "--passages", str(passages)]
    subprocess.run([sys.executable, *command], check=True)


def run(data: Path, out: Path, options: list[str]) -> float:
    """Run `auscult try`, and return the seconds."""
    command = [sys.executable, "-m", "auscult.cli.main", "try", str(data), "--out", str(out), *options]
    began = time.perf_counter()
    subprocess.run([*command, "--no-progress"], check=True)
    return time.perf_counter() - began


def models_of(out: Path) -> list[dict[str, Any]]:
    """Return one row per model, as on the page."""
    return [
        {
            "model": record.model,
            "R@1": record.measures["R@1"],
            "MAP": record.measures["MAP"],
            # None for untrained models: term-based ones, and the shipped one.
            "training_seconds": record.training["seconds"] if record.of_bench else None,
            "ms_per_query": record.ms_per_query,
        }
        for record in evaluation_records(read_records(out / "records.json"))
    ]


def main() -> None:
    """Measure, and write the record."""
    parser = argparse.ArgumentParser(description="Time of the workbench from files to the page.")
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--passages", type=int, default=3000)
    parser.add_argument("--minutes", type=float, default=15.0, help="what the workbench is given")
    parser.add_argument("--backbone", help="a pre-trained encoder; none unless given")
    parser.add_argument("--out", type=Path, default=RESULT)
    arguments = parser.parse_args()
    options = ["--minutes", str(arguments.minutes)]
    if arguments.backbone:
        options += ["--backbone", arguments.backbone]
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder) / "mydata", Path(folder) / "work"
        make_data(data, arguments.questions, arguments.passages)
        seconds = run(data, out, options)
        page = out / "report.html"
        record = {
            "kind": "workbench",
            "title": "From a user's files to the page",
            "questions": arguments.questions,
            "passages": arguments.passages,
            "minutes_given": arguments.minutes,
            "backbone": bool(arguments.backbone),
            "seconds": round(seconds, 1),
            "page_bytes": page.stat().st_size,
            "models": models_of(out),
            **stamp(),
        }
    write_json(arguments.out, record)
    print(f"{seconds:.0f} seconds; {arguments.out}")


if __name__ == "__main__":
    main()
