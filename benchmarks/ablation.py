"""The effect of each evidence: `auscult search` without one of its reasons, or with one alone.

    AUSCULT_DATA=... python benchmarks/ablation.py [--model MODEL ...] [--corpus NAME ...] [--cache FOLDER]

Questions, collections and indexes are those of `unseen_documents.py`; indexes are read from --cache or built there. A
reason is removed by setting its weight to 0. The other weights stay as they are, not fitted again to compensate. Parts
of the system are removed, too, with their own index where necessary:

    title and headings          read with the text by the model
    normal form of words        of names, questions and texts, in the index (what models read keeps it)
    articles                    as unit of words; without it, a whole document
    reading of questions        as entity and aspects; without it, only the words of a question count

For each, nDCG@10 without it and the change, with a 95 % bootstrap interval over questions.

Writes benchmarks/results/general_ablation.json, one record per model and corpus.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import numpy.typing as npt

from auscult.encoders import load_model
from auscult.encoders.contract import DocumentEncoder, FloatArray
from auscult.encoders.general.encoder import GeneralEncoder
from auscult.files.writing import write_json
from auscult.index.articles import article_sizes
from auscult.index.words import analyse
from auscult.provenance import stamp
from auscult.search import Searcher
from auscult.search.hits import EVIDENCE
from auscult.understanding import Query
from auscult_lab.evaluation.statistics import bootstrap_intervals
from open_models import Collection, kept_index
from unseen_documents import CACHE, CORPORA, task_of

RESULT = Path(__file__).resolve().parent / "results" / "general_ablation.json"
KIND = "general_ablation"
DEFAULT = ("nhs", "clinical-notes", "bioasq", "covidqa", "pubmedqa", "consumer-questions")
"""All but the largest, and those that the models have read other parts of."""
GROUPS = {
    "words of the question": (
        "question_text",
        "question_label",
        "question_document",
        "question_together",
        "question_sentence",
    ),
    "weighted terms": ("question_expansion",),
    "words of the entity": ("entity_document", "entity_passage", "entity_title"),
    "vectors": ("entity_vector", "aspect_vector", "question_vector"),
}
"""Reasons that are also taken out together."""
DEPTH = 10
_Values = npt.NDArray[np.float64]


def ndcg(order: Sequence[int], grades: Mapping[int, int]) -> float:
    """Return nDCG@10 of a ranking's rows, with grades as gains, as in trec_eval."""
    gains = [float(grades.get(row, 0)) for row in order[:DEPTH]]
    ideal = sorted(map(float, grades.values()), reverse=True)[:DEPTH]
    discounts = 1 / np.log2(np.arange(2, DEPTH + 2))
    best = float(np.dot(ideal, discounts[: len(ideal)]))
    return float(np.dot(gains, discounts[: len(gains)])) / best if best else 0.0


def masks() -> dict[str, npt.NDArray[np.bool_]]:
    """Return masks of the reasons that count, (evidence,), by name."""
    every = np.ones(len(EVIDENCE), bool)
    one = {name: np.array([each == name for each in EVIDENCE]) for name in EVIDENCE}
    several = {name: np.array([each in members for each in EVIDENCE]) for name, members in GROUPS.items()}
    without = {f"without {name}": ~taken for name, taken in {**one, **several}.items()}
    return {"all": every, **without, **{f"{name} alone": taken for name, taken in several.items()}}


def values(searcher: Searcher, queries: Sequence[Query], grades: Mapping[str, Mapping[int, int]]) -> dict[str, _Values]:
    """Return nDCG@10 of each question, (queries,), by the reasons that count."""
    counted, wordless = masks(), searcher.index.reader.wordless
    rows = np.setdiff1d(np.arange(len(searcher.index.reader.passage_documents)), wordless)
    by_evidence: dict[str, list[float]] = {name: [] for name in (*counted, "without reading of questions")}

    def add(name: str, scores: FloatArray, graded: Mapping[int, int]) -> None:
        by_evidence[name].append(ndcg(rows[np.argsort(-scores, kind="stable")[:DEPTH]].tolist(), graded))

    for query in queries:
        graded, understood = grades[query.query_id], searcher.understand(query).query
        evidence = searcher.gather(understood)[1][rows]
        weighed = evidence * searcher.fusion.weights(understood)
        for name, mask in counted.items():
            add(name, weighed @ mask.astype(np.float32), graded)
        as_asked = Query("", "", text=query.text) if query.text else understood
        add(
            "without reading of questions", searcher.fusion.scores(as_asked, searcher.gather(as_asked)[1][rows]), graded
        )
    return {name: np.array(shares) for name, shares in by_evidence.items()}


