"""What CDV learns from, against arnold2020 itself: Eq. 5, 6, 15 and 16 by loops in NumPy or by numbers on paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from auscult.concepts import KnowledgeBase, MentionLinker
from auscult.documents.building import Section, build_document
from auscult_lab.cdv import bloom_training as bloom_training
from auscult_lab.cdv.data import DocumentExamples
from auscult_lab.cdv.experiment import BloomTraining, CdvExperiment
from auscult_lab.modules.word_vectors import AveragedWords
from auscult_lab.training import stages
from auscult_lab.training.data import TrainingData
from auscult_lab.training.labels import label_documents
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

    def fit(objective: Any, loader: Any, *_: object, **__: object) -> None:
        drawn(objective.network, seed=2)
        seen.extend(code.double().numpy() for _, codes in loader for code in codes)

    monkeypatch.setattr(stages, "fit", fit)
    space = bloom_training.train_bloom_space(
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
        space = bloom_training.train_bloom_space(
            DESCRIBED, {}, Words(), BloomTraining(epochs=2, batch_size=8, dropout=0.0, learning_rate=0.01, **choice),
            dim=3, seed=1, accelerator="cpu", run=Run(tmp_path, lambda _: None, progress=False),
        )  # fmt: skip
        return np.concatenate([each.detach().double().numpy().ravel() for each in space.encoder.parameters()])

    plain = weights()
    np.testing.assert_array_equal(weights(decay=1.0, weight_decay=0.0), plain)
    assert np.abs(weights(decay=0.1) - plain).max() > 1e-3, "the second epoch takes smaller steps"
    shrunk = weights(weight_decay=10.0)
    assert np.abs(shrunk).mean() < 0.95 * np.abs(plain).mean()


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
