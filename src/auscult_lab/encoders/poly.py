"""Poly-encoder: a query's vector attends to the tokens of a passage before both are compared (grundmann2021, Eq. 2).

    w = softmax over tokens j of y_q' W p_j        weights of the passage's tokens, W learned
    y_p = sum over j of w_j p_j                    the passage as this query sees it
    score(q, p) = y_q . y_p

p_j are the last layer's token states of the passage, including its first and last mark; y_q is the query's pooled
vector. `codes` selects the form of humeau2020 in the paper's direction: m learned codes c_i attend to the tokens, and
the query attends to the codes' vectors v_i, without W.

    v_i = sum over j of softmax_j(c_i . p_j) p_j,    y_p = sum over i of softmax_i(y_q . v_i) v_i

Passages are encoded once, before any query, to all token states in half precision (2 x dim bytes per token, some
hundred times a bi-encoder's vector), or to m vectors. A query then costs one encoding and one attention per passage.

Departures: humeau2020 stores candidates as one vector each and applies the codes to the conversation, which is the
query there. Here passages are stored, so the codes belong to them. Neither paper says how W is initialised: here as the
unit matrix over sqrt(dim), which is scaled inner-product attention. Without the scaling, raw states give all weight to
one token (`attention_scale` sets another factor). With `cosine`, queries have length 1 and all tokens begin with nearly
equal weight.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from auscult.errors import ConfigError
from auscult_lab.encoders.base import PassageText, Towers, TowersConfig
from auscult_lab.modules.backbone import Backbone, batches, in_order, single_precision


@dataclass(frozen=True, slots=True, kw_only=True)
class PolyConfig(TowersConfig):
    """Settings of the poly-encoder.

    Attributes:
        codes: Learned codes that summarise a passage's tokens (humeau2020); None for the tokens themselves (Eq. 2).
        attention_scale: Initial W as a multiple of the unit matrix; None for 1 / sqrt(dim). No effect with codes.
    """

    codes: int | None = None
    attention_scale: float | None = None

    def __post_init__(self) -> None:
        """Check the values; one out of range is a `ConfigError`."""
        TowersConfig.__post_init__(self)
        if self.codes is not None and self.codes < 1:
            raise ConfigError("at least one code, or none named", str(self.codes), "correct the experiment file")


class TokenAttention(nn.Module):
    """Eq. 2's W: the query attends to each token's state.

    Args:
        dim: Length of a state.
        scale: Initial W as a multiple of the unit matrix.
    """

    def __init__(self, dim: int, scale: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(scale * torch.eye(dim))

    def summarise(self, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the vectors that a query attends to, (passages, tokens, dim), and their mask."""
        return states, mask

    def project(self, queries: Tensor) -> Tensor:
        """Return queries multiplied by W, (queries, dim)."""
        return queries @ self.weight


class CodeAttention(nn.Module):
    """Codes that attend to the tokens; the query attends to the codes' vectors (humeau2020)."""

    def __init__(self, codes: int, dim: int) -> None:
        super().__init__()
        self.codes = nn.Parameter(torch.randn(codes, dim) / math.sqrt(dim))

    def summarise(self, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return one vector per code, (passages, codes, dim), and a mask of ones."""
        weights = _weights(torch.einsum("cd,ptd->pct", self.codes, states), mask.unsqueeze(1))
        return weights @ states, mask.new_ones(len(states), len(self.codes))

    def project(self, queries: Tensor) -> Tensor:
        """Return queries unchanged, (queries, dim)."""
        return queries


class PolyEncoder(Towers):
    """The poly-encoder."""

    kind: ClassVar[str] = "poly"
    title: ClassVar[str] = "CAPR-Poly"
    config: PolyConfig
    head: TokenAttention | CodeAttention

    def __init__(self, config: PolyConfig, passages: Backbone, queries: Backbone | None = None) -> None:
        super().__init__(config, passages, queries)
        dim = passages.dim
        if config.codes is None:
            scale = config.attention_scale
            self.head = TokenAttention(dim, 1 / math.sqrt(dim) if scale is None else scale)
        else:
            self.head = CodeAttention(config.codes, dim)

    def match(self, queries: Tensor, states: Tensor, mask: Tensor) -> Tensor:
        """Return scores of every query with every passage, (queries, passages)."""
        with single_precision(states):
            return self._attend(queries, *self.head.summarise(states.float(), mask))

    def _attend(self, queries: Tensor, vectors: Tensor, mask: Tensor) -> Tensor:
        """Return scores, (queries, passages), of passages as (passages, vectors, dim) with their mask."""
        weights = _weights(torch.einsum("qd,ptd->pqt", self.head.project(queries), vectors), mask.unsqueeze(1))
        seen = self.directed(weights @ vectors)
        return self.scale * torch.einsum("qd,pqd->qp", queries, seen)

    def keep(self, passages: Sequence[PassageText]) -> list[Tensor]:
        """Return for each passage the vectors that a query attends to, float16 (tokens or codes, dim)."""
        kept: dict[int, Tensor] = {}
        with torch.no_grad():
            for batch, states, mask in self.read_passages(passages, size=self.batch_size):
                with single_precision(states):
                    vectors, masks = self.head.summarise(states.float(), mask)
                for row, summary, present in zip(batch, vectors, masks, strict=True):
                    kept[row] = summary[present.bool()].half().cpu()
        return [kept[row] for row in range(len(passages))]

    def score_kept(self, query: str, kept: Sequence[Tensor]) -> Tensor:  # type: ignore[override]
        """Return scores of passages as `keep` returned them, float32 (passages,), on the processor."""
        with torch.no_grad():
            vector = self.query_vectors([query])

            def scores(batch: list[int]) -> Tensor:
                vectors = pad_sequence([kept[row].to(vector) for row in batch], batch_first=True)
                lengths = torch.tensor([len(kept[row]) for row in batch], device=vector.device)
                mask = torch.arange(vectors.shape[1], device=vector.device) < lengths.unsqueeze(1)
                with single_precision(vectors):
                    return self._attend(vector, vectors, mask)[0].cpu()

            dealt = batches([len(each) for each in kept], self.batch_size)
            return in_order((batch, scores(batch)) for batch in dealt)


def _weights(logits: Tensor, mask: Tensor) -> Tensor:
    """Return a softmax over the last dimension where the mask is not 0; every row needs such a place."""
    return logits.masked_fill(mask == 0, float("-inf")).softmax(dim=-1)
