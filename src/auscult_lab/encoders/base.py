"""What bi-, poly- and cross-encoders have in common (grundmann2021, section 3.2).

All read a query as text, "entity ; aspect", and a passage as text, through a transformer. They differ in what of a
passage can be computed before the query is known: all of it (bi-encoder), its token states (poly-encoder), nothing
(cross-encoder). `keep` is that part and `score_kept` the rest.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from torch import Tensor, nn

from auscult.documents import Document, Passage
from auscult.errors import ConfigError
from auscult.understanding import Query
from auscult.understanding import query_text as text_of
from auscult.understanding.query import Question
from auscult_lab.modules.backbone import Backbone, Pooling


@dataclass(frozen=True, slots=True)
class PassageText:
    """A passage as an architecture reads it.

    Attributes:
        text: The passage.
        before: What stands before it in the document, for models that read surroundings.
        after: What stands behind it.
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
        max_query_tokens: Longer queries are cut; the paper does not say where.
        max_passage_tokens: Longer passages are cut (section 4.5: 512).
    """

    pooling: Pooling = "cls"
    cosine: bool = False
    temperature: float = 20.0
    max_query_tokens: int = 64
    max_passage_tokens: int = 512

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            ConfigError: One is out of range.
        """
        if self.pooling not in ("cls", "mean"):
            raise ConfigError("pooling 'cls' or 'mean'", repr(self.pooling), "correct the experiment file")
        for name in ("max_query_tokens", "max_passage_tokens"):
            if getattr(self, name) < 3:
                raise ConfigError(f"{name} of 3 or more", str(getattr(self, name)), "correct the experiment file")
        if self.temperature <= 0:
            raise ConfigError("a temperature above 0", str(self.temperature), "correct the experiment file")


class PassageRanker(nn.Module, ABC):
    """A query text and passage texts to scores; higher is better.

    Padding, the order of passages and how many are read at once never change a score beyond 1e-4 of it.

    Attributes:
        kind: How experiment files and saved models name it: "bi", "poly", "cross", "ck".
        title: How tables name it.
        config: Its settings.
        head: What it learns besides its backbones; holds nothing where that is all.
        batch_size: Texts read at once where no gradient is wanted; never changes a score.
        surroundings: Characters of the document before and behind a passage that it reads.
        plain: Whether all it reads of its encoders is the last states of a text in which every token sees every other.
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
        """Its encoders by the names it is made with and they are saved under."""

    def attachments(self) -> dict[str, Callable[[Path], None]]:
        """What a saved one needs besides backbones and `head`: by folder name, what writes that folder."""
        return {}

    @abstractmethod
    def score_lists(
        self, queries: Sequence[str], passages: Sequence[PassageText], rows: Tensor, *, chunk: int | None = None
    ) -> Tensor:
        """Scores of a training batch with gradients, (queries, k).

        Args:
            queries: Texts.
            passages: The batch's passages, each encoded once where the architecture allows it.
            rows: Long, (queries, k): which passages each query is scored with.
            chunk: Texts read at once, recomputed on the way back so that only one chunk's activations are held
                (gradient caching); None reads all at once. Never changes scores or gradients.
        """

    @abstractmethod
    def keep(self, passages: Sequence[PassageText]) -> Tensor | Sequence[Tensor | PassageText]:
        """What of passages can be computed before the query is known, without gradients, on the processor."""

    @abstractmethod
    def score_kept(self, query: str, kept: Tensor | Sequence[Tensor | PassageText]) -> Tensor:
        """Scores of kept passages for one query, float32 (passages,) on the processor, without gradients."""


def query_text(query: Query, *, question: Question = "otherwise") -> str:
    """A query as the architectures read it (section 3.1): "entity ; aspect", its words where it has neither.

    Args:
        query: What is asked.
        question: When its own words are the text, as `queries.query_text` takes it.
    """
    return text_of(query, between=" ; ", question=question)


def passage_text(document: Document, passage: Passage, *, surroundings: int = 0) -> PassageText:
    """A passage of a document.

    Args:
        document: Whose text the passage is of.
        passage: One of its passages.
        surroundings: Characters of the document before and behind it that are kept.
    """
    start, end = passage.start, passage.end
    return PassageText(
        text=document.text[start:end],
        before=document.text[max(0, start - surroundings) : start],
        after=document.text[end : end + surroundings],
    )
