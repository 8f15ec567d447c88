"""Does a ranker fail on the test because it never saw the names that are asked for?

    AUSCULT_DATA=... python benchmarks/names_seen.py MODEL [MODEL ...] [--queries 300]

The same test queries and candidates of MedQuAD three times: as they are; with every test document's title, in query and
passages, replaced by another test document's, which no training saw either; and by a training document's, which the
ranker has learned from. What replacing by itself does to a text is in both, so that the last two differ in nothing but
whether the name was ever trained. The new name has as many words as the old one where there is such a one. Sentences
are replaced word by word wherever they repeat the whole title; abbreviations and parts of names stay, and so do the few
queries whose entity is no title (46 of 3,293).

Writes benchmarks/results/names_seen.json, a record a model.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from auscult.documents.analysis import Analyzer
from auscult.interfaces import Corpus
from auscult.provenance import stamp
from auscult.understanding import Query
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.evaluation.statistics import bootstrap_intervals
from auscult_lab.evaluation.task import Task, build_task
from auscult_lab.rankers.scorer import RankerScorer, load, score_passages
from auscult_lab.scorers.lexical import passage_words
from auscult_lab.training.data import replace_words
from auscult_lab.training.labels import title_words
from merging import merge_record

RESULT = Path(__file__).resolve().parent / "results" / "names_seen.json"
LEARNED_FROM = "train-disjoint"
Name = tuple[str, ...]
_analyse = Analyzer()


def main() -> None:
    """Measure, and write the records."""
    parser = argparse.ArgumentParser(description="The test with names that training saw, and with others.")
    parser.add_argument("models", type=Path, nargs="+", metavar="MODEL")
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULT)
    given = parser.parse_args()
    corpus = open_corpus("medquad")
    for folder in given.models:
        record = measured(folder, corpus, given.queries, given.seed)
        merge_record(given.out, record, "model")
        print(json.dumps({name: record[name] for name in ("model", "first is right", "first has the entity")}))


def measured(folder: Path, corpus: Corpus, number: int, seed: int) -> dict[str, Any]:
    """One ranker under the three kinds of names."""
    scorer = load(folder)
    task = build_task(corpus)
    rng = random.Random(seed)
    queries = rng.sample(task.queries, number)
    own = sorted({name for document in task.documents if (name := _name(document.title))})
    trained = sorted({name for each in corpus.documents(LEARNED_FROM) if (name := _name(each.title))} - set(own))
    ways: dict[str, Mapping[Name, Name]] = {
        "as they are": {},
        "never trained": _drawn(own, own, rng),
        "trained": _drawn(own, trained, rng),
    }
    outcomes = {way: _asked(scorer, task, queries, names) for way, names in ways.items()}
    right = {way: found[:, 0] for way, found in outcomes.items()}
    change = right["trained"] - right["never trained"]
    low, high = bootstrap_intervals(change[:, None])[0]
    return {
        "kind": "names_seen",
        "title": "Names that training saw",
        "model": scorer.name,
        "fingerprint": scorer.fingerprint,
        "queries": len(queries),
        "seed": seed,
        "first is right": {way: round(float(found[:, 0].mean()), 4) for way, found in outcomes.items()},
        "first has the entity": {way: round(float(found[:, 1].mean()), 4) for way, found in outcomes.items()},
        "trained against never trained": {
            "change": round(float(change.mean()), 4),
            "low": round(float(low), 4),
            "high": round(float(high), 4),
        },
        **stamp(),
    }


def _name(title: str) -> Name:
    return tuple(_analyse(title_words(title)))


def _drawn(own: Iterable[Name], others: Iterable[Name], rng: random.Random) -> dict[Name, Name]:
    """For each name another one, each taken once, with as many words or else with nearly as many."""
    left = list(others)
    rng.shuffle(left)
    drawn = {}
    for name in sorted(own, key=len, reverse=True):
        found = min((each for each in left if each != name), key=lambda each: abs(len(each) - len(name)), default=name)
        if found in left:
            left.remove(found)
        drawn[name] = found
    return drawn


def _asked(
    scorer: RankerScorer,
    task: Task,
    queries: Iterable[Query],
    names: Mapping[Name, Name],
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """For each query whether its first passage is right, and whether it is of the right document, ties against it."""
    ranker, lexicon = scorer.ranker.eval(), scorer.lexicon
    candidates, relevant = task.candidates or {}, task.relevant
    laid_out, owners = {}, {}
    for document in task.documents:
        name = _name(document.title)
        for passage in document.passages:
            words = passage_words(document, passage)
            if name in names:
                words = [replace_words(sentence, name, names[name]) for sentence in words]
            laid_out[passage.passage_id] = ranker.lay_out_passage([lexicon.ids(sentence) for sentence in words])
            owners[passage.passage_id] = name
    rows = []
    for query in queries:
        entity = _name(query.entity)
        asked = [*names.get(entity, entity), *(word for aspect in query.aspects for word in _analyse(aspect))]
        ids = candidates[query.query_id]
        scores = score_passages(ranker, ranker.lay_out_query(lexicon.ids(asked)), [laid_out[each] for each in ids])
        right = np.array([each in relevant[query.query_id] for each in ids])
        same = np.array([owners[each] == entity for each in ids])
        rows.append([_leads(scores, right), _leads(scores, same)])
    return np.array(rows, dtype=float)


def _leads(scores: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> bool:
    """Whether a wanted one is above all others."""
    return bool(wanted.any() and (wanted.all() or scores[wanted].max() > scores[~wanted].max()))


if __name__ == "__main__":
    main()
