"""A sparse encoder becomes a reader of weighted terms that says what the library says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer, BertConfig, BertForMaskedLM

from auscult.encoders.general.persistence import load
from auscult.encoders.general.readers import open_tokenizer
from auscult.encoders.general.terms import TermReader
from auscult.encoders.onnx_runtime import open_session
from auscult.errors import ModelError
from auscult.understanding import Query
from auscult_lab.general.saving import add_terms, what_reads
from leaflets import leaflets
from small_general import save_general
from study.shipped import sparse
from study.shipped.sparse import term_files, texts_of
from tiny_bert import save_tiny_bert

TEXTS = ["people with gout often feel pain", "the signs of asthma", "a gene causes it", "fever and pain"]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = save_tiny_bert(tmp_path_factory.mktemp("splade") / "bert", limit=160, width=32)
    torch.manual_seed(1)
    model = BertForMaskedLM(BertConfig.from_pretrained(folder))
    # Of a random model half of all terms fire; a learned one fires few.
    torch.nn.init.normal_(model.cls.predictions.bias, -0.5, 1.0)
    model.save_pretrained(folder)
    return folder


def by_the_library(folder: Path, text: str) -> np.ndarray:
    tokens = AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt")
    with torch.no_grad():
        logits = BertForMaskedLM.from_pretrained(folder).eval()(**tokens).logits
    return torch.log1p(torch.relu(logits)).amax(dim=1)[0].numpy()


def reader_of(folder: Path, tmp_path: Path, **options: int) -> TermReader:
    files = term_files(folder, TEXTS * 2, tmp_path / "scratch")
    (tmp_path / "terms.onnx").write_bytes(files.transformer)
    tokenizer = open_tokenizer(folder / "tokenizer.json")
    return TermReader(open_session(tmp_path / "terms.onnx", threads=1), tokenizer, **{**files.options, **options})


@pytest.mark.parametrize(("near", "likeness"), [(10_000, 0.99), (8, 0.7)])
def test_weights_are_those_of_the_library(
    near: int, likeness: float, encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sparse, "HELD_BY", 0)
    monkeypatch.setattr(sparse, "NEAR", near)
    read = reader_of(encoder, tmp_path).read(TEXTS)
    assert read.windows.tolist() == [1, 1, 1, 1]
    for row, text in enumerate(TEXTS):
        wanted = by_the_library(encoder, text)
        dense = np.zeros_like(wanted)
        span = slice(*read.starts[row : row + 2])
        dense[read.terms[span]] = read.weights[span]
        assert dense @ wanted / np.linalg.norm(dense) / np.linalg.norm(wanted) > likeness
        # Terms may be left out; those that are given have their own weight.
        given = np.flatnonzero(dense)
        assert near > len(wanted) or len(given) < np.count_nonzero(wanted)
        np.testing.assert_allclose(dense[given], wanted[given], atol=0.15)


def test_terms_without_weight_anywhere_are_left_out(encoder: Path, tmp_path: Path) -> None:
    brought = sum(by_the_library(encoder, text) > 0.1 for text in TEXTS)
    read = reader_of(encoder, tmp_path).read(TEXTS)
    assert 0 < int(read.terms.max()) < int((brought > 0).sum()) + 8 < len(brought)


def test_a_long_text_is_read_in_windows(encoder: Path, tmp_path: Path) -> None:
    reader = reader_of(encoder, tmp_path, window=10, most=5)
    long = " ".join(TEXTS * 3)
    read = reader.read([TEXTS[1], long, ""])
    assert read.windows[0] == 1
    assert read.windows[1] > 4
    assert read.windows[2] == 0
    assert np.diff(read.starts).max() <= 5
    alone = reader.read([TEXTS[1]])
    np.testing.assert_array_equal(alone.terms, read.terms[: read.starts[1]])


def test_questions_have_unit_length_and_blanks_no_terms(encoder: Path, tmp_path: Path) -> None:
    reader = reader_of(encoder, tmp_path)
    assert np.linalg.norm(reader.ask("signs of gout")[1]) == pytest.approx(1)
    assert len(reader.ask("")[0]) == 0


def test_model_with_terms_reopens_and_damage_is_refused(encoder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "general"
    before = save_general(folder)
    assert not load(folder).expands
    with pytest.raises(ModelError, match="reads weighted terms"):
        load(folder).expand_query(Query("", "gout"))
    add_terms(folder, term_files(encoder, TEXTS * 2, tmp_path / "scratch"))
    model = load(folder)
    assert model.expands
    assert model.fingerprint != before
    documents = leaflets()[:3]
    expansions = model.expand_documents(documents)
    assert [len(each.windows) for each in expansions] == [len(document.passages) for document in documents]
    (alone,) = model.expand_documents(documents[1:2])
    np.testing.assert_array_equal(alone.terms, expansions[1].terms)
    assert what_reads(folder)["terms"].options == {"window": 128, "most": 96}
    (folder / "terms.onnx").write_bytes(b"\0" + (folder / "terms.onnx").read_bytes()[1:])
    with pytest.raises(ModelError, match="as they were saved"):
        load(folder)


def test_a_folder_without_a_language_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="masked language model"):
        term_files(save_tiny_bert(tmp_path / "bert"), TEXTS, tmp_path / "scratch")
    with pytest.raises(ModelError, match="a folder of a sparse encoder"):
        term_files(tmp_path / "nothing", TEXTS, tmp_path / "scratch")


def test_texts_are_picked_by_a_seed() -> None:
    passages = [str(number) for number in range(50)]
    picked = texts_of(passages, ["why?"], most=10)
    assert picked == texts_of(passages, ["why?"], most=10)
    assert picked != texts_of(passages, ["why?"], most=10, seed=1)
    assert len(picked) == 11
