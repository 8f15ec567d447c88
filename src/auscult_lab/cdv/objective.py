"""CDV's training objective: the distance loss of arnold2020, and where asked for an in-batch listwise loss.

Retrieval quality on held-out training documents: the figure that stops a training and chooses its epoch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from auscult.interfaces import DocumentEncoder, FloatArray
from auscult.understanding import Query
from auscult_lab.cdv.data import Batch
from auscult_lab.cdv.encoder import CdvEncoder
from auscult_lab.cdv.experiment import CdvExperiment
from auscult_lab.cdv.network import CdvNetwork
from auscult_lab.training.labels import LabelledDocument
from auscult_lab.training.losses import LOSSES, contrastive_loss


def common_headings(documents: Sequence[LabelledDocument], at_least: int) -> frozenset[tuple[str, ...]]:
    """The (normalised) headings that at least so many documents have."""
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
    asked = [label for label in dict.fromkeys(labels) if label[2] in asked_for]
    if not asked:
        return {"R@1": 0.0, "RR": 0.0}
    queries = [
        Query(query_id="", entity=name, aspects=headings, entity_id="" if key.startswith("title:") else key)
        for key, name, headings in asked
    ]
    scores = encoder.encode_queries(queries) @ np.stack(means).T
    relevant = np.array([[label[0] == ask[0] and label[2] == ask[2] for label in labels] for ask in asked])
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
    for share in (0.0, 0.5, 1.0, 2.0):
        encoder.document_share = share
        vectors = encoder.encode_documents([item.document for item in held_out])
        for weight in sorted((step / 2 for step in range(1, 9)), key=lambda each: abs(each - 1.0)):
            encoder.entity_weight = weight
            quality = retrieval_quality(encoder, held_out, asked_for, vectors)
            if quality["RR"] > best[2]["RR"]:
                best = (share, weight, quality)
    encoder.document_share, encoder.entity_weight, quality = best
    return quality


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
