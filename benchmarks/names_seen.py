"""Test whether a ranker fails because it never saw the names of test queries.

    AUSCULT_DATA=... python benchmarks/names_seen.py MODEL [MODEL ...] [--queries 300]

The same test queries and candidates of MedQuAD are ranked three times: unchanged; with every test document's title
replaced, in query and passages, by that of another test document, which was not in training either; and by that of a
training document. The last two share the effect of the replacement itself, and differ only in whether the name was in
training. The new name has the same number of words where possible. Only whole titles are replaced; abbreviations and
parts of names stay, and so do the few queries whose entity is no title (46 of 3,293).

Writes benchmarks/results/names_seen.json, one record per model.
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
from auscult.ingest.corpus import Corpus
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
    """Return the record of one ranker with the three kinds of names."""
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
    right = {way: outcome[:, 0] for way, outcome in outcomes.items()}
    change = right["trained"] - right["never trained"]
    low, high = bootstrap_intervals(change[:, None])[0]
    return {
        "kind": "names_seen",
        "title": "Names that training saw",
        "model": scorer.name,
        "fingerprint": scorer.fingerprint,
        "queries": len(queries),
        "seed": seed,
        "first is right": {way: round(float(outcome[:, 0].mean()), 4) for way, outcome in outcomes.items()},
        "first has the entity": {way: round(float(outcome[:, 1].mean()), 4) for way, outcome in outcomes.items()},
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
    """Return another name for each name, without repeats, with the same or a similar number of words."""
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
    """Return for each query whether its first passage, and its document, are right; ties count against it."""
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
    """Check whether a wanted score is above all others."""
    return bool(wanted.any() and (wanted.all() or scores[wanted].max() > scores[~wanted].max()))


if __name__ == "__main__":
    main()
