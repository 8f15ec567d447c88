"""Training a re-ranker: it learns, comes out whole and goes on after a kill; what does not answer is asked beside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from auscult.documents import Document
from auscult.encoders import load_reranker, training_record
from auscult_lab.families.table import train
from auscult_lab.general.reading import reader_of
from auscult_lab.modules.backbone import open_backbone
from auscult_lab.reranker.data import RerankerExamples
from auscult_lab.reranker.experiment import RerankerExperiment
from leaflets import leaflets
from tiny_bert import save_tiny_bert


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_bert(tmp_path_factory.mktemp("bert") / "encoder", width=64, limit=96)


def experiment(corpus: Path, encoder: Path, **training: Any) -> RerankerExperiment:
    choice = {"epochs": 3, "questions": 48, "passages": 4, "window": 64, "frozen": 0, "learning_rate": 0.0005,
              "precision": "float32"}  # fmt: skip
    return RerankerExperiment.model_validate({
        "name": "reranker", "model": "reranker", "track": "zero-shot", "corpora": [{"name": str(corpus)}],
        "validation": {"corpora": [str(corpus)], "documents": 4}, "knowledge": None, "encoder": str(encoder),
        "window": 96, "training": choice | training,
    })  # fmt: skip


def test_training_lowers_the_loss_and_the_model_opens(corpus: Path, encoder: Path, tmp_path: Path) -> None:
    outcome = train(experiment(corpus, encoder), tmp_path / "run")
    losses = [epoch["loss"] for epoch in outcome.record["history"]]
    assert losses[-1] < losses[0]
    assert training_record(outcome.model)["kind"] == "reranker"
    scores = load_reranker(str(outcome.model)).score("symptoms of gout", [("gout > symptoms.", "pain"), ("", "fever")])
    assert np.isfinite(scores).all()
    assert scores[0] != scores[1]


def test_a_killed_training_goes_on(corpus: Path, encoder: Path, tmp_path: Path) -> None:
    whole = train(experiment(corpus, encoder), tmp_path / "run")
    (tmp_path / "run" / "training.json").unlink()
    said: list[str] = []
    again = train(experiment(corpus, encoder), tmp_path / "run", say=said.append)
    assert not [line for line in said if line.startswith(("read ", "epoch"))]
    assert load_reranker(str(again.model)).fingerprint == load_reranker(str(whole.model)).fingerprint


@pytest.fixture(scope="module")
def examples(encoder: Path) -> RerankerExamples:
    documents: list[Document] = leaflets()
    vectors = np.random.default_rng(0).normal(size=(12, 64)).astype(np.float32)
    reader = reader_of(open_backbone(str(encoder)), {"window": 96})
    return RerankerExamples(documents, reader, vectors, None, passages=5, window=96, seed=0)


def test_negatives_beside_an_answer_do_not_answer(examples: RerankerExamples, encoder: Path) -> None:
    tokenizer = open_backbone(str(encoder)).tokenizer
    questions = set()
    for epoch in range(40):
        for row in range(len(examples)):
            example = examples[epoch, row]
            assert example.right == [True, *[False] * (len(example.right) - 1)]
            assert len(example.right) > 1
            texts = [tokenizer.decode(each.ids) for each in example.pairs]
            assert len(set(texts)) == len(texts)
            question, answer = texts[0].split("[SEP]")[:2]
            questions.add(question)
            # A sentence that is asked for is taken out of its passage.
            assert question.removeprefix("[CLS]").strip() not in answer or "symptoms" in question or len(question) < 40
    assert any("symptoms" in question for question in questions)
    assert any("what" in question and "gout" in question for question in questions)


def test_chance_comes_from_epoch_and_row_alone(examples: RerankerExamples) -> None:
    assert examples[3, 1] == examples[3, 1]
    assert examples[3, 1] != examples[4, 1]
    batch = examples.collate([examples[0, 0], examples[0, 1]])
    assert batch.right.shape == batch.passage_mask.shape == (2, 5)
    assert torch.equal(batch.right.sum(dim=1), torch.tensor([1, 1]))
    assert not (batch.question_mask & ~batch.mask).any()
