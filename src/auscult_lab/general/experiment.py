"""Experiment files of the general encoder: `model: general`."""

from __future__ import annotations

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


class StudentTraining(EncoderTraining):
    """Training of a small transformer to give the teachers' vectors.

    Attributes:
        layers: Layers of the first teacher to begin with: [0, 5] is a student of two layers.
        window: Tokens per window.
        skip_function_words: Skip function words ("the", "which") and punctuation, nearly half of English text.
        batch_windows: Windows per step.
        batch_short: Short texts per step.
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
    """Training of the towers.

    Attributes:
        batch_documents: Documents per step; each is a negative of the others.
        temperature: Temperature of the softmax over a batch.
        dropout: Dropout of the hidden layer.
        noise: Length of the random vector that is added to each input vector, as a share of the input's length.
        entity_weight: Weight of the entity loss; that of the aspect loss is 1.
        pull: Weight of the squared distance from the initial weights.
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
        asked: Prefix of queries ("query: ").
        told: Prefix of documents ("passage: ").
        window: Tokens per window.
    """

    encoder: str = Field(min_length=1)
    asked: str = ""
    told: str = ""
    window: int = Field(default=256, ge=16)


class _OfDocuments(DataExperiment):
    """Experiments on documents with titles and headings, without labels."""

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
        teachers: The teachers; without a student there is one.
        student: The small transformer of the trained model; None for the teacher itself, in 8 bits. A student is also
            trained on `word_vectors.texts`, and on names and definitions of the knowledge base.
        hidden: Size of the towers' hidden layer.
        dim: Length of the entity part, and of the aspect part.
        start_share: See `GeneralEncoder`.
        training: Training of the towers.
        asked: Corpora with judged questions, on which the weights of questions in words and the certainty of hits are
            fitted (`fitting.fitting`); nothing else learns from them. The default split is "train".
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
        """Return the teachers, with environment variables expanded.

        Raises:
            ConfigError: One of them is not set.
        """
        return [backbone_name(each.encoder, f"teachers.{place}.encoder") for place, each in enumerate(self.teachers)]


class AdaptedTraining(TowerTraining):
    """Further training of towers; the defaults suit a few hundred documents or more."""

    epochs: int = Field(default=20, ge=1)
    learning_rate: float = Field(default=3e-4, gt=0)
    patience: int | None = Field(default=4, ge=1)
    pull: float = Field(default=1e-3, ge=0)


class AdaptedExperiment(_OfDocuments):
    """A general encoder that is adapted to other documents.

    Attributes:
        start: Folder of the general encoder to begin with, or a shipped one's name; environment variables are
            expanded.
        aspects: Source of a passage's aspect: its "heading", or the "label" of its corpus.
        validation: At most a fifth of the documents is held out. Half of these only serve to measure before and after.
        training: Training of the towers.
    """

    model: Literal["general-adapted"]
    start: str = Field(min_length=1)
    aspects: Literal["heading", "label"] = "heading"
    training: AdaptedTraining = AdaptedTraining()

    def begins_with(self) -> list[str]:
        """Return the general encoder, with environment variables expanded.

        Raises:
            ConfigError: One of them is not set.
        """
        return [expanded(self.start, "start", "set it to the folder of a general encoder, or name one")]
