"""A ranker's folder: `model.json` (kind, settings, words) and `model.safetensors` (weights, vectors).

The vectors of training words may have been trained further, so they stand beside the table for words met later.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from auscult.errors import ModelError
from auscult.models.rankers.base import Ranker
from auscult.models.rankers.registry import ranker_kind
from auscult.models.rankers.scorer import RankerScorer
from auscult.models.vocabulary import Vocabulary
from auscult.models.word_vectors import from_state

KIND = "ranker"
_WEIGHTS, _SETTINGS = "model.safetensors", "model.json"


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
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        weights, described = Path(scratch) / _WEIGHTS, Path(scratch) / _SETTINGS
        save_file({key: value.detach().contiguous().clone() for key, value in tensors.items()}, weights)
        # A kill between the two renames leaves a pair that `load` refuses, never another model.
        digest = hashlib.sha256(weights.read_bytes()).hexdigest()
        record = {**settings, "weights_sha256": digest, "training": dict(training or {})}
        described.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        weights.replace(folder / _WEIGHTS)
        described.replace(folder / _SETTINGS)


def load(folder: Path) -> RankerScorer:
    """Read a model folder.

    Raises:
        ModelError: A file is missing, damaged or of another training.
    """
    try:
        described = (folder / _SETTINGS).read_bytes()
        settings = json.loads(described)
        weights = (folder / _WEIGHTS).read_bytes()
        if hashlib.sha256(weights).hexdigest() != settings["weights_sha256"]:
            raise ModelError("the weights that model.json tells of", f"others in {folder}", "copy the model again")
        tensors = load_file(folder / _WEIGHTS)
        kind = ranker_kind(settings["model"])
        arrays = {
            key.removeprefix("source."): value.numpy() for key, value in tensors.items() if key.startswith("source.")
        }
        vocabulary = Vocabulary(
            tuple(settings["words"]),
            tensors["vocabulary.vectors"].numpy(),
            tensors["vocabulary.idf"].numpy(),
            from_state(arrays, settings["source"]),
            float(settings["unseen_idf"]),
        )
        config = {key: tuple(value) if isinstance(value, list) else value for key, value in settings["config"].items()}
        ranker = kind.ranker(kind.config(**config), vocabulary)
        own = {key.removeprefix("network."): value for key, value in tensors.items() if key.startswith("network.")}
        ranker.load_state_dict(own)
    except (OSError, KeyError, TypeError, ValueError, RuntimeError, SafetensorError) as error:
        reason = f"{folder} ({error})"
        raise ModelError("a whole ranker's folder", reason, "train or copy the model again") from error
    fingerprint = hashlib.sha256(described).hexdigest()
    return RankerScorer(ranker, vocabulary, name=settings["name"], fingerprint=fingerprint)