@contextmanager
def as_spelt() -> Iterator[None]:
    """Use words without normal form while the context lasts."""
    object.__setattr__(analyse, "normal_form", False)
    try:
        yield
    finally:
        object.__setattr__(analyse, "normal_form", True)


def whole_documents() -> Any:
    """Use documents as the unit of words while the context lasts."""
    return patch.object(article_sizes, "__defaults__", (sys.maxsize,))


def text_alone(encoder: DocumentEncoder) -> DocumentEncoder:
    """Return the model without its reading of titles and headings."""
    return encoder.reading_text_alone() if isinstance(encoder, GeneralEncoder) else encoder


def same(encoder: DocumentEncoder) -> DocumentEncoder:
    """Return the model unchanged."""
    return encoder


WITHOUT: Mapping[str, tuple[Callable[[], Any], Callable[[DocumentEncoder], DocumentEncoder]]] = {
    "title and headings": (nullcontext, text_alone),
    "normal form of words": (as_spelt, same),
    "articles": (whole_documents, same),
}
"""Parts that take an index of their own: what takes them out while it is built and asked, and of the model."""


def shown_first(searcher: Searcher, queries: Sequence[Query], grades: Mapping[str, Mapping[int, int]]) -> _Values:
    """Return nDCG@10 of each question, (queries,), by all evidence."""
    ndcgs = []
    for query in queries:
        understood = searcher.understand(query).query
        scores = searcher.fusion.scores(understood, searcher.gather(understood)[1])
        scores[searcher.index.reader.wordless] = -1
        ndcgs.append(ndcg(searcher.index.best(scores, DEPTH)[0].tolist(), grades[query.query_id]))
    return np.array(ndcgs)


def record(corpus: str, model: str, encoder: DocumentEncoder, cache: Path) -> dict[str, Any]:
    """Return the record of a model and a corpus."""
    task = task_of(corpus)
    searcher = Searcher.open(kept_index(Collection(task), encoder, cache / "indexes"), encoder)
    reader = searcher.index.reader
    row = {reader.passage_id(number): number for number in range(reader.manifest.counts.passages)}
    grades: dict[str, dict[int, int]] = {}
    for judgement in task.judgements:
        if judgement.relevance > 0:
            grades.setdefault(judgement.query_id, {})[row[judgement.passage_id]] = judgement.relevance
    queries = [query for query in task.queries if grades.get(query.query_id)]
    by_evidence = values(searcher, queries, grades)
    whole = by_evidence.pop("all")
    for part, (taken_out, changed) in WITHOUT.items():
        with taken_out(), tempfile.TemporaryDirectory() as folder:
            place = kept_index(Collection(task), changed(encoder), Path(folder))
            by_evidence[f"without {part}"] = shown_first(Searcher.open(place, encoder), queries, grades)
    parts = []
    for name, ndcgs in by_evidence.items():
        change = (ndcgs - whole)[:, None]
        low, high = bootstrap_intervals(change)[0].tolist()
        parts.append(
            {"evidence": name, "ndcg10": float(ndcgs.mean()), "change": float(change.mean()), "low": low, "high": high}
        )
    counts = {"queries": len(queries), "passages": len(row)}
    about = {"kind": KIND, "model": encoder.name, "corpus": corpus, **counts}
    return {**about, "all": float(whole.mean()), "parts": parts, **stamp()}


def main() -> None:
    """Measure, and write."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--model", nargs="+", default=["fast", "best"], help="what `auscult search` is measured with")
    options.add_argument("--corpus", nargs="+", choices=CORPORA, default=DEFAULT)
    options.add_argument("--cache", type=Path, default=CACHE, help=f"folder of kept indexes; by default {CACHE}")
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    records = []
    for model in chosen.model:
        encoder = load_model(model)
        for corpus in chosen.corpus:
            records.append(record(corpus, model, encoder, chosen.cache))
            print(json.dumps(records[-1], indent=1), file=sys.stderr, flush=True)
            write_json(chosen.out, records)


if __name__ == "__main__":
    main()
