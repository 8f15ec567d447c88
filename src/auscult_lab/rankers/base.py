"""The interface of neural rankers: networks that score a query and a passage, given as word ids and masks.

`tests/contracts/test_rankers.py` checks four properties of every ranker: padding, order and batch size never change a
score; every parameter gets a gradient; saving and opening is exact; evaluation is deterministic.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import chain
from types import MappingProxyType
from typing import Any, ClassVar, Generic, TypeVar

import torch
from torch import Tensor, nn

from auscult_lab.modules.vocabulary import WordTable

PADDING = 0
"""The id of no word; words have ids from 1."""
Encoded = TypeVar("Encoded")
"""What a ranker knows of passages without the query."""


@dataclass(slots=True)
class Tokens:
    """Padded word ids of a batch of texts, and their mask.

    Attributes:
        ids: Int64, (batch, words), or (batch, sentences, words) for rankers that read sentences; 0 is padding.
        mask: Bool, same shape; True for words.
    """

    ids: Tensor
    mask: Tensor

    def to(self, device: torch.device) -> Tokens:
        """Return a copy on another device."""
        return Tokens(self.ids.to(device), self.mask.to(device))

    def __getitem__(self, rows: Tensor) -> Tokens:
        """Return selected texts of the batch; they may be repeated."""
        return Tokens(self.ids[rows], self.mask[rows])


def pad(laid_out: Sequence[Tensor]) -> Tokens:
    """Return one batch of texts of different lengths; each dimension is padded to the largest.

    Args:
        laid_out: Int64 tensors of the same number of dimensions, from `Ranker.lay_out_query` or `lay_out_passage`.
    """
    shape = [max(1, *(text.shape[axis] for text in laid_out)) for axis in range(laid_out[0].dim())]
    ids = torch.full((len(laid_out), *shape), PADDING, dtype=torch.long)
    for row, text in enumerate(laid_out):
        corner = ids[row]
        for axis, size in enumerate(text.shape):
            corner = corner.narrow(axis, 0, size)
        corner.copy_(text)
    return Tokens(ids, ids != PADDING)


def batches(laid_out: Sequence[Tensor], size: int) -> Iterator[tuple[list[int], Tokens]]:
    """Yield positions and padded batches of texts of similar length, to reduce padding."""
    order = sorted(range(len(laid_out)), key=lambda row: laid_out[row].numel())
    for start in range(0, len(order), size):
        rows = order[start : start + size]
        yield rows, pad([laid_out[row] for row in rows])


LATER = MappingProxyType({"later": True})
"""Metadata of a setting that older saved models do not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankerConfig:
    """Settings that every ranker has.

    Attributes:
        max_query_words: Further words of a query are not read.
        max_passage_words: Further words of a passage are not read.
    """

    max_query_words: int = 30
    max_passage_words: int = 300

    def saved(self) -> dict[str, Any]:
        """Return the settings to save with a model.

        A setting with the metadata `LATER` is left out if it has its default, so that an older model is saved again
        byte for byte.
        """
        later = {each.name: each.default for each in fields(self) if each.metadata == LATER}
        values = asdict(self)
        return {name: value for name, value in values.items() if name not in later or value != later[name]}


class Ranker(nn.Module, ABC):
    """A network that scores a passage for a query.

    Attributes:
        kind: Its name in experiment files and model folders, such as "knrm".
        title: Its name in tables, as in its paper and published tables.
        config: Its settings.
    """

    kind: ClassVar[str]
    title: ClassVar[str]
    config: RankerConfig

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return next(self.parameters()).device

    @abstractmethod
    def forward(self, query: Tokens, passage: Tokens) -> Tensor:
        """Return scores, (batch,), higher is better; row i of the query belongs to row i of the passage."""

    def lay_out_query(self, words: Sequence[int]) -> Tensor:
        """Return a query's word ids in the network's layout: cut to `max_query_words`."""
        return torch.tensor(words[: self.config.max_query_words], dtype=torch.long)

    def lay_out_passage(self, sentences: Sequence[Sequence[int]]) -> Tensor:
        """Return a passage's word ids in the network's layout: in one row, cut to `max_passage_words`."""
        words = list(chain.from_iterable(sentences))
        return torch.tensor(words[: self.config.max_passage_words], dtype=torch.long)

    def add_words(self, words: Sequence[str]) -> None:
        """Add further words to all word tables; see `WordTable.add_words`."""
        for module in self.modules():
            if isinstance(module, WordTable):
                module.add_words(words)


class ReadsPassagesAlone(Ranker, Generic[Encoded]):
    """A ranker that reads passages without the query, so that a collection is encoded only once."""

    keeps_passages: ClassVar[bool] = True
    """Whether `encode_passage` gives one vector for each passage; a ranker may give more."""

    @abstractmethod
    def encode_passage(self, passage: Tokens) -> Encoded:
        """Return the part of passages that does not depend on the query, indexable by rows of the batch."""

    @abstractmethod
    def match(self, query: Tokens, encoded: Encoded) -> Tensor:
        """Return scores, (batch,); row i of the query goes with passage i of `encode_passage`."""

    def forward(self, query: Tokens, passage: Tokens) -> Tensor:
        """See `Ranker.forward`."""
        return self.match(query, self.encode_passage(passage))


class ReadsPassagesFirst(Ranker):
    """A ranker with costly results for each place of a passage that do not depend on the query.

    They are larger than one vector of the passage; see `scorer.keep_places`.
    """

    words_per_place: int
    """A passage of n words has ceil(n / words_per_place) places."""

    @abstractmethod
    def read_passage(self, passage: Tokens) -> Tensor:
        """Return results that do not depend on the query, (batch, places, dim); undefined beyond a passage's end."""

    @abstractmethod
    def compare(self, query: Tokens, passage: Tokens, read: Tensor) -> Tensor:
        """Return scores, (batch,), of queries with passages from `read_passage`."""

    def forward(self, query: Tokens, passage: Tokens) -> Tensor:
        """See `Ranker.forward`."""
        return self.compare(query, passage, self.read_passage(passage))
