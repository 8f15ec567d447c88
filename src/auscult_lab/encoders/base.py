"""Base classes of the architectures (grundmann2021, section 3.2).

All read a query as text, "entity ; aspect", and a passage as text, through a transformer. They differ in how much of a
passage they compute before the query is known: its vector (bi-encoder), its token states (poly-encoder) or nothing
(cross-encoder). `keep` computes that part and `score_kept` the rest.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import torch
from torch import Tensor, nn

from auscult.documents import Document, Passage
from auscult.errors import ConfigError
from auscult.understanding import Query
from auscult.understanding import query_text as text_of
from auscult.understanding.query import Question
from auscult_lab.modules.backbone import (
    PASSAGE_MARK,
    QUERY_MARK,
    Backbone,
    Pooling,
    batches,
    in_order,
    pool,
    single_precision,
)


@dataclass(frozen=True, slots=True)
class PassageText:
    """A passage as an architecture reads it.

    Attributes:
        text: The passage.
        before: Text before it in the document, for models that read surroundings.
        after: Text after it.
    """

    text: str
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaprConfig:
    """Settings all architectures have; the defaults are the paper's where it gives them.

    Attributes:
        pooling: "cls" (the paper) or "mean" over tokens (what sentence-transformers backbones were trained with).
        cosine: Compare directions, multiplied by `temperature`. The paper trains with the plain dot product (section
            3.2) and searches by cosine (section 4.2); the default is the first.
        temperature: See `cosine`.
        max_query_tokens: Longer queries are cut; the paper gives no limit.
        max_passage_tokens: Longer passages are cut (section 4.5: 512).
    """

    pooling: Pooling = "cls"
    cosine: bool = False
    temperature: float = 20.0
    max_query_tokens: int = 64
    max_passage_tokens: int = 512

    def __post_init__(self) -> None:
        """Check the values; one out of range is a `ConfigError`."""
        if self.pooling not in ("cls", "mean"):
            raise ConfigError("pooling 'cls' or 'mean'", repr(self.pooling), "correct the experiment file")
        for name in ("max_query_tokens", "max_passage_tokens"):
            if getattr(self, name) < 3:
                raise ConfigError(f"{name} of 3 or more", str(getattr(self, name)), "correct the experiment file")
        if self.temperature <= 0:
            raise ConfigError("a temperature above 0", str(self.temperature), "correct the experiment file")


class PassageRanker(nn.Module, ABC):
    """Scores passage texts for a query text; higher is better.

    Padding, order and batch size change no score by more than a share of 1e-4.

    Attributes:
        kind: Its name in experiment files and saved models: "bi", "poly", "cross", "ck".
        title: Its name in tables.
        config: Its settings.
        head: Its learned parts besides the backbones; empty where there are none.
        batch_size: Texts per batch where no gradients are computed; never changes a score.
        surroundings: Characters of the document before and after a passage that it reads.
        plain: Whether it uses only the last states of its encoders, and every token attends to every other one.
    """

    kind: ClassVar[str]
    title: ClassVar[str]
    plain: ClassVar[bool] = True
    config: CaprConfig
    head: nn.Module
    batch_size: int = 32
    surroundings: int = 0

    @abstractmethod
    def backbones(self) -> dict[str, Backbone]:
        """Return its encoders by name: the parameters of `__init__`, and the folders of a saved model."""

    def attachments(self) -> dict[str, Callable[[Path], None]]:
        """Return by name the functions that write the folders of a saved model besides its backbones."""
        return {}

    @abstractmethod
    def score_lists(
        self, queries: Sequence[str], passages: Sequence[PassageText], rows: Tensor, *, chunk: int | None = None
    ) -> Tensor:
        """Return scores of a training batch with gradients, (queries, k).

        Args:
            queries: Texts.
            passages: The batch's passages, each encoded once where the architecture allows it.
            rows: Long, (queries, k): the passages that each query is scored with.
            chunk: Texts per forward pass. They are recomputed in the backward pass, so that memory holds one chunk's
                activations (gradient caching). None reads all at once. Never changes scores or gradients.
        """

    @abstractmethod
    def keep(self, passages: Sequence[PassageText]) -> Tensor | Sequence[Tensor | PassageText]:
        """Compute the part of passages that needs no query, without gradients, on the processor."""

    @abstractmethod
    def score_kept(self, query: str, kept: Tensor | Sequence[Tensor | PassageText]) -> Tensor:
        """Return scores for one query of passages as `keep` returned them, float32 (passages,) on the processor."""


def query_text(query: Query, *, question: Question = "otherwise") -> str:
    """Return a query as the architectures read it (section 3.1): "entity ; aspect", or its text if it has neither."""
    return text_of(query, between=" ; ", question=question)


def passage_text(document: Document, passage: Passage, *, surroundings: int = 0) -> PassageText:
    """Return the text of a passage, with up to `surroundings` characters of the document before and after it."""
    start, end = passage.start, passage.end
    return PassageText(
        text=document.text[start:end],
        before=document.text[max(0, start - surroundings) : start],
        after=document.text[end : end + surroundings],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class TowersConfig(CaprConfig):
    """Settings of architectures that encode queries and passages separately.

    Attributes:
        shared: One encoder for both.
        mark: Put [QUERY] and [PASSAGE] before the texts of a shared encoder, as the paper does. Without these marks,
            any sentence-transformers model can serve as the encoder.
        query_prompt: Put before every query; some pre-trained models need one.
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
        """Mark and prompt before a query."""
        return (f"{QUERY_MARK} " if self.marked else "") + self.query_prompt

    @property
    def before_passage(self) -> str:
        """Mark and prompt before a passage."""
        return (f"{PASSAGE_MARK} " if self.marked else "") + self.passage_prompt


