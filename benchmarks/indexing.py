"""How fast is a corpus indexed, and with how much memory?

    AUSCULT_DATA=... python benchmarks/indexing.py [--model default] [--corpus medquad]

Measures reading, splitting, encoding, writing and committing together, and apart from that reading and
splitting alone. Peak memory is the whole process', with model and knowledge base. Writes
benchmarks/results/indexing.json.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from auscult.corpora import open_corpus
from auscult.corpora.knowledge import open_knowledge_base
from auscult.files.writing import write_json
from auscult.interfaces import DocumentEncoder
from auscult.models import load_model
from auscult.provenance import stamp
from auscult.search import build_index

RESULT = Path(__file__).resolve().parent / "results" / "indexing.json"


def peak_memory() -> int:
    """Bytes this process has held at most (ru_maxrss is in KiB on Linux, in bytes on macOS)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def measure(corpus: str, encoder: DocumentEncoder, repeats: int) -> dict[str, Any]:
    """Build the index several times; medians over repeats."""
    known = open_knowledge_base()
    before = peak_memory()
    reports = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "index"
        for _ in range(repeats):
            documents = open_corpus(corpus).documents()
            reports.append(build_index(documents, encoder, folder, knowledge_base=known, corpus=corpus))
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    peak = peak_memory()
    begun = time.perf_counter()
    sentences = sum(len(document.sentences) for document in open_corpus(corpus).documents())
    reading = time.perf_counter() - begun
    seconds = statistics.median(report.seconds for report in reports)
    return {
        **asdict(reports[0].counts),
        "seconds": seconds,
        "sentences_per_second": sentences / seconds,
        "reading_and_splitting_seconds": reading,
        "peak_memory_mb": peak / 1e6,
        "peak_memory_before_indexing_mb": before / 1e6,
        "index_mb": size / 1e6,
    }


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Sentences per second and peak memory of indexing.")
    parser.add_argument("--model", default="default")
    parser.add_argument("--corpus", default="medquad")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULT)
    return parser.parse_args()


def run(arguments: argparse.Namespace, encoder: DocumentEncoder) -> dict[str, Any]:
    """Measure, and say with what."""
    return {
        "kind": "indexing",
        "title": f"Indexing, {arguments.corpus}, {encoder.name}",
        "corpus": arguments.corpus,
        "model": encoder.name,
        "repeats": arguments.repeats,
        **measure(arguments.corpus, encoder, arguments.repeats),
        **stamp(),
    }


def main() -> None:
    """Measure and write the record."""
    arguments = parse()
    record = run(arguments, load_model(arguments.model))
    write_json(arguments.out, record)
    print(json.dumps(record, indent=2))


if __name__ == "__main__":
    main()
