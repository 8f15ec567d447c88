"""Experiment files of the general encoder: `model: general`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from auscult_lab.training.experiment import (
    CorpusChoice,
    DataExperiment,
    EncoderTraining,
    LabelChoice,
    Settings,
    backbone_name,
    expanded,
)
from auscult_lab.training.experiment_files import check_experiment


class StudentTraining(EncoderTraining):
    """How a small transformer learns to read as the teachers do.

    Attributes:
        layers: Of the first teacher, which it begins with: [0, 5] is a student of two.
        window: Tokens that it reads at once.
        skip_function_words: Read no words that say nothing alone ("the", "which"), and no punctuation: of English text
            that is nearly half.
        batch_windows: Windows a step.
        batch_short: Short texts that each step gets besides.
    """

    epochs: int = Field(default=5, ge=1)
    learning_rate: float = Field(default=3e-4, gt=0)
    precision: Literal["float32", "bf16", "16-mixed"] = "bf16"
    layers: tuple[int, ...] = Field(min_length=1)
    window: int = Field(default=256, ge=16)
    skip_function_words: bool = False
    batch_windows: int = Field(default=40, ge=1)
    batch_short: int = Field(default=96, ge=0)


class TowerTraining(EncoderTraining):
    """How the towers learn.

    Attributes:
        batch_documents: Documents a step; each is a negative of the others.
        temperature: Of the softmax over a batch.
        dropout: Of the hidden layer.
        noise: Length of the random vector that is added to what was read, as a share of its own.
        entity_weight: How much the entity's loss counts beside the aspect's.
        pull: How much the squared distance from the weights that the training began with counts.
    """

    epochs: int = Field(default=8, ge=1)
    learning_rate: float = Field(default=1e-3, gt=0)
    batch_documents: int = Field(default=48, ge=2)
    temperature: float = Field(default=0.05, gt=0)
    dropout: float = Field(default=0.2, ge=0, lt=1)
    noise: float = Field(default=0.0, ge=0)
    entity_weight: float = Field(default=1.0, ge=0)
    pull: float = Field(default=0.0, ge=0)


class Teacher(Settings):
    """A sentence encoder: a transformer whose tokens' mean is a text's vector.

    Attributes:
        encoder: A hub name or a folder; environment variables in it are expanded.
        asked: Stands before what asks ("query: ").
        told: Stands before what is told ("passage: ").
        window: Tokens that are read at once.
    """

    encoder: str = Field(min_length=1)
    asked: str = ""
    told: str = ""
    window: int = Field(default=256, ge=16)


class _OfDocuments(DataExperiment):
    """Documents are read, and their titles and headings; nothing is labelled."""

    @model_validator(mode="after")
    def _only_documents(self) -> Self:
        words = self.word_vectors.model_copy(update={"texts": []})
        if words != type(words)() or self.labels != LabelChoice() or self.never_learn or self.validation.calibrate:
            raise ValueError(
                "word_vectors (but its texts), labels, never_learn and validation.calibrate are not for it"
            )
        return self


class GeneralExperiment(_OfDocuments):
    """A general encoder.

    Attributes:
        teachers: Read the documents. Without a student there is one.
        student: What reads for the trained model in the teachers' place; None for the teacher itself, in 8 bits. A
            student also reads `word_vectors.texts`, and the names and definitions of the knowledge base.
        hidden: Size of the towers' hidden layer.
        dim: Length of the entity part and of the aspect part.
        start_share: As `GeneralEncoder` takes it.
        training: Training of the towers.
        asked: Corpora whose judged questions the weights of questions in words, and how certain a hit is, are fitted
            on (`fitting.fitting`); nothing else learns from them. Without a split, the questions for training.
    """

    model: Literal["general"]
    asked: tuple[CorpusChoice, ...] = ()
    teachers: tuple[Teacher, ...] = Field(min_length=1)
    student: StudentTraining | None = None
    hidden: int = Field(default=512, ge=8)
    dim: int = Field(default=128, ge=8)
    start_share: float = Field(default=0.5, ge=0, le=1)
    training: TowerTraining = TowerTraining()

    @model_validator(mode="after")
    def _fields_fit(self) -> GeneralExperiment:
        if self.student is None and len(self.teachers) > 1:
            raise ValueError("several teachers need a student, which learns from all of them")
        return self

    def begins_with(self) -> list[str]:
        """The teachers, with environment variables expanded.

        Raises:
            ConfigError: One of them is not set.
        """
        return [backbone_name(each.encoder, f"teachers.{place}.encoder") for place, each in enumerate(self.teachers)]


class AdaptedTraining(TowerTraining):
    """How towers go on learning; defaults are for a few hundred documents and more."""

    epochs: int = Field(default=20, ge=1)
    learning_rate: float = Field(default=3e-4, gt=0)
    patience: int | None = Field(default=4, ge=1)
    pull: float = Field(default=1e-3, ge=0)


class AdaptedExperiment(_OfDocuments):
    """A general encoder that goes on learning from other documents.

    Attributes:
        start: What it begins with: the folder of a general encoder, or a shipped one's name; environment variables in
            it are expanded.
        aspects: What a passage's aspect is: its "heading", or the "label" that its corpus gives it.
        validation: At most a fifth of the documents is held out; half of these are only measured on, before and after.
        training: Of the towers.
    """

    model: Literal["general-adapted"]
    start: str = Field(min_length=1)
    aspects: Literal["heading", "label"] = "heading"
    training: AdaptedTraining = AdaptedTraining()

    def begins_with(self) -> list[str]:
        """The general encoder, with environment variables expanded.

        Raises:
            ConfigError: One of them is not set.
        """
        return [expanded(self.start, "start", "set it to the folder of a general encoder, or name one")]


def read_adapted_experiment(path: Path) -> AdaptedExperiment:
    """Read and check an experiment file of a general encoder that is adapted.

    Raises:
        ConfigError: Naming the file and every field that is wrong.
    """
    return check_experiment(path, AdaptedExperiment)


def read_general_experiment(path: Path) -> GeneralExperiment:
    """Read and check an experiment file of a general encoder.

    Raises:
        ConfigError: Naming the file and every field that is wrong.
    """
    return check_experiment(path, GeneralExperiment)
