"""Weighted cosine on BioASQ with galko2017's cross-validation, and effects of training text and pool size.

    AUSCULT_DATA=... python benchmarks/weighted_cosine_why.py [folds] [text] [pools]

folds   The paper's five-fold cross-validation (section 3.2), on the training batches only. A question searches its own
        snippets and four times as many random others, so that a random one answers as often as in the paper's pools
        (one in five). A sixth of the other four folds chooses the epoch of trained models; CD_q counts questions of
        these four; vocabulary, idf and negatives have no snippet that answers only questions of the fold. Word vectors
        are from the snippets of all training batches, as the paper's were from PubMed.
text    The test batches over all snippets, with vectors trained on an eighth, a quarter, a half and all of the text.
pools   The test batches over pools of several sizes, from one answering snippet in five up to all snippets.

Vectors, measures and idf are those of weighted_cosine.py. MAP@10 in percent; for folds with 95 % bootstrap intervals.

Merges into benchmarks/results/weighted_cosine_why.json, one record per part.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from auscult.documents.analysis import Analyzer
from auscult.encoders.contract import FloatArray, Scorer
from auscult.provenance import stamp
from auscult.understanding import Query
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.corpora.questions import GENERAL, read_questions
from auscult_lab.evaluation.measures import measure_at_cutoff
from auscult_lab.evaluation.protocol import run_task
from auscult_lab.evaluation.statistics import bootstrap_intervals
from auscult_lab.evaluation.task import Task, build_task
from auscult_lab.families.table import read_experiment
from auscult_lab.modules.vocabulary import build_vocabulary
from auscult_lab.modules.word_vectors import WordVectors, read_word_vectors
from auscult_lab.rankers.build import Materials, begin
from auscult_lab.rankers.data import QueryPool, make_pool
from auscult_lab.rankers.scorer import RankerScorer
from auscult_lab.scorers.cosine import CosineScorer, InverseDocumentFrequencies
from auscult_lab.scorers.lexical import Bm25Scorer
from auscult_lab.training.asked import AskedPart, read_asked
from auscult_lab.training.experiment_files import experiments_in
from auscult_lab.training.stages import Run
from merging import merge_record
from weighted_cosine import BASELINES, CUTOFF, RandomScorer, train_vectors, training_lines, training_snippets

RESULT = Path(__file__).resolve().parent / "results" / "weighted_cosine_why.json"
RUNS = Path("out") / "weighted-cosine"
SHARES = (0.125, 0.25, 0.5, 1.0)
OTHERS = (4, 16, 64, 256)
FOLDS = 5
SEED = 1
_PARTS = ("folds", "text", "pools")


def main() -> None:
    """Measure the named parts, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", help="folds, text, pools; all by default")
    parser.add_argument("--epochs", type=int, default=20, help="of what learns, in each fold")
    given = parser.parse_args()
    bioasq, analyze = open_corpus("bioasq"), Analyzer()
    lines = list(training_lines(bioasq, analyze))
    vectors = _vectors(lines, 1.0)
    test = build_task(bioasq, "end-to-end", seed=0)
    for part in given.parts or _PARTS:
        if part == "folds":
            figures = folds(build_task(bioasq, "end-to-end", split="train", seed=0), vectors, given.epochs)
        elif part == "text":
            figures = text(test, lines)
        else:
            figures = pools(test, vectors)
        record = {"kind": "weighted-cosine-why", **figures, "seed": SEED, **stamp()}
        merge_record(RESULT, record, "title")
        print(json.dumps(record, indent=1))


