"""Any experiment that can be put on a bench: its name, the corpora it is asked, and its training."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from auscult.errors import naming_extra


@dataclass(frozen=True, slots=True)
class BenchExperiment:
    """An experiment of a bench.

    Attributes:
        name: Its.
        evaluate: Corpora whose test queries it is asked.
        train: Trains it in a folder, told what to say and whether to show progress; gives the model's folder.
    """

    name: str
    evaluate: Sequence[str]
    train: Callable[[Path, Callable[[str], None], bool], Path]


def open_experiment(path: Path) -> BenchExperiment:
    """Read an experiment of whichever kind can be put on a bench.

    Raises:
        ConfigError: Naming the file and every field that is wrong.
        MissingExtraError: What trains is not installed.
    """
    with naming_extra("train", "torch", "lightning", "safetensors", "yaml"):
        from auscult.training.capr import experiment as capr
        from auscult.training.capr.run import train as train_capr
        from auscult.training.experiment import read_model_name
        from auscult.training.ranking import experiment as ranking
        from auscult.training.ranking.run import train as train_ranker
    if read_model_name(path) == "capr":
        asked = capr.read_capr_experiment(path)
        return BenchExperiment(
            asked.name,
            asked.evaluate,
            lambda folder, say, progress: train_capr(asked, folder, say=say, progress=progress).model,
        )
    settings = ranking.read_ranking_experiment(path)
    return BenchExperiment(
        settings.name,
        settings.evaluate,
        lambda folder, say, progress: train_ranker(settings, folder, say=say, progress=progress).model,
    )


__all__ = ["BenchExperiment", "open_experiment"]
