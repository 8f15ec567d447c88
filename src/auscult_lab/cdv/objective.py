"""CDV's two training objectives: the network's on vectors that stay as they are, and that of fine-tuning.

The first is the distance loss of arnold2020, and where asked for an in-batch listwise loss. Retrieval on held-out
training documents stops a training and chooses its epoch. For the second see `FineTuningObjective`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence
from torch.utils.data import DataLoader

from auscult.encoders import training_record
from auscult.encoders.contract import DocumentEncoder, FloatArray
from auscult.errors import ConfigError
from auscult.understanding import Query
from auscult_lab.cdv.data import Batch, DocumentExamples, collate, read_by_transformer
from auscult_lab.cdv.encoder import CdvEncoder, PooledTransformer
from auscult_lab.cdv.experiment import CdvExperiment, FineTuning
from auscult_lab.cdv.network import CdvNetwork
from auscult_lab.cdv.persistence import load, save
from auscult_lab.modules.backbone import Backbone, Pooling, batches, in_order, pool, single_precision
from auscult_lab.modules.recurrent import like
from auscult_lab.training.batches import DocumentBatches
from auscult_lab.training.data import TrainingData
from auscult_lab.training.labels import LabelledDocument
from auscult_lab.training.loop import History, is_main_process
from auscult_lab.training.losses import LOSSES, contrastive_loss
from auscult_lab.training.schedule import Schedule
from auscult_lab.training.stages import Run


def common_headings(documents: Sequence[LabelledDocument], at_least: int) -> frozenset[tuple[str, ...]]:
    """Return the (normalised) headings that at least so many documents have."""
    counts = Counter(headings for item in documents for headings in set(item.aspects))
    return frozenset(headings for headings, count in counts.items() if headings and count >= at_least)


def retrieval_quality(
    encoder: DocumentEncoder,
    held_out: Sequence[LabelledDocument],
    asked_for: frozenset[tuple[str, ...]],
    vectors: Sequence[FloatArray] | None = None,
) -> dict[str, float]:
    """Rank all passages of the held-out documents for queries made of their titles and headings.

    A query is a title and one passage's headings; every passage with that title and those headings answers it. Ties
    count against the model, and so do scores that are no numbers.

    Args:
        encoder: The model.
        held_out: Documents that were not trained on.
        asked_for: Headings to make queries of; passages under other headings are ranked too.
        vectors: The documents' sentence vectors, where they are at hand.

    Returns:
        "R@1" (share of queries whose first passage answers) and "RR" (mean reciprocal rank), in [0, 1].
    """
    if vectors is None:
        vectors = encoder.encode_documents([item.document for item in held_out])
    means, labels = [], []
    for item, matrix in zip(held_out, vectors, strict=True):
        owners = np.array(item.passage_of)
        for row, headings in enumerate(item.aspects):
            if item.title and headings and (owners == row).any():
                means.append(matrix[owners == row].mean(axis=0))
                labels.append((item.title.key, item.title.name, headings))
    targets = [label for label in dict.fromkeys(labels) if label[2] in asked_for]
    if not targets:
        return {"R@1": 0.0, "RR": 0.0}
    queries = [
        Query(query_id="", entity=name, aspects=headings, entity_id="" if key.startswith("title:") else key)
        for key, name, headings in targets
    ]
    scores = encoder.encode_queries(queries) @ np.stack(means).T
    relevant = np.array([[label[0] == target[0] and label[2] == target[2] for label in labels] for target in targets])
    best = np.where(relevant, scores, -np.inf).max(axis=1)
    ahead = (~(scores < best[:, None]) & ~relevant).sum(axis=1)
    return {"R@1": float((ahead == 0).mean()), "RR": float((1.0 / (ahead + 1)).mean())}


def calibrate(
    encoder: CdvEncoder, held_out: Sequence[LabelledDocument], asked_for: frozenset[tuple[str, ...]]
) -> dict[str, float]:
    """Set an encoder's entity weight and document share to those that rank held-out documents best.

    Tried are weights of 0.5 to 4 in steps of a half, and shares of 0, 0.5, 1 and 2; of equals, those that change
    least. An encoder of one task is left as it is.

    Returns:
        The quality reached; see `retrieval_quality`.
    """
    if len(encoder.parts) < 2:
        return retrieval_quality(encoder, held_out, asked_for)
    best = (0.0, 1.0, {"RR": -1.0})
    decoded = encoder.decode_documents([item.document for item in held_out])
    for share in (0.0, 0.5, 1.0, 2.0):
        encoder.document_share = share
        vectors = [encoder.joined(halves) for halves in decoded]
        for weight in sorted((step / 2 for step in range(1, 9)), key=lambda each: abs(each - 1.0)):
            encoder.entity_weight = weight
            quality = retrieval_quality(encoder, held_out, asked_for, vectors)
            if quality["RR"] > best[2]["RR"]:
                best = (share, weight, quality)
    encoder.document_share, encoder.entity_weight, quality = best
    return quality


class CdvObjective:
    """Optimises the network of an encoder and measures the encoder on held-out documents after each epoch.

    Args:
        encoder: Its network is trained in place.
        experiment: Loss and optimiser.
        held_out: Validation documents.
        asked_for: Headings that validation queries are made of.
    """

    network: nn.Module

    def __init__(
        self,
        encoder: CdvEncoder,
        experiment: CdvExperiment,
        held_out: Sequence[LabelledDocument],
        asked_for: frozenset[tuple[str, ...]],
    ) -> None:
        self.network = encoder.network
        self._encoder = encoder
        self._experiment = experiment
        self._held_out = held_out
        self._asked_for = asked_for

    def loss(self, batch: Batch) -> tuple[Tensor, int]:
        """See `cdv_loss`; and the number of sentences."""
        return cdv_loss(self._encoder.network, self._experiment, batch.inputs, batch), len(batch.inputs.data)

    def measures(self) -> Mapping[str, float]:
        """Measure retrieval over the held-out documents; this is what stops the training and chooses the epoch."""
        self._encoder.network.eval()
        return retrieval_quality(self._encoder, self._held_out, self._asked_for)

    def optimizer(self) -> torch.optim.Optimizer:
        """Return Adam with decoupled weight decay (section 5.2)."""
        choice = self._experiment.training
        return torch.optim.AdamW(self.network.parameters(), lr=choice.learning_rate, weight_decay=choice.weight_decay)


def cdv_loss(network: CdvNetwork, experiment: CdvExperiment, inputs: PackedSequence, batch: Batch) -> Tensor:
    """Return the distance loss that an experiment names, plus its weighted contrastive loss; a mean over the sentences.

    Args:
        network: Decodes the inputs.
        experiment: Names the losses.
        inputs: Packed (sentences, input_dim), laid out as the batch's.
        batch: Targets and queries.
    """
    decoded = network(inputs)
    loss = LOSSES[experiment.loss](decoded, batch.targets)
    contrast = experiment.contrast
    if contrast.weight and len(batch.queries) > 1:
        passages = passage_means(network.joined(decoded), batch.passages, len(batch.queries))
        loss = loss + contrast.weight * contrastive_loss(
            passages, batch.queries, batch.labels, temperature=contrast.temperature
        )
    return loss


def passage_means(sentences: Tensor, passages: Tensor, count: int) -> Tensor:
    """Return the mean sentence vector of each passage (Eq. 14 as one inner product needs it).

    Args:
        sentences: Unit rows (sentences, dim).
        passages: (sentences,) the row of each sentence's passage, -1 for none.
        count: Number of passages.

    Returns:
        Shape (count, dim).
    """
    inside = passages >= 0
    rows = passages[inside]
    sums = sentences.new_zeros(count, sentences.shape[1]).index_add(0, rows, sentences[inside])
    sizes = torch.bincount(rows, minlength=count).clamp(min=1).unsqueeze(1)
    return sums / sizes


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
        """Return sentence vectors with their flags, packed (sentences, input_dim), with gradients to the transformer.

        Args:
            flags: Packed (sentences, flags).
            texts: The sentences, in the order of `flags.data`.
        """

        def read(rows: list[int]) -> Tensor:
            fields = self.sentences.tokenize([texts[row] for row in rows], max_tokens=self._max_tokens)
            states = self.sentences.forgetful(fields)
            return pool(states, fields["attention_mask"].to(states.device), self.pooling).float()

        dealt = batches([len(text) for text in texts], self._chunk)
        vectors = in_order((rows, read(rows)) for rows in dealt)
        return like(flags, torch.cat([vectors, flags.data], dim=1))


class FineTuningObjective(CdvObjective):
    """The second stage of a CDV training: the transformer that reads sentences is trained with the network.

    grundmann2021, section 3.2: "In a first step, we train CDV with a frozen BERT layer using average pooling until
    convergence. Subsequently, we unfreeze BERT and use the representation of the [CLS] token of the last hidden layer
    for fine-tuning BERT jointly with the other layers." Trained jointly from the beginning, the transformer would
    forget what it knew, the paper found.

    A step costs some four passes of the transformer over all sentences of its documents: one forwards, one again when
    its activations are needed, and their way back. Only `chunk` sentences' activations are held at once.

    Departures: none in what is done; rates and epochs, which the paper leaves out, are this project's. Where inputs are
    standardised, their mean and deviation are taken anew, because [CLS] states lie elsewhere than averages do.
    """

    def __init__(
        self,
        encoder: CdvEncoder,
        network: JointNetwork,
        experiment: CdvExperiment,
        choice: FineTuning,
        data: TrainingData,
    ) -> None:
        asked_for = common_headings(data.documents, experiment.validation.heading_documents)
        super().__init__(encoder, experiment, data.held_out, asked_for)
        self.network: JointNetwork = network
        self._choice = choice

    def loss(self, batch: Batch) -> tuple[Tensor, int]:
        """See `cdv_loss`; and the number of sentences."""
        inputs = self.network.inputs(batch.inputs, batch.texts)
        with single_precision(inputs.data):
            return cdv_loss(self.network.documents, self._experiment, inputs, batch), len(batch.texts)

    def measures(self) -> Mapping[str, float]:
        """Measure retrieval over the held-out documents, in single precision, as the model will be used."""
        with single_precision(next(self.network.parameters())):
            return super().measures()

    def optimizer(self) -> torch.optim.Optimizer:
        """Return AdamW, with a rate of its own for the transformer."""
        choice = self._choice
        groups: list[dict[str, Any]] = [
            {"params": [each for each in self.network.sentences.parameters() if each.requires_grad]},
            {"params": self.network.documents.parameters(), "lr": choice.network_learning_rate},
        ]
        decay = self._experiment.training.weight_decay
        return torch.optim.AdamW(groups, lr=choice.learning_rate, weight_decay=decay)


def kept_stage(folder: Path, train: Callable[[], tuple[CdvEncoder, History]]) -> tuple[CdvEncoder, History]:
    """Return the model and history of the first stage. Train and save them where the folder has none yet.

    Args:
        folder: Holds a whole model, which can be opened and measured like any other.
        train: The first stage.
    """
    if (folder / "model.json").is_file():
        record: Any = training_record(folder)
        return load(folder), History(record["history"], record["best_epoch"])
    encoder, history = train()
    if is_main_process():
        save(encoder, folder, training={"history": history.epochs, "best_epoch": history.best})
    return encoder, history


def fine_tune(
    experiment: CdvExperiment, data: TrainingData, frozen: CdvEncoder, run: Run
) -> tuple[CdvEncoder, History]:
    """Train a model of the first stage further, or go on with what was interrupted in the same folder.

    Args:
        experiment: Describes both stages, with fine-tuning.
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

    pooled = PooledTransformer(read.backbone, pooling=choice.pooling)
    encoder = CdvEncoder(frozen.network, pooled, frozen.spaces, name=frozen.name)
    if frozen.network.config.standardize and not any((run.folder / _CHECKPOINTS).glob("*.ckpt")):
        sentences = read_by_transformer(experiment, data, pooled, run, within=f"sentences-{choice.pooling}")
        examples = DocumentExamples(experiment, data, pooled, frozen.spaces, read=sentences)
        frozen.network.fit_inputs(*examples.input_statistics(flags=experiment.network.standardize == "all"))
    network.train()  # both have been in use
    objective = FineTuningObjective(encoder, network, experiment, choice, data)
    examples = DocumentExamples(experiment, data, None, frozen.spaces, max_sentences=choice.max_sentences)
    dealt = DocumentBatches(examples.lengths(), batch_documents=choice.batch_documents, seed=experiment.seed)
    # A generator of its own: making an iterator would otherwise take from the chance that dropout draws from.
    loader: DataLoader[Any] = DataLoader(examples, batch_sampler=dealt, collate_fn=collate, generator=torch.Generator())
    schedule = Schedule.of(choice, experiment.training, seed=experiment.seed, monitor="validation_RR")
    history = run.fit(objective, loader, schedule, within=_CHECKPOINTS)
    encoder.network.eval()
    return encoder, history
