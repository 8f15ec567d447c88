"""What bi- and poly-encoder share: one encoder for queries and one for passages, or one that reads both with marks.

Section 3.2 of grundmann2021: two encoders begin as copies of one pre-trained encoder. Shared weights halve the number
of parameters; [QUERY] and [PASSAGE] then tell the encoder what it reads.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from auscult_lab.encoders.base import CaprConfig, PassageRanker, PassageText
from auscult_lab.modules.backbone import PASSAGE_MARK, QUERY_MARK, Backbone, pool
from auscult_lab.modules.batching import batches, in_order, single_precision


@dataclass(frozen=True, slots=True, kw_only=True)
class TowersConfig(CaprConfig):
    """Settings of architectures that encode queries and passages apart.

    Attributes:
        shared: One encoder for both.
        mark: Put [QUERY] and [PASSAGE] before the texts of a shared encoder, as the paper does. Without, any
            sentence-transformers model can stand in its place.
        query_prompt: Put before every query; some pre-trained models want one.
        passage_prompt: Put before every passage.
    """

    shared: bool = False
    mark: bool = True
    query_prompt: str = ""
    passage_prompt: str = ""

    @property
    def marked(self) -> bool:
        """Whether texts are marked."""
        return self.shared and self.mark

    @property
    def before_query(self) -> str:
        """All that is put before a query."""
        return (f"{QUERY_MARK} " if self.marked else "") + self.query_prompt

    @property
    def before_passage(self) -> str:
        """All that is put before a passage."""
        return (f"{PASSAGE_MARK} " if self.marked else "") + self.passage_prompt


class Towers(PassageRanker):
    """A ranker with an encoder of queries and an encoder of passages.

    Args:
        config: Settings.
        passages: The encoder of passages; of queries too where they share it.
        queries: The encoder of queries; a copy of the other when missing.
    """

    config: TowersConfig

    def __init__(self, config: TowersConfig, passages: Backbone, queries: Backbone | None = None) -> None:
        super().__init__()
        self.config = config
        if config.marked:
            passages.add_marks()
        self.passages = passages
        self.queries = passages if config.shared else queries or copy.deepcopy(passages)

    def backbones(self) -> dict[str, Backbone]:
        """The encoders: "passages", and "queries" where it is another."""
        return {"passages": self.passages} | ({} if self.config.shared else {"queries": self.queries})

    @abstractmethod
    def match(self, queries: Tensor, states: Tensor, mask: Tensor) -> Tensor:
        """Scores of every query with every passage, (queries, passages).

        Args:
            queries: Vectors, (queries, dim).
            states: Token states of passages, (passages, tokens, dim).
            mask: (passages, tokens), other than 0 where there is a token.
        """

    def score_lists(
        self, queries: Sequence[str], passages: Sequence[PassageText], rows: Tensor, *, chunk: int | None = None
    ) -> Tensor:
        """See `PassageRanker`: each query and each passage is read once, however many rows name it."""
        vectors = self.query_vectors(queries, chunk=chunk)
        columns: list[Tensor] = []
        order: list[list[int]] = []
        for batch, states, mask in self.read_passages(passages, chunk=chunk):
            columns.append(self.match(vectors, states, mask))
            order.append(batch)
        return in_order(columns, order, dim=1).gather(1, rows.to(vectors.device))

    def query_vectors(self, queries: Sequence[str], *, chunk: int | None = None, size: int | None = None) -> Tensor:
        """Pooled vectors of queries, float32 (queries, dim); of unit length where settings say cosine.

        Args:
            queries: Texts.
            chunk: As for `score_lists`.
            size: As for `read_passages`.
        """
        before, limit = self.config.before_query, self.config.max_query_tokens
        parts: list[Tensor] = []
        order: list[list[int]] = []
        for batch in batches([len(query) for query in queries], chunk or size):
            fields = self.queries.tokenize([before + queries[row] for row in batch], max_tokens=limit)
            states = self.queries(fields) if chunk is None else self.queries.forgetful(fields)
            parts.append(self.pooled(states, fields["attention_mask"]))
            order.append(batch)
        return in_order(parts, order) if parts else torch.zeros(0, self.queries.dim)

    def read_passages(
        self, passages: Sequence[PassageText], *, chunk: int | None = None, size: int | None = None
    ) -> Iterator[tuple[list[int], Tensor, Tensor]]:
        """Token states of passages, a batch of similar length at a time.

        Args:
            passages: To be read.
            chunk: As for `score_lists`.
            size: Passages in a batch whose activations are held; `chunk` goes before it.

        Yields:
            Positions of the batch's passages, states (batch, tokens, dim), mask (batch, tokens).
        """
        before, limit = self.config.before_passage, self.config.max_passage_tokens
        for batch in batches([len(passage.text) for passage in passages], chunk or size):
            fields = self.passages.tokenize([before + passages[row].text for row in batch], max_tokens=limit)
            states = self.passages(fields) if chunk is None else self.passages.forgetful(fields)
            yield batch, states, fields["attention_mask"].to(states.device)

    def pooled(self, states: Tensor, mask: Tensor) -> Tensor:
        """Vectors of texts, float32 (texts, dim); of unit length where settings say cosine."""
        with single_precision(states):
            return self.directed(pool(states.float(), mask.to(states.device), self.config.pooling))

    def directed(self, vectors: Tensor) -> Tensor:
        """Vectors as they are compared: scaled to unit length where settings say cosine."""
        return torch.nn.functional.normalize(vectors, dim=-1) if self.config.cosine else vectors

    @property
    def scale(self) -> float:
        """What inner products are multiplied by."""
        return self.config.temperature if self.config.cosine else 1.0
