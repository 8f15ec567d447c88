"""A neural ranker as a `Scorer`, and its folder on disk.

Passages are laid out once, and scored in batches of similar length. The part of a passage that does not depend on the
query stays in memory where it fits.

A folder has `model.json` (kind, settings, words) and `model.safetensors` (weights, vectors). It has both the vectors of
training words, which may have been trained further, and the table for other words.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from auscult.documents import Document
from auscult.encoders.contract import FloatArray
from auscult.encoders.folder import REMEDY, SETTINGS, as_tuples, opening
from auscult.errors import ModelError
from auscult.files.json_text import parse_json
from auscult.files.reading import digest_of_file
from auscult.files.writing import renewed_folder, write_json
from auscult.understanding import Query
from auscult_lab.modules.arrays import read_arrays, with_prefix, write_arrays
from auscult_lab.modules.backbone import fastest_device, in_order
from auscult_lab.modules.vocabulary import Vocabulary
from auscult_lab.modules.word_vectors import from_state
from auscult_lab.rankers.base import Ranker, ReadsPassagesAlone, ReadsPassagesFirst, Tokens, batches, pad
from auscult_lab.rankers.registry import ranker_kind
from auscult_lab.scorers.lexical import passage_words, query_words
from auscult_lab.scorers.passage_rows import distinct_passages, rows_of

KEPT_BYTES = 1 << 30
"""All of a collection's passages are kept where they need no more than this, and none of them otherwise."""


