"""Experiment files: one YAML a model, checked before anything runs.

A file may begin with `base: OTHER.yaml` (relative to it) and then says only what differs from that one.

Defaults are arnold2020's section 5.2 throughout, so a file says only where it departs.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, Self, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from auscult.errors import ConfigError
from auscult.models.cdv.network import TASKS, Task


class Settings(BaseModel):
    """Checked, unchangeable settings; an unknown field is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class CorpusChoice(Settings):
    """A corpus to learn from.

    Attributes:
        name: Of the catalogue, or a path.
        split: Which of its splits; None for all of it.
        skip_bad: Leave records out that cannot be read, and tell how many, instead of stopping at the first.
    """

    name: str
    split: str | None = None
    skip_bad: bool = False


class WordVectorChoice(Settings):
    """Word vectors: of a file or a model, or trained on the training corpora (128-d skip-gram with subwords).

    Attributes:
        file: A GloVe, word2vec or fastText text file; when given, nothing is trained.
        model: A saved model that averages word vectors ("default" is the shipped one), whose vectors are taken; when
            given, nothing is trained, and what they learned from counts as read before.
        limit: Read only so many of the file's words.
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


class FineTuning(Settings):
    """A second stage, in which the transformer that reads sentences is trained with the network (grundmann2021, 3.2).

    The paper gives the two stages and the pooling; all figures here are this project's.

    Attributes:
        pooling: What of a sentence's states the network reads in this stage.
        epochs: At most; each ends with a validation.
        batch_documents: Documents a step.
        max_sentences: Sentences read of a document in this stage; None for as many as in the first.
        learning_rate: The transformer's highest.
        network_learning_rate: The network's highest.
        warm_up: Share of all steps in which both rise; they fall to 0 in a straight line afterwards.
        chunk: Sentences whose activations are held at once; never changes a gradient.
        precision: "bf16" lets the transformer compute in half precision and keeps weights in single.
        checkpoint_minutes: A killed training loses at most so much.
        patience: Stop after so many epochs without a better validation; None runs all.
    """

    pooling: Literal["cls", "mean"] = "cls"
    epochs: int = Field(default=10, ge=1)
    batch_documents: int = Field(default=4, ge=1)
    max_sentences: int | None = Field(default=None, ge=1)
    learning_rate: float = Field(default=2e-5, gt=0)
    network_learning_rate: float = Field(default=2e-4, gt=0)
    warm_up: float = Field(default=0.1, ge=0, lt=1)
    chunk: int = Field(default=32, ge=1)
    precision: Literal["float32", "bf16"] = "float32"
    checkpoint_minutes: float = Field(default=5.0, ge=0)
    patience: int | None = Field(default=3, ge=1)


class EncoderTraining(Settings):
    """How a pre-trained encoder is trained, for whatever purpose; defaults are this project's.

    Attributes:
        learning_rate: The highest.
        warm_up: Share of all steps in which the rate rises; it falls to 0 in a straight line afterwards. None: it is
            the same in all steps.
        precision: "bf16" or "16-mixed" compute in half precision and keep weights in single.
        checkpoint_minutes: A killed training loses at most so much.
        patience: Stop after so many epochs without a better validation; None runs all.
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


class SentenceChoice(Settings):
    """The sentence encoder: averaged words (Eq. 8) or a pooled transformer (Eq. 9).

    Attributes:
        kind: "average" or "transformer".
        vectors: Word vectors of their own for "average" (GloVe, say); None shares the targets' vectors.
        frequency_weighted: Append a second average in which rare words weigh more (a departure).
        transformer: Hub name or folder, for "transformer"; environment variables in it are expanded.
        fine_tune: Then train the transformer too; None keeps it as it is (arnold2020).
    """

    kind: Literal["average", "transformer"] = "average"
    vectors: WordVectorChoice | None = None
    frequency_weighted: bool = False
    transformer: str = ""
    pooling: Literal["mean", "cls"] = "mean"
    fine_tune: FineTuning | None = None

    @model_validator(mode="after")
    def _transformer_is_named(self) -> SentenceChoice:
        if self.kind == "transformer" and not self.transformer:
            raise ValueError("kind 'transformer' needs 'transformer: NAME or FOLDER'")
        if self.kind != "transformer" and self.fine_tune is not None:
            raise ValueError("fine_tune needs kind 'transformer'")
        return self


