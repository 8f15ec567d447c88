"""A ranker's attention over the sentences of a passage and the words of a query, as evidence (zhu2019, 5.4.3).

HAR reads a long sentence in pieces. A sentence's weight is the sum of its pieces' weights (beta of Eq. 16); a word's
weight is that within its piece (alpha of Eq. 13) times the piece's. Weights of a query's words sum to 1, and so do
those of a passage's sentences. They show where a ranker looked, which need not be the answer.

Cost: one pair of query and passage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch

from auscult.documents import Document, Passage
from auscult.errors import DataError, ModelError, QueryError
from auscult.understanding import Query, query_text
from auscult_lab.rankers.base import Tokens, pad
from auscult_lab.rankers.har import HarEvidence, Piece
from auscult_lab.rankers.registry import RANKERS
from auscult_lab.rankers.scorer import RankerScorer
from auscult_lab.scorers.lexical import passage_words, query_words

Weighted = tuple[str, float]
"""A word and its weight."""


@runtime_checkable
class AttendsToSentences(Protocol):
    """A ranker that has attention over a passage's sentences, such as `Har`."""

    def pieces(self, sentences: Sequence[Sequence[int]]) -> list[Piece]:
        """Return the rows of a passage's sentences in its layout."""
        ...

    def explain(self, query: Tokens, passage: Tokens) -> HarEvidence:
        """Return the ranker's attention weights."""
        ...


@dataclass(frozen=True, slots=True)
class SentenceEvidence:
    """A sentence of the passage.

    Attributes:
        text: Its text in the document.
        weight: Its share of the attention; None where the ranker did not read it, because it exceeds the ranker's
            limits or has no words.
        words: The words that were read, each with its share of the passage's attention.
    """

    text: str
    weight: float | None
    words: tuple[Weighted, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """A score, and the attention behind it.

    Attributes:
        score: Score of the pair; scores of different queries cannot be compared.
        query: The query's words that were read, each with its share of the attention over the query.
        sentences: Every sentence of the passage, in order.
    """

    score: float
    query: tuple[Weighted, ...]
    sentences: tuple[SentenceEvidence, ...]


def find_evidence(scorer: RankerScorer, query: Query, document: Document, passage: Passage) -> Evidence:
    """Score a passage for a query, and return the ranker's attention.

    Raises:
        ModelError: The ranker has no attention over sentences.
        QueryError: The query has no words.
        DataError: The passage has no words.
    """
    ranker = scorer.ranker
    if not isinstance(ranker, AttendsToSentences):
        able = [name for name, kind in RANKERS.items() if hasattr(kind.ranker, "explain")]
        remedy = f"take a ranker of the kind {' or '.join(able)}"
        raise ModelError("a ranker with attention over sentences", f"'{ranker.kind}', which has none", remedy)
    terms, words = query_words(query), passage_words(document, passage)
    if not terms:
        raise QueryError("a query with words", repr(query_text(query)), "ask in letters or digits")
    ids = [scorer.lexicon.ids(sentence) for sentence in words]
    pieces = ranker.pieces(ids)
    if not pieces:
        raise DataError("a passage with words", f"none in '{passage.passage_id}'", "choose another passage")
    query_tokens, passage_tokens = ranker.lay_out_query(scorer.lexicon.ids(terms)), ranker.lay_out_passage(ids)
    pair = pad([query_tokens]).to(ranker.device), pad([passage_tokens]).to(ranker.device)
    ranker.eval()
    with torch.inference_mode():
        score = float(ranker(*pair))
    attention = ranker.explain(*pair)
    texts = [document.slice(sentence) for sentence in passage.sentences]
    # A sentence's weight is the sum over its pieces.
    weights: list[float | None] = [None] * len(texts)
    read: list[list[Weighted]] = [[] for _ in texts]
    rows = zip(pieces, attention.sentences[0].tolist(), attention.words[0].tolist(), strict=True)
    for (number, start, end), weight, within in rows:
        weights[number] = (weights[number] or 0.0) + weight
        shares = (weight * share for share in within)
        read[number] += zip(words[number][start:end], shares, strict=False)
    parts = zip(texts, weights, read, strict=True)
    return Evidence(
        score,
        tuple(zip(terms, attention.query_words[0].tolist(), strict=False)),
        tuple(SentenceEvidence(text, weight, tuple(own)) for text, weight, own in parts),
    )
