"""What CDV learns from, against arnold2020 itself: Eq. 5, 6, 15 and 16 by loops in NumPy or by numbers on paper."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from auscult.concepts import KnowledgeBase, MentionLinker
from auscult.documents.building import build_document
from auscult.documents.document import Section
from auscult_lab.cdv import bloom_training as bloom_training
from auscult_lab.cdv.bloom_training import CodeTest
from auscult_lab.cdv.data import DocumentExamples
from auscult_lab.cdv.experiment import BloomTraining, CdvExperiment
from auscult_lab.cdv.spaces import BloomConfig, BloomEncoder
from auscult_lab.modules.recurrent import pack
from auscult_lab.modules.word_vectors import AveragedWords
from auscult_lab.training import stages
from auscult_lab.training.data import TrainingData, definition_documents
from auscult_lab.training.labels import label_documents
from auscult_lab.training.loop import History
from auscult_lab.training.stages import Run
from cdv_by_hand import Vector, bloom_code, embedding, weights_of
from small_cdv import ASPECTS, ENTITIES, Words, drawn, read, table_space

DESCRIBED = [
    ("DOID:1", "heart pain"), ("Q1", "rare gene"), ("DOID:1", "pain"), ("Q2", "cough"), ("DOID:1", "wheezing cough"),
    ("Q1", "gout"), ("Q1", "words without vectors"), ("Q3", "unheard"),
]  # fmt: skip


def test_entity_vector_is_the_mean_of_its_descriptions(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Eq. 5 and 6, and what Eq. 2 is trained to predict; the network stays as it was drawn."""
    seen: list[Vector] = []

    def fit(objective: Any, loader: Any, *_: object, **__: object) -> History:
        drawn(objective.network, seed=2)
        seen.extend(code.double().numpy() for _, codes in loader for code in codes)
        return History([], 0)

    monkeypatch.setattr(stages, "fit", fit)
    space, _ = bloom_training.train_bloom_space(
        DESCRIBED, {"gout": "Q2"}, Words(), BloomTraining(), dim=3, seed=1, accelerator="cpu",
        run=Run(tmp_path, lambda _: None, progress=False),
    )  # fmt: skip
    usable = sorted(key for key, text in DESCRIBED if read(text))
    assert sorted(code.tolist() for code in seen) == sorted(bloom_code(key).tolist() for key in usable)
    weights = weights_of(space.encoder)
    for key, texts in {"DOID:1": ("heart pain", "pain", "wheezing cough"), "Q1": ("rare gene", "gout")}.items():
        mean = sum(embedding(weights, read(text)) for text in texts) / len(texts)
        np.testing.assert_allclose(space.place(key, "asthma"), mean, atol=1e-6)
    np.testing.assert_allclose(space.place("Q2", "asthma"), embedding(weights, read("cough")), atol=1e-6)
    np.testing.assert_allclose(space.place("Q9", "Gout"), space.known["Q2"])
    # The second case of Eq. 5: an entity never described is its mention.
    np.testing.assert_allclose(space.place("Q9", "rare asthma"), embedding(weights, read("rare asthma")), atol=1e-6)
    assert "Q3" not in space.known


def test_learning_rate_and_weight_decay_follow_the_settings(tmp_path: Path) -> None:
    def weights(**choice: float) -> Vector:
        space, _ = bloom_training.train_bloom_space(
            DESCRIBED, {}, Words(), BloomTraining(epochs=2, batch_size=8, dropout=0.0, learning_rate=0.01, **choice),
            dim=3, seed=1, accelerator="cpu", run=Run(tmp_path, lambda _: None, progress=False),
        )  # fmt: skip
        return np.concatenate([each.detach().double().numpy().ravel() for each in space.encoder.parameters()])

    plain = weights()
    np.testing.assert_array_equal(weights(decay=1.0, weight_decay=0.0), plain)
    assert np.abs(weights(decay=0.1) - plain).max() > 1e-3, "the second epoch takes smaller steps"
    shrunk = weights(weight_decay=10.0)
    assert np.abs(shrunk).mean() < 0.95 * np.abs(plain).mean()


