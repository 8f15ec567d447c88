"""Settings common to the experiments of all families; `experiment_files` reads and checks them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from auscult.errors import ConfigError
from auscult_lab.corpora.opening import learnable


class Settings(BaseModel):
    """Checked, immutable settings; an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class CorpusChoice(Settings):
    """A corpus to learn from.

    Attributes:
        name: A data set of the catalogue, or a path.
        split: One of its splits; null for all.
        skip_bad: Leave out and count unreadable records; otherwise the first is an error.
    """

    name: str
    split: str | None = None
    skip_bad: bool = False


class WordVectorChoice(Settings):
    """Word vectors: from a file or a model, or trained on the training corpora (128-d skip-gram with subwords).

    Attributes:
        file: A text file of GloVe, word2vec or fastText, instead of training.
        model: A saved model that averages word vectors (shipped: `cdv`), instead of training. What it learned from
            counts as read before.
        limit: Words to read from the file.
        dim: Length of a vector.
        epochs: Passes over the text.
        min_n: Letters of the shortest subword.
        max_n: Letters of the longest subword.
        hash_count: Rows per subword.
        buckets: Rows of the table.
        min_count: Leave out words that are rarer.
        glossary: Also learn from names, synonyms and definitions of the knowledge base.
        texts: Further corpora for the word vectors alone, with the fields of `corpora`.
    """

    file: Path | None = None
    model: str | None = Field(default=None, min_length=1)
    limit: int | None = Field(default=None, ge=1)
    dim: int = Field(default=128, ge=2)
    epochs: int = Field(default=5, ge=1)
    min_n: int = Field(default=4, ge=2)
    max_n: int = Field(default=5, ge=2)
    hash_count: int = Field(default=2, ge=1, le=4)
    buckets: int = Field(default=40_000, ge=1)
    min_count: int = Field(default=3, ge=1)
    learning_rate: float = Field(default=0.05, gt=0)
    glossary: bool = True
    texts: list[CorpusChoice] = []

    @model_validator(mode="after")
    def _of_one_place(self) -> WordVectorChoice:
        if self.file is not None and self.model is not None:
            raise ValueError("word vectors are of a 'file' or of a 'model', not of both")
        if self.file is None and self.limit is not None:
            raise ValueError("'limit' is of the words of a 'file'")
        return self


class EncoderTraining(Settings):
    """Optimisation of a pre-trained encoder, for any purpose; defaults are this project's.

    Attributes:
        epochs: Each ends with a validation; the best one is kept.
        learning_rate: The highest.
        warm_up: Share of the steps in which the rate rises; then it falls to 0 in a straight line. null keeps it.
        gradient_clip: Largest norm of a gradient; null for no limit.
        precision: `bf16` and `16-mixed` compute in half precision, with weights in single.
        checkpoint_minutes: Minutes of work that an interrupt may lose.
        patience: Epochs without improvement before it stops; null runs all.
        accelerator: Lightning's name for it.
        devices: As for Lightning.
    """

    epochs: int = Field(default=10, ge=1)
    learning_rate: float = Field(default=1e-4, gt=0)
    warm_up: float | None = Field(default=0.05, ge=0, lt=1)
    weight_decay: float = Field(default=0.01, ge=0)
    gradient_clip: float | None = Field(default=1.0, gt=0)
    precision: Literal["float32", "bf16", "16-mixed"] = "float32"
    checkpoint_minutes: float = Field(default=5.0, ge=0)
    patience: int | None = Field(default=None, ge=1)
    accelerator: str = "auto"
    devices: int | Literal["auto"] = "auto"


def backbone_name(value: str, field: str) -> str:
    """Return a hub name or folder with environment variables and the home folder expanded.

    Raises:
        ConfigError: A variable is not set.
    """
    example = "sentence-transformers/all-MiniLM-L6-v2"
    remedy = f"set it to a transformer encoder's folder or hub name ({example}, say), or name one in the file"
    return expanded(value, field, remedy)


