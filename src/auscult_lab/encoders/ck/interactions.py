"""The cosines of a query's and a passage's tokens, layer by layer: what a head of CK-HQA sees (wang2021, Figure 6).

They say what was found alike, which need not be what the score is made of.

Cost: one pair of query and passage.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

import numpy as np

from auscult.errors import DataError, ModelError, QueryError
from auscult.interfaces import FloatArray

if TYPE_CHECKING:
    from auscult_lab.encoders.scorer import CaprScorer
    from auscult_lab.rankers.scorer import RankerScorer

View = Literal["last", "mean"]


@dataclass(frozen=True, slots=True)
class Interactions:
    """A query and a passage as the model compares them.

    Attributes:
        score: Of the pair; scores of different queries cannot be compared.
        query: Its wordpieces, as far as they were read.
        query_entities: The preferred name of each one's entity, "" where there is none.
        passage: Its wordpieces, as far as they were read.
        passage_entities: As for the query.
        matrices: Cosines, float32 (layers, query tokens, passage tokens), the embeddings' layer first.
    """

    score: float
    query: tuple[str, ...]
    query_entities: tuple[str, ...]
    passage: tuple[str, ...]
    passage_entities: tuple[str, ...]
    matrices: FloatArray

    def view(self, name: View) -> FloatArray:
        """One matrix, (query tokens, passage tokens): the last layer's, or the mean over layers."""
        matrix: FloatArray = self.matrices[-1] if name == "last" else np.asarray(self.matrices.mean(axis=0))
        return matrix


@runtime_checkable
class ComparesTokens(Protocol):
    """A model that compares the tokens of a query and a passage, such as `CkRanker`."""

    def interactions(self, query: str, passage: str) -> Interactions:
        """The cosines of all tokens, in every layer."""
        ...


def find_interactions(scorer: CaprScorer | RankerScorer, query: str, passage: str) -> Interactions:
    """Compare a passage with a query.

    Args:
        scorer: Of a model that compares tokens; nothing need be prepared.
        query: What is asked.
        passage: Any text.

    Raises:
        ModelError: The model compares no tokens, or none that it can tell of.
        QueryError: The query has no words.
        DataError: The passage has no words.
    """
    ranker = scorer.ranker
    if not isinstance(ranker, ComparesTokens):
        raise ModelError("a model of the kind ck", f"'{ranker.kind}'", "train one: architecture: ck")
    ranker.eval()
    found = ranker.interactions(query, passage)
    if not found.query:
        raise QueryError("a query with words", repr(query), "ask in letters or digits")
    if not found.passage:
        raise DataError("a passage with words", repr(passage), "give another text")
    return found
