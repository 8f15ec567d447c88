"""What rankers read off a collection's passages before any query, kept in memory as far as it fits."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from auscult_lab.rankers.base import ReadsPassagesFirst, batches

KEPT_BYTES = 1 << 30
"""All of a collection's passages are kept where they need no more than this, and none of them otherwise."""


class KeptPlaces:
    """The places of a collection's passages, one after the other, without padding.

    Args:
        places: (all places, dim).
        sizes: Places of each passage.
    """

    def __init__(self, places: Tensor, sizes: Sequence[int]) -> None:
        self._parts = torch.split(places, list(sizes))

    def __getitem__(self, rows: Sequence[int]) -> Tensor:
        """Some passages, (passages, most places of them, dim), zeros beyond a passage's end."""
        return torch.nn.utils.rnn.pad_sequence([self._parts[row] for row in rows], batch_first=True)


def keep_places(
    ranker: ReadsPassagesFirst, passages: Sequence[Tensor], *, batch_size: int, most: int = KEPT_BYTES
) -> KeptPlaces | None:
    """Read a collection's passages once, without gradients; the ranker's mode is the caller's.

    Args:
        ranker: Reads them.
        passages: Laid out, each in one row.
        batch_size: Passages read at once.
        most: Bytes.

    Returns:
        None where they would need more bytes than `most`, which is seen after the first few passages.
    """
    sizes = [max(1, -(-len(each) // ranker.words_per_place)) for each in passages]
    ends = torch.tensor(sizes).cumsum(0).tolist()
    kept: Tensor | None = None
    with torch.no_grad():
        for rows, batch in batches(passages, batch_size):
            read = ranker.read_passage(batch)
            if kept is None:
                if ends[-1] * read.shape[2] * read.element_size() > most:
                    return None
                kept = read.new_empty(ends[-1], read.shape[2])
            for row, places in zip(rows, read, strict=True):
                kept[ends[row] - sizes[row] : ends[row]] = places[: sizes[row]]
    return None if kept is None else KeptPlaces(kept, sizes)