class Towers(PassageRanker):
    """Base of bi- and poly-encoder: one encoder for queries and one for passages, or one that reads both with marks.

    Section 3.2 of grundmann2021: two encoders begin as copies of one pre-trained encoder. Shared weights halve the
    number of parameters; [QUERY] and [PASSAGE] then tell the encoder what it reads.

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
        """Return the encoders: "passages", and "queries" where it is not the same."""
        return {"passages": self.passages} | ({} if self.config.shared else {"queries": self.queries})

    @abstractmethod
    def match(self, queries: Tensor, states: Tensor, mask: Tensor) -> Tensor:
        """Return scores of every query with every passage, (queries, passages).

        Args:
            queries: Vectors, (queries, dim).
            states: Token states of passages, (passages, tokens, dim).
            mask: (passages, tokens), not 0 for tokens.
        """

    def score_lists(
        self, queries: Sequence[str], passages: Sequence[PassageText], rows: Tensor, *, chunk: int | None = None
    ) -> Tensor:
        """See `PassageRanker`: each query and passage is read once, however many rows refer to it."""
        vectors = self.query_vectors(queries, chunk=chunk)
        read = self.read_passages(passages, chunk=chunk)
        scores = in_order(((batch, self.match(vectors, states, mask)) for batch, states, mask in read), dim=1)
        return scores.gather(1, rows.to(vectors.device))

    def query_vectors(self, queries: Sequence[str], *, chunk: int | None = None, size: int | None = None) -> Tensor:
        """Return pooled vectors of queries, float32 (queries, dim); of unit length with the setting `cosine`.

        Args:
            queries: Texts.
            chunk: As for `score_lists`.
            size: As for `read_passages`.
        """
        before, limit = self.config.before_query, self.config.max_query_tokens

        def read(batch: list[int]) -> Tensor:
            fields = self.queries.tokenize([before + queries[row] for row in batch], max_tokens=limit)
            states = self.queries(fields) if chunk is None else self.queries.forgetful(fields)
            return self.pooled(states, fields["attention_mask"])

        dealt = batches([len(query) for query in queries], chunk or size)
        return in_order(((batch, read(batch)) for batch in dealt), empty=(0, self.queries.dim))

    def read_passages(
        self, passages: Sequence[PassageText], *, chunk: int | None = None, size: int | None = None
    ) -> Iterator[tuple[list[int], Tensor, Tensor]]:
        """Yield token states of passages, a batch of similar length at a time.

        Args:
            passages: The passages.
            chunk: As for `score_lists`.
            size: Passages per batch; `chunk` takes precedence.

        Yields:
            Positions of the batch's passages, states (batch, tokens, dim), mask (batch, tokens).
        """
        before, limit = self.config.before_passage, self.config.max_passage_tokens
        for batch in batches([len(passage.text) for passage in passages], chunk or size):
            fields = self.passages.tokenize([before + passages[row].text for row in batch], max_tokens=limit)
            states = self.passages(fields) if chunk is None else self.passages.forgetful(fields)
            yield batch, states, fields["attention_mask"].to(states.device)

    def pooled(self, states: Tensor, mask: Tensor) -> Tensor:
        """Return vectors of texts, float32 (texts, dim); of unit length with the setting `cosine`."""
        with single_precision(states):
            return self.directed(pool(states.float(), mask.to(states.device), self.config.pooling))

    def directed(self, vectors: Tensor) -> Tensor:
        """Return vectors as they are compared: scaled to unit length with the setting `cosine`."""
        return torch.nn.functional.normalize(vectors, dim=-1) if self.config.cosine else vectors

    @property
    def scale(self) -> float:
        """Factor on inner products."""
        return self.config.temperature if self.config.cosine else 1.0
