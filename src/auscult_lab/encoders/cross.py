"""Cross-encoder: one transformer reads query and passage together (grundmann2021, section 3.2).

    score(q, p) = v . y + b        y = the state of the first token of  [CLS] query [SEP] passage [SEP]

Every word of the query attends to every word of the passage, so it ranks best. Nothing can be computed before the query
is known, so a query costs one encoding per passage. It is for re-ranking the hits of a cheaper model.

The paper says neither how states become a score nor where texts are cut. Here a linear layer follows the backbone's own
dropout. The query is cut at `max_query_tokens`, and the pair at `max_query_tokens` + `max_passage_tokens` or the
backbone's limit, so that a short query leaves more room for the passage. Mean pooling is a departure, and not the
default.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from auscult.errors import ConfigError
from auscult_lab.encoders.base import CaprConfig, PassageRanker, PassageText
from auscult_lab.modules.backbone import Backbone, batches, in_order, pool, single_precision

_DROPOUT = 0.1
"""BERT's, for backbones that name none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossConfig(CaprConfig):
    """Settings of the cross-encoder."""

    def __post_init__(self) -> None:
        """Check the values; one out of range is a `ConfigError`."""
        CaprConfig.__post_init__(self)
        if self.cosine:
            raise ConfigError("no 'cosine' for a cross-encoder, which compares no vectors", "it", "leave it out")


class CrossEncoder(PassageRanker):
    """The cross-encoder."""

    kind: ClassVar[str] = "cross"
    title: ClassVar[str] = "CAPR-Cross"
    config: CrossConfig

    def __init__(self, config: CrossConfig, pairs: Backbone) -> None:
        super().__init__()
        self.config = config
        self.pairs = pairs
        dropout = getattr(pairs.model.config, "hidden_dropout_prob", _DROPOUT)
        self.head = nn.Sequential(nn.Dropout(dropout), nn.Linear(pairs.dim, 1))

    def backbones(self) -> dict[str, Backbone]:
        """Return the encoder: "pairs"."""
        return {"pairs": self.pairs}

    def score_lists(
        self, queries: Sequence[str], passages: Sequence[PassageText], rows: Tensor, *, chunk: int | None = None
    ) -> Tensor:
        """See `PassageRanker`: one reading for each entry of `rows`."""
        cut = [self._cut(query) for query in queries]
        asked = [(cut[row], passages[column]) for row, columns in enumerate(rows.tolist()) for column in columns]
        return self._score(asked, chunk, forgetful=chunk is not None).view(rows.shape)

    def keep(self, passages: Sequence[PassageText]) -> Sequence[PassageText]:
        """Return the passages themselves."""
        return list(passages)

    def score_kept(self, query: str, kept: Sequence[PassageText]) -> Tensor:  # type: ignore[override]
        """Return scores of passages, float32 (passages,), on the processor."""
        cut = self._cut(query)
        with torch.no_grad():
            return self._score([(cut, passage) for passage in kept], self.batch_size).cpu()

    def _cut(self, query: str) -> str:
        # A query as long as the backbone's limit would leave no room for a passage.
        return self.pairs.cut(query, min(self.config.max_query_tokens, self.pairs.limit // 2))

    def _score(self, pairs: Sequence[tuple[str, PassageText]], size: int | None, *, forgetful: bool = False) -> Tensor:
        """Return scores of pairs, (pairs,)."""
        limit = self.config.max_query_tokens + self.config.max_passage_tokens

        def scores(batch: list[int]) -> Tensor:
            queries, passages = zip(*((pairs[row][0], pairs[row][1].text) for row in batch), strict=True)
            fields = self.pairs.tokenize(queries, passages, max_tokens=limit)
            states = self.pairs.forgetful(fields) if forgetful else self.pairs(fields)
            with single_precision(states):
                vectors = pool(states.float(), fields["attention_mask"].to(states.device), self.config.pooling)
                logits: Tensor = self.head(vectors).squeeze(1)
            return logits

        dealt = batches([len(query) + len(passage.text) for query, passage in pairs], size)
        return in_order((batch, scores(batch)) for batch in dealt)
