"""Ensembles of models: candidates are ordered by the mean of the models' standardised scores."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from auscult.errors import ConfigError
from auscult.search.fusion import fuse_scores
from auscult.search.hits import Ranking
from auscult_lab.evaluation.protocol import Run, chance_of, rank_against_ties
from auscult_lab.evaluation.records import Track, label_of
from auscult_lab.evaluation.task import Task


class Compared(Protocol):
    """Properties of a model, or of an ensemble, in a comparison."""

    @property
    def name(self) -> str:
        """Name of the model."""
        ...

    @property
    def track(self) -> Track:
        """Track of the model: "untrained", "zero-shot" or "adapted"."""
        ...

    @property
    def label(self) -> str:
        """Label that is unique in the comparison."""
        ...

    @property
    def fingerprint(self) -> str:
        """Hash of its weights; empty for a model without."""
        ...

    @property
    def training(self) -> Mapping[str, Any]:
        """Training record of the model."""
        ...

    @property
    def precision(self) -> str:
        """Precision of its transformers."""
        ...


@dataclass(frozen=True, slots=True)
class Ensemble:
    """Several models of a comparison as one.

    Attributes:
        models: At least two.
    """

    models: tuple[Compared, ...]

    @property
    def name(self) -> str:
        """Their names, joined."""
        return " + ".join(each.name for each in self.models)

    @property
    def track(self) -> Track:
        """The most informed track of its models: adapted, else zero-shot, else untrained."""
        tracks = {each.track for each in self.models}
        return "adapted" if "adapted" in tracks else "zero-shot" if "zero-shot" in tracks else "untrained"

    @property
    def label(self) -> str:
        """Label that is unique in the comparison."""
        return label_of(self.name, self.track)

    @property
    def fingerprint(self) -> str:
        """Their hashes, joined."""
        return "+".join(each.fingerprint for each in self.models if each.fingerprint)

    @property
    def training(self) -> dict[str, Any]:
        """Training records of the models, with sums of their seconds and parameters."""
        trainings = [each.training for each in self.models]
        record: dict[str, Any] = {"kind": "fusion", "models": {each.label: dict(each.training) for each in self.models}}
        for name in ("seconds", "parameters"):
            values = [each[name] for each in trainings if name in each]
            if values:
                record[name] = sum(values)
        return record

    @property
    def precision(self) -> str:
        """Precision: "bf16" where one of the models uses it, else "float32"."""
        return "bf16" if any(each.precision == "bf16" for each in self.models) else "float32"


def ensembles_of(combinations: Sequence[str], models: Mapping[str, Compared], protocol: str) -> list[Ensemble]:
    """Build ensembles from combinations of names, "NAME+NAME".

    Args:
        combinations: Names joined by "+".
        models: The models by their names on the command line.
        protocol: Protocol of the task. End to end, models keep different passages, which cannot be fused.

    Raises:
        ConfigError: A name is unknown, alone or repeated, or passages are ranked end to end.
    """
    if combinations and protocol != "rerank":
        raise ConfigError("given candidates for --fuse", protocol, "leave --fuse out, or rank given candidates")
    check_ensembles(combinations, models, "name the models as you did before")
    return [Ensemble(tuple(models[name] for name in combination.split("+"))) for combination in combinations]


def check_ensembles(combinations: Sequence[str], names: Collection[str], remedy: str) -> None:
    """Check combinations of names before the models are opened or trained.

    Args:
        combinations: Names joined by "+".
        names: Names of the models.
        remedy: Advice for the error.

    Raises:
        ConfigError: A name is unknown, alone or repeated.
    """
    for combination in combinations:
        own = combination.split("+")
        if len(set(own)) < max(2, len(own)) or any(name not in names for name in own):
            raise ConfigError(f"two or more of {', '.join(names)} joined by '+' for --fuse", f"'{combination}'", remedy)


def ensemble_run(task: Task, ensemble: Ensemble, runs: Mapping[str, Run]) -> Run:
    """Rank a task's candidates by several models' scores; costs are sums of the models' costs.

    Args:
        task: A re-ranking task.
        ensemble: The models.
        runs: Runs by label, including those of the ensemble's models.
    """
    own = [runs[model.label] for model in ensemble.models]
    relevant = task.relevant
    rankings = []
    for query, *of_models in zip(task.queries, *(run.rankings for run in own), strict=True):
        ids = sorted(of_models[0].passage_ids)
        by_id = [dict(zip(ranking.passage_ids, ranking.scores, strict=True)) for ranking in of_models]
        scores = fuse_scores([np.array([known[passage] for passage in ids], dtype=np.float32) for known in by_id])
        chance = chance_of(task, query.query_id)
        rankings.append(Ranking(query.query_id, *rank_against_ties(ids, scores, relevant[query.query_id], chance)))
    return Run(
        model=ensemble.name,
        rankings=tuple(rankings),
        ms_per_query=sum(run.ms_per_query for run in own),
        prepare_seconds=sum(run.prepare_seconds for run in own),
    )
