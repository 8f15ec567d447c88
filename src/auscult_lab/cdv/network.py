"""The document encoder and discourse decoder of CDV (arnold2020, Eq. 10-12).

    h_t     = BLSTM(σ(s_1) … σ(s_T))_t                             (Eq. 11)
    δ_t     = tanh(W_he (h→_t ⊕ h←_t) + b_e), length-normalised     (Eq. 11, section 5.2)
    ε̂_t, α̂_t = tanh(W_δε δ_t + b_ε), tanh(W_δα δ_t + b_α)           (Eq. 12)

Costs one pass over the sentences of a document: linear in its length, no pairwise work with queries.

Section 5.2's "L2 batch normalization" is read as scaling each discourse vector to unit length, after the tanh. The
authors' published code does so. Unlike batch statistics, it keeps a document's vectors independent of the rest of the
batch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize
from torch.nn.utils.rnn import PackedSequence

from auscult.errors import ConfigError
from auscult_lab.modules import Task
from auscult_lab.modules.recurrent import BidirectionalLstm, like

TASKS: tuple[Task, ...] = ("entity", "aspect")


@dataclass(frozen=True, kw_only=True)
class CdvConfig:
    """Sizes of the network; defaults are section 5.2's.

    Attributes:
        input_dim: Length of a sentence vector with its flags.
        lstm_dim: Units of each LSTM direction.
        discourse_dim: Length of a discourse vector.
        target_dim: Length of the decoded entity and of the decoded aspect vector.
        tasks: What is decoded: both (the paper's multi-task model), or one alone (its single-task variants).
        bounded: Decode through tanh as the paper does. Departure when false: linear decoders, for targets that are
            directions rather than LSTM states.
        dropout: On the inputs of the LSTM and of the discourse layer; the paper uses 0.
        standardize: Scale each input to zero mean and unit variance over the training sentences (see
            `fit_inputs`). Departure: averaged word vectors vary little, and the LSTM learns faster on this scale.
        normalisation: "l2", the paper's, scales each discourse vector to unit length after the tanh. Departure:
            "layer", layer normalisation before the tanh.
        unit_halves: Scale the entity half and the aspect half to unit length before they are joined, so that neither
            outweighs the other. Departure from Eq. 13, for targets that are directions.
    """

    input_dim: int
    lstm_dim: int = 512
    discourse_dim: int = 256
    target_dim: int = 128
    tasks: tuple[Task, ...] = TASKS
    bounded: bool = True
    dropout: float = 0.0
    standardize: bool = False
    normalisation: Literal["l2", "layer"] = "l2"
    unit_halves: bool = False

    def __post_init__(self) -> None:
        if not self.tasks or set(self.tasks) - set(TASKS):
            raise ConfigError("tasks 'entity', 'aspect' or both", repr(self.tasks), "correct the experiment file")

    def as_dict(self) -> dict[str, object]:
        """Return the fields, as JSON can hold them."""
        return {**asdict(self), "tasks": list(self.tasks)}


class CdvNetwork(nn.Module):
    """BLSTM document encoder, discourse layer and one decoder a task."""

    def __init__(self, config: CdvConfig) -> None:
        super().__init__()
        self.config = config
        self.document = BidirectionalLstm(config.input_dim, config.lstm_dim)
        self.discourse = nn.Linear(2 * config.lstm_dim, config.discourse_dim)
        self.decoders = nn.ModuleDict(
            {task: nn.Linear(config.discourse_dim, config.target_dim) for task in config.tasks}
        )
        self.dropout = nn.Dropout(config.dropout)
        self.layer_norm = nn.LayerNorm(config.discourse_dim) if config.normalisation == "layer" else None
        self.input_mean: Tensor
        self.input_scale: Tensor
        if config.standardize:
            self.register_buffer("input_mean", torch.zeros(config.input_dim))
            self.register_buffer("input_scale", torch.ones(config.input_dim))

    def fit_inputs(self, mean: Tensor, deviation: Tensor) -> None:
        """Set mean and standard deviation, each (input_dim,), of the training sentences' inputs.

        An input that does not vary is centred and otherwise left as it is.
        """
        self.input_mean.copy_(mean)
        self.input_scale.copy_(torch.where(deviation > 1e-6, deviation, torch.ones_like(deviation)))

    def forward(self, sentences: PackedSequence) -> dict[Task, Tensor]:
        """Decode every sentence of a batch of documents.

        Args:
            sentences: Packed (total sentences, input_dim).

        Returns:
            For each task, (total sentences, target_dim), in the order of the packed data.
        """
        discourse = self.discourse_vectors(sentences)
        outputs: dict[Task, Tensor] = {}
        for task in self.config.tasks:
            decoded = self.decoders[task](discourse)
            outputs[task] = torch.tanh(decoded) if self.config.bounded else decoded
        return outputs

    def joined(self, decoded: Mapping[Task, Tensor]) -> Tensor:
        """Return unit vectors ε̂ ⊕ α̂ whose inner product with a unit query vector is Eq. 13's cosine.

        Args:
            decoded: For each task, (rows, target_dim).

        Returns:
            Shape (rows, target_dim * tasks).
        """
        halves = [decoded[task] for task in self.config.tasks]
        if self.config.unit_halves:
            halves = [normalize(half, dim=-1) for half in halves]
        return normalize(torch.cat(halves, dim=-1), dim=-1)

    def discourse_vectors(self, sentences: PackedSequence) -> Tensor:
        """Return discourse vectors δ_t, (total sentences, discourse_dim), in the order of the packed data."""
        inputs = sentences.data
        if self.config.standardize:
            inputs = (inputs - self.input_mean) / self.input_scale
        states = self.document(like(sentences, self.dropout(inputs))).data
        dense = self.discourse(self.dropout(states))
        if self.layer_norm is not None:
            return torch.tanh(self.layer_norm(dense))
        return normalize(torch.tanh(dense), dim=-1)
