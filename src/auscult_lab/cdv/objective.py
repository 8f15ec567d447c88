"""CDV's training objective: the distance loss of arnold2020, and where asked for an in-batch listwise loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from auscult_lab.cdv.data import Batch
from auscult_lab.cdv.encoder import CdvEncoder
from auscult_lab.cdv.experiment import CdvExperiment
from auscult_lab.cdv.network import CdvNetwork
from auscult_lab.cdv.validation import retrieval_quality
from auscult_lab.training.labels import LabelledDocument
from auscult_lab.training.losses import LOSSES, contrastive_loss


class CdvObjective:
    """Optimises a CDV network and measures it on held-out documents after each epoch.

    Args:
        network: The network to train.
        experiment: Loss and optimiser.
        as_encoder: Wraps the network as the encoder it will be, for validation.
        held_out: Validation documents.
        asked_for: Headings that validation queries are made of.
    """

    def __init__(
        self,
        network: CdvNetwork,
        experiment: CdvExperiment,
        as_encoder: Callable[[CdvNetwork], CdvEncoder],
        held_out: Sequence[LabelledDocument],
        asked_for: frozenset[tuple[str, ...]],
    ) -> None:
        self.network = network
        self._experiment = experiment
        self._as_encoder = as_encoder
        self._held_out = held_out
        self._asked_for = asked_for

    def loss(self, batch: Batch) -> tuple[Tensor, int]:
        """See `cdv_loss`; and the number of sentences."""
        return cdv_loss(self.network, self._experiment, batch.inputs, batch), len(batch.inputs.data)

    def measures(self) -> Mapping[str, float]:
        """Retrieval over the held-out documents; this is what stops the training and chooses the epoch."""
        return retrieval_quality(self._as_encoder(self.network), self._held_out, self._asked_for)

    def optimizer(self) -> torch.optim.Optimizer:
        """Adam with decoupled weight decay (section 5.2)."""
        choice = self._experiment.training
        return torch.optim.AdamW(self.network.parameters(), lr=choice.learning_rate, weight_decay=choice.weight_decay)


def cdv_loss(network: CdvNetwork, experiment: CdvExperiment, inputs: PackedSequence, batch: Batch) -> Tensor:
    """The distance loss that an experiment names, plus its weighted contrastive loss; a mean over the sentences.

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
    """Mean sentence vector of each passage (Eq. 14 as one inner product needs it).

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
