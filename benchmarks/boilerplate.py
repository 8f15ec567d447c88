"""Shares of the text of web pages that are kept, and of the content around it that is left out.

    git clone https://github.com/adbar/trafilatura && python benchmarks/boilerplate.py trafilatura/tests

The pages are trafilatura's evaluation set: news, blogs and firms, each with snippets that are of its text and snippets
that are not (`evaldata.json`). A snippet counts as kept where it is in the result, ignoring white space. Rules were
chosen on the pages whose names have an even digest; the others were only measured.

Writes benchmarks/results/boilerplate.json.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import time
from collections.abc import Sequence
from multiprocessing import Pool
from pathlib import Path
from typing import Any, Final, NamedTuple

from auscult.errors import DataError
from auscult.files.writing import write_json
from auscult.provenance import stamp
from auscult.readers.html.reader import read_page

RESULT: Final = Path(__file__).resolve().parent / "results" / "boilerplate.json"


class Page(NamedTuple):
    """Result of reading a page: for each snippet whether it was kept, and milliseconds of processor time."""

    name: str
    text: list[bool]
    around: list[bool]
    milliseconds: float


def main() -> None:
    """Measure, and write the record."""
    parser = argparse.ArgumentParser(description="Measure what is kept of web pages.")
    parser.add_argument("folder", type=Path, help="the folder tests of a copy of adbar/trafilatura")
    folder = parser.parse_args().folder
    entries = json.loads((folder / "evaldata.json").read_text(encoding="utf-8"))
    with Pool() as pool:
        pages = pool.starmap(read, [(folder, entry) for entry in entries.values()])
    chosen = [page for page in pages if not hashlib.sha256(page.name.encode()).digest()[0] % 2]
    others = [page for page in pages if hashlib.sha256(page.name.encode()).digest()[0] % 2]
    halves = {"chosen by": chosen, "only measured": others, "all": pages}
    rows = [{"pages": name, **measured(those)} for name, those in halves.items()]
    for row in rows:
        print(row)
    write_json(RESULT, [{"kind": "boilerplate", "title": "What is kept of web pages", "halves": rows, **stamp()}])


def read(folder: Path, entry: dict[str, Any]) -> Page:
    """Read one page."""
    place = next(place for part in ("cache", "eval") if (place := folder / part / entry["file"]).is_file())
    content = place.read_bytes()
    begun = time.process_time()
    try:
        text_of_page = " ".join(read_page(content).text.split())
    except DataError:
        text_of_page = ""
    milliseconds = 1000 * (time.process_time() - begun)
    text, around = (
        [" ".join(snippet.split()) in text_of_page for snippet in entry[kind]] for kind in ("with", "without")
    )
    return Page(entry["file"], text, around, milliseconds)


def measured(pages: Sequence[Page]) -> dict[str, float]:
    """Return the shares of snippets kept, their numbers, and the time per page."""
    text, around = ([kept for page in pages for kept in getattr(page, kind)] for kind in ("text", "around"))
    return {
        "number": len(pages),
        "text_kept": round(statistics.fmean(text), 4),
        "around_kept": round(statistics.fmean(around), 4),
        "median_milliseconds": round(statistics.median(page.milliseconds for page in pages), 1),
        "text_snippets": len(text),
        "around_snippets": len(around),
    }


if __name__ == "__main__":
    main()
