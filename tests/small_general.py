"""A small general encoder, and how it is saved: random towers over a tiny BERT."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from auscult.encoders.general.encoder import GeneralEncoder
from auscult.encoders.general.persistence import load
from auscult.encoders.general.towers import SIDES
from auscult_lab.general.bert_onnx import bert_as_onnx
from auscult_lab.general.saving import save
from auscult_lab.modules.backbone import open_backbone
from tiny_bert import save_tiny_bert


def save_general(folder: Path, *, seed: int = 0, training: dict[str, object] | None = None) -> str:
    """Write one; its fingerprint."""
    opened = open_backbone(str(save_tiny_bert(folder.with_suffix(".bert"), width=32)))
    rng = np.random.default_rng(seed)
    width, hidden, dim = opened.dim, 12, 8

    def layer(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
        return rng.normal(size=(rows, columns)) / np.sqrt(columns), rng.normal(size=rows) * 0.1

    layers = {"body": layer(hidden, 5 * width)}
    for side in SIDES:
        layers |= {
            side: layer(dim, hidden),
            f"{side}.first": layer(hidden, width),
            f"{side}.second": layer(dim, hidden),
        }
    arrays = {
        f"{name}.{part}": array
        for name, pair in layers.items()
        for part, array in zip(("weight", "bias"), pair, strict=True)
    }
    weights = {name: array.numpy() for name, array in opened.model.state_dict().items()}
    save(
        folder,
        arrays,
        rng.normal(size=width) * 0.05,
        name="general",
        start_share=0.5,
        tokenizer=opened.tokenizer.backend_tokenizer.to_str().encode(),
        transformer=bert_as_onnx(weights, opened.model.config.to_dict(), opened.limit),
        reader={"dim": width, "window": opened.limit},
        training=training,
    )
    return load(folder).fingerprint


def make_general() -> GeneralEncoder:
    """One that was saved and opened."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "general"
        save_general(folder)
        return load(folder)
