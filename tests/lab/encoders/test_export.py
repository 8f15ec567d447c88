"""Cheaper forms of the architectures give nearly the same scores."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from auscult.errors import ModelError
from auscult_lab.encoders.base import PassageText
from auscult_lab.encoders.export import FORMS, OnnxBackbone, convert
from auscult_lab.encoders.registry import create
from tiny_bert import save_tiny_bert

PASSAGES = [PassageText(text) for text in ("people with asthma", "the signs of gout come slowly " * 9, "a gene")]
SETTINGS = {"bi": {"shared": True, "pooling": "mean", "cosine": True}, "cross": {"pooling": "mean"}}


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", ["bi", pytest.param("cross", marks=pytest.mark.slow)])
def test_every_form_scores_as_the_model_does(kind: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    ranker = create(kind, str(save_tiny_bert(tmp_path / "bert")), SETTINGS[kind]).eval()
    before = {name: value.clone() for name, value in ranker.state_dict().items()}
    plain = ranker.score_kept("gout ; symptoms", ranker.keep(PASSAGES))
    for form in FORMS:
        other = convert(ranker, form, tmp_path / "onnx")
        scores = other.score_kept("gout ; symptoms", other.keep(PASSAGES))
        # 8-bit weights round, much in so small a model; ONNX Runtime only adds in another order.
        tolerance = 1e-4 if form == "onnx" else 0.3
        assert torch.allclose(scores, plain, rtol=0, atol=tolerance * float(plain.abs().max())), form
        if form == "onnx-int8":
            assert not torch.equal(scores, plain), "nothing was rounded"
    after = ranker.state_dict()
    assert all(torch.equal(after[name], value) for name, value in before.items())


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    backbone = next(iter(create("bi", str(save_tiny_bert(tmp_path / "bert"))).backbones().values()))
    (tmp_path / "x.onnx").write_bytes(b"no model")
    with pytest.raises(ModelError, match=r"x\.onnx"):
        OnnxBackbone(tmp_path / "x.onnx", backbone)


def test_an_encoder_with_custom_reading_is_refused(tmp_path: Path) -> None:
    long = create("long-bi", str(save_tiny_bert(tmp_path / "bert")), {"window": 8, "stretch": 64})
    with pytest.raises(ModelError, match="last states of a plain encoder"):
        convert(long, "onnx", tmp_path / "onnx")
    assert not (tmp_path / "onnx").exists()
