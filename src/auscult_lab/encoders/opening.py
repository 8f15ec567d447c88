"""A folder as a scorer or as an encoder: one that was saved here, or a bare sentence-transformers folder."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path

from auscult.errors import ModelError
from auscult.files.json_text import parse_json
from auscult.interfaces import Precision
from auscult_lab.encoders.base import PassageRanker
from auscult_lab.encoders.bi import BiEncoder
from auscult_lab.encoders.encoder import BiDocumentEncoder
from auscult_lab.encoders.export import CONVERTED, FORMS, Form, OnnxBackbone, convert
from auscult_lab.encoders.interchange import open_sentence_transformer
from auscult_lab.encoders.persistence import SavedModel, load
from auscult_lab.encoders.scorer import CaprScorer
from auscult_lab.modules.backbone import fastest_device
from auscult_lab.modules.encoder_identity import digest_of_weights, name_of_weights


def open_scorer(folder: Path, *, precision: Precision = "float32") -> CaprScorer:
    """Open a model of any architecture as a scorer, on a GPU where there is one.

    Args:
        folder: What `persistence.save` or sentence-transformers wrote.
        precision: As for `CaprScorer`.

    Raises:
        ModelError: There is no model, or its folder is damaged.
        MissingExtraError: The package that opens transformers is not installed.
    """
    saved = open_model(folder)
    ranker = _placed(saved.ranker)
    return CaprScorer(ranker, name=saved.name, fingerprint=saved.fingerprint, precision=precision)


def open_encoder(folder: Path, *, precision: Precision = "float32") -> BiDocumentEncoder:
    """Open a bi-encoder as an encoder, for an index, on a GPU where there is one.

    Args:
        folder: What `persistence.save` or sentence-transformers wrote.
        precision: As for `CaprScorer`.

    Raises:
        ModelError: There is no model, its folder is damaged, or it has no vectors that an index could hold.
        MissingExtraError: The package that opens transformers is not installed.
    """
    saved = open_model(folder)
    if not isinstance(saved.ranker, BiEncoder):
        raise ModelError(
            "a model that places passages in a space, for an index",
            f"the {saved.ranker.kind}-encoder in {folder}",
            "index with a bi-encoder, and let this one rank what it finds",
        )
    ranker = saved.ranker.to(fastest_device()) if not _is_converted(saved.ranker) else saved.ranker
    return BiDocumentEncoder(ranker, name=saved.name, fingerprint=saved.fingerprint, precision=precision)


def open_model(folder: Path) -> SavedModel:
    """Open a model of any architecture, in the form that its folder says (`families.converting`).

    Raises:
        ModelError: There is no model, or its folder is damaged.
        MissingExtraError: The package that opens transformers is not installed.
    """
    if (folder / "model.json").is_file():
        saved = load(folder)
        form = _form(folder)
        return saved if form is None else _converted(saved, form, folder / CONVERTED)
    ranker = open_sentence_transformer(str(folder))
    name = name_of_weights(digest_of_weights(folder), folder.resolve().name)
    return SavedModel(ranker.eval(), name, _identity(ranker), {})


def _form(folder: Path) -> Form | None:
    described = folder / CONVERTED / "form.json"
    if not described.is_file():
        return None
    try:
        form = parse_json(described.read_text(encoding="utf-8"))["form"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError("a readable form.json", f"{described} ({error})", "convert the model again") from error
    if form not in FORMS:
        raise ModelError(f"a form ({', '.join(FORMS)})", f"{form!r} in {described}", "convert the model again")
    found: Form = form
    return found


def _converted(saved: SavedModel, form: Form, folder: Path) -> SavedModel:
    # Its scores are not quite those of the original, so that it is another model.
    fingerprint = hashlib.sha256(f"{saved.fingerprint} {form}".encode()).hexdigest()
    return dataclasses.replace(saved, ranker=convert(saved.ranker, form, folder), fingerprint=fingerprint)


def _is_converted(ranker: PassageRanker) -> bool:
    return any(isinstance(each, OnnxBackbone) for each in ranker.backbones().values())


def _placed(ranker: PassageRanker) -> PassageRanker:
    """On a GPU where there is one; what ONNX Runtime runs stays on the processor."""
    return ranker if _is_converted(ranker) else ranker.to(fastest_device())


def _identity(ranker: BiEncoder) -> str:
    """SHA-256 of settings and weights, for a model that no record identifies."""
    total = hashlib.sha256(json.dumps(dataclasses.asdict(ranker.config), sort_keys=True).encode())
    for name, tensor in sorted(ranker.passages.state_dict().items()):
        total.update(name.encode())
        total.update(tensor.numpy().tobytes())
    return total.hexdigest()