def backbone_name(said: str, field: str) -> str:
    """A hub name or folder with environment variables and the home folder expanded.

    Args:
        said: As an experiment file has it.
        field: Where it does.

    Raises:
        ConfigError: A variable is not set.
    """
    remedy = "set it to a folder or hub name of a transformer encoder, or name one in the experiment file"
    return expanded(said, field, remedy)


def expanded(said: str, field: str, remedy: str = "set it, or say in the experiment file what it stands for") -> str:
    """A setting with environment variables and the home folder expanded.

    Args:
        said: As an experiment file has it.
        field: Where it does.
        remedy: What to do where a variable is not set.

    Raises:
        ConfigError: A variable is not set.
    """
    found = os.path.expandvars(said)
    if "$" in found:
        raise ConfigError(f"the environment variable of '{field}: {said}'", "none set", remedy)
    return str(Path(found).expanduser()) if found.startswith("~") else found


class BloomTraining(Settings):
    """How the paper's entity and aspect encoders are trained (section 5.2)."""

    epochs: int = Field(default=5, ge=1)
    batch_size: int = Field(default=128, ge=1)
    learning_rate: float = Field(default=1e-3, gt=0)
    dropout: float = Field(default=0.5, ge=0, lt=1)
    max_sentences: int = Field(default=8, ge=1)
    """Sentences of an article's lead that describe its entity."""


class TargetChoice(Settings):
    """The target space: the paper's Bloom encoders, or centred averages of word vectors (a departure)."""

    kind: Literal["bloom", "average"] = "bloom"
    bloom: BloomTraining = BloomTraining()


class LabelChoice(Settings):
    """Where entity labels come from (Eq. 15).

    Attributes:
        mentions: Label a sentence also with the entities mentioned in it, linked through the knowledge base.
        substitute: Share of training documents whose title entity is replaced, in title and text, by another name of
            the knowledge base, anew at each epoch; 0 for the paper's training (a departure).
    """

    mentions: bool = True
    substitute: float = Field(default=0.0, ge=0, le=1)


class ContrastChoice(Settings):
    """The in-batch listwise loss added to the distance loss; weight 0 for the paper's training (a departure)."""

    weight: float = Field(default=0.0, ge=0)
    temperature: float = Field(default=20.0, ge=1)


class NetworkChoice(Settings):
    """Sizes of the network (section 5.2); what each field does is said in `CdvConfig`.

    Attributes:
        standardize: Which inputs to standardise: "none", the sentence vectors, or "all" with the structural flags,
            which then weigh more, and mislead where documents are laid out otherwise than in training.
    """

    lstm_dim: int = Field(default=512, ge=1)
    discourse_dim: int = Field(default=256, ge=1)
    bounded: bool = True
    standardize: Literal["none", "sentences", "all"] = "none"
    normalisation: Literal["l2", "layer"] = "l2"
    dropout: float = Field(default=0.0, ge=0, lt=1)
    tasks: tuple[Task, ...] = TASKS


class TrainingChoice(Settings):
    """Optimisation (section 5.2).

    Attributes:
        batch_documents: Documents a step.
        decay: Factor on the learning rate after each epoch.
        max_sentences: Sentences read of a training document; inference has no limit.
        random_window: Read them from a random place rather than the beginning (a departure).
        max_tokens: Words read of a training sentence; inference has no limit.
        patience: Stop after so many epochs without a better validation score; None runs all epochs.
        gradient_clip: Largest norm of a step's gradient; None for no clipping.
    """

    epochs: int = Field(default=50, ge=1)
    batch_documents: int = Field(default=16, ge=1)
    learning_rate: float = Field(default=1e-3, gt=0)
    decay: float = Field(default=0.975, gt=0, le=1)
    weight_decay: float = Field(default=1e-4, ge=0)
    max_sentences: int = Field(default=396, ge=1)
    random_window: bool = False
    max_tokens: int = Field(default=96, ge=1)
    patience: int | None = Field(default=10, ge=1)
    gradient_clip: float | None = Field(default=None, gt=0)
    accelerator: str = "auto"
    devices: int | Literal["auto"] = "auto"


