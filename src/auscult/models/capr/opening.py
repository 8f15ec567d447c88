"""A folder as a scorer or as an encoder: one that was saved here, or a bare sentence-transformers folder."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path

from auscult.errors import ModelError
from auscult.interfaces import Precision
from auscult.models.capr.bi import BiEncoder
from auscult.models.capr.encoder import BiDocumentEncoder
from auscult.models.capr.interchange import open_sentence_transformer
from auscult.models.capr.persistence import SavedModel, load
from auscult.models.capr.scorer import CaprScorer
from auscult.models.device import fastest_device


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
    ranker = saved.ranker.to(fastest_device())
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
    ranker = saved.ranker.to(fastest_device())
    return BiDocumentEncoder(ranker, name=saved.name, fingerprint=saved.fingerprint, precision=precision)


def open_model(folder: Path) -> SavedModel:
    """Open a model of any architecture.

    Raises:
        ModelError: There is no model, or its folder is damaged.
        MissingExtraError: The package that opens transformers is not installed.
    """
    if (folder / "model.json").is_file():
        return load(folder)
    ranker = open_sentence_transformer(str(folder))
    return SavedModel(ranker.eval(), folder.resolve().name, _identity(ranker), {})


def _identity(ranker: BiEncoder) -> str:
    """SHA-256 of settings and weights, for a model that no record identifies."""
    total = hashlib.sha256(json.dumps(dataclasses.asdict(ranker.config), sort_keys=True).encode())
    for name, tensor in sorted(ranker.passages.state_dict().items()):
        total.update(name.encode())
        total.update(tensor.numpy().tobytes())
    return total.hexdigest()


__all__ = ["open_encoder", "open_model", "open_scorer"]
