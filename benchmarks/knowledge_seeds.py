"""The effect of a graph's knowledge on rankers of words, over several seeds.

    export AUSCULT_DATA=... AUSCULT_BACKBONE=... AUSCULT_DOMAIN_GRAPH=...
    python benchmarks/knowledge_seeds.py [HEAD ...] --runs FOLDER [--given alone none u um] [--seeds 3] [--queries 500]

A head alone and its variants -NONE, -U and -UM of experiments/wang2021-medquad-adapted.yaml, which read words and use
no encoder, are trained with each seed, all else equal, and evaluated on the same test queries of MedQuAD; --given
selects some of them. Variants are compared as planned in the experiment file (`compare_with`), by the mean over seeds.
The interval is from a bootstrap that draws both seeds and queries (2,000 times), so it includes the chance of both.
Trainings and results stay in --runs: an interrupted call resumes, and further heads are added to the record.

Writes benchmarks/results/knowledge_seeds.json, one record per head and choice of variants.
Needs: pip install 'auscult[lab]'
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from auscult.provenance import stamp
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.encoders.experiment import CaprExperiment
from auscult_lab.evaluation.comparing import kept_run
from auscult_lab.evaluation.contenders import open_contenders
from auscult_lab.evaluation.measures import measure
from auscult_lab.evaluation.task import Task, build_task
from auscult_lab.families.table import read_experiment, train
from auscult_lab.training.experiment_files import read_compared, variant_path
from merging import merge_record
from resampling import Values, drawn, rounded, with_interval

ROOT = Path(__file__).resolve().parents[1]
RESULT = ROOT / "benchmarks" / "results" / "knowledge_seeds.json"
BENCH = ROOT / "experiments" / "wang2021-medquad-adapted.yaml"
HEADS = ("drmm-tks", "knrm", "pacrr")
ALONE = "alone"
GIVEN = (ALONE, "none", "u", "um")
"""What a head is given besides words, as in the names of the experiment file's variants."""
MEASURES = {"MAP": "AP", "R@1": "R@1"}
"""What the mean over queries is called, and a query's own measure in ir_measures' notation."""


def main() -> None:
    """Train, evaluate, and write the records."""
    parser = argparse.ArgumentParser(description="What knowledge adds, over several seeds.")
    parser.add_argument("heads", nargs="*", default=HEADS, metavar="HEAD", help=f"of {', '.join(HEADS)}")
    parser.add_argument("--runs", type=Path, required=True, help="keeps trainings and rankings")
    parser.add_argument("--given", nargs="+", default=GIVEN, choices=GIVEN, help="variants to train and compare")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--queries", type=int, default=500)
    given = parser.parse_args()
    task = build_task(open_corpus("medquad"), number=given.queries, seed=0)
    seeds = list(range(1, given.seeds + 1))
    for head in given.heads:
        merge_record(RESULT, measured(head, given.given, task, seeds, given.runs), "head", "given")


def measured(head: str, given: Sequence[str], task: Task, seeds: list[int], runs: Path) -> dict[str, Any]:
    """Return the record of a head: figures of its variants by seed, and planned differences."""
    names = [f"ck-adapted-{head}" if each == ALONE else f"ck-adapted-{head}-{each}" for each in given]
    titles: dict[str, str] = {}
    values: dict[str, Values] = {}
    for name in names:
        experiment = read_experiment(variant_path(BENCH, name))
        titles[name] = experiment.title
        # Shape (seeds, queries, measures).
        values[name] = np.stack([_asked(experiment, seed, task, runs / f"{name}-{seed}") for seed in seeds])
        print(titles[name], np.round(100 * values[name].mean(axis=1), 2).tolist(), flush=True)
    pairs = [(name, other) for name in names for other in read_compared(variant_path(BENCH, name)) if other in names]
    return {
        "kind": "knowledge_seeds",
        "title": "Knowledge over several seeds",
        "head": head,
        "given": list(given),
        "corpus": task.corpus,
        "queries": len(task.queries),
        "seeds": seeds,
        "measures": list(MEASURES),
        "variants": [{"model": titles[name], "by_seed": _told(values[name].mean(axis=1))} for name in names],
        "differences": [
            {
                "model": titles[name],
                "than": titles[other],
                **{
                    label: difference(values[name][:, :, column], values[other][:, :, column])
                    for column, label in enumerate(MEASURES)
                },
            }
            for name, other in pairs
        ],
        **stamp(),
    }


def _asked(experiment: CaprExperiment, seed: int, task: Task, folder: Path) -> Values:
    """Return measures of every query by one training, shape (queries, measures)."""
    own = experiment.model_copy(update={"seed": seed, "name": f"{experiment.name}-{seed}"})
    model = train(own, folder, say=lambda words: print(own.name, words, flush=True)).model
    (contender,) = open_contenders(str(model), task.corpus, precision="bf16")
    run = kept_run(task, contender, folder / "evaluation")
    found = measure(run.rankings, task.judgements, tuple(MEASURES.values())).of(
        [query.query_id for query in task.queries]
    )
    return found.values


def difference(first: Values, second: Values, *, seed: int = 0) -> dict[str, float]:
    """Return the mean difference of two variants, and the interval over seeds and queries.

    Args:
        first: Shape (seeds, queries).
        second: The other variant's; queries must correspond, seeds need not.
        seed: Seed of the resampling.
    """
    random = np.random.default_rng(seed)
    seeds, queries = first.shape
    of_first, of_second = drawn(random, seeds), drawn(random, seeds)
    means = (((of_first @ first) - (of_second @ second)) * drawn(random, queries)).sum(axis=1)
    return with_interval(float(first.mean() - second.mean()), means)


def _told(means: Values) -> dict[str, list[float]]:
    return {label: rounded(means[:, column]) for column, label in enumerate(MEASURES)}


if __name__ == "__main__":
    main()
