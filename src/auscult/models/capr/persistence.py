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
import hashlib
import json
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from auscult.errors import ConfigError, ModelError
from auscult.models.backbone import open_backbone
from auscult.models.capr.base import PassageRanker
from auscult.models.capr.bi import BiEncoder
from auscult.models.capr.interchange import describe_encoder
from auscult.models.capr.registry import architecture, configure
from auscult.models.file_digest import digest_of

KIND = "capr"
FORMAT = 1
_SETTINGS, _HEAD = "model.json", "head.safetensors"


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
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as holder:
        fresh, stale = Path(holder) / "fresh", Path(holder) / "stale"
        fresh.mkdir()
        stale.mkdir()
        for tower, backbone in ranker.backbones().items():
            backbone.save(fresh / tower)
            if type(ranker) is BiEncoder:  # not the long one: that package would read no surroundings
                describe_encoder(fresh / tower, backbone, ranker.config, tower)
        for attachment, write in ranker.attachments().items():
            write(fresh / attachment)
        folders = [*ranker.backbones(), *ranker.attachments()]
        head = {key: value.detach().cpu().contiguous().clone() for key, value in ranker.head.state_dict().items()}
        save_file(head, fresh / _HEAD)
        settings = {
            "kind": KIND,
            "format": FORMAT,
            "name": name or ranker.title,
            "architecture": ranker.kind,
            "config": dataclasses.asdict(ranker.config),
            "backbones": list(ranker.backbones()),
            **({"attachments": list(ranker.attachments())} if ranker.attachments() else {}),
            "files_sha256": _digest(fresh, folders),
            "training": dict(training or {}),
        }
        (fresh / _SETTINGS).write_text(json.dumps(settings, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        # A kill between two renames leaves a folder that `load` refuses, never another model; model.json is last.
        for path in sorted(fresh.iterdir(), key=lambda path: path.name == _SETTINGS):
            if (folder / path.name).exists():
                (folder / path.name).rename(stale / path.name)
            path.rename(folder / path.name)
    return _fingerprint(settings)


def load(folder: Path) -> SavedModel:
    """Read a model folder.

    Raises:
        ModelError: A file is missing, damaged, or not of the model that `model.json` tells of.
        MissingExtraError: The package that opens transformers is not installed.
    """
    settings = _read_settings(folder)
    try:
        kind = architecture(settings["architecture"])
        config = configure(settings["architecture"], settings["config"])
        names, attached = settings["backbones"], settings.get("attachments", [])
        if _digest(folder, [*names, *attached]) != settings["files_sha256"]:
            raise ModelError("the files that model.json tells of", f"others in {folder}", "copy the model again")
        parts: dict[str, object] = {name: open_backbone(str(folder / name)) for name in names}
        parts |= {name: kind.attachments[name](folder / name) for name in attached}
        ranker = kind.ranker(config, **parts)
        ranker.head.load_state_dict(load_file(folder / _HEAD))
    except (OSError, KeyError, TypeError, RuntimeError, ConfigError, SafetensorError) as error:
        reason = f"{folder} ({error})"
        raise ModelError("a whole model folder", reason, "train or copy the model again") from error
    return SavedModel(ranker.eval(), settings["name"], _fingerprint(settings), dict(settings.get("training", {})))


def _read_settings(folder: Path) -> dict[str, Any]:
    try:
        settings: dict[str, Any] = json.loads((folder / _SETTINGS).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelError(f"a model folder with {_SETTINGS}", f"{folder} ({error})", "check the path") from error
    if settings.get("kind") != KIND or settings.get("format") != FORMAT:
        found = f"kind {settings.get('kind')!r}, format {settings.get('format')!r} in {folder}"
        raise ModelError(f"kind '{KIND}', format {FORMAT}", found, "update auscult or train the model again")
    return settings


def _digest(folder: Path, folders: Iterable[str]) -> str:
    """SHA-256 over the names and contents of a model's files but `model.json`."""
    files = [file for name in folders for file in (folder / name).rglob("*") if file.is_file()]
    return digest_of([*files, folder / _HEAD], folder)


def _fingerprint(settings: Mapping[str, Any]) -> str:
    told = {key: value for key, value in settings.items() if key != "training"}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


__all__ = ["FORMAT", "KIND", "SavedModel", "load", "save"]
