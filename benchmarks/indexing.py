"""Speed and memory of indexing a corpus, compared with a simple script.

    AUSCULT_DATA=... python benchmarks/indexing.py [--model cdv ...] [--corpus medquad] [--encoder FOLDER]

Measures reading, splitting, encoding, writing and committing together, and the parts: documents (reading and sentence
splitting), vectors (encoding), and the rest (counting words, writing, syncing, naming entities). The peer, where an
encoder is found (as in `unseen_documents.py`), is BM25 and all-MiniLM-L6-v2 over the same passages in twenty lines:
`bm25s` and `sentence_transformers` with their defaults, 256 tokens per passage. Models and the peer take turns, so that
ratios within a repeat are comparable. Peak memory is that of the whole process. Writes
benchmarks/results/indexing.json, one record per model.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import bm25s
from sentence_transformers import SentenceTransformer

from auscult.concepts import KnowledgeBase
from auscult.concepts.opening import open_knowledge_base
from auscult.documents import Document
from auscult.encoders import load_model
from auscult.encoders.contract import DocumentEncoder, FloatArray
from auscult.encoders.passages import encode_passages
from auscult.files.writing import write_json
from auscult.ingest.building import BuildReport, build_index
from auscult.provenance import stamp
from auscult_lab.corpora.opening import open_corpus
from unseen_documents import find_encoder

RESULT = Path(__file__).resolve().parent / "results" / "indexing.json"


def peak_memory() -> int:
    """Return the peak memory of this process in bytes (ru_maxrss is in KiB on Linux, in bytes on macOS)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


class Timed:
    """An encoder that measures its time."""

    def __init__(self, encoder: DocumentEncoder) -> None:
        self.encoder = encoder
        self.seconds = 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.encoder, name)

    def encode_passages(self, documents: Sequence[Document]) -> list[tuple[FloatArray, FloatArray]]:
        """Return the encoder's result, and add its time."""
        begun = time.perf_counter()
        found = encode_passages(self.encoder, documents)
        self.seconds += time.perf_counter() - begun
        return found


class TimedDocuments:
    """An iterable of documents that measures the time to produce them."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self.documents = documents
        self.seconds = 0.0

    def __iter__(self) -> Iterator[Document]:
        documents = iter(self.documents)
        while True:
            begun = time.perf_counter()
            document = next(documents, None)
            self.seconds += time.perf_counter() - begun
            if document is None:
                return
            yield document


@dataclass(frozen=True)
class Built:
    """One build: its report, and the seconds of its parts."""

    report: BuildReport
    reading: float
    encoding: float

    @property
    def rest(self) -> float:
        """Seconds of all other parts."""
        return self.report.seconds - self.reading - self.encoding


def built(corpus: str, encoder: DocumentEncoder, known: KnowledgeBase, folder: Path) -> Built:
    """Build an index, and time its parts."""
    documents, timed = TimedDocuments(open_corpus(corpus).documents()), Timed(encoder)
    report = build_index(documents, timed, folder, knowledge_base=known, corpus=corpus)  # type: ignore[arg-type]
    return Built(report, documents.seconds, timed.seconds)


def seconds_of_peer(corpus: str, encoder: Any) -> float:
    """Read, and index for BM25 and by vectors, without this project's index; return the seconds."""
    begun = time.perf_counter()
    texts = [
        "\n".join((document.title, passage.heading, document.slice(passage)))
        for document in open_corpus(corpus).documents()
        for passage in document.passages
    ]
    index = bm25s.BM25()
    index.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)
    encoder.encode(texts, normalize_embeddings=True)
    return time.perf_counter() - begun


def measure(corpus: str, models: Sequence[DocumentEncoder], peer: Any, repeats: int) -> list[dict[str, Any]]:
    """Build the index with every model several times; medians over repeats."""
    known = open_knowledge_base()
    runs: list[list[Built]] = [[] for _ in models]
    peers: list[float] = []
    sizes, peaks = [0] * len(models), [0] * len(models)
    for _ in range(repeats):
        if peer is not None:
            peers.append(seconds_of_peer(corpus, peer))
        for number, encoder in enumerate(models):
            with tempfile.TemporaryDirectory() as scratch:
                folder = Path(scratch) / "index"
                runs[number].append(built(corpus, encoder, known, folder))
                sizes[number] = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
            peaks[number] = peak_memory()
    return [_record(some, peers, peak, size) for some, peak, size in zip(runs, peaks, sizes, strict=True)]


def _record(runs: Sequence[Built], peers: Sequence[float], peak: int, size: int) -> dict[str, Any]:
    """Return medians over repeats."""
    counts = runs[0].report.counts
    seconds = statistics.median(run.report.seconds for run in runs)
    times = [other / run.report.seconds for other, run in zip(peers, runs, strict=False)]
    return {
        **asdict(counts),
        "seconds": seconds,
        "sentences_per_second": counts.sentences / seconds,
        "peer_sentences_per_second": counts.sentences / statistics.median(peers) if peers else None,
        "times_the_peer": statistics.median(times) if peers else None,
        "reading_and_splitting_seconds": statistics.median(run.reading for run in runs),
        "encoding_seconds": statistics.median(run.encoding for run in runs),
        "words_and_writing_seconds": statistics.median(run.rest for run in runs),
        "peak_memory_mb": peak / 1e6,
        "index_mb": size / 1e6,
    }


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Sentences per second and peak memory of indexing.")
    parser.add_argument("--model", nargs="+", default=["cdv"])
    parser.add_argument("--corpus", default="medquad")
    parser.add_argument("--encoder", type=Path, help="folder of all-MiniLM-L6-v2, for the peer")
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULT)
    return parser.parse_args()


def run(arguments: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure, and return the records with their provenance."""
    models = [load_model(name) for name in arguments.model]
    peer = None if arguments.no_peer else SentenceTransformer(str(find_encoder(arguments.encoder)))
    measured = measure(arguments.corpus, models, peer, arguments.repeats)
    return [
        {
            "kind": "indexing",
            "title": f"Indexing, {arguments.corpus}, {encoder.name}",
            "corpus": arguments.corpus,
            "model": encoder.name,
            "repeats": arguments.repeats,
            **record,
            **stamp(),
        }
        for encoder, record in zip(models, measured, strict=True)
    ]


def main() -> None:
    """Measure and write the records."""
    arguments = parse()
    records = run(arguments)
    write_json(arguments.out, records)
    print(json.dumps(records, indent=2))


if __name__ == "__main__":
    main()
