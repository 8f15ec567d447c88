"""The models that ship with the package: small enough, whole, documented, and as good as their card says."""

from __future__ import annotations

from pathlib import Path

import pytest

from auscult.encoders import SHIPPED, load_model, model_folder, training_record
from auscult.errors import ModelError
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.evaluation.comparing import compare_models
from auscult_lab.evaluation.contenders import open_contenders
from auscult_lab.evaluation.task import build_task
from needs import Needs


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_models_are_small_whole_and_described(name: str):
    folder = model_folder(name)
    files = [file for file in folder.iterdir() if file.is_file()]
    assert sum(file.stat().st_size for file in files) <= (60e6 if name == "multilingual" else 40e6)
    assert (folder / "README.md").is_file()
    encoder = load_model(name)
    assert len(encoder.fingerprint) == 64
    assert encoder.fingerprint in (folder / "README.md").read_text(encoding="utf-8")
    record = training_record(folder)
    assert record["track"] in ("zero-shot", "adapted")
    assert not any(corpus["name"] == "mtsamples" for corpus in record["corpora"])  # type: ignore[attr-defined]


def test_shipped_models_stay_within_130_megabytes_together():
    folders = [model_folder(name) for name in SHIPPED]
    assert sum(file.stat().st_size for folder in folders for file in Path(folder).iterdir()) <= 130e6


def test_an_installation_without_a_shipped_model_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("auscult.encoders.folder.files", lambda package: tmp_path)
    for call in (load_model, model_folder):
        with pytest.raises(ModelError) as caught:
            call("cdv")
        assert str(caught.value) == (
            "expected the shipped model 'cdv', got an installation without it; "
            "reinstall auscult, or give a model folder"
        )


@pytest.mark.slow
def test_default_model_beats_bm25_on_a_published_sample(needs: Needs):
    needs.data("medquad")
    task = build_task(open_corpus("medquad"), "rerank", split="test", number=300, seed=0)
    contenders = [c for name in ("bm25", "cdv") for c in open_contenders(name, "medquad")]
    bm25, default = compare_models(task, contenders).records
    assert default.measures["R@1"] > bm25.measures["R@1"] + 0.3
    assert default.measures["R@1"] >= 0.75