def folds(task: Task, vectors: WordVectors, epochs: int) -> dict[str, Any]:
    """Return cross-validated figures of training questions."""
    own = {document.doc_id for document in open_corpus("bioasq").documents("train")}
    task = replace(task, documents=tuple(document for document in task.documents if document.doc_id in own))
    narrowed = among(task, OTHERS[0])
    order = random.Random(SEED).sample([query.query_id for query in narrowed.queries], len(narrowed.queries))
    parts = [frozenset(order[number::FOLDS]) for number in range(FOLDS)]
    of_folds_by_model: dict[str, list[FloatArray]] = {}
    names: Sequence[str] = ()
    read = _read_asked()
    for number, part in enumerate(parts):
        tested = restricted(narrowed, part)
        learned = [query for query in narrowed.queries if query.query_id not in part]
        apart = _answering_only(narrowed, part)
        texts = [document.text for document in task.documents if document.doc_id not in apart]
        documents = {key: document for key, document in read.documents.items() if key[1] not in apart}
        own_part = AskedPart(read.questions, documents)
        rankers = trained_rankers(own_part, learned, texts, vectors, number, epochs)
        for scorer in (*fixed(vectors, [query.text for query in learned], texts), *rankers):
            measured = measure_at_cutoff(run_task(tested, scorer).rankings, tested.judgements, CUTOFF)
            names = measured.names
            of_folds_by_model.setdefault(scorer.name, []).append(measured.values)
            print(number, scorer.name, measured.means(), file=sys.stderr)
    rows = []
    for model, of_folds in of_folds_by_model.items():
        values = np.concatenate(of_folds)
        ends = bootstrap_intervals(values, seed=SEED)
        means = dict(zip(names, values.mean(axis=0).tolist(), strict=True))
        between = [float(fold.mean(axis=0)[0]) for fold in of_folds]
        rows.append(
            {
                "model": model,
                **{name: _percent(mean) for name, mean in means.items()},
                f"{names[0]}, interval": [_percent(end) for end in ends[0].tolist()],
                f"{names[0]}, by fold": [_percent(mean) for mean in between],
            }
        )
    title = "Five-fold cross-validation, one snippet in five answers"
    return {"title": title, "queries": len(narrowed.queries), "epochs": epochs, "folds": rows}


def text(task: Task, lines: Sequence[str]) -> dict[str, Any]:
    """Return figures of cosines with vectors from less text."""
    questions, snippets = _of_training()
    rows = []
    for share in SHARES:
        row: dict[str, Any] = {"share": share, "words": sum(map(_words, _drawn(lines, share)))}
        for scorer in fixed(_vectors(lines, share), questions, snippets):
            if isinstance(scorer, CosineScorer):
                row[scorer.name] = _map(task, scorer)
        rows.append(row)
        print(row, file=sys.stderr)
    return {"title": "Word vectors of less text, all snippets ranked", "queries": len(task.queries), "texts": rows}


def _of_training() -> tuple[list[str], list[str]]:
    """Return questions and snippets of the training batches."""
    bioasq = open_corpus("bioasq")
    return [query.text for query in bioasq.queries("train")], training_snippets(bioasq)


def pools(task: Task, vectors: WordVectors) -> dict[str, Any]:
    """Return figures of cosines and BM25 in smaller pools."""
    questions, snippets = _of_training()
    rows = []
    for others in (*OTHERS, 0):
        asked = among(task, others) if others else task
        row: dict[str, Any] = {"others for each that answers": others or "all"}
        for scorer in (RandomScorer(0), *fixed(vectors, questions, snippets)):
            row[scorer.name] = _map(asked, scorer)
        rows.append(row)
        print(row, file=sys.stderr)
    return {"title": "Pools of snippets, few to all", "queries": len(task.queries), "pools": rows}


def fixed(vectors: WordVectors, questions: Iterable[str], snippets: Iterable[str]) -> list[Scorer]:
    """Return BM25 and the cosines, from questions for CD_q, besides general ones, and snippets for CD_idf."""
    general = [*read_questions(GENERAL), *questions]
    return [
        Bm25Scorer(),
        CosineScorer(vectors),
        CosineScorer(vectors, InverseDocumentFrequencies.of_texts(snippets), name="CD_idf"),
        CosineScorer(vectors, InverseDocumentFrequencies.of_texts(general)),
    ]


