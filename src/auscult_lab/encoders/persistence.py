"""Save an architecture in common formats, and open it as a scorer or an encoder.

    model.json              kind "capr", architecture, settings, name, training record, digest of all other files
    passages/, queries/     bi and poly: encoders as Hugging Face saves them; a bi-encoder's open in
                            sentence-transformers too (see `interchange`); no "queries" where one encoder reads both
    pairs/                  cross: its encoder
    pairs/, knowledge/      ck: its encoder, and where it has knowledge the vectors and names of the graph's entities
    head.safetensors        all other learned parameters

Nothing is pickled. The fingerprint is a SHA-256 of everything but the training record.
A bare sentence-transformers folder, which was not saved here, opens as a bi-encoder.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from auscult.encoders.contract import Precision
from auscult.encoders.folder import REMEDY, SETTINGS, digest_of_folders, fingerprint_of, opening, settings_of
from auscult.errors import ConfigError, ModelError
from auscult.files.json_text import parse_json
from auscult.files.writing import renewed_folder, write_json
from auscult_lab.encoders.base import PassageRanker
from auscult_lab.encoders.bi import BiEncoder
from auscult_lab.encoders.export import CONVERTED, FORMS, OnnxBackbone, convert
from auscult_lab.encoders.interchange import describe_encoder, open_sentence_transformer
from auscult_lab.encoders.registry import architecture, configure
from auscult_lab.encoders.scorer import BiDocumentEncoder, CaprScorer
from auscult_lab.modules.arrays import read_arrays, write_arrays
from auscult_lab.modules.backbone import fastest_device, open_backbone
from auscult_lab.modules.encoder_identity import digest_of_weights, name_of_weights

KIND = "capr"
FORMAT = 1
_HEAD = "head.safetensors"
AnyRanker = TypeVar("AnyRanker", bound=PassageRanker)


@dataclass(frozen=True, slots=True)
class SavedModel:
    """A model as it was saved.

    Attributes:
        ranker: In evaluation mode, on the processor.
        name: Its name in tables.
        fingerprint: A hash of weights and settings.
        training: Its training record.
    """

    ranker: PassageRanker
    name: str
    fingerprint: str
    training: Mapping[str, Any]


def save(ranker: PassageRanker, folder: Path, *, name: str = "", training: Mapping[str, object] | None = None) -> str:
    """Write a model folder, or replace the model in it.

    Args:
        ranker: The model.
        folder: Folder of the model; created when missing.
        name: Its name in tables; the architecture's title by default.
        training: Its training record.

    Returns:
        The fingerprint.

    Raises:
        DataError: The place cannot be written to.
    """
    with renewed_folder(folder, last=SETTINGS) as fresh:
        for tower, backbone in ranker.backbones().items():
            backbone.save(fresh / tower)
            if type(ranker) is BiEncoder:  # Not of the long variant: that package would read no surroundings.
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
        ModelError: A file is missing, damaged, or does not belong to the model of `model.json`.
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


def open_scorer(folder: Path, *, precision: Precision = "float32") -> CaprScorer:
    """Open a model of any architecture as a scorer, on a GPU where there is one.

    Raises:
        ModelError: There is no model, or its folder is damaged.
        MissingExtraError: The package that opens transformers is not installed.
    """
    saved = open_model(folder)
    return CaprScorer(_placed(saved.ranker), name=saved.name, fingerprint=saved.fingerprint, precision=precision)


def open_encoder(folder: Path, *, precision: Precision = "float32") -> BiDocumentEncoder:
    """Open a bi-encoder as an encoder, for an index, on a GPU where there is one.

    Raises:
        ModelError: There is no model, its folder is damaged, or it has no vectors for an index.
        MissingExtraError: The package that opens transformers is not installed.
    """
    saved = open_model(folder)
    if not isinstance(saved.ranker, BiEncoder):
        raise ModelError(
            "a model that places passages in a space, for an index",
            f"the {saved.ranker.kind}-encoder in {folder}",
            "index with a bi-encoder, and let this one rank what it finds",
        )
    ranker = _placed(saved.ranker)
    return BiDocumentEncoder(ranker, name=saved.name, fingerprint=saved.fingerprint, precision=precision)


def _placed(ranker: AnyRanker) -> AnyRanker:
    """Move a model to a GPU where there is one; parts that ONNX Runtime runs stay on the processor."""
    converted = any(isinstance(each, OnnxBackbone) for each in ranker.backbones().values())
    return ranker if converted else ranker.to(fastest_device())


def open_model(folder: Path) -> SavedModel:
    """Open a model of any architecture, in the form that its folder names (`families.adapting`).

    Raises:
        ModelError: There is no model, or its folder is damaged.
        MissingExtraError: The package that opens transformers is not installed.
    """
    if not (folder / SETTINGS).is_file():
        ranker = open_sentence_transformer(str(folder))
        # It has no record, so settings and weights identify it.
        identity = hashlib.sha256(json.dumps(dataclasses.asdict(ranker.config), sort_keys=True).encode())
        for key, tensor in sorted(ranker.passages.state_dict().items()):
            identity.update(key.encode())
            identity.update(tensor.numpy().tobytes())
        name = name_of_weights(digest_of_weights(folder), folder.resolve().name)
        return SavedModel(ranker.eval(), name, identity.hexdigest(), {})
    saved = load(folder)
    described = folder / CONVERTED / "form.json"
    if not described.is_file():
        return saved
    try:
        form = parse_json(described.read_text(encoding="utf-8"))["form"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError("a readable form.json", f"{described} ({error})", "convert the model again") from error
    if form not in FORMS:
        raise ModelError(f"a form ({', '.join(FORMS)})", f"{form!r} in {described}", "convert the model again")
    # Its scores differ slightly from the original's, so it is another model.
    fingerprint = hashlib.sha256(f"{saved.fingerprint} {form}".encode()).hexdigest()
    return dataclasses.replace(saved, ranker=convert(saved.ranker, form, folder / CONVERTED), fingerprint=fingerprint)
