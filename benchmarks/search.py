"""End-to-end time of a query over a whole corpus.

    AUSCULT_DATA=... python benchmarks/search.py [--model cdv] [--corpus medquad] [--index FOLDER]

Measures, one query at a time and warm: resolving the entity's name, encoding the query, exact search over all passages,
and assembling ten hits with text and sentence scores. In the same run, on the same queries and without assembling hits:
the same scores from all sentence vectors (to show the savings of the single inner product), and BM25 (bm25s). Builds a
temporary index unless one is given. Writes benchmarks/results/search.json.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import bm25s
import numpy as np

from auscult.concepts.opening import open_knowledge_base
from auscult.encoders import load_model
from auscult.encoders.contract import DocumentEncoder
from auscult.files.writing import whole_or_nothing
from auscult.ingest.building import build_index
from auscult.provenance import describe_hardware, find_revision, now
from auscult.search import Searcher
from auscult.understanding import Query
from auscult_lab.corpora.opening import open_corpus

RESULT = Path(__file__).resolve().parent / "results" / "search.json"
HITS = 10
END_TO_END = "auscult, end to end"


def percentiles(ask: Callable[[Query], object], queries: Sequence[Query]) -> tuple[float, float]:
    """Return the median and 95th percentile of the milliseconds per query."""
    taken = []
    for query in queries:
        begun = time.perf_counter()
        ask(query)
        taken.append(1e3 * (time.perf_counter() - begun))
    middle, high = np.percentile(taken, (50, 95)).tolist()
    return middle, high


def all_sentences(searcher: Searcher) -> Callable[[Query], object]:
    """Return scores by Eq. 13 and 14 of arnold2020 literally: every sentence's cosine, then means by passage."""
    reader = searcher.index.reader
    blocks = [reader.stored(row).vectors for row in range(len(reader.passage_documents))]
    vectors = np.concatenate(blocks).astype(np.float32)
    lengths = np.array([len(each) for each in blocks if len(each)])
    starts = np.cumsum(lengths) - lengths

    def ask(query: Query) -> object:
        scores = np.add.reduceat(vectors @ searcher.encode([query])[0], starts) / lengths
        return np.argpartition(-scores, HITS)[:HITS]

    return ask


def bm25(searcher: Searcher) -> Callable[[Query], object]:
    """Return a search by BM25 over the same passages."""
    passages = range(len(searcher.index.reader.passage_documents))
    texts = [searcher.index.reader.passage_text(row) for row in passages]
    retriever = bm25s.BM25(k1=1.2, b=0.75)
    retriever.index(bm25s.tokenize(texts, stopwords=None, show_progress=False), show_progress=False)

    def ask(query: Query) -> object:
        tokens = bm25s.tokenize(query.terms, stopwords=None, show_progress=False)
        return retriever.retrieve(tokens, k=HITS, show_progress=False)

    return ask


def stages(searcher: Searcher, queries: Sequence[Query]) -> dict[str, float]:
    """Return median milliseconds of each step of a query."""
    taken: dict[str, list[float]] = {"resolving": [], "encoding": [], "search": [], "end_to_end": []}
    for query in queries:
        times = [time.perf_counter()]
        understood = searcher.understand(query).query
        times.append(time.perf_counter())
        vector = searcher.encode([understood])[0]
        times.append(time.perf_counter())
        searcher.index.search(vector, HITS)
        times.append(time.perf_counter())
        searcher.search(searcher.understand(query).query, HITS)
        times.append(time.perf_counter())
        for name, first, last in zip(taken, times, times[1:], strict=False):
            taken[name].append(1e3 * (last - first))
    steps = {f"{name}_ms": statistics.median(values) for name, values in taken.items()}
    whole = steps.pop("end_to_end_ms")
    return {**steps, "hits_ms": whole - sum(steps.values())}


def sentence_error(searcher: Searcher, queries: Sequence[Query]) -> float:
    """Return the largest difference of a hit's score from the mean of its shown sentence scores (half precision)."""
    hits = [hit for query in queries for hit in searcher.search(searcher.understand(query).query, HITS)]
    return max(abs(statistics.fmean(s.score for s in hit.sentences) - hit.score) for hit in hits)


def sample_queries(corpus: str, count: int) -> list[Query]:
    """Return test queries as a person would type them: names, no identifiers."""
    queries = [replace(query, entity_id="") for query in open_corpus(corpus).queries("test")]
    return random.Random(0).sample(queries, min(count, len(queries)))


def measure(searcher: Searcher, queries: Sequence[Query], repeats: int) -> dict[str, Any]:
    """Return medians over repeats; contenders take turns, so that a busy moment affects all of them."""
    contenders: dict[str, Callable[[Query], object]] = {
        END_TO_END: lambda query: searcher.search(searcher.understand(query).query, HITS),
        "all sentence vectors, numpy": all_sentences(searcher),
        f"bm25s {bm25s.__version__}": bm25(searcher),
    }
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
    for ask in contenders.values():
        percentiles(ask, queries[:20])
    for _ in range(repeats):
        for name, ask in contenders.items():
            taken[name].append(percentiles(ask, queries))
    p50, p95 = (
        {name: statistics.median(pair[column] for pair in pairs) for name, pairs in taken.items()} for column in (0, 1)
    )
    return {
        "p50_ms": p50[END_TO_END],
        "p95_ms": p95[END_TO_END],
        "stages": stages(searcher, queries),
        "largest_sentence_score_error": sentence_error(searcher, queries),
        "contenders": [
            {"contender": n, "p50_ms": p50[n], "p95_ms": p95[n], "p50_ratio": p50[n] / p50[END_TO_END]}
            for n in contenders
        ],
    }


def run(arguments: argparse.Namespace, encoder: DocumentEncoder) -> dict[str, Any]:
    """Open or build the index and measure."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.index or Path(scratch) / "index"
        if arguments.index is None:
            known = open_knowledge_base()
            documents = open_corpus(arguments.corpus).documents()
            build_index(documents, encoder, folder, knowledge_base=known, corpus=arguments.corpus)
        begun = time.perf_counter()
        searcher = Searcher.open(folder, encoder)
        opening = time.perf_counter() - begun
        queries = sample_queries(arguments.corpus, arguments.queries)
        figures = measure(searcher, queries, arguments.repeats)
        return {
            "kind": "search",
            "title": f"Exact search, {arguments.corpus}, {encoder.name}",
            "corpus": arguments.corpus,
            "model": encoder.name,
            **asdict(searcher.index.manifest.counts),
            "dim": encoder.dim,
            "queries": len(queries),
            "hits": HITS,
            "repeats": arguments.repeats,
            "opening_ms": 1e3 * opening,
            **figures,
            "date": now(),
            "revision": find_revision(),
            "hardware": describe_hardware(),
        }


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Time per query, end to end.")
    parser.add_argument("--model", default="cdv")
    parser.add_argument("--corpus", default="medquad")
    parser.add_argument("--index", type=Path, help="an index of the corpus made by the model")
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULT)
    return parser.parse_args()


def main() -> None:
    """Measure and write the record."""
    arguments = parse()
    record = run(arguments, load_model(arguments.model))
    with whole_or_nothing(arguments.out) as partial:
        partial.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(record, indent=2))


if __name__ == "__main__":
    main()
