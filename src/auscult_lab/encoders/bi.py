"""Bi-encoder: query and passage are encoded apart, and their vectors compared (grundmann2021, section 3.2).

    score(q, p) = y_q . y_p        y = the state of the first token of the encoder's last layer

Passages are encoded once, before any query, to one vector of `dim` numbers each. A query then costs one encoding of a
short text and one inner product per passage.

Departures, none of them the default: mean pooling, and cosine x temperature in place of the inner product, as
sentence-transformers models were trained. `document_share` adds part of the mean vector of a document's passages to
each of its passages, so that a passage that does not name its document's subject is still found by it. Passages are
read without their surroundings; the long variant that reads these is another architecture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from auscult.errors import ConfigError
from auscult_lab.encoders.base import PassageText, Towers, TowersConfig
from auscult_lab.modules.backbone import Backbone, in_order, single_precision


@dataclass(frozen=True, slots=True, kw_only=True)
class BiConfig(TowersConfig):
    """Settings of the bi-encoder.

    Attributes:
        document_share: How much of the mean vector of its document's passages is added to a passage's vector when
            passages of whole documents are scored; not in training, whose batches hold no whole documents.
    """

    document_share: float = 0.0

    def __post_init__(self) -> None:
        """Check the values; one out of range is a `ConfigError`."""
        # Not super(): a dataclass with slots is a new class, and super() would refer to the class before it.
        TowersConfig.__post_init__(self)
        if self.document_share < 0:
            raise ConfigError("a document_share of 0 or more", str(self.document_share), "correct the experiment file")


class BiEncoder(Towers):
    """The bi-encoder."""

    kind: ClassVar[str] = "bi"
    title: ClassVar[str] = "CAPR-Bi"
    config: BiConfig

    def __init__(self, config: BiConfig, passages: Backbone, queries: Backbone | None = None) -> None:
        super().__init__(config, passages, queries)
        self.head = nn.Module()

    def match(self, queries: Tensor, states: Tensor, mask: Tensor) -> Tensor:
        """Return inner products of vectors, (queries, passages); times the temperature for cosines."""
        vectors = self.pooled(states, mask)
        with single_precision(vectors):
            return self.scale * (queries @ vectors.T)

    def keep(self, passages: Sequence[PassageText]) -> Tensor:
        """Return vectors of passages, float32 (passages, dim), on the processor."""
        with torch.no_grad():
            read = self.read_passages(passages, size=self.batch_size)
            vectors = ((batch, self.pooled(states, mask).cpu()) for batch, states, mask in read)
            return in_order(vectors, empty=(0, self.passages.dim))

    def score_kept(self, query: str, kept: Tensor) -> Tensor:  # type: ignore[override]
        """Return inner products of the query's vector with those of passages, float32 (passages,), on the processor."""
        with torch.no_grad():
            (vector,) = self.query_vectors([query]).cpu()
            with single_precision(kept):
                scores: Tensor = self.scale * (kept @ vector)
        return scores

    def share_documents(self, kept: Tensor, documents: Tensor) -> Tensor:
        """Return passage vectors plus `document_share` of the mean vector of their document.

        Args:
            kept: Vectors from `keep`, (passages, dim).
            documents: Long, (passages,): number of each passage's document, from 0.
        """
        if not self.config.document_share or not len(kept):
            return kept
        sums = torch.zeros(int(documents.max()) + 1, kept.shape[1]).index_add_(0, documents, kept)
        means = sums / documents.bincount(minlength=len(sums)).clamp(min=1).unsqueeze(1)
        return self.directed(kept + self.config.document_share * means[documents])
