"""The second stage of a CDV training: the transformer that reads sentences is trained with the network.

grundmann2021, section 3.2: "In a first step, we train CDV with a frozen BERT layer using average pooling until
convergence. Subsequently, we unfreeze BERT and use the representation of the [CLS] token of the last hidden layer for
fine-tuning BERT jointly with the other layers." Trained jointly from the beginning, the transformer would forget what
it knew, the paper found.

A step costs some four passes of the transformer over all sentences of its documents: one forwards, one again when its
activations are needed, and their way back. Only `chunk` sentences' activations are held at once.

Departures: none in what is done; rates and epochs, which the paper leaves out, are this project's. Where inputs are
standardised, their mean and deviation are taken anew, because [CLS] states lie elsewhere than averages do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence
from torch.utils.data import DataLoader

from auscult.encoders import training_record
from auscult.errors import ConfigError
from auscult_lab.cdv.data import Batch, DocumentExamples, collate
from auscult_lab.cdv.encoder import CdvEncoder
from auscult_lab.cdv.experiment import CdvExperiment, FineTuning
from auscult_lab.cdv.kept_sentences import read_by_transformer
from auscult_lab.cdv.network import CdvNetwork
from auscult_lab.cdv.objective import cdv_loss, common_headings, retrieval_quality
from auscult_lab.cdv.persistence import load, save
from auscult_lab.cdv.transformer import PooledTransformer
from auscult_lab.modules.backbone import Backbone, Pooling, pool
from auscult_lab.modules.batching import batches, in_order, single_precision
from auscult_lab.modules.recurrent import like
from auscult_lab.training.batches import DocumentBatches
from auscult_lab.training.data import TrainingData
from auscult_lab.training.loop import History, is_main_process
from auscult_lab.training.schedule import Schedule
from auscult_lab.training.stages import Run

_CHECKPOINTS = "fine-tuning"


class JointNetwork(nn.Module):
    """A transformer that reads sentences, and the network that reads its vectors.

    Args:
        sentences: The transformer.
        documents: The network.
        pooling: What of a sentence's states the network reads.
        max_tokens: Sentences are cut here in training.
        chunk: Sentences whose activations are held at once.
    """

    def __init__(
        self, sentences: Backbone, documents: CdvNetwork, *, pooling: Pooling, max_tokens: int, chunk: int
    ) -> None:
        super().__init__()
        self.sentences = sentences
        self.documents = documents
        self.pooling = pooling
        self._max_tokens = max_tokens
        self._chunk = chunk

    def inputs(self, flags: PackedSequence, texts: list[str]) -> PackedSequence:
        """Sentence vectors with their flags, packed (sentences, input_dim), with gradients to the transformer.

        Args:
            flags: Packed (sentences, flags).
            texts: The sentences, in the order of `flags.data`.
        """
        parts: list[Tensor] = []
        order: list[list[int]] = []
        for rows in batches([len(text) for text in texts], self._chunk):
            fields = self.sentences.tokenize([texts[row] for row in rows], max_tokens=self._max_tokens)
            states = self.sentences.forgetful(fields)
            parts.append(pool(states, fields["attention_mask"].to(states.device), self.pooling).float())
            order.append(rows)
        return like(flags, torch.cat([in_order(parts, order), flags.data], dim=1))


class FineTuningObjective:
    """Optimises transformer and network together, as `CdvObjective` does the network.

    Args:
        network: Both.
        experiment: Loss.
        choice: Optimiser.
        as_encoder: Wraps both as the encoder they will be, for validation.
        data: Its held-out documents are validated on.
    """

    def __init__(
        self,
        network: JointNetwork,
        experiment: CdvExperiment,
        choice: FineTuning,
        as_encoder: Callable[[JointNetwork], CdvEncoder],
        data: TrainingData,
    ) -> None:
        self.network = network
        self._experiment = experiment
        self._choice = choice
        self._as_encoder = as_encoder
        self._held_out = data.held_out
        self._asked_for = common_headings(data.documents, experiment.validation.heading_documents)

    def loss(self, batch: Batch) -> tuple[Tensor, int]:
        """See `cdv_loss`; and the number of sentences."""
        inputs = self.network.inputs(batch.inputs, batch.texts)
        with single_precision(inputs.data):
            return cdv_loss(self.network.documents, self._experiment, inputs, batch), len(batch.texts)

    def measures(self) -> Mapping[str, float]:
        """Retrieval over the held-out documents, in single precision, as the model will be used."""
        with single_precision(next(self.network.parameters())):
            return retrieval_quality(self._as_encoder(self.network), self._held_out, self._asked_for)

    def optimizer(self) -> torch.optim.Optimizer:
        """AdamW, with a rate of its own for the transformer."""
        choice = self._choice
        groups: list[dict[str, Any]] = [
            {"params": [each for each in self.network.sentences.parameters() if each.requires_grad]},
            {"params": self.network.documents.parameters(), "lr": choice.network_learning_rate},
        ]
        decay = self._experiment.training.weight_decay
        return torch.optim.AdamW(groups, lr=choice.learning_rate, weight_decay=decay)


def kept_stage(folder: Path, train: Callable[[], tuple[CdvEncoder, History]]) -> tuple[CdvEncoder, History]:
    """What the first stage left: as it was kept in a folder, or trained now and then kept there.

    Args:
        folder: Of a whole model, which can be opened and measured like any other.
        train: The first stage.
    """
    if (folder / "model.json").is_file():
        told: Any = training_record(folder)
        return load(folder), History(told["history"], told["best_epoch"])
    encoder, history = train()
    if is_main_process():
        save(encoder, folder, training={"history": history.epochs, "best_epoch": history.best})
    return encoder, history


def fine_tune(
    experiment: CdvExperiment, data: TrainingData, frozen: CdvEncoder, run: Run
) -> tuple[CdvEncoder, History]:
    """Train a model of the first stage further, or go on with what was interrupted in the same folder.

    Args:
        experiment: Of both stages; it asks for fine-tuning.
        data: As in the first stage.
        frozen: What the first stage left; its network and its transformer are trained in place.
        run: The training that it is the second stage of.

    Returns:
        The model, which owns its transformer, with the weights of the best epoch.
    """
    read, choice = frozen.sentences, experiment.sentences.fine_tune
    if not isinstance(read, PooledTransformer) or choice is None:
        raise ConfigError("an experiment that fine-tunes a transformer", "another", "set sentences.fine_tune")
    network = JointNetwork(
        read.backbone,
        frozen.network,
        pooling=choice.pooling,
        max_tokens=experiment.training.max_tokens,
        chunk=choice.chunk,
    )

    def as_encoder(trained: JointNetwork) -> CdvEncoder:
        own = PooledTransformer(trained.sentences, pooling=trained.pooling)
        return CdvEncoder(trained.documents, own, frozen.spaces, name=frozen.name)

    if frozen.network.config.standardize and not any((run.folder / _CHECKPOINTS).glob("*.ckpt")):
        pooled = PooledTransformer(read.backbone, pooling=choice.pooling)
        sentences = read_by_transformer(experiment, data, pooled, run, within=f"sentences-{choice.pooling}")
        examples = DocumentExamples.of(experiment, data, pooled, frozen.spaces, read=sentences)
        frozen.network.fit_inputs(*examples.input_statistics(flags=experiment.network.standardize == "all"))
    network.train()  # both have been in use
    objective = FineTuningObjective(network, experiment, choice, as_encoder, data)
    loader = _loader(experiment, choice, data, frozen)
    schedule = Schedule.of(choice, experiment.training, seed=experiment.seed, monitor="validation_RR")
    history = run.fit(objective, loader, schedule, within=_CHECKPOINTS)
    return as_encoder(network), history


def _loader(experiment: CdvExperiment, choice: FineTuning, data: TrainingData, frozen: CdvEncoder) -> DataLoader[Batch]:
    examples = DocumentExamples.of(experiment, data, None, frozen.spaces, max_sentences=choice.max_sentences)
    dealt = DocumentBatches(examples.lengths(), batch_documents=choice.batch_documents, seed=experiment.seed)
    # A generator of its own: making an iterator would otherwise take from the chance that dropout draws from.
    return DataLoader(examples, batch_sampler=dealt, collate_fn=collate, generator=torch.Generator())  # type: ignore[arg-type]
