"""Experiment files of CDV. Defaults are arnold2020's section 5.2 throughout, so a file says only where it departs."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from auscult_lab.cdv.network import TASKS
from auscult_lab.modules import Task
from auscult_lab.training.experiment import DataExperiment, Settings, WordVectorChoice, backbone_name


class FineTuning(Settings):
    """A second stage, in which the transformer that reads sentences is trained with the network (grundmann2021, 3.2).

    The paper gives the two stages and the pooling; all figures here are this project's.

    Attributes:
        pooling: State of a sentence that the network then reads.
        epochs: The most; each ends with a validation.
        batch_documents: Documents per step.
        max_sentences: Sentences read of a document; null: `training.max_sentences`.
        learning_rate: The highest of the transformer.
        network_learning_rate: The highest of the network.
        warm_up: Share of the steps in which both rates rise; then they fall to 0 in a straight line.
        chunk: Sentences whose activations are in memory at once; never changes a gradient.
        precision: Of the transformer.
        checkpoint_minutes: Minutes of work that an interrupt may lose.
        patience: Epochs without improvement before it stops; null runs all.
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


class SentenceChoice(Settings):
    """The sentence encoder: averaged words (Eq. 8) or a pooled transformer (Eq. 9).

    Attributes:
        vectors: For `average`: word vectors of its own, with the fields of `word_vectors`; null for those of the
            targets.
        frequency_weighted: Append a second average in which rare words weigh more (a departure).
        transformer: For `transformer`: hub name or folder.
        pooling: For `transformer`.
        fine_tune: For `transformer`: train it in a second stage with these fields (`{}`: all defaults); null keeps it
            as it is (arnold2020).
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


class BloomTraining(Settings):
    """How the paper's entity and aspect encoders are trained (section 5.2).

    Attributes:
        decay: Factor on the learning rate after each epoch. The paper: "similarly to" CDV (0.975).
        weight_decay: 1e-4 in the paper; decoupled, as CDV's is here.
        max_sentences: Sentences of an article's lead that describe its entity.
        input_scale: Factor on word vectors (a departure).
        loss: The paper's `bp-mll`, or `cross-entropy` of each bit (a departure).
        held_out: Descriptions to hold out, of IDs that have others. After each epoch, the share is measured for which
            the code of their ID is the likeliest of all, and the best epoch counts; 0 measures nothing.
        patience: Epochs without improvement before it stops; null runs all.
    """

    epochs: int = Field(default=5, ge=1)
    batch_size: int = Field(default=128, ge=1)
    learning_rate: float = Field(default=1e-3, gt=0)
    decay: float = Field(default=1.0, gt=0, le=1)
    weight_decay: float = Field(default=0.0, ge=0)
    dropout: float = Field(default=0.5, ge=0, lt=1)
    max_sentences: int = Field(default=8, ge=1)
    input_scale: float = Field(default=1.0, gt=0)
    loss: Literal["bp-mll", "cross-entropy"] = "bp-mll"
    held_out: int = Field(default=0, ge=0)
    patience: int | None = Field(default=None, ge=1)


class TargetChoice(Settings):
    """The target space.

    Attributes:
        kind: The paper's Bloom encoders, or centred averages of word vectors (a departure).
    """

    kind: Literal["bloom", "average"] = "bloom"
    bloom: BloomTraining = BloomTraining()


class ContrastChoice(Settings):
    """The in-batch listwise loss added to the distance loss (a departure).

    Attributes:
        weight: Weight of this loss; 0 for the paper's training.
        temperature: Factor on its scores.
    """

    weight: float = Field(default=0.0, ge=0)
    temperature: float = Field(default=20.0, ge=1)


class NetworkChoice(Settings):
    """The network (section 5.2; see `CdvConfig`).

    Attributes:
        lstm_dim: Units of each LSTM direction.
        discourse_dim: Length of a discourse vector.
        bounded: Decode through tanh.
        standardize: Inputs to scale to zero mean and unit variance. With `all`, structural flags weigh more, and
            mislead in documents of another layout.
        normalisation: Normalisation of discourse vectors.
        dropout: On the inputs of the LSTM and of the discourse layer.
        tasks: Both, or one alone: the paper's single-task variants.
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
        epochs: The most.
        batch_documents: Documents per step.
        decay: Factor on the learning rate after each epoch.
        max_sentences: Sentences read of a training document; searching has no limit.
        random_window: Read them from a random place instead of the beginning (a departure).
        max_tokens: Words read of a training sentence; searching has no limit.
        patience: Epochs without improvement before it stops; null runs all.
        gradient_clip: Largest norm of a gradient; null for no limit.
        accelerator: Lightning's name for it.
        devices: As for Lightning.
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


class CdvExperiment(DataExperiment):
    """An experiment of CDV: `model: cdv`.

    Attributes:
        loss: `distance` (Eq. 12), `robust` (Eq. 17) or `cosine`.
    """

    model: Literal["cdv"] = "cdv"
    sentences: SentenceChoice = SentenceChoice()
    targets: TargetChoice = TargetChoice()
    network: NetworkChoice = NetworkChoice()
    loss: Literal["distance", "robust", "cosine"] = "robust"
    contrast: ContrastChoice = ContrastChoice()
    training: TrainingChoice = TrainingChoice()

    def begins_with(self) -> list[str]:
        """Return the models that its transformer and its word vectors are taken from."""
        choice = self.sentences
        transformer = [backbone_name(choice.transformer, "transformer")] if choice.kind == "transformer" else []
        vectors = [] if choice.vectors is None or choice.vectors.model is None else [choice.vectors.model]
        return [*transformer, *super().begins_with(), *vectors]
