"""Word tables: what a ranker keeps for every word it knows, with room for words that training never saw."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from auscult_lab.modules.vocabulary import Vocabulary


class WordTable(nn.Module, ABC):
    """A brick that keeps something for every word, and can be told of words that training did not know."""

    @abstractmethod
    def add_words(self, words: Sequence[str]) -> None:
        """Make room for further words; their ids follow the ones known so far. What is added is not saved."""


class WordEmbedding(WordTable):
    """Word vectors, trained further or kept as they are.

    Args:
        vocabulary: Words and their vectors.
        trainable: Train the vectors with the network; those of words added later never are.
    """

    def __init__(self, vocabulary: Vocabulary, *, trainable: bool) -> None:
        super().__init__()
        self._vocabulary = vocabulary
        self.dim = vocabulary.dim
        rows = torch.cat([torch.zeros(1, self.dim), torch.from_numpy(vocabulary.vectors).float()])
        self.rows = nn.Parameter(rows, requires_grad=trainable)
        self.register_buffer("added", torch.zeros(0, self.dim), persistent=False)
        self.added: Tensor

    def add_words(self, words: Sequence[str]) -> None:
        """Look up the vectors of further words."""
        found = torch.from_numpy(self._vocabulary.look_up(words)).to(self.rows)
        self.added = torch.cat([self.added, found])

    def forward(self, ids: Tensor) -> Tensor:
        """Vectors, (*ids.shape, dim); the padding's are zeros, and get no gradient."""
        known = ids < len(self.rows)
        vectors = nn.functional.embedding(torch.where(known, ids, 0), self.rows, padding_idx=0)
        if known.all():
            return vectors
        added = nn.functional.embedding(torch.where(known, 0, ids - len(self.rows)), self.added)
        return torch.where(known.unsqueeze(-1), vectors, added)

    def distinct(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Vectors of texts' distinct words, (distinct, dim), the first of them zeros; which stands where, as `ids`.

        What lies outside a text has the first.
        """
        # Padding is put in front, so that it is always there and always the first.
        flat = nn.functional.pad(ids.masked_fill(~mask, 0).flatten(), (1, 0))
        words, rows = torch.unique(flat, return_inverse=True)
        vectors: Tensor = self(words)
        return vectors.masked_fill((words == 0).unsqueeze(1), 0.0), rows[1:].view_as(ids)


class WordIdf(WordTable):
    """Inverse document frequencies, which are not trained."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self._unseen = vocabulary.unseen_idf
        self.register_buffer("idf", torch.cat([torch.zeros(1), torch.from_numpy(vocabulary.idf).float()]))
        self.register_buffer("added", torch.zeros(0), persistent=False)
        self.idf: Tensor
        self.added: Tensor

    def add_words(self, words: Sequence[str]) -> None:
        """Further words are as rare as a word that no training passage holds."""
        self.added = torch.cat([self.added, torch.full((len(words),), self._unseen).to(self.idf)])

    def forward(self, ids: Tensor) -> Tensor:
        """Idf, of the shape of the ids; the padding's is 0."""
        return torch.cat([self.idf, self.added])[ids]
