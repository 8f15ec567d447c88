"""Vectors of texts, cached on disk, so that an encoder reads a collection only once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from auscult.encoders.contract import FloatArray
from auscult.files.writing import whole_or_nothing

PART = 2048
"""Texts a file: what a killed run loses at most."""

Encode = Callable[[Sequence[str]], FloatArray]


class KeptVectors:
    """An encoder with a cache on disk.

    Args:
        folder: Folder of the vectors, float16, with one file per `PART` texts.
        identity: Identifies the encoder and its settings.
        encode: Function from texts to vectors, (texts, dim).
    """

    def __init__(self, folder: Path, identity: str, encode: Encode) -> None:
        self._folder = folder
        self._identity = identity
        self._encode = encode

    def of(self, texts: Sequence[str]) -> FloatArray:
        """Return vectors of texts, float32 (texts, dim), in half precision's values."""
        parts = [self._part(texts[start : start + PART]) for start in range(0, len(texts), PART)]
        return np.concatenate(parts).astype(np.float32)

    def _part(self, texts: Sequence[str]) -> npt.NDArray[np.float16]:
        digest = hashlib.sha256("\0".join((self._identity, *texts)).encode()).hexdigest()
        file = self._folder / f"{digest[:24]}.npz"
        if not file.exists():
            vectors = self._encode(texts).astype(np.float16)
            with whole_or_nothing(file) as partial, partial.open("wb") as stream:
                np.savez(stream, vectors=vectors)
        with np.load(file) as kept:
            part: npt.NDArray[np.float16] = kept["vectors"]
        return part
