"""Sentence vectors of a frozen transformer: they never change and cost the most, so a training makes them once.

FOLDER/000000.npy, 000256.npy, ...   of so many documents each, one after the other, float16 (sentences, dim)

A training that is killed while it reads loses at most one file's documents, and one that goes on reads nothing again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from auscult.documents import Document
from auscult.errors import DataError
from auscult.files.writing import whole_or_nothing
from auscult_lab.cdv.experiment import CdvExperiment
from auscult_lab.cdv.transformer import PooledTransformer
from auscult_lab.modules.averaged_words import SentenceEncoder
from auscult_lab.training.data import TrainingData
from auscult_lab.training.stages import Run

_DOCUMENTS = 256

HalfArray = npt.NDArray[np.float16]


def read_by_transformer(
    experiment: CdvExperiment, data: TrainingData, sentences: SentenceEncoder, run: Run, *, within: str
) -> list[HalfArray]:
    """Each training document's sentence vectors, (sentences, dim), where a transformer reads them; otherwise none.

    Args:
        experiment: Which says how long a sentence may be.
        data: Its documents.
        sentences: The sentence encoder.
        run: The training.
        within: The folder of the training's that keeps them, another for each way of reading.
    """
    if not isinstance(sentences, PooledTransformer):
        return []
    documents = [item.document for item in data.documents]
    limit = experiment.training.max_tokens
    return kept_sentences(documents, sentences, run.folder / within, run.say, max_tokens=limit)


def kept_sentences(
    documents: Sequence[Document],
    sentences: SentenceEncoder,
    folder: Path,
    say: Callable[[str], None],
    *,
    max_tokens: int,
) -> list[HalfArray]:
    """The vectors of each document's sentences, (sentences, dim), made where the folder has none yet.

    Args:
        documents: Always the same for a folder, in the same order.
        sentences: Reads them, and always alike.
        folder: Where they are kept.
        say: Told how far it is.
        max_tokens: Word pieces read of a sentence.

    Raises:
        DataError: A file of the folder holds other documents' vectors.
    """
    found: list[HalfArray] = []
    for first in range(0, len(documents), _DOCUMENTS):
        part = documents[first : first + _DOCUMENTS]
        path = folder / f"{first:06}.npy"
        if not path.is_file():
            rows = np.concatenate([sentences.encode(document, max_tokens=max_tokens) for document in part])
            with whole_or_nothing(path) as partial, partial.open("wb") as file:
                np.save(file, rows.astype(np.float16))
            say(f"sentences of {first + len(part):,} of {len(documents):,} documents read")
        held: HalfArray = np.load(path)
        sizes = [len(document.sentences) for document in part]
        if len(held) != sum(sizes):
            raise DataError(f"{sum(sizes)} sentences in {path}", str(len(held)), "delete the file; it is made again")
        found += np.split(held, np.cumsum(sizes)[:-1])
    return found