def trained_rankers(
    part: AskedPart, learned: Sequence[Query], texts: Sequence[str], vectors: WordVectors, fold: int, epochs: int
) -> list[Scorer]:
    """Return the paper's neural baselines, trained on four folds, a sixth of which chooses the epoch."""
    analyze = Analyzer()
    own = {tuple(analyze(query.text)) for query in learned}
    pool = make_pool(part)
    queries = [query for query in pool.queries if query.words in own]
    random.Random(f"{SEED} {fold}").shuffle(queries)
    apart = len(queries) // 6
    training, held_out = (QueryPool(tuple(each), pool.passages) for each in (queries[apart:], queries[:apart]))
    words = build_vocabulary(
        map(analyze, texts), vectors, queries=(each.words for each in training.queries), min_count=2
    )
    materials = Materials(training, held_out, words)
    rankers: list[Scorer] = []
    for path in experiments_in(BASELINES):
        experiment = read_experiment(path)
        choice = experiment.training.model_copy(update={"epochs": epochs})
        experiment = experiment.model_copy(update={"training": choice})
        with tempfile.TemporaryDirectory() as folder:
            build = begin(experiment, Run(Path(folder), lambda _: None, progress=False), materials)
            history = build.train()
            print(fold, experiment.name, history.epochs[history.best], file=sys.stderr)
            rankers.append(RankerScorer(build.ranker, words, name=build.ranker.title))
    return rankers


def _read_asked() -> AskedPart:
    """Return all training questions and all training snippets; nothing is held out yet."""
    found = read_asked(read_experiment(experiments_in(BASELINES)[0]), lambda _: None)
    parts = (found.training, found.held_out)
    return AskedPart(
        [question for part in parts for question in part.questions],
        {key: each for part in parts for key, each in part.documents.items()},
    )


def _answering_only(task: Task, part: Collection[str]) -> frozenset[str]:
    """Return snippets that answer questions of a part and no others; each is a document of its own."""
    relevant = task.relevant
    inside, beyond = (
        frozenset().union(*(each for name, each in relevant.items() if (name in part) == wanted))
        for wanted in (True, False)
    )
    return inside - beyond


def among(task: Task, others: int) -> Task:
    """Return the task with candidates: each question's snippets, and a number of random others for each of these."""
    passages = [passage.passage_id for document in task.documents for passage in document.passages]
    there = set(passages)
    candidates = {}
    for query_id, relevant in task.relevant.items():
        own = sorted(relevant & there)
        chance = random.Random(f"{SEED} {query_id}")
        wanted = min(len(passages) - len(own), others * len(own))
        drawn = [each for each in chance.sample(passages, wanted + len(own)) if each not in relevant][:wanted]
        candidates[query_id] = tuple(sorted([*own, *drawn]))
    asked = {query_id for query_id, each in candidates.items() if each}
    return restricted(replace(task, protocol="rerank", candidates=candidates), asked)


def restricted(task: Task, asked: Iterable[str]) -> Task:
    """Return the task with some of its questions."""
    ids = frozenset(asked)
    return replace(
        task,
        queries=tuple(query for query in task.queries if query.query_id in ids),
        judgements=tuple(each for each in task.judgements if each.query_id in ids),
        candidates={name: each for name, each in (task.candidates or {}).items() if name in ids} or None,
    )


def _map(task: Task, scorer: Scorer) -> float:
    measured = measure_at_cutoff(run_task(task, scorer).rankings, task.judgements, CUTOFF)
    return _percent(measured.means()[f"MAP@{CUTOFF}"])


def _percent(value: float) -> float:
    return round(100 * value, 2)


def _words(line: str) -> int:
    return line.count(" ") + 1


def _drawn(lines: Sequence[str], share: float) -> list[str]:
    chosen = random.Random(f"{SEED} 0").sample(range(len(lines)), round(share * len(lines)))
    return [lines[row] for row in sorted(chosen)]


def _vectors(lines: Sequence[str], share: float) -> WordVectors:
    """Return word vectors from a share of the lines, saved in a folder."""
    path = RUNS / f"word2vec-50-{share}.vec"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        train_vectors(_drawn(lines, share), path, threads=1)
    return read_word_vectors(path)


if __name__ == "__main__":
    main()
