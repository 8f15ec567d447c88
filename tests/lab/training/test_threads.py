"""How many threads a training goes on with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.utils.data import DataLoader

from auscult_lab.training import loop
from auscult_lab.training.batches import RowBatches
from auscult_lab.training.loop import Schedule, fit
from auscult_lab.training.threads import ThreadChoice, candidates
from lab.training.test_loop import ROWS, Objective, Rows


class Steps(Objective):
    """Notes the number of threads of each step, which takes as long on `clock` as that number costs."""

    def __init__(self, costs: dict[int, float]) -> None:
        super().__init__([0.1] * 20)
        self.threads: list[int] = []
        self.time = 0.0
        self._costs = costs

    def loss(self, batch: Tensor) -> tuple[Tensor, int]:
        self.threads.append(torch.get_num_threads())
        self.time += self._costs[torch.get_num_threads()]
        return super().loss(batch)


@pytest.fixture(autouse=True)
def two_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


@pytest.fixture
def train(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    def train(objective: Steps, epochs: int = 12) -> list[str]:
        said: list[str] = []
        monkeypatch.setattr(loop, "ThreadChoice", lambda say: ThreadChoice(say, clock=lambda: objective.time))
        loader = DataLoader(Rows(), batch_sampler=RowBatches(ROWS, per_epoch=ROWS, size=ROWS, seed=1))
        schedule = Schedule(epochs=epochs, seed=1, monitor="validation_RR", accelerator="cpu", patience=None)
        fit(objective, loader, schedule, folder=tmp_path, say=said.append, progress=False)
        return said

    return train


@pytest.mark.parametrize(("costs", "fastest"), [({1: 1.0, 2: 3.0}, 1), ({1: 3.0, 2: 1.0}, 2)])
def test_the_fastest_number_of_threads_is_kept(
    train: Callable[..., list[str]], costs: dict[int, float], fastest: int
) -> None:
    objective = Steps(costs)
    said = train(objective)
    assert objective.threads == [1, 2] * 5 + [fastest] * 2
    assert f"threads: {fastest} (a step by number of threads: 1: {1000 * costs[1]:.0f} ms" in "\n".join(said)
    assert torch.get_num_threads() == 2


def test_a_resumed_training_keeps_what_was_chosen(train: Callable[..., list[str]]) -> None:
    train(Steps({1: 1.0, 2: 3.0}), epochs=11)
    again = Steps({1: 3.0, 2: 1.0})
    train(again, epochs=14)
    assert again.threads == [1] * 3


def test_what_the_environment_says_is_left(train: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    objective = Steps({2: 1.0})
    assert "threads" not in "\n".join(train(objective))
    assert objective.threads == [2] * 12


def test_powers_of_two_and_the_most_are_tried() -> None:
    assert [candidates(most) for most in (1, 2, 6, 16)] == [[1], [1, 2], [1, 2, 4, 6], [1, 2, 4, 8, 16]]
