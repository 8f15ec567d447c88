"""Fit how much it counts what the re-ranker says of first hits, beside a shipped encoder or another.

    AUSCULT_DATA=... PYTHONPATH=. python benchmarks/fit_rereading.py --model fast [--reranker FOLDER] [--write]

The questions, near misses and indexes are those of `fit_written.py`: written questions about held-out documents of six
collections, which neither encoder nor re-ranker learned from, and people's questions of three. Each collection counts
the same. The first hits of each question, as without re-ranker, are read again. Then

    order    maximises the mean log of the right passages' share of the sum of exp(score)
    others   by a logistic regression on the new first hits, near misses among them

Each collection is left out in turn: R@1 before and after, and the certainty's quality (`fit_written.quality`). The gain
in R@1 has a 95 % interval: over all questions, and over those of collections that the re-ranker did not learn from.

Writes benchmarks/results/fit_rereading.json, a record per model; with --write also the model's weights.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from auscult.encoders import load_model, load_reranker, model_folder
from auscult.encoders.folder import read_settings
from auscult.encoders.reranker import Reranker
from auscult.files.writing import write_json
from auscult.provenance import stamp
from auscult.search import Searcher
from auscult.search.certainty import shares_of_first
from auscult.search.fusion import Fusion, Rereading, log_odds_of
from auscult_lab.evaluation.records import records_of_others
from auscult_lab.fitting.fitting import Candidates, Firsts, fit_certainty, fit_order, judged_questions
from auscult_lab.fitting.own_questions import OwnQuestion
from auscult_lab.general.saving import set_fusion
from fit_written import CACHE, PEOPLES, QUESTIONS, SEED, Gathering, shares_said
from nothing_here import calibration_error
from resampling import drawn, with_interval
from study.shipped.written import COLLECTIONS, read_documents
from study.shipped.written_candidates import some_documents, written_questions

RESULT = Path(__file__).resolve().parent / "results" / "fit_rereading.json"
KIND = "fit_rereading"
NEUTRAL = Rereading(order=0.0, certainty=1.0, log_odds=0.0, ahead=0.0, bias=0.0)
_Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Reread:
    """A question's first hits, in their order without re-ranker.

    Attributes:
        scores: Their scores, (hits,).
        before: Their probabilities, (hits,).
        log_odds: The re-ranker's log odds, (hits,).
        right: Whether each answers, (hits,).
        answered: Whether the collection answers the question.
    """

    scores: _Array
    before: _Array
    log_odds: _Array
    right: npt.NDArray[np.bool_]
    answered: bool

    def first(self, rereading: Rereading) -> tuple[int, float]:
        """Return the place of the first hit after re-ranking, and how far it is ahead of the others."""
        scores = self.scores + rereading.added(self.log_odds)
        place = int(np.argmax(scores))
        return place, float(shares_of_first(scores[[place]], scores)[0])


def reread(searcher: Searcher, questions: Iterable[OwnQuestion]) -> Iterator[Reread]:
    """Yield the first hits of questions, read again by a searcher whose order and certainty do not use it."""
    for question in questions:
        found = searcher.find(question.query)
        if found.weighed is None:
            continue
        read = [(number, each.read) for number, each in enumerate(found.weighed.reread) if each is not None]
        if read:
            numbers = [number for number, _ in read]
            yield Reread(
                np.array(found.scores, np.float64)[numbers],
                np.array(found.weighed.probabilities, np.float64)[numbers],
                np.array([each.log_odds for _, each in read], np.float64),
                np.isin([found.rows[number] for number in numbers], question.relevant),
                bool(len(question.relevant)),
            )


def fitted(collections: Sequence[Sequence[Reread]]) -> Rereading:
    """Return the best weights for questions of some collections."""
    added = NEUTRAL._replace(order=1.0).added
    telling = [
        [
            Candidates(
                np.c_[each.scores, added(each.log_odds)].astype(np.float32), each.right, each.right, in_words=True
            )
            for each in questions
            if each.right.any() and not each.right.all()
        ]
        for questions in collections
    ]
    rereading = NEUTRAL._replace(order=float(fit_order(telling, given=1)[0]))
    weights = fit_certainty([(_firsts(questions, rereading), 1 / len(collections)) for questions in collections])
    return rereading._replace(**dict(zip(("certainty", "log_odds", "ahead", "bias"), weights.tolist(), strict=True)))


def _firsts(questions: Sequence[Reread], rereading: Rereading) -> Firsts:
    """Return the first hits after re-ranking, with the features of the probability."""
    columns, signs = [], []
    for each in questions:
        place, ahead = each.first(rereading)
        columns.append([log_odds_of(each.before)[place], each.log_odds[place], ahead, 1.0])
        signs.append(1.0 if each.right[place] else -1.0)
    return np.array(columns), np.array(signs), np.ones(len(questions))


def quality(questions: Sequence[Reread], rereading: Rereading) -> dict[str, float]:
    """Return the order's R@1 and the certainty's quality."""
    firsts = [each.first(rereading) for each in questions]
    right = np.array([each.right[place] for each, (place, _) in zip(questions, firsts, strict=True)])
    said = np.array(
        [
            rereading.probabilities([float(each.before[place])], each.log_odds[[place]], np.array([ahead], np.float32))[
                0
            ]
            for each, (place, ahead) in zip(questions, firsts, strict=True)
        ]
    )
    answered = np.array([each.answered for each in questions])
    return {
        "r1": float(right[answered].mean()),
        "calibration_error": calibration_error(said, right),
        **shares_said(said, right),
    }


def compute_gains(questions: Sequence[Reread], rereading: Rereading) -> _Array:
    """Return how much more often the first hit is right after re-ranking: 1, 0 or -1 by answered question."""
    return np.array(
        [
            float(each.right[each.first(rereading)[0]]) - float(each.right[each.first(NEUTRAL)[0]])
            for each in questions
            if each.answered
        ]
    )


def sum_up(gains: Sequence[_Array]) -> dict[str, object]:
    """Return the mean gain of all questions of some collections, with its 95 % interval."""
    every = np.concatenate(gains)
    random = np.random.default_rng(SEED)
    return {"questions": len(every), **with_interval(float(every.mean()), drawn(random, len(every)) @ every)}


def gathered(gathering: Gathering, reranker: Reranker, documents: int) -> dict[str, list[Reread]]:
    """Return the first hits of all questions, by collection."""

    def neutral(searcher: Searcher) -> Searcher:
        searcher = Searcher(searcher.index, searcher.encoder, reranker)
        searcher.fusion = replace(searcher.fusion, rereading=NEUTRAL)
        return searcher

    found = {}
    for name in COLLECTIONS:
        kept = some_documents(name, read_documents(name), documents, QUESTIONS, SEED)
        searcher = neutral(gathering.opened(name, kept))
        found[name] = [*reread(searcher, written_questions(searcher, name, kept, QUESTIONS, SEED))]
        print(name, len(found[name]), file=sys.stderr, flush=True)
    for name, (opened, judged) in gathering.judged().items():
        searcher = neutral(opened)
        asked = [*judged_questions(searcher, judged)][:PEOPLES]
        found[name] = [*reread(searcher, asked)]
        print(name, len(found[name]), file=sys.stderr, flush=True)
    return found


def main() -> None:
    """Fit, measure collections left out, and write."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--model", default="fast", help="a shipped encoder, or a folder")
    options.add_argument("--reranker", default="reranker", help="the shipped re-ranker, or a folder")
    options.add_argument("--documents", type=int, default=300, help="of each collection, if fewer are asked about")
    options.add_argument("--cache", type=Path, default=CACHE, help="where the indexes are kept")
    options.add_argument("--write", action="store_true", help="put the weights into the model's folder")
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    encoder, reranker = load_model(chosen.model), load_reranker(chosen.reranker)
    gathering = Gathering(encoder, chosen.cache / Path(chosen.model).name, chosen.documents)
    found = gathered(gathering, reranker, chosen.documents)
    learned_from = read_settings(model_folder(chosen.reranker))["training"]["learned_from"]
    rows, gains = [], {}
    for left, questions in found.items():
        others = fitted([each for name, each in found.items() if name != left])
        gains[left] = compute_gains(questions, others)
        row = {"collection": left, "questions": len(questions), "learned_from": left in learned_from}
        rows.append({**row, "left_out": quality(questions, others), "before": quality(questions, NEUTRAL)})
        print(rows[-1], file=sys.stderr, flush=True)
    rereading = fitted([*found.values()])
    print(rereading, file=sys.stderr, flush=True)
    record = {"kind": KIND, "title": encoder.name, "model": encoder.name, "reranker": reranker.fingerprint}
    others = records_of_others(chosen.out, encoder.name)
    told = {
        "gain": sum_up([*gains.values()]),
        "gain_not_learned_from": sum_up([each for name, each in gains.items() if name not in learned_from]),
    }
    print(told, file=sys.stderr, flush=True)
    write_json(chosen.out, [*others, {**record, "seed": SEED, "collections": rows, **told, **stamp()}])
    if chosen.write:
        folder = model_folder(chosen.model)
        weights = replace(Fusion.of(encoder), rereading=rereading).to_json()
        fitted_on: Mapping[str, int] = {name: len(questions) for name, questions in found.items()}
        told = {"asked": fitted_on, "reranker": reranker.fingerprint, **stamp()}
        set_fusion(folder, weights, {**read_settings(folder)["training"]["fusion"], "rereading": told})


if __name__ == "__main__":
    main()
