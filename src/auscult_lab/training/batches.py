"""Batches of rows for a training of one or several processes, which can go on in the middle of an epoch.

Also the wrong passages that look right, those BM25 ranks highest (robertson1995), and how many are ahead of the answer.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Any, Protocol, Self, cast

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, Sampler

from auscult.interfaces import FloatArray
from auscult_lab.scorers.lexical import Bm25Index

Key = tuple[int, int]
"""An epoch and a row (of a query, a passage, a document): what an example is asked for by."""


class _DealtBatches(Sampler[list[Key]], ABC):
    """An epoch's batches, of which each process yields its share, from where it was interrupted on."""

    def __init__(self) -> None:
        self._done = (-1, 0)
        self.epoch = 0

    @property
    def sampler(self) -> Self:
        """Itself: the training library tells the epoch to a batch sampler's `sampler`, not to the batch sampler."""
        return self

    def set_epoch(self, epoch: int) -> None:
        """Draw for this epoch; the training library calls it."""
        self.epoch = epoch

    def resume(self, epoch: int, batches: int) -> None:
        """Leave out the first batches of this epoch that this process would have been dealt."""
        self._done = (epoch, batches)

    def __len__(self) -> int:
        _, processes = this_process()
        return self._count() // processes or 1

    def __iter__(self) -> Iterator[list[Key]]:
        rank, processes = this_process()
        epoch, done = self._done
        own = self._batches()[rank::processes][: len(self)]
        for batch in islice(own, done if self.epoch == epoch else 0, None):
            yield [(self.epoch, row) for row in batch]

    @abstractmethod
    def _count(self) -> int:
        """Return batches of an epoch, of all processes together."""

    @abstractmethod
    def _batches(self) -> list[list[int]]:
        """Return the rows of each batch of this epoch, the same in every process."""


class RowBatches(_DealtBatches):
    """Shuffled batches of rows; an epoch is a part of a pass over them, and the next goes on where it ended.

    Args:
        rows: How many there are.
        per_epoch: How many of them an epoch shows.
        size: How many a batch.
        seed: Of the shuffling; each pass is shuffled anew.
    """

    def __init__(self, rows: int, *, per_epoch: int, size: int, seed: int) -> None:
        super().__init__()
        self._rows = rows
        self._per_epoch = per_epoch
        self._size = size
        self._seed = seed
        self._pass: tuple[int, list[int]] = (-1, [])

    def _count(self) -> int:
        return -(-self._per_epoch // self._size)

    def _batches(self) -> list[list[int]]:
        first, rows = self.epoch * self._per_epoch, []
        for number in range(first, first + self._per_epoch):
            done, position = divmod(number, self._rows)
            if self._pass[0] != done:
                order = list(range(self._rows))
                random.Random(f"{self._seed}/{done}").shuffle(order)
                self._pass = (done, order)
            rows.append(self._pass[1][position])
        return [rows[start : start + self._size] for start in range(0, len(rows), self._size)]


class Examples(Protocol):
    """A data set that is asked by epoch and row, and makes batches of what it gives."""

    def __len__(self) -> int: ...

    def __getitem__(self, key: Key, /) -> Any: ...

    def collate(self, found: Any, /) -> Any:
        """Return one batch."""
        ...


def row_loader(examples: Examples, *, per_epoch: int, size: int, seed: int) -> DataLoader[Any]:
    """Return batches of rows for the training loop; see `RowBatches`."""
    batches = RowBatches(len(examples), per_epoch=per_epoch, size=size, seed=seed)
    # A generator of its own: making an iterator would otherwise take from the chance that dropout draws from.
    return DataLoader(
        cast("Dataset[Any]", examples),
        batch_sampler=batches,
        collate_fn=examples.collate,
        generator=torch.Generator(),
    )


def rows_an_epoch(most: int | None, rows: int) -> int:
    """Return how many of so many rows an epoch shows, where it shows at most `most`; None for all."""
    return rows if most is None else min(most, rows)


class DocumentBatches(_DealtBatches):
    """Shuffled batches of documents of similar length, dealt out to the processes of a multi-device training.

    Args:
        lengths: Steps (sentences) of each document.
        batch_documents: Documents a batch.
        jitter: Documents whose lengths differ by less meet by chance.
        seed: Of the shuffling; each epoch is shuffled anew.
    """

    def __init__(self, lengths: Sequence[int], *, batch_documents: int, seed: int, jitter: float = 20.0) -> None:
        super().__init__()
        self._lengths = list(lengths)
        self._size = batch_documents
        self._seed = seed
        self._jitter = jitter

    def _count(self) -> int:
        return -(-len(self._lengths) // self._size)

    def _batches(self) -> list[list[int]]:
        rng = random.Random(f"{self._seed}/{self.epoch}")
        keys = [length + rng.random() * self._jitter for length in self._lengths]
        order = sorted(range(len(keys)), key=keys.__getitem__)
        batches = [order[i : i + self._size] for i in range(0, len(order), self._size)]
        rng.shuffle(batches)
        return batches


def this_process() -> tuple[int, int]:
    """Return this process' rank among those that train together, and how many there are."""
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        return torch.distributed.get_rank(), torch.distributed.get_world_size()
    return 0, 1


class BestPassages:
    """A collection of passages, searched with BM25."""

    def __init__(self, passages: Sequence[Sequence[str]]) -> None:
        self._index = Bm25Index([list(words) for words in passages], k1=1.2, b=0.75)

    def of(self, words: Sequence[str], depth: int, *, without: Collection[int]) -> tuple[int, ...]:
        """Return rows of passages that share a word with the query, best first.

        Args:
            words: Of the query.
            depth: At most so many, and as many more as `without` may have taken from them.
            without: Rows that are left out.
        """
        scores = self._index.score_all(words)
        fetched = min(depth + len(without), len(scores))
        best = np.argpartition(-scores, fetched - 1)[:fetched]
        best = best[np.lexsort((best, -scores[best]))]
        return tuple(int(row) for row in best if row not in without and scores[row] > 0)


def wrong_ahead(scores: FloatArray, answers: Sequence[bool]) -> int:
    """Count the wrong candidates that do not score below the best answer: ties count against the model.

    So do scores that are no numbers, which are neither above nor below anything: a diverged model has all ahead.

    Args:
        scores: (candidates,).
        answers: Which of them answer; at least one.
    """
    right = np.array(answers)
    return int((~(scores[~right] < scores[right].max())).sum())


def place_measures(ahead: Sequence[int]) -> dict[str, float]:
    """Return R@1 and RR (mean reciprocal rank) of queries with so many wrong candidates ahead of the best answer."""
    ranks = np.array(ahead, dtype=np.float64) + 1.0
    return {"R@1": float((ranks == 1).mean()), "RR": float((1.0 / ranks).mean())}
