"""Batches of rows for one or several processes, which can resume in the middle of an epoch.

Also hard negatives, which BM25 ranks highest (robertson1995), and measures of the wrong candidates ahead of an answer.
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

from auscult.encoders.contract import FloatArray
from auscult_lab.scorers.lexical import Bm25Index

Key = tuple[int, int]
"""An epoch and a row (of a query, a passage, a document): the key of an example."""


class _DealtBatches(Sampler[list[Key]], ABC):
    """The batches of an epoch. Each process yields its share, after those done before an interruption."""

    def __init__(self) -> None:
        self._begun_at = (-1, 0)
        self.epoch = 0

    @property
    def sampler(self) -> Self:
        """Itself: the training library sets the epoch of a batch sampler's `sampler`, not of the batch sampler."""
        return self

    def set_epoch(self, epoch: int) -> None:
        """Draw for this epoch; the training library calls it."""
        self.epoch = epoch

    def resume(self, epoch: int, batches: int) -> None:
        """Skip the first batches of this process in this epoch."""
        self._begun_at = (epoch, batches)

    def __len__(self) -> int:
        _, processes = this_process()
        return self._count() // processes or 1

    def __iter__(self) -> Iterator[list[Key]]:
        rank, processes = this_process()
        epoch, resumed = self._begun_at
        own = self._batches()[rank::processes][: len(self)]
        for batch in islice(own, resumed if self.epoch == epoch else 0, None):
            yield [(self.epoch, row) for row in batch]

    @abstractmethod
    def _count(self) -> int:
        """Return the number of batches of an epoch, over all processes."""

    @abstractmethod
    def _batches(self) -> list[list[int]]:
        """Return the rows of each batch of this epoch, equal in every process."""


class RowBatches(_DealtBatches):
    """Shuffled batches of rows. An epoch is a part of a pass over all rows; the next epoch continues it.

    Args:
        rows: Number of rows.
        per_epoch: Rows per epoch.
        size: Texts per batch.
        seed: Seed of the shuffling, which differs in each pass.
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
            passes, position = divmod(number, self._rows)
            if self._pass[0] != passes:
                order = list(range(self._rows))
                random.Random(f"{self._seed}/{passes}").shuffle(order)
                self._pass = (passes, order)
            rows.append(self._pass[1][position])
        return [rows[start : start + self._size] for start in range(0, len(rows), self._size)]


class Examples(Protocol):
    """A data set with keys of epoch and row, which also makes batches."""

    def __len__(self) -> int: ...

    def __getitem__(self, key: Key, /) -> Any: ...

    def collate(self, found: Any, /) -> Any:
        """Return one batch."""
        ...


def row_loader(examples: Examples, *, per_epoch: int, size: int, seed: int) -> DataLoader[Any]:
    """Return batches of rows for the training loop; see `RowBatches`."""
    batches = RowBatches(len(examples), per_epoch=per_epoch, size=size, seed=seed)
    # With its own generator: creating an iterator would otherwise change the random state of dropout.
    return DataLoader(
        cast("Dataset[Any]", examples),
        batch_sampler=batches,
        collate_fn=examples.collate,
        generator=torch.Generator(),
    )


def rows_an_epoch(most: int | None, rows: int) -> int:
    """Return the rows per epoch out of `rows`, with the limit `most`; None for all."""
    return rows if most is None else min(most, rows)


class DocumentBatches(_DealtBatches):
    """Shuffled batches of documents of similar length, shared by the processes of a training.

    Args:
        lengths: Steps (sentences) of each document.
        batch_documents: Documents per batch.
        jitter: Documents whose lengths differ by less are ordered at random.
        seed: Seed of the shuffling, which differs in each epoch.
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
    """Return this process' rank, and the number of processes of the training."""
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
            words: Words of the query.
            depth: Largest number of rows, plus the number of rows in `without`.
            without: Rows to leave out.
        """
        scores = self._index.score_all(words)
        fetched = min(depth + len(without), len(scores))
        best = np.argpartition(-scores, fetched - 1)[:fetched]
        best = best[np.lexsort((best, -scores[best]))]
        return tuple(int(row) for row in best if row not in without and scores[row] > 0)


def wrong_ahead(scores: FloatArray, answers: Sequence[bool]) -> int:
    """Count the wrong candidates that do not score below the best answer: ties count against the model.

    So does NaN, which is neither above nor below anything: a diverged model has all candidates ahead.

    Args:
        scores: (candidates,).
        answers: Whether each answers; at least one does.
    """
    right = np.array(answers)
    return int((~(scores[~right] < scores[right].max())).sum())


def place_measures(ahead: Sequence[int]) -> dict[str, float]:
    """Return R@1 and RR (mean reciprocal rank) from the numbers of wrong candidates ahead of the best answer."""
    ranks = np.array(ahead, dtype=np.float64) + 1.0
    return {"R@1": float((ranks == 1).mean()), "RR": float((1.0 / ranks).mean())}