def expanded(value: str, field: str, remedy: str = "set it, or say in the experiment file what it stands for") -> str:
    """Return a setting with environment variables and the home folder expanded.

    Args:
        value: The setting as written in the experiment file.
        field: Its name, for the error.
        remedy: Advice for the error.

    Raises:
        ConfigError: A variable is not set.
    """
    result = os.path.expandvars(value)
    if "$" in result:
        raise ConfigError(f"the environment variable of '{field}: {value}'", "none set", remedy)
    return str(Path(result).expanduser()) if result.startswith("~") else result


class LabelChoice(Settings):
    """Sources of entity labels (Eq. 15).

    Attributes:
        mentions: Label a sentence also with entities of the knowledge base that it mentions.
        substitute: Share of training documents whose title entity is replaced, in title and text, by another name of
            the knowledge base; drawn again each epoch (a departure).
        definitions: Also learn from definitions of the knowledge base, each a document under its concept's name (a
            departure).
    """

    mentions: bool = True
    substitute: float = Field(default=0.0, ge=0, le=1)
    definitions: bool = False


class ValidationChoice(Settings):
    """Held-out training documents that stop the training and choose the epoch.

    Attributes:
        corpora: Names of corpora to hold documents out of.
        documents: Held-out documents.
        calibrate: After training, choose on them how much a query's entity half counts, and how much of it a
            document's sentences share (two departures).
        heading_documents: Training documents that must have a heading for it to be used; rare ones are often odd.
    """

    corpora: list[str] = Field(min_length=1)
    documents: int = Field(default=300, ge=1)
    heading_documents: int = Field(default=1, ge=1)
    calibrate: bool = False


class DataExperiment(Settings):
    """What a model learns from, and what is held out.

    Attributes:
        name: Also of its folder under `runs/`; begins with a letter or digit.
        title: Name of the model in tables; beside published figures if it begins with a published model's.
        track: What the model is trained on, compared with the test.
        notes: Remarks, printed below tables.
        seed: Seed of everything random but word vectors, which two threads train.
        corpora: Corpora to learn from.
        knowledge: Knowledge base: a data set, folder or file; null for none.
        never_learn: Corpora with queries, with the fields of `corpora` (default split: test). Their entities never
            replace a name.
        share: Share of the remaining documents to train on, for learning curves; what is held out, and word vectors,
            stay as they are.
    """

    name: str = Field(min_length=1, pattern=r"^[^\W_][\w.-]*$")
    title: str = ""
    track: Literal["zero-shot", "adapted"]
    notes: str = ""
    seed: int = 1
    corpora: list[CorpusChoice] = Field(min_length=1)
    validation: ValidationChoice
    knowledge: str | None = "knowledge-base"
    never_learn: list[CorpusChoice] = []
    word_vectors: WordVectorChoice = WordVectorChoice()
    labels: LabelChoice = LabelChoice()
    share: float = Field(default=1.0, gt=0, le=1)

    @property
    def kind(self) -> str:
        """The kind of model that it trains, from the field `model` of every family."""
        return str(self.model_dump(include={"model"})["model"])

    def begins_with(self) -> list[str]:
        """Return the models of its encoder and word vectors: hub names, folders, or names of shipped models.

        Raises:
            ConfigError: An environment variable in a name is not set.
        """
        return [] if self.word_vectors.model is None else [self.word_vectors.model]

    @model_validator(mode="after")
    def _validation_is_from_the_corpora(self) -> Self:
        unknown = set(self.validation.corpora) - {corpus.name for corpus in self.corpora}
        if unknown:
            raise ValueError(f"validation.corpora: {', '.join(sorted(unknown))} is none of 'corpora'")
        return self

    @model_validator(mode="after")
    def _may_be_learned_from(self) -> Self:
        for field, choices in (("corpora", self.corpora), ("word_vectors.texts", self.word_vectors.texts)):
            for choice in choices:
                if not learnable(choice.name):
                    reason = "is to measure models with, never to learn from; leave it out, and evaluate on it"
                    raise ValueError(f"{field}: {choice.name} {reason}")
        return self
