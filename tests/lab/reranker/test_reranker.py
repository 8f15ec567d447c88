"""Training a re-ranker: it learns which hit answers, and by which sentence."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
import torch

from auscult.encoders import load_reranker, training_record
from auscult.encoders.reranker import Excerpt
from auscult_lab.modules.backbone import open_backbone
from auscult_lab.reranker.lessons import Lesson, Pairs, Seen, nearer_first
from auscult_lab.reranker.network import RerankerNetwork
from auscult_lab.reranker.saving import save_network
from auscult_lab.reranker.training import RerankerSettings, found_first, train
from tiny_bert import save_tiny_bert

DISEASES = ("gout", "asthma", "fever")
ASPECTS = {"signs": "people feel pain", "causes": "a gene causes it"}


def lesson(disease: str, aspect: str) -> Lesson:
    """Return a question about an aspect of a disease, with passages on the other aspect and on other diseases."""

    def seen(name: str, other: str) -> Seen:
        sentences = (f"{name} is here", f"with {name} {ASPECTS[other]}", "and slowly")
        return Seen(f"{name} {other}", f"{name}.", sentences, (0.0, 0.0, 0.0))

    wrong = [seen(name, other) for name in DISEASES for other in ASPECTS if (name, other) != (disease, aspect)]
    return Lesson("made", f"{aspect} of {disease}", seen(disease, aspect), frozenset({1}), tuple(wrong), False)


LESSONS = [lesson(disease, aspect) for disease in DISEASES for aspect in ASPECTS]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[RerankerNetwork, Pairs, list[float]]:
    backbone = open_backbone(str(save_tiny_bert(tmp_path_factory.mktemp("bert") / "encoder", width=64, limit=96)))
    network, losses = RerankerNetwork(backbone), []
    pairs = Pairs(backbone.tokenizer.backend_tokenizer, 40)
    settings = RerankerSettings(learning_rate=1e-3, epochs=60, batch_questions=6, bare=0.0)
    train(network, pairs, LESSONS, settings, lambda step, steps, loss: losses.append(loss))
    return network, pairs, losses


def test_training_puts_the_right_passage_first(trained: tuple[RerankerNetwork, Pairs, list[float]]) -> None:
    network, pairs, losses = trained
    assert np.mean(losses[-5:]) < np.mean(losses[:5]) / 2
    assert found_first(network, pairs, LESSONS)["made"] >= 0.8


def test_a_saved_model_reads_as_it_learned(trained: tuple[RerankerNetwork, Pairs, list[float]], tmp_path: Path) -> None:
    network, _, _ = trained
    texts = [text for each in LESSONS for text in (each.question, *each.right.sentences)]
    save_network(tmp_path / "reranker", network, texts, 40, {"settings": {}}, pieces=90)
    assert training_record(tmp_path / "reranker")["settings"] == {}
    reranker = load_reranker(str(tmp_path / "reranker"))
    right = marked = 0
    for each in LESSONS:
        read = reranker.read(
            each.question, [Excerpt(seen.label, seen.sentences, seen.scores) for seen in (each.right, *each.wrong)]
        )
        right += max(read, key=lambda one: one.log_odds) is read[0]
        marked += max(read[0].sentences, key=read[0].sentences.__getitem__) == 1
    assert min(right, marked) >= len(LESSONS) - 1


def test_first_hits_are_asked_beside_more_often() -> None:
    wrong = LESSONS[0].wrong
    chance = np.random.default_rng(0)
    drawn = [nearer_first(wrong, 2, chance) for _ in range(400)]
    assert all(len({each.passage_id for each in some}) == 2 for some in drawn)
    counts = [sum(each in some for some in drawn) for each in wrong]
    assert counts[0] > counts[-1] + 50
    assert len(nearer_first(wrong, 9, chance)) == len(wrong)


def test_an_interrupted_training_goes_on_as_it_was(tmp_path: Path) -> None:
    encoder = str(save_tiny_bert(tmp_path / "encoder", width=32, limit=96))

    def trained(steps: int, checkpoint: Path | None) -> dict[str, torch.Tensor]:
        backbone = open_backbone(encoder)
        network = RerankerNetwork(backbone)

        def stop(step: int, of: int, loss: float) -> None:
            if step == steps:
                raise KeyboardInterrupt

        settings = RerankerSettings(epochs=60, batch_questions=6)
        with suppress(KeyboardInterrupt):
            train(network, Pairs(backbone.tokenizer.backend_tokenizer, 40), LESSONS, settings, stop, checkpoint)
        return network.state_dict()

    torch.manual_seed(0)
    whole = trained(60, None)
    trained(52, tmp_path / "checkpoint")
    gone_on = trained(60, tmp_path / "checkpoint")
    for name, weights in whole.items():
        torch.testing.assert_close(gone_on[name], weights)
