"""A ranker's folder: `model.json` (kind, settings, words) and `model.safetensors` (weights, vectors).

The vectors of training words may have been trained further, so they stand beside the table for words met later.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from pathlib import Path

import torch

from auscult.encoders.folder import REMEDY, SETTINGS, as_tuples, opening
from auscult.errors import ModelError
from auscult.files.json_text import parse_json
from auscult.files.reading import digest_of_file
from auscult.files.writing import renewed_folder, write_json
from auscult_lab.modules.arrays import read_arrays, with_prefix, write_arrays
from auscult_lab.modules.vocabulary import Vocabulary
from auscult_lab.modules.word_vectors import from_state
from auscult_lab.rankers.base import Ranker
from auscult_lab.rankers.registry import ranker_kind
from auscult_lab.rankers.scorer import RankerScorer

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
    """Write a model folder, whole or not at all.

    Args:
        ranker: The network.
        vocabulary: The words it was trained with.
        folder: Made when missing.
        name: How tables call the model.
        training: What is said of its training.

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
        "config": dataclasses.asdict(ranker.config),
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
    fingerprint = hashlib.sha256(described).hexdigest()
    return RankerScorer(ranker, vocabulary, name=settings["name"], fingerprint=fingerprint)
