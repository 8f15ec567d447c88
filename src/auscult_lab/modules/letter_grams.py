"""Word hashing: a word as its letter grams, so that unknown words have a vector, too (huang2013, section 3.2).

"good" is marked as "#good#" and becomes the counts of its letter trigrams #go, goo, ood, od#. A linear layer over such
counts needs no count vector (some ten thousand numbers, nearly all zero): it is the sum of the weight rows of the
word's grams. Each distinct word of a batch is summed once, however often it occurs.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from auscult_lab.modules.vocabulary import Vocabulary, WordTable

BOUNDARY = "#"


class LetterGrams(WordTable):
    """A linear layer over the letter-gram counts of words, alone, in bags or in windows.

    Grams that are in no training word are left out. Weights begin in Glorot's uniform distribution; there is no bias.

    Args:
        vocabulary: Source of the grams.
        dim: Length of the layer's output.
        places: Places in a window, each with its own weights.
        shortest: Letters of the shortest grams.
        longest: Letters of the longest grams.
        most: Keep only this number of grams, those in the most training passages; None for all.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        dim: int,
        *,
        places: int = 1,
        shortest: int = 3,
        longest: int = 3,
        most: int | None = None,
    ) -> None:
        super().__init__()
        self.dim, self.places = dim, places
        self._lengths = range(shortest, longest + 1)
        self._rows = {gram: row for row, gram in enumerate(_common_grams(vocabulary, self._lengths, most))}
        self.weights = nn.Parameter(torch.empty(max(1, len(self._rows)), places * dim))
        bound = math.sqrt(6.0 / (places * len(self.weights) + dim))
        nn.init.uniform_(self.weights, -bound, bound)
        # The grams of all words in a row, and the range of each word's; word 0, padding, has none.
        self.register_buffer("grams", torch.zeros(0, dtype=torch.long), persistent=False)
        self.register_buffer("ends", torch.zeros(1, dtype=torch.long), persistent=False)
        self.grams: Tensor
        self.ends: Tensor
        self.add_words(vocabulary.words)

    def add_words(self, words: Sequence[str]) -> None:
        """Add the grams of further words."""
        rows = [self.spell(word) for word in words]
        lengths = torch.tensor([len(each) for each in rows], dtype=torch.long)
        flat = torch.tensor([row for each in rows for row in each], dtype=torch.long)
        ends = self.ends[-1] + lengths.cumsum(0).to(self.ends.device)
        self.grams = torch.cat([self.grams, flat.to(self.grams.device)])
        self.ends = torch.cat([self.ends, ends])

    def spell(self, word: str) -> list[int]:
        """Return rows of the weights for a word's grams, with repeats."""
        return [self._rows[gram] for gram in letter_grams(word, self._lengths) if gram in self._rows]

    def bags(self, ids: Tensor) -> Tensor:
        """Return the layer over all grams of a text: ids (batch, words) to (batch, dim). Needs one place."""
        distinct, at = torch.unique(ids, return_inverse=True)
        return nn.functional.embedding_bag(at, self._layer(distinct), mode="sum")

    def windows(self, ids: Tensor) -> Tensor:
        """Return the layer over windows of words: ids (batch, windows, places) to (batch, windows, dim)."""
        distinct, at = torch.unique(ids, return_inverse=True)
        table = self._layer(distinct).view(len(distinct) * self.places, self.dim)
        at = at * self.places + torch.arange(self.places, device=ids.device)
        return nn.functional.embedding_bag(at.flatten(0, 1), table, mode="sum").view(*ids.shape[:2], self.dim)

    def _layer(self, words: Tensor) -> Tensor:
        """Return the layer for words: ids (words,) to (words, places * dim)."""
        ends = self.ends[words]
        begins = torch.where(words > 0, self.ends[(words - 1).clamp(min=0)], ends)
        lengths = ends - begins
        offsets = lengths.cumsum(0) - lengths
        shift = torch.repeat_interleave(begins - offsets, lengths)
        rows = self.grams[torch.arange(len(shift), device=words.device) + shift]
        return nn.functional.embedding_bag(rows, self.weights, offsets, mode="sum")


def letter_grams(word: str, lengths: range) -> list[str]:
    """Return the letter grams of a word with boundary marks, without those of marks only."""
    marked = f"{BOUNDARY}{word}{BOUNDARY}"
    runs = [marked[at : at + length] for length in lengths for at in range(len(marked) - length + 1)]
    return [run for run in runs if run.strip(BOUNDARY)]


def windows_of(ids: Tensor, width: int) -> Tensor:
    """Return windows with a word in the middle: ids (batch, words) to (batch, words, width); 0 beyond a text's ends."""
    before = (width - 1) // 2
    return nn.functional.pad(ids, (before, width - 1 - before)).unfold(1, width, 1)


def _common_grams(vocabulary: Vocabulary, lengths: range, most: int | None) -> list[str]:
    """Return grams in alphabetical order; with a limit, those whose words are in the most passages."""
    weights: defaultdict[str, float] = defaultdict(float)
    for word, idf in zip(vocabulary.words, vocabulary.idf.tolist(), strict=True):
        for gram in letter_grams(word, lengths):
            # The share of passages with the word, up to a factor, from the idf, its logarithm.
            weights[gram] += math.exp(-idf)
    ranked = sorted(weights, key=lambda gram: (-weights[gram], gram))
    return sorted(ranked[:most])
