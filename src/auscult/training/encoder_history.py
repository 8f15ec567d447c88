"""What a model had read before its training, in the encoder or word vectors that it begins with.

Without it, a model that begins with another's encoder would count as new to documents which that one was trained on.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from auscult.models import model_folder, training_record

_FIELD = "backbone_corpora"
"""Of a training's record."""


def corpora_read_before(*begun_with: str) -> dict[str, Any]:
    """The corpora that encoders have learned from, and the encoders that these began with, and so on.

    Args:
        begun_with: Each a hub name, a folder, or the name of a shipped model.

    Returns:
        The field of a training's record, which holds choices of corpora; empty for encoders that are part of no model
        made here, of which nothing is known.

    Raises:
        ModelError: The model that one is part of cannot be read.
    """
    read: list[Any] = []
    for name in begun_with:
        for choice in _read_by(model_folder(name)):
            if choice not in read:
                read.append(choice)
    return {_FIELD: read} if read else {}


def _read_by(inside: Path) -> list[Any]:
    model = next((folder for folder in (inside, inside.parent) if (folder / "model.json").is_file()), None)
    if not inside.is_dir() or model is None:
        return []
    record = training_record(model)
    return [*_listed(record, "corpora"), *_listed(record, _FIELD), *_texts_of_words(record)]


def _texts_of_words(record: Mapping[str, object]) -> list[Any]:
    """What only the word vectors of a model were trained on."""
    experiment = _fields(record, "experiment")
    of_words = (_fields(experiment, "word_vectors"), _fields(_fields(experiment, "sentences"), "vectors"))
    return [choice for each in of_words for choice in _listed(each, "texts")]


def _listed(record: Mapping[str, object], field: str) -> list[Any]:
    found = record.get(field)
    return found if isinstance(found, list) else []


def _fields(record: Mapping[str, object], field: str) -> Mapping[str, object]:
    found = record.get(field)
    return found if isinstance(found, Mapping) else {}


__all__ = ["corpora_read_before"]
