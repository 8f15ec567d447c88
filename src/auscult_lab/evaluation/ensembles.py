"""Models that are evaluated together: the candidates ordered by the mean of their standardised scores."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from auscult.errors import ConfigError
from auscult.interfaces import Ranking
from auscult.search.fusion import fuse_scores
from auscult_lab.evaluation.protocol import Run, chance_of, rank_against_ties
from auscult_lab.evaluation.records import Track, label_of
from auscult_lab.evaluation.task import Task


class Compared(Protocol):
    """What is told of a model in a comparison, whether it stands for itself or for several."""

    @property
    def name(self) -> str:
        """The model's."""
        ...

    @property
    def track(self) -> Track:
        """What it was trained on."""
        ...

    @property
    def label(self) -> str:
        """What tells it from the others."""
        ...

    @property
    def fingerprint(self) -> str:
        """Hash of its weights; empty for a model without."""
        ...

    @property
    def training(self) -> Mapping[str, Any]:
        """What it says about its training."""
        ...

    @property
    def precision(self) -> str:
        """What its transformers compute in."""
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
        """That of the one which saw most."""
        tracks = {each.track for each in self.models}
        return "adapted" if "adapted" in tracks else "zero-shot" if "zero-shot" in tracks else "untrained"

    @property
    def label(self) -> str:
        """What tells it from the others."""
        return label_of(self.name, self.track)

    @property
    def fingerprint(self) -> str:
        """Their hashes, joined."""
        return "+".join(each.fingerprint for each in self.models if each.fingerprint)

    @property
    def training(self) -> dict[str, Any]:
        """What each says; seconds and parameters are sums of those that tell them."""
        said = [each.training for each in self.models]
        told: dict[str, Any] = {"kind": "fusion", "models": {each.label: dict(each.training) for each in self.models}}
        for name in ("seconds", "parameters"):
            values = [each[name] for each in said if name in each]
            if values:
                told[name] = sum(values)
        return told

    @property
    def precision(self) -> str:
        """Half precision, "bf16", where one of them computes so."""
        return "bf16" if any(each.precision == "bf16" for each in self.models) else "float32"


def ensembles_of(asked: Sequence[str], models: Mapping[str, Compared], protocol: str) -> list[Ensemble]:
    """Build the ensembles that are named as "NAME+NAME".

    Args:
        asked: Names joined by "+".
        models: By their names on the command line.
        protocol: Of the task: end to end, models keep different passages, and there is nothing to fuse.

    Raises:
        ConfigError: A name is none of the models', stands alone or twice, or passages are ranked end to end.
    """
    if asked and protocol != "rerank":
        raise ConfigError("given candidates for --fuse", protocol, "leave --fuse out, or rank given candidates")
    check_ensembles(asked, models, "name the models as you did before")
    return [Ensemble(tuple(models[name] for name in each.split("+"))) for each in asked]


def check_ensembles(asked: Sequence[str], names: Collection[str], remedy: str) -> None:
    """Whether what is asked for can be had of models of these names, for asking before they are there.

    Args:
        asked: Names joined by "+".
        names: Of the models.
        remedy: What to do where they are others.

    Raises:
        ConfigError: A name is none of the models', or stands alone or twice.
    """
    for each in asked:
        own = each.split("+")
        if len(set(own)) < max(2, len(own)) or any(name not in names for name in own):
            raise ConfigError(f"two or more of {', '.join(names)} joined by '+' for --fuse", f"'{each}'", remedy)


def ensemble_run(task: Task, ensemble: Ensemble, runs: Mapping[str, Run]) -> Run:
    """Rank a task's candidates by several models' scores; costs are the sums of theirs.

    Args:
        task: Of candidates to re-rank.
        ensemble: The models.
        runs: Theirs among others, by label; whole rankings of the task's queries.
    """
    own = [runs[each.label] for each in ensemble.models]
    relevant = task.relevant
    rankings = []
    for query, *found in zip(task.queries, *(run.rankings for run in own), strict=True):
        ids = sorted(found[0].passage_ids)
        by_id = [dict(zip(each.passage_ids, each.scores, strict=True)) for each in found]
        scores = fuse_scores([np.array([each[passage] for passage in ids], dtype=np.float32) for each in by_id])
        chance = chance_of(task, query.query_id)
        rankings.append(Ranking(query.query_id, *rank_against_ties(ids, scores, relevant[query.query_id], chance)))
    return Run(
        model=ensemble.name,
        rankings=tuple(rankings),
        ms_per_query=sum(run.ms_per_query for run in own),
        prepare_seconds=sum(run.prepare_seconds for run in own),
    )
