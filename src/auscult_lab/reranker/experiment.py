"""Experiment files of the re-ranker: `model: reranker`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from auscult_lab.training.experiment import (
    DataExperiment,
    EncoderTraining,
    LabelChoice,
    WordVectorChoice,
    backbone_name,
)
from auscult_lab.training.experiment_files import check_experiment


class RerankerTraining(EncoderTraining):
    """Training of the re-ranker.

    Attributes:
        questions: Questions per epoch.
        batch_questions: Questions per step.
        passages: Passages per question: one that answers, and negatives.
        window: Tokens of question and passage together; longer passages are read in part.
        frozen: Number of the encoder's lowest layers that are not trained, which saves time.
        certainty_weight: Weight of the loss of single pairs; that of the list is 1.
    """

    epochs: int = Field(default=4, ge=1)
    learning_rate: float = Field(default=1e-4, gt=0)
    precision: Literal["float32", "bf16", "16-mixed"] = "bf16"
    questions: int = Field(default=1600, ge=1)
    batch_questions: int = Field(default=8, ge=1)
    passages: int = Field(default=6, ge=2)
    window: int = Field(default=112, ge=32)
    frozen: int = Field(default=2, ge=0)
    certainty_weight: float = Field(default=0.3, ge=0)


class RerankerExperiment(DataExperiment):
    """A re-ranker.

    Attributes:
        encoder: The initial model, a BERT whose sentence vectors are means over tokens; a hub name or a folder, with
            environment variables expanded. It also finds hard negatives.
        window: Tokens of question and passage that the trained model reads.
    """

    model: Literal["reranker"]
    encoder: str = Field(min_length=1)
    window: int = Field(default=256, ge=32)
    training: RerankerTraining = RerankerTraining()

    @model_validator(mode="after")
    def _fields_fit(self) -> RerankerExperiment:
        if (
            self.word_vectors != WordVectorChoice()
            or self.labels != LabelChoice()
            or self.never_learn
            or self.validation.calibrate
        ):
            raise ValueError("word_vectors, labels, never_learn and validation.calibrate are not for it")
        return self

    def begins_with(self) -> list[str]:
        """Return the encoder, with environment variables expanded.

        Raises:
            ConfigError: One of them is not set.
        """
        return [backbone_name(self.encoder, "encoder")]


def read_reranker_experiment(path: Path) -> RerankerExperiment:
    """Read and check an experiment file of a re-ranker.

    Raises:
        ConfigError: Naming the file and every field that is wrong.
    """
    return check_experiment(path, RerankerExperiment)
