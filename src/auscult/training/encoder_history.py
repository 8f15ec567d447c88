"""What a pre-trained encoder has read before it is trained further: a model has learned from all that its encoder has.

Without it, a model that begins with another's encoder would count as new to documents which that one was trained on.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from auscult.models import training_record

_FIELD = "backbone_corpora"
"""Of a training's record."""


def corpora_read_before(backbone: str) -> dict[str, Any]:
    """The corpora that an encoder has learned from, and the encoder that this one began with, and so on.

    Args:
        backbone: A hub name or a folder.

    Returns:
        The field of a training's record, which holds choices of corpora; empty for an encoder that is part of no model
        made here, of which nothing is known.

    Raises:
        ModelError: The model that it is part of cannot be read.
    """
    inside = Path(backbone)
    model = next((folder for folder in (inside, inside.parent) if (folder / "model.json").is_file()), None)
    if not inside.is_dir() or model is None:
        return {}
    record = training_record(model)
    read: list[Any] = []
    for choice in (*_listed(record, "corpora"), *_listed(record, _FIELD)):
        if choice not in read:
            read.append(choice)
    return {_FIELD: read} if read else {}


def _listed(record: dict[str, object], field: str) -> list[Any]:
    found = record.get(field)
    return found if isinstance(found, list) else []


__all__ = ["corpora_read_before"]