def keep_places(
    ranker: ReadsPassagesFirst, passages: Sequence[Tensor], *, batch_size: int, most: int = KEPT_BYTES
) -> tuple[Tensor, ...] | None:
    """Read a collection's passages once, without gradients; the ranker's mode is the caller's.

    Args:
        ranker: Reads them.
        passages: Laid out, each in one row.
        batch_size: Passages read at once.
        most: Largest number of bytes.

    Returns:
        The places of each passage, (places, dim), without padding. None where they would need more bytes than `most`,
        which is known after the first batch.
    """
    sizes = [max(1, -(-len(each) // ranker.words_per_place)) for each in passages]
    ends = torch.tensor(sizes).cumsum(0).tolist()
    store: Tensor | None = None
    with torch.no_grad():
        for rows, batch in batches(passages, batch_size):
            read = ranker.read_passage(batch.to(ranker.device))
            if store is None:
                if ends[-1] * read.shape[2] * read.element_size() > most:
                    return None
                store = read.new_empty(ends[-1], read.shape[2])
            for row, places in zip(rows, read, strict=True):
                store[ends[row] - sizes[row] : ends[row]] = places[: sizes[row]]
    return None if store is None else torch.split(store, sizes)


BATCH = 32
"""Passages scored at once unless said otherwise: in larger batches there is more padding, and arrays fit no cache."""


class Lexicon:
    """Ids of words, from 1. A new word gets the next id and is added to the ranker."""

    def __init__(self, ranker: Ranker, vocabulary: Vocabulary) -> None:
        self._ranker = ranker
        self._ids = {word: row for row, word in enumerate(vocabulary.words, start=1)}

    def learn(self, words: Iterable[str]) -> None:
        """Assign ids to all new words at once, because growing the tables word by word is slow."""
        new = [word for word in dict.fromkeys(words) if word not in self._ids]
        if new:
            self._ranker.add_words(new)
            for word in new:
                self._ids[word] = len(self._ids) + 1

    def ids(self, words: Sequence[str]) -> list[int]:
        """Return the ids of words."""
        self.learn(words)
        return [self._ids[word] for word in words]


class RankerScorer:
    """Scores passages with a neural ranker.

    Args:
        ranker: The network; it is put into evaluation mode.
        vocabulary: Its training vocabulary.
        name: Its name in tables; the architecture's title by default.
        fingerprint: A hash of weights and settings.
        batch_size: Passages scored at once; never changes a score.
        keep_bytes: Memory for the places of passages, for a `ReadsPassagesFirst`; changes scores by rounding only.
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
        self._places: tuple[Tensor, ...] | None = None
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
        ranker, size = self.ranker.eval(), self._batch_size
        self._vectors = self._places = None
        if isinstance(ranker, ReadsPassagesAlone) and ranker.keeps_passages and self._passages:
            with torch.inference_mode():
                dealt = batches(self._passages, size)
                encoded = ((rows, ranker.encode_passage(passages.to(ranker.device))) for rows, passages in dealt)
                self._vectors = in_order(encoded)
        if isinstance(ranker, ReadsPassagesFirst):
            self._places = keep_places(ranker, self._passages, batch_size=size, most=self._keep_bytes)

    def score(self, query: Query, passage_ids: Sequence[str]) -> FloatArray:
        """Return scores for passages of the prepared collection, float32 (passages,); higher is better.

        Raises:
            ModelError: `prepare` has not been called.
            DataError: A passage is not of the prepared collection.
        """
        rows = rows_of(self._rows, passage_ids, self.name)
        if not len(rows):
            return np.zeros(0, dtype=np.float32)
        query_ids = self.ranker.lay_out_query(self.lexicon.ids(query_words(query)))
        ranker, laid_out = self.ranker.eval(), [self._passages[row] for row in rows]
        padded, scores = pad([query_ids]).to(ranker.device), np.empty(len(rows), dtype=np.float32)
        with torch.inference_mode():
            if self._vectors is not None and isinstance(ranker, ReadsPassagesAlone):
                kept = self._vectors[torch.from_numpy(rows).to(ranker.device)]
                return np.asarray(ranker.match(repeat(padded, len(kept)), kept).cpu().numpy(), dtype=np.float32)
            if self._places is not None and isinstance(ranker, ReadsPassagesFirst):
                for at, batch in batches(laid_out, self._batch_size):
                    # (passages, places of the longest, dim), zeros beyond a passage's end.
                    read = pad_sequence([self._places[rows[row]] for row in at], batch_first=True)
                    compared = ranker.compare(repeat(padded, len(at)), batch.to(ranker.device), read)
                    scores[at] = compared.cpu().numpy()
                return scores
            return score_passages(ranker, query_ids, laid_out, batch_size=self._batch_size)


def repeat(query: Tokens, times: int) -> Tokens:
    """Return a batch with one query repeated, for a number of passages."""
    return Tokens(query.ids.expand(times, -1), query.mask.expand(times, -1))


def score_passages(
    ranker: Ranker,
    query: Tensor,
    passages: Sequence[Tensor],
    *,
    batch_size: int = BATCH,
) -> FloatArray:
    """Score passages for one query, float32 (passages,), without gradients; the ranker's mode is the caller's.

    Args:
        ranker: The network.
        query: Laid out.
        passages: Laid out, in any order.
        batch_size: Passages scored at once; never changes a score.
    """
    padded = pad([query]).to(ranker.device)
    scores = np.empty(len(passages), dtype=np.float32)
    with torch.no_grad():
        for rows, batch in batches(passages, batch_size):
            scores[rows] = ranker(repeat(padded, len(rows)), batch.to(ranker.device)).float().cpu().numpy()
    return scores


KIND = "ranker"
_WEIGHTS = "model.safetensors"


def save(
    ranker: Ranker,
    vocabulary: Vocabulary,
    folder: Path,
    *,
    name: str,
    training: Mapping[str, object] | None = None,
) -> None:
    """Write a model folder atomically.

    Raises:
        DataError: The place cannot be written to.
    """
    arrays, source = vocabulary.source.state()
    tensors = {f"network.{key}": value for key, value in ranker.state_dict().items()}
    tensors |= {f"source.{key}": torch.from_numpy(value) for key, value in arrays.items()}
    tensors |= {
        "vocabulary.vectors": torch.from_numpy(vocabulary.vectors),
        "vocabulary.idf": torch.from_numpy(vocabulary.idf),
    }
    settings = {
        "kind": KIND,
        "name": name,
        "model": ranker.kind,
        "config": ranker.config.saved(),
        "source": dict(source),
        "unseen_idf": vocabulary.unseen_idf,
        "words": list(vocabulary.words),
    }
    with renewed_folder(folder, last=SETTINGS) as fresh:
        write_arrays(fresh / _WEIGHTS, tensors)
        digest = digest_of_file(fresh / _WEIGHTS)
        write_json(fresh / SETTINGS, {**settings, "weights_sha256": digest, "training": dict(training or {})})


def load(folder: Path) -> RankerScorer:
    """Read a model folder.

    Raises:
        ModelError: A file is missing, damaged or of another training.
    """
    with opening("a whole ranker's folder", folder):
        described = (folder / SETTINGS).read_bytes()
        settings = parse_json(described)
        if digest_of_file(folder / _WEIGHTS) != settings["weights_sha256"]:
            raise ModelError("the weights that model.json tells of", f"others in {folder}", REMEDY)
        tensors = read_arrays(folder / _WEIGHTS)
        kind = ranker_kind(settings["model"])
        vocabulary = Vocabulary(
            tuple(settings["words"]),
            tensors["vocabulary.vectors"].numpy(),
            tensors["vocabulary.idf"].numpy(),
            from_state(
                {key: value.numpy() for key, value in with_prefix("source.", tensors).items()}, settings["source"]
            ),
            float(settings["unseen_idf"]),
        )
        ranker = kind.ranker(kind.config(**as_tuples(settings["config"])), vocabulary)
        ranker.load_state_dict(with_prefix("network.", tensors))
        ranker.to(fastest_device())
    fingerprint = hashlib.sha256(described).hexdigest()
    return RankerScorer(ranker, vocabulary, name=settings["name"], fingerprint=fingerprint)
