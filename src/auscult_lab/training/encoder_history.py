"""What a model had read before its training, in the encoder or word vectors that it begins with.

Without it, a model that begins with another's encoder would count as new to documents which that one was trained on.
An encoder that was trained elsewhere may have read anything: the record names it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from auscult.encoders import model_folder, training_record
from auscult_lab.modules.backbone import find_file
from auscult_lab.modules.encoder_identity import digest_of_weights, name_of_weights

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


def encoder_begun_with(*begun_with: str) -> dict[str, Any]:
    """The encoder that a training begins with: the first of a chain, where it was passed on by models made here.

    Args:
        begun_with: As for `corpora_read_before`; word vectors are no encoder.

    Returns:
        The field of a training's record: "name"; "sha256" of its weights; "through", the models made here whose
        training it went through before, first to last, by their titles; and "training_known", whether all that it was
        trained on is told, as it is where it began here with random weights. Empty where there is no encoder.

    Raises:
        ModelError: The model that one is part of cannot be read.
    """
    for name in begun_with:
        folder = _weights_folder(name)
        if folder is not None and (digest := digest_of_weights(folder)):
            return {"encoder": _first_of_chain(name, folder, digest)}
    return {}


def _first_of_chain(name: str, folder: Path, digest: str) -> dict[str, Any]:
    # A folder that the library's cache of hub models keeps has a name that says nothing.
    called = name_of_weights(digest, folder.resolve().name if Path(name).is_dir() else name)
    model = _model_of(folder)
    if model is None:
        return {"name": called, "sha256": digest, "through": [], "training_known": False}
    record = training_record(model)
    title, before = str(record.get("model", called)), _fields(record, "encoder")
    if before:
        return {**before, "through": [*_listed(before, "through"), title]}
    # Of models from before this field was kept it is not told what they began with.
    from_nothing = record.get("kind") == "mlm" and bool(_fields(_fields(record, "experiment"), "encoder"))
    return {"name": title, "sha256": digest, "through": [], "training_known": from_nothing}


def _weights_folder(name: str) -> Path | None:
    """Where an encoder's files are; None where a hub name has none on this machine."""
    folder = model_folder(name)
    if folder.is_dir():
        return folder
    found = next(filter(None, (find_file(name, file) for file in ("model.safetensors", "pytorch_model.bin"))), None)
    return None if found is None else found.parent


def _model_of(inside: Path) -> Path | None:
    """The model made here that a folder is, or is part of."""
    folders = (inside, inside.parent) if inside.is_dir() else ()
    return next((folder for folder in folders if (folder / "model.json").is_file()), None)


def _read_by(inside: Path) -> list[Any]:
    model = _model_of(inside)
    if model is None:
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