class ValidationChoice(Settings):
    """Held-out training documents that stop the training and choose the epoch.

    Attributes:
        corpora: Draw them from these corpora of the list, together.
        documents: How many in all.
        calibrate: After training, choose on them how much a query's entity half counts, and how much of it the
            sentences of a document share (two departures).
        heading_documents: Ask only for headings that at least so many training documents have: rare ones are as
            often odd as hard.
    """

    corpora: list[str] = Field(min_length=1)
    documents: int = Field(default=300, ge=1)
    heading_documents: int = Field(default=1, ge=1)
    calibrate: bool = False


class DataExperiment(Settings):
    """What every experiment says: what is learned from, and what is held out.

    Attributes:
        name: Of the file and of the folder under `runs/`; begins with a letter or digit, as ".." is another folder.
        title: How tables call the model; one that begins with a published model's name stands beside its figures.
        never_learn: Corpora whose queried entities are kept out of name substitution.
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

    @model_validator(mode="after")
    def _validation_is_from_the_corpora(self) -> Self:
        unknown = set(self.validation.corpora) - {corpus.name for corpus in self.corpora}
        if unknown:
            raise ValueError(f"validation.corpora: {', '.join(sorted(unknown))} is none of 'corpora'")
        return self


class Experiment(DataExperiment):
    """A whole CDV experiment: data, vectors, labels, network, training."""

    model: Literal["cdv"] = "cdv"
    sentences: SentenceChoice = SentenceChoice()
    targets: TargetChoice = TargetChoice()
    network: NetworkChoice = NetworkChoice()
    loss: Literal["distance", "robust", "cosine"] = "robust"
    contrast: ContrastChoice = ContrastChoice()
    training: TrainingChoice = TrainingChoice()


_DEEPEST = 8
_Kind = TypeVar("_Kind", bound=DataExperiment)


def read_model_name(path: Path) -> str:
    """Which model an experiment file is about: "cdv" where it does not say.

    Raises:
        ConfigError: The file is no readable YAML of fields.
    """
    return str(_read_fields(path).get("model", "cdv"))


def read_experiment(path: Path) -> Experiment:
    """Read and check an experiment file of CDV.

    Raises:
        ConfigError: Naming the file and every field that is wrong.
    """
    return check_experiment(path, Experiment)


def check_experiment(path: Path, kind: type[_Kind]) -> _Kind:
    """Read an experiment file and check it against one kind of experiment.

    Raises:
        ConfigError: Naming the file and every field that is wrong.
    """
    try:
        return kind.model_validate(_read_fields(path))
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'file'}: {e['msg']}" for e in error.errors())
        raise ConfigError("a valid experiment", f"{path} with {faults}", "correct these fields") from error


def _read_fields(path: Path, depth: int = 0) -> dict[str, object]:
    try:
        fields = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        reason = " ".join(str(error).split())
        raise ConfigError("a readable YAML experiment file", f"{path} ({reason})", "check path and syntax") from error
    if not isinstance(fields, dict):
        raise ConfigError("a YAML experiment file of fields", f"{path} without any", "see experiments/ for examples")
    base = fields.pop("base", None)
    if base is None:
        return fields
    if depth == _DEEPEST:
        raise ConfigError("a 'base' that ends", f"{path} and {depth} files below it", "remove the circle")
    return _merged(_read_fields(path.parent / str(base), depth + 1), fields)


def _merged(base: dict[str, object], own: dict[str, object]) -> dict[str, object]:
    """The base's fields under the file's own; fields of fields are merged, lists are replaced."""
    merged = dict(base)
    for name, value in own.items():
        below = merged.get(name)
        merged[name] = _merged(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return merged
