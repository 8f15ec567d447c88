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
        name: Name in the catalogue, or a path.
        split: Name of the split; None for the whole corpus.
        skip_bad: Skip and count records that cannot be read, instead of stopping at the first.
    """

    name: str
    split: str | None = None
    skip_bad: bool = False


class WordVectorChoice(Settings):
    """Word vectors: from a file or a model, or trained on the training corpora (128-d skip-gram with subwords).

    Attributes:
        file: A GloVe, word2vec or fastText text file, with environment variables expanded; nothing is trained then.
        model: A saved model that averages word vectors ("cdv" is the shipped one), whose vectors are used. Nothing is
            trained then, and their training data counts as read before.
        limit: Number of words to read from the file.
        glossary: Also learn from the names, synonyms and definitions of the knowledge base.
        texts: Further corpora that only the word vectors learn from.
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
        learning_rate: Peak learning rate.
        warm_up: Share of all steps in which the rate rises; afterwards it falls linearly to 0. None for a constant
            rate.
        precision: "bf16" or "16-mixed" compute in half precision and keep weights in single.
        checkpoint_minutes: Minutes between checkpoints inside epochs.
        patience: Epochs without a better validation score after which to stop; None to run all.
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
    remedy = "set it to a folder or hub name of a transformer encoder, or name one in the experiment file"
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
        mentions: Also label a sentence with the entities it mentions, linked through the knowledge base.
        substitute: Share of training documents whose title entity is replaced, in title and text, by another name of
            the knowledge base, drawn in each epoch (a departure); 0 for the paper's training.
    """

    mentions: bool = True
    substitute: float = Field(default=0.0, ge=0, le=1)


class ValidationChoice(Settings):
    """Held-out training documents that stop the training and choose the epoch.

    Attributes:
        corpora: Corpora of the list to draw them from.
        documents: Number of documents in all.
        calibrate: After training, choose on them the weight of a query's entity half, and the share of a document's
            mean entity half in its sentences (two departures).
        heading_documents: Number of training documents that must have a heading for it to be used in queries, since
            rare headings are often odd.
    """

    corpora: list[str] = Field(min_length=1)
    documents: int = Field(default=300, ge=1)
    heading_documents: int = Field(default=1, ge=1)
    calibrate: bool = False


class DataExperiment(Settings):
    """Settings of every experiment on documents: training data and held-out data.

    Attributes:
        name: Name of the file, and of the folder under `runs/`. It begins with a letter or digit, so that it is not
            "..".
        title: Name of the model in tables. A model whose title begins with a published name is shown with its figures.
        never_learn: Corpora whose queried entities are kept out of name substitution.
        share: Share of the training documents to use, drawn by the seed, for learning curves; held-out documents and
            word vectors do not change.
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
