"""Experiment files of neural rankers: one YAML per model, with negatives, loss and budget."""

from __future__ import annotations

import dataclasses
from typing import Any, Literal

from pydantic import Field, model_validator

from auscult.errors import ConfigError
from auscult_lab.rankers.base import RankerConfig
from auscult_lab.rankers.registry import RANKERS, ranker_kind
from auscult_lab.training.experiment import DataExperiment, LabelChoice, Settings


class NegativeChoice(Settings):
    """Numbers of negatives of each kind per query.

    Attributes:
        random: Passages of any document (zhu2019, section 3.7.1: irrelevant).
        same_entity: Passages of the same title under other headings (partially relevant), or if missing, ranked high by
            BM25. With `queries: corpus`: other passages of the documents that answer.
        bm25: Passages drawn from the first that BM25 ranks (partially relevant).
        in_batch: Answers of other queries of the batch that do not answer this one.
        bm25_depth: Passages that `bm25` draws from.
    """

    random: int = Field(default=6, ge=0)
    same_entity: int = Field(default=0, ge=0)
    bm25: int = Field(default=3, ge=0)
    in_batch: int = Field(default=0, ge=0)
    bm25_depth: int = Field(default=64, ge=1)

    @property
    def total(self) -> int:
        """Number of negatives per query."""
        return self.random + self.same_entity + self.bm25 + self.in_batch

    @model_validator(mode="after")
    def _some(self) -> NegativeChoice:
        if not self.total:
            raise ValueError("at least one negative a query is needed")
        return self


class RankingTraining(Settings):
    """Optimisation and budget.

    Attributes:
        epochs: The most.
        queries: Queries per epoch, none twice until all have been seen; null for all.
        batch_queries: Queries per step, each with one answer and its negatives.
        loss: `hinge` is pairwise (zhu2019, Eq. 21), `listwise` softmax cross entropy over answer and negatives.
        margin: Margin of the hinge loss.
        decay: Factor on the learning rate after each epoch.
        gradient_clip: Largest norm of a gradient; null for no limit.
        precision: `bf16` and `16-mixed` compute in half precision, with weights in single.
        patience: Epochs without improvement before it stops; null runs all.
        accelerator: Lightning's name for it.
        devices: As for Lightning.
    """

    epochs: int = Field(default=10, ge=1)
    queries: int | None = Field(default=None, ge=1)
    batch_queries: int = Field(default=16, ge=1)
    loss: Literal["hinge", "listwise"] = "hinge"
    margin: float = Field(default=1.0, gt=0)
    optimizer: Literal["adam", "adadelta"] = "adam"
    learning_rate: float = Field(default=1e-3, gt=0)
    decay: float = Field(default=1.0, gt=0, le=1)
    weight_decay: float = Field(default=0.0, ge=0)
    gradient_clip: float | None = Field(default=5.0, gt=0)
    precision: Literal["float32", "bf16", "16-mixed"] = "float32"
    patience: int | None = Field(default=3, ge=1)
    accelerator: str = "auto"
    devices: int | Literal["auto"] = "auto"


class RankingExperiment(DataExperiment):
    """An experiment of a ranker.

    With `queries: corpus`, queries are held out for validation until `validation.documents` documents answer them; so
    are these documents. `never_learn` keeps out questions of other splits, compared without case and punctuation, and
    every document that answers one.

    Attributes:
        queries: `headings` are made of titles and headings; `corpus` are the corpora's own, with judgements, and need
            a `split`.
        model: Name of a ranker.
        settings: Those of the ranker that differ from its paper's.
        min_count: Treat words that are rarer in training passages as unknown.
        validation_queries: Queries ranked after each epoch, each with 20 candidates of the held-out documents (with
            `queries: corpus`, of all).
        evaluate: Corpora whose test queries `auscult compare` ranks.
    """

    queries: Literal["headings", "corpus"] = "headings"
    model: str
    settings: dict[str, Any] = Field(default_factory=dict)
    labels: LabelChoice = LabelChoice(mentions=False)
    knowledge: str | None = None
    min_count: int = Field(default=2, ge=1)
    negatives: NegativeChoice = NegativeChoice()
    training: RankingTraining = RankingTraining()
    validation_queries: int = Field(default=150, ge=1)
    evaluate: list[str] = Field(default_factory=list)

    @model_validator(mode="after")
    def _model_is_known(self) -> RankingExperiment:
        if self.model not in RANKERS:
            known = ", ".join(RANKERS)
            raise ValueError(
                f"model: {self.model!r} is none of {known}; one of your own is registered by a file: --with"
            )
        # The ranker has these settings.
        self.config()
        return self

    def config(self) -> RankerConfig:
        """Return the ranker's settings.

        Raises:
            ConfigError: A setting the ranker does not have, or a wrong value.
        """
        kind = ranker_kind(self.model)
        given = {key: tuple(value) if isinstance(value, list) else value for key, value in self.settings.items()}
        try:
            return kind.config(**given)
        except (TypeError, ValueError) as error:
            known = ", ".join(field.name for field in dataclasses.fields(kind.config()))
            raise ConfigError(f"settings of {self.model} ({known})", str(error), "correct 'settings'") from error
