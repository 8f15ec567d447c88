"""Milliseconds of each neural ranker to score a query's 64 candidates, one query at a time.

    AUSCULT_DATA=... python benchmarks/reranking.py [--queries 20] [--repeats 5] [--dim 128] [--rankers knrm har ...]

The candidates are MedQuAD's, laid out beforehand as by `auscult compare`; rankers that read passages without the query
keep their vectors. Weights are random, with the papers' sizes and the texts' words, since time does not depend on their
values. BM25 is measured in the same run.

Medians over repeats; rankers take turns, so that a busy moment affects all of them. Writes
benchmarks/results/reranking.json. Needs: pip install 'auscult[lab]'
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch

from auscult.documents import Document
from auscult.encoders.contract import Scorer
from auscult.files.writing import write_json
from auscult.provenance import stamp
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.evaluation.task import Task, build_task
from auscult_lab.modules.vocabulary import Vocabulary, build_vocabulary
from auscult_lab.modules.word_vectors import PlainTable
from auscult_lab.rankers.registry import RANKERS
from auscult_lab.rankers.scorer import RankerScorer
from auscult_lab.scorers.lexical import Bm25Scorer, passage_words, query_words

RESULT = Path(__file__).resolve().parent / "results" / "reranking.json"
CORPUS = "medquad"


def candidates_of(task: Task) -> dict[str, tuple[str, ...]]:
    """Return the candidates by query."""
    return {query.query_id: (task.candidates or {})[query.query_id] for query in task.queries}


def asked_documents(task: Task) -> list[Document]:
    """Return the documents with a candidate."""
    asked = set(chain.from_iterable(candidates_of(task).values()))
    return [each for each in task.documents if any(passage.passage_id in asked for passage in each.passages)]


def vocabulary_of(documents: Iterable[Document], task: Task, dim: int) -> Vocabulary:
    """Return a vocabulary of all words, with random vectors."""
    passages = [
        list(chain.from_iterable(passage_words(each, passage))) for each in documents for passage in each.passages
    ]
    queries = [query_words(query) for query in task.queries]
    words = sorted(set(chain.from_iterable([*passages, *queries])))
    table = np.random.default_rng(0).normal(size=(len(words), dim)).astype(np.float32)
    return build_vocabulary(passages, PlainTable(words, table), queries=queries)


def contenders(task: Task, kinds: Sequence[str], dim: int) -> dict[str, Scorer]:
    """Return BM25 and untrained rankers, ready to score."""
    documents = asked_documents(task)
    vocabulary = vocabulary_of(documents, task, dim)
    torch.manual_seed(0)
    scorers: dict[str, Scorer] = {"BM25": Bm25Scorer()}
    for name in kinds:
        kind = RANKERS[name]
        ranker = kind.ranker(kind.config(), vocabulary)
        scorers[ranker.title] = RankerScorer(ranker, vocabulary)
    for scorer in scorers.values():
        scorer.prepare(documents)
    return scorers


def milliseconds(scorers: Mapping[str, Scorer], task: Task, repeats: int) -> dict[str, list[float]]:
    """Return median milliseconds per query of each repeat."""
    candidates = candidates_of(task)
    taken: dict[str, list[float]] = {name: [] for name in scorers}
    # The first round warms up.
    for round_ in range(repeats + 1):
        for name, scorer in scorers.items():
            times = []
            for query in task.queries:
                began = time.perf_counter()
                scorer.score(query, candidates[query.query_id])
                times.append(1e3 * (time.perf_counter() - began))
            if round_:
                taken[name].append(statistics.median(times))
    return taken


def main() -> None:
    """Measure, and write the record."""
    parser = argparse.ArgumentParser(description="Time of neural rankers over 64 candidates.")
    parser.add_argument("--rankers", nargs="+", choices=sorted(RANKERS), default=sorted(RANKERS))
    parser.add_argument("--queries", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--dim", type=int, default=128, help="Of the word vectors.")
    parser.add_argument("--out", type=Path, default=RESULT)
    arguments = parser.parse_args()
    task = build_task(open_corpus(CORPUS), number=arguments.queries)
    taken = milliseconds(contenders(task, arguments.rankers, arguments.dim), task, arguments.repeats)
    medians = {name: statistics.median(values) for name, values in taken.items()}
    rows: list[dict[str, Any]] = [
        {
            "model": name,
            "ms_per_query": round(value, 3),
            "fastest": round(min(taken[name]), 3),
            "slowest": round(max(taken[name]), 3),
            "times_bm25": round(value / medians["BM25"], 1),
        }
        for name, value in sorted(medians.items(), key=lambda item: item[1])
    ]
    record = {
        "kind": "reranking",
        "title": "Milliseconds for one query's candidates",
        "corpus": CORPUS,
        "queries": len(task.queries),
        "candidates": statistics.fmean(len(each) for each in candidates_of(task).values()),
        "word_vector_length": arguments.dim,
        "threads": torch.get_num_threads(),
        "repeats": arguments.repeats,
        "rows": rows,
        **stamp(),
    }
    write_json(arguments.out, record)
    for row in rows:
        print(f"{row['model']:14} {row['ms_per_query']:9.2f} ms  {row['times_bm25']:8.1f} x BM25")
    print(arguments.out)


if __name__ == "__main__":
    main()
