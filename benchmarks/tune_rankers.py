"""The same tuning for every neural ranker of a track: learning rate, negatives, frozen or trained word vectors.

    AUSCULT_DATA=... python benchmarks/tune_rankers.py [RANKER ...] [--track adapted] [--seconds 600]

In this order, each with the best of the earlier choices, by the mean reciprocal rank of held-out queries (adapted: of
MedQuAD's training documents; zero-shot: of Wikipedia's; test queries and test documents are not used):

    1. learning rate: .0003, .001, .01, .05                      with the bench's wrong passages
    2. wrong passages: the bench's five; zhu2019's nine (three partly relevant, six not); one that BM25 ranks high
    3. word vectors: frozen or trained, whichever the first two had not

Every choice is trained on 1,500 queries in three epochs of 500: seven choices per ranker, six without trainable word
vectors. Rankers that take longer than `--seconds` per choice are not tuned, as the record says. The experiment file has
the best choices, with which every ranker is then trained.

Merges into benchmarks/results/ranker_tuning.json, one record per ranker.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

from auscult.provenance import stamp
from auscult_lab.families.table import read_experiment
from auscult_lab.rankers.build import Materials, begin, read_materials
from auscult_lab.rankers.experiment import NegativeChoice, RankingExperiment
from auscult_lab.rankers.registry import RANKERS
from auscult_lab.training.experiment_files import experiments_in
from auscult_lab.training.stages import Run
from merging import merge_record

ROOT = Path(__file__).resolve().parents[1]
RESULT = ROOT / "benchmarks" / "results" / "ranker_tuning.json"
TRACKS = ("adapted", "zero-shot")
RATES = (0.0003, 0.001, 0.01, 0.05)
NEGATIVES = {
    "bench": NegativeChoice(same_entity=2, bm25=2, random=1),
    "zhu2019": NegativeChoice(same_entity=1, bm25=2, random=6),
    "one": NegativeChoice(same_entity=0, bm25=1, random=0),
}
Choice = dict[str, Any]


def main() -> None:
    """Tune, and write the records."""
    parser = argparse.ArgumentParser(description="Tune neural rankers on held-out queries.")
    parser.add_argument("rankers", nargs="*", metavar="RANKER", help="such as knrm; all but HAR's ablations by default")
    parser.add_argument("--track", choices=TRACKS, default=TRACKS[0], help="whose experiments are tuned")
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "tuning", help="keeps word vectors")
    parser.add_argument("--seconds", type=float, default=600.0, help="that a choice may take")
    given = parser.parse_args()
    paths = experiments_in(ROOT / "experiments" / f"arnold2020-rankers-{given.track}.yaml")
    # Variants that explain a ranker have further words in their names.
    experiments = {
        experiment.model: experiment
        for experiment in map(read_experiment, paths)
        if experiment.name == f"{given.track}-{experiment.model}"
    }
    if unknown := [model for model in given.rankers if model not in experiments]:
        parser.error(f"unknown ranker: {', '.join(unknown)}; give some of {', '.join(experiments)}")
    run = Run(given.out / given.track, print, progress=False)
    materials: Materials | None = None
    for model in given.rankers or [model for model in experiments if not model.startswith("har-")]:
        experiment = experiments[model]
        materials = materials or read_materials(experiment, run)
        merge_record(RESULT, tuned(experiment, materials, given.seconds), "model")


def tuned(experiment: RankingExperiment, materials: Materials, seconds: float) -> dict[str, Any]:
    """Return the record of a ranker: its choices with figures, and the best."""
    config = experiment.config()
    trains: bool | None = getattr(config, "train_words", None)
    choices: list[Choice] = []

    def best() -> Choice:
        return max(choices, key=lambda each: float(each["validation_RR"]))

    def tried(rate: float, negatives: str, words: bool | None) -> bool:
        choices.append(_try(experiment, materials, rate, negatives, words))
        print(experiment.name, choices[-1], flush=True)
        return bool(choices[-1]["seconds"] <= seconds)

    in_time = True
    for rate in RATES:
        in_time = in_time and tried(rate, "bench", trains)
    for negatives in ("zhu2019", "one"):
        in_time = in_time and tried(best()["learning_rate"], negatives, trains)
    if in_time and trains is not None:
        tried(best()["learning_rate"], best()["negatives"], not trains)
    return {
        "kind": "ranker_tuning",
        "title": "Tuning of the rankers",
        "model": experiment.name,
        "ranker": experiment.title or RANKERS[experiment.model].ranker.title,
        "seed": experiment.seed,
        "complete": in_time,
        "best": best(),
        "choices": choices,
        **stamp(),
    }


def _try(
    experiment: RankingExperiment, materials: Materials, rate: float, negatives: str, words: bool | None
) -> Choice:
    settings = experiment.settings if words is None else {**experiment.settings, "train_words": words}
    training = experiment.training.model_copy(
        update={"epochs": 3, "queries": 500, "patience": None, "learning_rate": rate}
    )
    changed = experiment.model_copy(
        update={"settings": settings, "negatives": NEGATIVES[negatives], "training": training}
    )
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        build = begin(changed, Run(Path(folder), lambda _: None, progress=False), materials)
        history = build.train()
    of_best = history.epochs[history.best]
    return {
        "learning_rate": rate,
        "negatives": negatives,
        "train_words": words,
        "validation_R@1": round(of_best["validation_R@1"], 4),
        "validation_RR": round(of_best["validation_RR"], 4),
        "seconds": round(time.monotonic() - begun, 1),
    }


if __name__ == "__main__":
    main()
