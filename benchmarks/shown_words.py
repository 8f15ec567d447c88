"""Whether what a file shows a person is read, or counted in the report: random files of every kind.

    export PYTHONPATH=tests:packages/auscult-readers/tests
    python benchmarks/shown_words.py [--documents 300] [--kind "Word" ...]

A document is a random list of what its format has: headings, lists, tables in tables, notes, struck-out words,
fractions, fields, forms, comments, fonts of signs, hidden parts. A library or LibreOffice writes it. LibreOffice,
Chromium or PDFium shows it as a person sees it; a text shows what it holds. Each word, number, unit, sign and box that
is shown has to be in a passage, heading or title, or the report has to name why not. Each word occurs once, so that a
lost one names its construct. Differences that are no faults are named exceptions, with the reason.

Kinds that need a program that this machine lacks are left out, and named. With `--kind`, other kinds keep their rows.
Writes benchmarks/results/shown_words.json.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from auscult.files.writing import write_json
from auscult.provenance import stamp
from shown_law import KINDS, RENDERED_BY, Outcome, outcome_of

RESULT: Final = Path(__file__).resolve().parent / "results" / "shown_words.json"


def main() -> None:
    """Write, show and read the documents, and write the record."""
    parser = argparse.ArgumentParser(description="Compare what files show with what is read.")
    parser.add_argument("--documents", type=int, default=300, help="of each kind")
    parser.add_argument("--kind", action="append", choices=[*KINDS], help="only these")
    given = parser.parse_args()
    record: dict[str, Any] = {
        "kind": "shown_words",
        "title": "What files show and is not read",
        "kinds": _rows_to_keep(given.kind or KINDS),
        "left_out": [],
        "exceptions": {name: dict(kind.exceptions) for name, kind in KINDS.items() if kind.exceptions},
        **stamp(),
    }
    for name in given.kind or KINDS:
        if not RENDERED_BY[name]():
            record["left_out"].append(name)
            continue
        row = row_of(name, outcome_of(name, given.documents))
        print(row, flush=True)
        record["kinds"].append(row)
        # A long run leaves what it has.
        write_json(RESULT, [record])


def _rows_to_keep(measured: Iterable[str]) -> list[dict[str, Any]]:
    """Return the rows of kinds that are not measured now."""
    if not RESULT.exists():
        return []
    (record,) = json.loads(RESULT.read_text(encoding="utf-8"))
    return [row for row in record["kinds"] if row["kind"] not in {*measured}]


def row_of(name: str, outcome: Outcome) -> dict[str, Any]:
    """Return the counts of a kind."""
    return {
        "kind": name,
        "documents": outcome.documents,
        "not_shown": outcome.unrendered,
        "differing": outcome.differing,
        "excepted": outcome.excepted.total(),
        "faults": [f"{fault}: {number}" for fault, number in outcome.faults.most_common()],
    }


if __name__ == "__main__":
    main()
