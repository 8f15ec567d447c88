"""Questions in four languages: what they are about, their wrong passages, and a transformer that is tuned on them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch

from auscult.documents import Document, Section
from auscult.documents.building import build_document
from auscult.encoders.general.readers import Transformer, WindowReader, open_tokenizer
from auscult.encoders.onnx_runtime import open_session
from needs import Needs
from packed_e5 import save_packed_e5
from places import ROOT
from study.shipped.packed_e5 import PackedE5
from study.shipped.spoken_questions import SpokenQuestion, asked_passages, documents_of, is_asked, read_spoken
from study.shipped.tuned_e5 import LoggedTuning, backbone_of
from study.shipped.tuning import TuningSettings
from study.shipped.windows import AskedReader, Windows
from study.shipped.written import kept_apart

PIECES = ["▁", *(f"{space}{letter}" for letter in "abcdefghijklmnopqrstuvwxyz.:?" for space in ("", "▁"))]


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> PackedE5:
    return PackedE5(save_packed_e5(tmp_path_factory.mktemp("packed") / "e5.bin", PIECES))


@pytest.fixture(scope="module")
def reader(packed: PackedE5, tmp_path_factory: pytest.TempPathFactory) -> WindowReader:
    folder, kept = tmp_path_factory.mktemp("reader"), [*range(len(packed.pieces))]
    (folder / "model.onnx").write_bytes(packed.as_onnx(kept, 64))
    packed.tokenizer(kept).save(str(folder / "tokenizer.json"))
    transformer = Transformer(open_session(folder / "model.onnx", threads=1))
    tokenizer = open_tokenizer(folder / "tokenizer.json")
    return WindowReader(transformer, tokenizer, packed.width, asked="q:", told="q:", window=64, as_written=True)


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    sections = {"pain": "It hurts at night.", "care": "Rest it well.", "cost": ""}
    return [
        build_document(doc_id=name, title=name, sections=[Section(*each) for each in sections.items()])
        for name in ("gout", "flu", "mumps")
    ]


ASKED = [
    SpokenQuestion("en", "notes", "gout", 0, "when does it hurt"),
    SpokenQuestion("es", "notes", "flu", 1, "hay que reposar"),
]


@pytest.fixture(scope="module")
def windows(documents: list[Document], reader: WindowReader) -> Windows:
    return Windows.of(documents, reader, most=2)


def test_every_question_has_a_passage_and_a_language() -> None:
    spoken = read_spoken(ROOT / "data" / "questions")
    assert Counter(each.lang for each in spoken) == {"en": 12_398, "fr": 1_810, "es": 1_810, "de": 1_810}
    assert all(each.doc_id and each.question.strip() and each.passage >= 0 for each in spoken)
    assert {each.collection for each in spoken if each.lang == "de"} >= {"frwiki", "cases", "medquad", "labels"}


def test_measured_documents_are_not_learned_from(needs: Needs) -> None:
    needs.data("consumer_health", "questions_written")
    asked = [each for each in read_spoken(ROOT / "data" / "questions") if each.collection == "nhs"]
    found = {document.doc_id for document in documents_of("nhs", asked)}
    assert found
    assert found.isdisjoint(kept_apart())


def test_only_passages_with_text_are_asked_about(documents: list[Document]) -> None:
    by_id = {document.doc_id: document for document in documents}
    places = [("gout", 0), ("gout", 2), ("gout", 9), ("absent", 0)]
    assert [is_asked(SpokenQuestion("en", "notes", *place, "why"), by_id) for place in places] == [
        True, False, False, False,
    ]  # fmt: skip


def test_copies_are_right_and_others_wrong(documents: list[Document], windows: Windows, reader: WindowReader) -> None:
    first, second = asked_passages(ASKED, documents, windows, 0, reader, np.random.default_rng(0))
    assert first.collection == "notes en"
    assert (first.passage, {*first.right}) == (0, {0, 3, 6})
    assert (second.passage, {*second.right}) == (4, {1, 4, 7})
    for each in (first, second):
        assert each.wrong
        assert {*each.wrong}.isdisjoint(each.right)


def test_a_tuning_changes_the_upper_layers_alone(
    packed: PackedE5, documents: list[Document], windows: Windows, reader: WindowReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("study.shipped.tuned_e5.LEARNING_LAYERS", 1)
    torch.manual_seed(0)
    backbone = backbone_of(packed, [*range(len(packed.pieces))])
    before = {name: weights.clone() for name, weights in backbone.model.state_dict().items()}
    asked = asked_passages(ASKED * 4, documents, windows, 0, reader, np.random.default_rng(0))
    said: list[str] = []
    settings = TuningSettings(epochs=30, batch_questions=8, wrong=1, most_windows=1, learning_rate=1e-3)
    model = AskedReader(backbone, windows, torch.zeros(packed.width))
    tuning = LoggedTuning(model, settings, asked, said.append)
    losses = [tuning.step(batch) for _ in range(30) for batch in tuning.batches()]
    assert losses[-1] < losses[0]
    assert said[-1].startswith("25 steps, loss ")
    after = backbone.model.state_dict()
    changed = {name for name, weights in before.items() if not torch.equal(weights, after[name])}
    last = len(backbone.model.encoder.layer) - 1
    assert last > 0
    assert changed
    assert all(name.startswith(f"encoder.layer.{last}.") for name in changed)


def test_weights_are_those_of_the_package(packed: PackedE5, windows: Windows, reader: WindowReader) -> None:
    backbone = backbone_of(packed, [*range(len(packed.pieces))])
    model = AskedReader(backbone, windows, torch.zeros(packed.width))
    tokens, _ = reader.cut([["it hurts"]])
    found = model.question_part(tokens).detach().numpy()[0]
    asked = reader.ask(["it hurts"])[0]
    assert found @ (asked / np.linalg.norm(asked)) > 0.999
