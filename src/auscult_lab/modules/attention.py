"""Masked attention between and within texts: the parts of zhu2019 (sections 3.3 to 3.5), and term gating."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from auscult_lab.modules.interaction import cells, masked_softmax


class CrossAttention(nn.Module):
    """Fuses a query into the words of texts, by attention in both directions (zhu2019 Eq. 3-8).

        s_xy = w_c · [u_x ; q_y ; u_x ⊙ q_y]                                  Eq. 3
        A_D2Q = softmax_row(S) Q                                              Eq. 4, 6
        A_Q2D = softmax_row(S) softmax_col(S)^T U                             Eq. 5, 7
        V = [U ; A_D2Q ; U ⊙ A_D2Q ; U ⊙ A_Q2D]                               Eq. 8

    w_c is applied in its three parts, which avoids the (words, query words, 3 dim) array of Eq. 3; Eq. 7 is multiplied
    from the right, which avoids a (words, words) array.

    Args:
        dim: Length H of the words' states, in query and texts.
    """

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.text = nn.Linear(dim, 1, bias=False)
        self.query = nn.Linear(dim, 1, bias=False)
        bound = dim**-0.5
        self.product = nn.Parameter(torch.empty(dim).uniform_(-bound, bound))

    def begin_as_likeness(self, scale: float) -> None:
        """Set w_c so that s_xy is the inner product of the two states times `scale`."""
        with torch.no_grad():
            self.text.weight.zero_()
            self.query.weight.zero_()
            self.product.fill_(scale)

    def forward(self, query: Tensor, query_mask: Tensor, texts: Tensor, mask: Tensor) -> Tensor:
        """Return V, (texts, words, 4 * dim); row i of the query belongs to text i.

        Args:
            query: (texts, query words, dim).
            query_mask: Bool, (texts, query words).
            texts: (texts, words, dim).
            mask: Bool, (texts, words).
        """
        similar = (texts * self.product) @ query.transpose(1, 2)
        similar = similar + self.text(texts) + self.query(query).transpose(1, 2)
        both = cells(mask, query_mask)
        over_query = masked_softmax(similar, both, dim=2)
        over_words = masked_softmax(similar, both, dim=1)
        to_query = over_query @ query
        to_text = over_query @ (over_words.transpose(1, 2) @ texts)
        return torch.cat([texts, to_query, texts * to_query, texts * to_text], dim=-1)


class InnerAttention(nn.Module):
    """Sums vectors, weighted by importance: softmax of w · tanh(W v) (zhu2019 Eq. 9-11).

    Args:
        dim: Length of a vector.
        attention_dim: Rows of W.
        dropout: Dropout of the sum.
    """

    def __init__(self, dim: int, attention_dim: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.hidden = nn.Linear(dim, attention_dim, bias=False)
        self.weight = nn.Linear(attention_dim, 1, bias=False)
        self.dropout = nn.Dropout(dropout)

    def begin_as_likeness(self, columns: slice, scale: float, sharpness: float) -> None:
        """Set one row of W so that vectors with a large sum over some columns are more important.

        Args:
            columns: Columns of a vector with element-wise similarities.
            scale: Makes their sum about 1 for two equal vectors.
            sharpness: Importance of a sum of 1.
        """
        with torch.no_grad():
            self.hidden.weight[0] = 0.0
            self.hidden.weight[0, columns] = scale
            self.weight.weight[0, 0] = sharpness

    def forward(self, vectors: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return sums, (rows, dim), and weights, (rows, vectors): 0 at padding, with sum 1 where a row has a vector.

        Args:
            vectors: (rows, vectors, dim).
            mask: Bool, (rows, vectors).
        """
        importance = self.weight(torch.tanh(self.hidden(vectors))).squeeze(-1)
        weights = masked_softmax(importance, mask, dim=1)
        pooled: Tensor = self.dropout((weights.unsqueeze(1) @ vectors).squeeze(1))
        return pooled, weights


@dataclass(frozen=True, slots=True)
class Pooled:
    """Result of hierarchical attention.

    Attributes:
        passages: (batch, dim).
        sentences: Weights of sentences, (batch, sentences); their sum is 1, or 0 for a passage without words.
        words: Weights of words within their sentence, (batch, sentences, words); their sum is 1 in each real sentence.
    """

    passages: Tensor
    sentences: Tensor
    words: Tensor


class HierarchicalAttention(nn.Module):
    """Inner attention over the words of a sentence, then over the sentences of a passage (zhu2019 Eq. 12-17).

    Args:
        dim: Length of a word's state.
        attention_dim: Rows of W in both levels.
        dropout: Dropout of both levels' sums.
    """

    def __init__(self, dim: int, attention_dim: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.words = InnerAttention(dim, attention_dim, dropout=dropout)
        self.sentences = InnerAttention(dim, attention_dim, dropout=dropout)

    def forward(self, states: Tensor, mask: Tensor, present: Tensor) -> Pooled:
        """Pool passages whose real sentences are in one list, passage by passage.

        Args:
            states: (real sentences, words, dim).
            mask: Bool, (real sentences, words).
            present: Bool, (batch, sentences): places of the real sentences.
        """
        vectors, weights = self.words(states, mask)
        placed = vectors.new_zeros(*present.shape, vectors.shape[-1]).masked_scatter(present.unsqueeze(-1), vectors)
        passages, sentences = self.sentences(placed, present)
        words = weights.new_zeros(*present.shape, weights.shape[-1]).masked_scatter(present.unsqueeze(-1), weights)
        return Pooled(passages, sentences, words)


class TermGate(nn.Module):
    """Weights of a query's words (guo2016, yang2016): softmax of w . x over words, which sums to 1.

    Args:
        width: Length of a word's x: its vector's length, or 1 for its idf.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Linear(width, 1, bias=False)

    def forward(self, words: Tensor, mask: Tensor) -> Tensor:
        """Return weights, (batch, query words), 0 at padding.

        Args:
            words: (batch, query words, width).
            mask: Bool, (batch, query words).
        """
        return masked_softmax(self.weight(words).squeeze(-1), mask, dim=1)
