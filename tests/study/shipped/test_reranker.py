"""Training a re-ranker: it learns which hit answers, and by which sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch.utils.data import DataLoader

from auscult.encoders import load_reranker, training_record
from auscult.encoders.reranker import Excerpt
from auscult_lab.general.student import begin_student
from auscult_lab.modules.backbone import open_backbone
from auscult_lab.training.batches import row_loader
from auscult_lab.training.loop import fit
from auscult_lab.training.schedule import Schedule
from study.shipped.reranker.lessons import Lesson, Pairs, nearer_first
from study.shipped.reranker.network import RerankerNetwork
from study.shipped.reranker.saving import save_network
from study.shipped.reranker.training import MONITOR, LessonExamples, RerankerObjective, RerankerSettings
from tiny_bert import save_tiny_bert

DISEASES = ("gout", "asthma", "fever")
ASPECTS = {"signs": "people feel pain", "causes": "a gene causes it"}


def lesson(disease: str, aspect: str) -> Lesson:
    """Return a question about an aspect of a disease, with passages on the other aspect and on other diseases."""

    def seen(name: str, other: str) -> Excerpt:
        sentences = (f"{name} is here", f"with {name} {ASPECTS[other]}", "and slowly")
        return Excerpt(f"{name}.", sentences, (0.0, 0.0, 0.0), f"{name} is common")

    wrong = [seen(name, other) for name in DISEASES for other in ASPECTS if (name, other) != (disease, aspect)]
    return Lesson("made", f"{aspect} of {disease}", seen(disease, aspect), frozenset({1}), tuple(wrong), False)


LESSONS = [lesson(disease, aspect) for disease in DISEASES for aspect in ASPECTS]


def objective_of(encoder: Path, settings: RerankerSettings) -> tuple[RerankerObjective, DataLoader[Any], Pairs]:
    backbone = open_backbone(str(encoder))
    network = RerankerNetwork(begin_student(backbone, range(backbone.depth)))
    network.train()
    pairs = Pairs(network.backbone.tokenizer.backend_tokenizer, 40)
    loader = row_loader(LessonExamples(LESSONS, pairs, settings), per_epoch=6, size=6, seed=0)
    return RerankerObjective(network, settings, pairs, LESSONS), loader, pairs


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_bert(tmp_path_factory.mktemp("bert") / "encoder", width=64, limit=96)


@pytest.fixture(scope="module")
def trained(encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[RerankerNetwork, list[dict[str, float]]]:
    settings = RerankerSettings(learning_rate=1e-3, epochs=60, bare=0.0)
    objective, loader, _ = objective_of(encoder, settings)
    schedule = Schedule(epochs=settings.epochs, seed=0, warm_up=settings.warm_up, accelerator="cpu")
    folder = tmp_path_factory.mktemp("checkpoints")
    history = fit(objective, loader, schedule, folder=folder, say=lambda line: None, progress=False)
    assert isinstance(objective.network, RerankerNetwork)
    return objective.network, history.epochs


def test_training_puts_the_right_passage_first(trained: tuple[RerankerNetwork, list[dict[str, float]]]) -> None:
    _, epochs = trained
    assert epochs[-1]["loss"] < epochs[0]["loss"] / 2
    assert epochs[-1][MONITOR] == epochs[-1][f"{MONITOR}_made"] >= 0.8


def test_a_saved_model_reads_as_it_learned(
    trained: tuple[RerankerNetwork, list[dict[str, float]]], tmp_path: Path
) -> None:
    network, _ = trained
    texts = [text for each in LESSONS for text in (each.question, *each.right.sentences)]
    save_network(tmp_path / "reranker", network, texts, 40, {"settings": {}}, pieces=90)
    assert training_record(tmp_path / "reranker")["settings"] == {}
    reranker = load_reranker(str(tmp_path / "reranker"))
    right = marked = 0
    for each in LESSONS:
        read = reranker.read(each.question, [each.right, *each.wrong])
        right += max(read, key=lambda one: one.log_odds) is read[0]
        marked += max(read[0].sentences, key=read[0].sentences.__getitem__) == 1
    assert min(right, marked) >= len(LESSONS) - 1


def test_first_hits_are_asked_beside_more_often() -> None:
    wrong = LESSONS[0].wrong
    chance = np.random.default_rng(0)
    drawn = [nearer_first(wrong, 2, chance) for _ in range(400)]
    assert all(some[0] is not some[1] for some in drawn)
    counts = [sum(each in some for some in drawn) for each in wrong]
    assert counts[0] > counts[-1] + 50
    assert len(nearer_first(wrong, 9, chance)) == len(wrong)