def test_code_is_found_where_it_is_the_likeliest() -> None:
    """Of all codes by the whole likelihood of Eq. 2's bits, worked out with numpy."""
    encoder = drawn(BloomEncoder(BloomConfig(word_dim=4, lstm_dim=3, dense_dim=3)), seed=2)
    words = tuple(torch.from_numpy(np.array(read(text), np.float32)) for _, text in DESCRIBED[:6])
    keys = ["DOID:1", "Q1", "Q2"]
    codes = np.stack([bloom_code(key) for key in keys])
    with torch.no_grad():
        bits = torch.cat([encoder(pack([text])) for text in words]).double().numpy()
    likely = np.log(bits) @ codes.T + np.log(1 - bits) @ (1 - codes).T
    for owners in itertools.product(range(3), repeat=2):
        test = CodeTest(words[:2], torch.tensor(owners), torch.from_numpy(codes.astype(np.float32)))
        right = [likely[row].argmax() == owner for row, owner in enumerate(owners)]
        assert test.accuracy(encoder) == np.mean(right)


def test_best_epoch_by_held_out_codes_counts(tmp_path: Path) -> None:
    _, history = bloom_training.train_bloom_space(
        DESCRIBED, {}, Words(), BloomTraining(epochs=9, learning_rate=0.1, held_out=5, patience=3, input_scale=2),
        dim=8, seed=1, accelerator="cpu", run=Run(tmp_path, lambda _: None, progress=False), within="spaces/entity",
    )  # fmt: skip
    found = [epoch["validation_code_R@1"] for epoch in history.epochs]
    assert history.best == found.index(max(found))
    assert len(found) <= history.best + 4
    assert (tmp_path / "spaces/entity/best.ckpt").is_file()


def test_held_out_descriptions_leave_one_of_their_key() -> None:
    keys = ["a", "a", "b", "c", "c", "c"]
    assert bloom_training.draw_held_out(keys, 0, seed=1) == []
    drawn_rows = bloom_training.draw_held_out(keys, 9, seed=1)
    assert sorted(keys[row] for row in drawn_rows) == ["a", "c"]


def test_definitions_are_documents_under_their_names(ontology: Path) -> None:
    knowledge = KnowledgeBase.from_files([ontology])
    everything = definition_documents(knowledge, [])
    defined = {concept.name: concept.definition for concept in knowledge if concept.definition}
    assert defined
    assert {document.title: document.text for document in everything} == defined
    left = definition_documents(knowledge, everything[:1])
    assert [document.title for document in left] == [document.title for document in everything[1:]]


def test_targets_are_means_over_title_mentions_and_headings(ontology: Path) -> None:
    """Eq. 15 and 16, by numbers worked out on paper."""
    knowledge = KnowledgeBase.from_files([ontology])
    document = build_document(
        doc_id="a", title="Asthma",
        sections=[
            Section(heading="Signs and symptoms", text="Asthma is common. A heart attack is not. Neither is gout."),
            Section(heading="Causes", text="Unlike gout or a heart attack. Nobody knows."),
            Section(heading="", text="Gout again."),
        ],
    )  # fmt: skip
    labelled = list(label_documents([document], knowledge, MentionLinker(knowledge)))
    given = {"name": "e", "track": "zero-shot", "corpora": [{"name": "nhs"}], "validation": {"corpora": ["nhs"]}}
    data = TrainingData(labelled, [], knowledge, None, [])
    spaces = {"entity": table_space(ENTITIES), "aspect": table_space(ASPECTS)}
    made = DocumentExamples(CdvExperiment.model_validate(given), data, AveragedWords(Words()), spaces)[0, 0]
    asthma, with_heart, with_gout = (1.0, 0.0, -1.0), (0.5, 0.25, -0.4), (0.3, 0.05, -0.25)
    with_both = (0.2, 0.2, -0.1)
    np.testing.assert_allclose(
        made.targets["entity"], [asthma, with_heart, with_gout, with_both, asthma, with_gout], atol=1e-6
    )
    symptoms, causes, none = (0.3, 0.0, 0.2), (0.0, 0.0, 0.9), (np.nan,) * 3
    np.testing.assert_allclose(made.targets["aspect"], [symptoms] * 3 + [causes] * 2 + [none], atol=1e-6)
    # What a passage answers is asked for by title and headings alone (Eq. 7), at unit length.
    asked = np.array([(*asthma, *symptoms), (*asthma, *causes)])
    np.testing.assert_allclose(made.queries, asked / np.sqrt([[2.13], [2.81]]), atol=1e-6)
    assert made.passages.tolist() == [0, 0, 0, 1, 1, -1]
