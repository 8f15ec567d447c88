"""Hashes of the texts that a model learned from, to recognise copies of any name and division into passages.

Each run of eight words has a 64-bit hash (ignoring case, punctuation and line ends). Of each passage, one hash in 32
and the smallest are stored. A copy of the text gives the same hashes, so most of them are found again (sampled
fingerprints of runs of words: broder1997).

MODEL/learned-from.bin    the hashes, sorted, little-endian, about 1 byte for every 3 to 6 words
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from auscult.documents import Document
from auscult.errors import ModelError
from auscult.files.writing import whole_or_nothing

LEARNED_FROM = "learned-from.bin"
_WORD = re.compile(r"\w+")
_RUN, _ONE_IN = 8, 32
_SURE = 3
"""Hashes from which on a document is known by itself: shorter ones may be a notice that many documents repeat."""
_SHARE = 0.01
"""Of a collection's documents, from which on it is known; of all its hashes, where documents have fewer than `_SURE`.
Collections of different texts (MedQuAD, NHS, OpenStax, BioASQ, Simple Wikipedia) share at most .0004 of their hashes.
English Wikipedia has taken over public-domain text of MedQuAD's sources: .008 of the hashes, one document of 2,975."""
_FACTOR, _MIX = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(31)
_Hashes = npt.NDArray[np.uint64]


def texts_of(documents: Iterable[Document]) -> Iterator[str]:
    """Yield the texts of documents' passages."""
    return (document.slice(passage) for document in documents for passage in document.passages)


def hashes_of(texts: Iterable[str]) -> _Hashes:
    """Return the sampled hashes of passages, sorted; empty where no passage has eight words."""
    hashes = [np.empty(0, np.uint64)]
    for text in texts:
        plain = unicodedata.normalize("NFKC", text).casefold()
        words = np.array([_hash_of_word(word) for word in _WORD.findall(plain)], np.uint64)
        count = len(words) - _RUN + 1
        if count < 1:
            continue
        runs = np.zeros(count, np.uint64)
        for place in range(_RUN):
            runs = runs * _FACTOR + words[place : place + count]
        runs = (runs ^ (runs >> _SHIFT)) * _MIX
        runs ^= runs >> _SHIFT
        hashes += [runs[runs % np.uint64(_ONE_IN) == 0], runs.min(keepdims=True)]
    return np.unique(np.concatenate(hashes))


@lru_cache(maxsize=200_000)
def _hash_of_word(word: str) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=8).digest(), "little")


def write_learned(folder: Path, texts: Iterable[str], before: Iterable[Path] = ()) -> None:
    """Write the hashes of a model's training texts into its folder.

    Args:
        folder: Folder of the model.
        texts: Passages that it learned from.
        before: Folders of models that it began with; their training texts are added.

    Raises:
        DataError: The folder cannot be written to.
        ModelError: The file of a model that it began with is damaged.
    """
    found = np.unique(np.concatenate([hashes_of(texts), *map(read_learned, before)]))
    if len(found):
        with whole_or_nothing(folder / LEARNED_FROM) as partial:
            partial.write_bytes(found.astype("<u8").tobytes())


def read_learned(folder: Path) -> _Hashes:
    """Return the hashes of a model's training texts, sorted; empty where its folder has none.

    Raises:
        ModelError: The file is damaged.
    """
    file = folder / LEARNED_FROM
    if not file.is_file():
        return np.empty(0, np.uint64)
    content = file.read_bytes()
    hashes = np.frombuffer(content[: len(content) // 8 * 8], "<u8").astype(np.uint64)
    if len(content) % 8 or (hashes[1:] <= hashes[:-1]).any():
        raise ModelError("sorted 64-bit hashes", f"{file}, which is damaged", "copy the model again")
    return hashes


def has_learned_from(learned: _Hashes, documents: Iterable[Document]) -> bool:
    """Check whether a share of documents, or of their words, is among a model's training texts.

    Args:
        learned: Result of `read_learned`.
        documents: Documents of a collection.
    """
    if not len(learned):
        return False
    known = total = known_documents = read = 0
    for document in documents:
        read += 1
        hashes = hashes_of(texts_of([document]))
        # Both are sorted, and searchsorted is a hundred times as fast as `np.isin`.
        places = np.searchsorted(learned, hashes).clip(max=len(learned) - 1)
        found = int((learned[places] == hashes).sum())
        known_documents += len(hashes) >= _SURE and 2 * found >= len(hashes)
        known, total = known + found, total + len(hashes)
    return known_documents > _SHARE * read or known > _SHARE * total
