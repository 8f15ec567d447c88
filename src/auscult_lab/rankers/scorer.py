"""A neural ranker as a `Scorer`: words to ids, passages laid out once, scores in batches of similar length.

What rankers read off a collection's passages before any query, kept in memory as far as it fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
import torch
from torch import Tensor

from auscult.documents import Document
from auscult.documents.passage_rows import distinct_passages, rows_of
from auscult.interfaces import FloatArray
from auscult.understanding import Query
from auscult_lab.modules.vocabulary import Vocabulary
from auscult_lab.rankers.base import Ranker, ReadsPassagesAlone, ReadsPassagesFirst, Tokens, batches, pad
from auscult_lab.scorers.words import passage_words, query_words

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


BATCH = 32
"""Passages scored at once unless said otherwise: in larger batches there is more padding, and arrays fit no cache."""


class Lexicon:
    """Ids of words, from 1; a word met for the first time gets the next id, and the ranker is told of it.

    Args:
        ranker: Whose word tables grow.
        vocabulary: The words it was trained with.
    """

    def __init__(self, ranker: Ranker, vocabulary: Vocabulary) -> None:
        self._ranker = ranker
        self._ids = {word: row for row, word in enumerate(vocabulary.words, start=1)}

    def learn(self, words: Iterable[str]) -> None:
        """Give ids to all words that have none, in one go: growing the tables word by word is slow."""
        new = [word for word in dict.fromkeys(words) if word not in self._ids]
        if new:
            self._ranker.add_words(new)
            for word in new:
                self._ids[word] = len(self._ids) + 1

    def ids(self, words: Sequence[str]) -> list[int]:
        """The ids of words."""
        self.learn(words)
        return [self._ids[word] for word in words]


class RankerScorer:
    """Scores passages with a neural ranker.

    Args:
        ranker: The network; it is put into evaluation mode.
        vocabulary: The words it was trained with.
        name: How tables call it; the architecture's title by default.
        fingerprint: A hash of weights and settings.
        batch_size: Passages scored at once; never changes a score.
        keep_bytes: Memory for what the ranker reads off passages without the query, where it is a `ReadsPassagesFirst`;
            never changes a score beyond rounding.
    """

    def __init__(
        self,
        ranker: Ranker,
        vocabulary: Vocabulary,
        *,
        name: str | None = None,
        fingerprint: str = "",
        batch_size: int = BATCH,
        keep_bytes: int = KEPT_BYTES,
    ) -> None:
        self.ranker = ranker
        self.vocabulary = vocabulary
        self.name = name or ranker.title
        self.fingerprint = fingerprint
        self._batch_size = batch_size
        self._keep_bytes = keep_bytes
        self.lexicon = Lexicon(ranker, vocabulary)
        self._passages: list[Tensor] = []
        self._vectors: Tensor | None = None
        self._kept: KeptPlaces | None = None
        self._rows: dict[str, int] = {}

    def prepare(self, documents: Iterable[Document]) -> None:
        """Read the collection: passage text only.

        Raises:
            DataError: A passage id occurs twice.
        """
        words = {
            passage.passage_id: passage_words(document, passage) for document, passage in distinct_passages(documents)
        }
        self.lexicon.learn(chain.from_iterable(chain.from_iterable(words.values())))
        self._rows = {passage_id: row for row, passage_id in enumerate(words)}
        self._passages = [
            self.ranker.lay_out_passage([self.lexicon.ids(sentence) for sentence in sentences])
            for sentences in words.values()
        ]
        self._vectors = self._encode(self._passages)
        self._kept = self._read(self._passages)

    def _encode(self, laid_out: list[Tensor]) -> Tensor | None:
        """Vectors of all passages, where the ranker makes them without the query."""
        if not isinstance(self.ranker, ReadsPassagesAlone) or not self.ranker.keeps_passages or not laid_out:
            return None
        self.ranker.eval()
        with torch.inference_mode():
            order: list[int] = []
            encoded: list[Tensor] = []
            for rows, passages in batches(laid_out, self._batch_size):
                order += rows
                encoded.append(self.ranker.encode_passage(passages))
            return torch.cat(encoded)[torch.tensor(order).argsort()]

    def _read(self, laid_out: list[Tensor]) -> KeptPlaces | None:
        """The places of all passages, where the ranker reads them without the query and memory allows."""
        if not isinstance(self.ranker, ReadsPassagesFirst):
            return None
        self.ranker.eval()
        return keep_places(self.ranker, laid_out, batch_size=self._batch_size, most=self._keep_bytes)

    def score(self, query: Query, passage_ids: Sequence[str]) -> FloatArray:
        """Scores for passages of the prepared collection, float32 (passages,); higher is better.

        Raises:
            ModelError: `prepare` has not been called.
            DataError: A passage is not of the prepared collection.
        """
        rows = rows_of(self._rows, passage_ids, self.name)
        if not len(rows):
            return np.zeros(0, dtype=np.float32)
        query_ids = self.ranker.lay_out_query(self.lexicon.ids(query_words(query)))
        self.ranker.eval()
        with torch.inference_mode():
            if self._vectors is not None and isinstance(self.ranker, ReadsPassagesAlone):
                kept = self._vectors[torch.from_numpy(rows)]
                scores = self.ranker.match(repeat(pad([query_ids]), len(kept)), kept)
                return np.asarray(scores.numpy(), dtype=np.float32)
            laid_out = [self._passages[row] for row in rows]
            if self._kept is not None and isinstance(self.ranker, ReadsPassagesFirst):
                return self._compare(self.ranker, self._kept, query_ids, rows.tolist())
            return score_passages(self.ranker, query_ids, laid_out, batch_size=self._batch_size)

    def _compare(self, ranker: ReadsPassagesFirst, kept: KeptPlaces, query: Tensor, rows: Sequence[int]) -> FloatArray:
        """Scores of passages whose places are kept."""
        asked = pad([query])
        scores = np.empty(len(rows), dtype=np.float32)
        for at, batch in batches([self._passages[row] for row in rows], self._batch_size):
            read = kept[[rows[each] for each in at]]
            scores[at] = ranker.compare(repeat(asked, len(at)), batch, read).numpy()
        return scores


def repeat(query: Tokens, times: int) -> Tokens:
    """A batch of one query, for as many passages."""
    return Tokens(query.ids.expand(times, -1), query.mask.expand(times, -1))


def score_passages(
    ranker: Ranker,
    query: Tensor,
    passages: Sequence[Tensor],
    *,
    batch_size: int = BATCH,
    device: torch.device | None = None,
) -> FloatArray:
    """Scores of passages for one query, float32 (passages,), without gradients; the ranker's mode is the caller's.

    Args:
        ranker: The network.
        query: Laid out.
        passages: Laid out, in any order.
        batch_size: Passages scored at once; never changes a score.
        device: Where the ranker is; the processor by default.
    """
    where = device or torch.device("cpu")
    asked = pad([query]).to(where)
    scores = np.empty(len(passages), dtype=np.float32)
    with torch.no_grad():
        for rows, batch in batches(passages, batch_size):
            scores[rows] = ranker(repeat(asked, len(rows)), batch.to(where)).float().cpu().numpy()
    return scores
