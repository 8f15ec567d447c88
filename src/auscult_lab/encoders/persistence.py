"""A folder of a saved architecture, in formats that others read.

    model.json              kind "capr", architecture, settings, name, training record, digest of all other files
    passages/, queries/     bi and poly: encoders as Hugging Face saves them; a bi-encoder's open in
                            sentence-transformers too (see `interchange`); no "queries" where one encoder reads both
    pairs/                  cross: its encoder
    pairs/, knowledge/      ck: its encoder, and where it has knowledge the vectors and names of the graph's entities
    head.safetensors        what is learned besides

Nothing is pickled. The fingerprint is a SHA-256 of everything but the training record.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from auscult.encoders.folder import REMEDY, SETTINGS, digest_of_folders, fingerprint_of, opening, settings_of
from auscult.errors import ConfigError, ModelError
from auscult.files.writing import renewed_folder, write_json
from auscult_lab.encoders.base import PassageRanker
from auscult_lab.encoders.bi import BiEncoder
from auscult_lab.encoders.interchange import describe_encoder
from auscult_lab.encoders.registry import architecture, configure
from auscult_lab.modules.arrays import read_arrays, write_arrays
from auscult_lab.modules.backbone import open_backbone

KIND = "capr"
FORMAT = 1
_HEAD = "head.safetensors"


@dataclass(frozen=True, slots=True)
class SavedModel:
    """A model as it was saved.

    Attributes:
        ranker: In evaluation mode, on the processor.
        name: How tables call it.
        fingerprint: A hash of weights and settings.
        training: What is said of its training.
    """

    ranker: PassageRanker
    name: str
    fingerprint: str
    training: Mapping[str, Any]


def save(ranker: PassageRanker, folder: Path, *, name: str = "", training: Mapping[str, object] | None = None) -> str:
    """Write a model folder, or replace the model in it.

    Args:
        ranker: The model.
        folder: Made when missing.
        name: How tables call it; the architecture's title by default.
        training: What is said of its training.

    Returns:
        The fingerprint.

    Raises:
        DataError: The place cannot be written to.
    """
    with renewed_folder(folder, last=SETTINGS) as fresh:
        for tower, backbone in ranker.backbones().items():
            backbone.save(fresh / tower)
            if type(ranker) is BiEncoder:  # not the long one: that package would read no surroundings
                describe_encoder(fresh / tower, backbone, ranker.config, tower)
        for attachment, write in ranker.attachments().items():
            write(fresh / attachment)
        folders = [*ranker.backbones(), *ranker.attachments()]
        write_arrays(fresh / _HEAD, ranker.head.state_dict())
        settings = {
            "kind": KIND,
            "format": FORMAT,
            "name": name or ranker.title,
            "architecture": ranker.kind,
            "config": dataclasses.asdict(ranker.config),
            "backbones": list(ranker.backbones()),
            **({"attachments": list(ranker.attachments())} if ranker.attachments() else {}),
            "files_sha256": digest_of_folders(fresh, *folders, _HEAD),
            "training": dict(training or {}),
        }
        write_json(fresh / SETTINGS, settings)
    return fingerprint_of(settings)


def load(folder: Path) -> SavedModel:
    """Read a model folder.

    Raises:
        ModelError: A file is missing, damaged, or not of the model that `model.json` tells of.
        MissingExtraError: The package that opens transformers is not installed.
    """
    settings = settings_of(folder, KIND, FORMAT)
    with opening("a whole model folder", folder, also=(ConfigError,)):
        kind = architecture(settings["architecture"])
        config = configure(settings["architecture"], settings["config"])
        names, attached = settings["backbones"], settings.get("attachments", [])
        if digest_of_folders(folder, *names, *attached, _HEAD) != settings["files_sha256"]:
            raise ModelError("the files that model.json tells of", f"others in {folder}", REMEDY)
        parts: dict[str, object] = {name: open_backbone(str(folder / name)) for name in names}
        parts |= {name: kind.attachments[name](folder / name) for name in attached}
        ranker = kind.ranker(config, **parts)
        ranker.head.load_state_dict(read_arrays(folder / _HEAD))
    return SavedModel(ranker.eval(), settings["name"], fingerprint_of(settings), dict(settings.get("training", {})))
