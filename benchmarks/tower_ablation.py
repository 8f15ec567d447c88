"""Effects of context, and of each term of the loss, on the towers.

    AUSCULT_SENTENCE_ENCODER=... AUSCULT_DATA=... python benchmarks/tower_ablation.py RUN [--seeds 3] [--variant NAME]

Trains the towers of `experiments/general.yaml` again on the vectors in RUN, the folder of a training of the same
variant: unchanged, without each part of the context, and without each term of the loss (`general.objective`) and so its
negatives. All with several seeds. Measured on held-out documents: how often the best passage of a document for a
heading is right (aspect), and the best of 64 titles for a passage (entity). The change is that of the mean over seeds,
with a 95 % interval of Student's t over pairs of the same seed.

Writes benchmarks/results/general_towers.json. One and a half minutes on one core per training.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import torch
from scipy.stats import t as student_t
from torch import Tensor

from auscult.files.writing import write_json
from auscult.provenance import stamp, usable_cores
from auscult_lab.families.table import read_experiment
from auscult_lab.general.build import GeneralBuild, prepare, train_towers
from auscult_lab.general.data import TowerBatch, TowerExamples
from auscult_lab.general.objective import TowerNetwork, TowerObjective
from auscult_lab.general.reading import read_documents
from auscult_lab.training.experiment_files import variant_path
from auscult_lab.training.stages import Run

ROOT = Path(__file__).resolve().parent
RESULT = ROOT / "results" / "general_towers.json"
EXPERIMENT = ROOT.parent / "experiments" / "general.yaml"
CONTEXT = ("passage", "document", "sentence before", "sentence after")
TERMS = (
    "heading of a passage",
    "passages of a heading",
    "passages of a heading in its document",
    "title of a passage",
    "passages of a title",
)
MEASURES = ("aspect", "entity")


class WithoutContext(TowerNetwork):
    """Towers with parts of the context set to zero."""

    left_out: tuple[str, ...] = ()

    def context(self, batch: TowerBatch, sentences: Tensor) -> dict[str, Tensor]:
        """Return the context, with zeros for the parts left out."""
        found = super().context(batch, sentences)
        return {name: torch.zeros_like(rows) if name in self.left_out else rows for name, rows in found.items()}


class WithoutTerms(TowerObjective):
    """A loss without some of its terms."""

    left_out: tuple[str, ...] = ()

    def terms(self, batch: TowerBatch) -> dict[str, Tensor]:
        """Return the terms of the loss, without those left out."""
        return {name: term for name, term in super().terms(batch).items() if name not in self.left_out}


class Read(NamedTuple):
    """Data that all trainings share."""

    build: GeneralBuild
    learned: TowerExamples
    held_out: TowerExamples


READ: list[Read] = []
"""Filled before processes are forked, which have it without a copy."""


def trained(left_out: tuple[str, ...], seed: int) -> dict[str, float]:
    """Return measures of the best epoch, by name."""
    torch.set_num_threads(1)
    ((build, learned, held_out),) = READ
    experiment = build.experiment
    choice = experiment.training
    torch.manual_seed(seed)
    network = WithoutContext(
        build.backbone.dim, experiment.hidden, experiment.dim, dropout=choice.dropout, noise=choice.noise
    )
    network.left_out = left_out
    objective = WithoutTerms(network, choice, held_out)
    objective.left_out = left_out
    with tempfile.TemporaryDirectory() as folder:
        train_towers(objective, learned, choice, Run(Path(folder), lambda _: None, progress=False), seed)
    return dict(objective.measures())


def change(runs: list[dict[str, float]], whole: list[dict[str, float]], measure: str) -> dict[str, float]:
    """Return the mean of a measure, and of its differences from the whole model's, with an interval."""
    differences = [run[measure] - other[measure] for run, other in zip(runs, whole, strict=True)]
    mean, wide = statistics.mean(differences), 0.0
    if len(runs) > 1:
        wide = float(student_t.ppf(0.975, len(runs) - 1)) * statistics.stdev(differences) / len(runs) ** 0.5
    measured = statistics.mean(run[measure] for run in runs)
    return {measure: measured, f"{measure}_change": mean, f"{measure}_low": mean - wide, f"{measure}_high": mean + wide}


def main() -> None:
    """Train, measure and write."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("run", type=Path, help="the folder of a training")
    options.add_argument("--variant", default="general-best")
    options.add_argument("--seeds", type=int, default=3)
    chosen = options.parse_args()
    experiment = read_experiment(variant_path(EXPERIMENT, chosen.variant))
    if experiment.student is not None:
        sys.exit("a variant without a student")
    build = prepare(experiment, Run(chosen.run, print, progress=False))
    reader = build.reader()
    read = read_documents([*build.training, *build.held_out], reader, chosen.run / "read-by-teacher", print)
    learned = TowerExamples(read.part(0, len(build.training)), reader, seed=experiment.seed)
    held_out = TowerExamples(read.part(len(build.training), len(read.documents)), reader, seed=experiment.seed)
    READ.append(Read(build, learned, held_out))
    variations = [(), *((name,) for name in CONTEXT), CONTEXT, *((name,) for name in TERMS)]
    whole: list[dict[str, float]] = []
    parts = []
    for left_out in variations:
        # Forked, so that the vectors are not copied; one process per core.
        with multiprocessing.get_context("fork").Pool(min(chosen.seeds, usable_cores())) as pool:
            runs = pool.starmap(trained, [(left_out, seed) for seed in range(1, chosen.seeds + 1)], chunksize=1)
        whole = whole or runs
        name = "all context" if left_out == CONTEXT else left_out[0] if left_out else "nothing"
        figures = {key: value for measure in MEASURES for key, value in change(runs, whole, measure).items()}
        parts.append({"left_out": name, **figures})
        print(parts[-1], file=sys.stderr, flush=True)
        counts = {"documents": len(learned), "held_out": len(held_out), "seeds": chosen.seeds}
        about = {"kind": "general_towers", "title": experiment.title, "model": experiment.title}
        write_json(RESULT, [{**about, **counts, "parts": parts, **stamp()}])


if __name__ == "__main__":
    main()
