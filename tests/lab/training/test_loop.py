"""The training loop on a network of one layer: what is checkpointed, what a training ends with, and what ends it."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from auscult.errors import ConfigError, DataError
from auscult_lab.training.batches import Key, RowBatches
from auscult_lab.training.loop import History, Schedule, fit

ROWS, SIZE = 12, 4
STEPS = ROWS // SIZE


class Rows(Dataset[Tensor]):
    def __init__(self) -> None:
        self._rows = torch.randn(ROWS, 3, generator=torch.Generator().manual_seed(0))

    def __getitem__(self, key: Key) -> Tensor:
        return self._rows[key[1]]


class Objective:
    """Fits a sum, with dropout; what validation finds is told beforehand.

    Args:
        scores: The measure of each epoch.
        diverges: The step whose loss is no number.
    """

    def __init__(self, scores: list[float], diverges: int | None = None) -> None:
        torch.manual_seed(0)
        self.network = nn.Sequential(nn.Dropout(0.5), nn.Linear(3, 1))
        self.steps = 0
        self.epochs = 0
        self._scores = scores
        self._diverges = diverges

    def loss(self, batch: Tensor) -> tuple[Tensor, int]:
        loss = (self.network(batch).squeeze(1) - batch.sum(1)).square().mean()
        if self.steps == self._diverges:
            loss = loss * torch.nan
        self.steps += 1
        return loss, len(batch)

    def measures(self) -> Mapping[str, float]:
        self.epochs += 1
        return {"RR": self._scores[self.epochs - 1]}

    def optimizer(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.network.parameters(), lr=0.05)


def trained(objective: Objective, folder: Path, **changes: Any) -> History:
    loader = DataLoader(Rows(), batch_sampler=RowBatches(ROWS, per_epoch=ROWS, size=SIZE, seed=1))
    fields = {"epochs": 4, "seed": 1, "monitor": "validation_RR", "accelerator": "cpu"} | changes
    return fit(objective, loader, Schedule(**fields), folder=folder, say=lambda _: None, progress=False)


def kept(folder: Path, which: str) -> dict[str, Any]:
    checkpoint: dict[str, Any] = torch.load(folder / f"{which}.ckpt", weights_only=True)
    return checkpoint


@pytest.mark.parametrize("inside", [False, True])
def test_diverged_training_stops_and_keeps_its_checkpoints(inside: bool, tmp_path: Path):
    """It diverges in the second step of the third epoch, whose measure would be the best."""
    objective = Objective([0.2, 0.1, 0.9, 0.9], diverges=2 * STEPS + 1)
    minutes = 0.0 if inside else None
    with pytest.raises(ConfigError, match="finite training loss, got nan in epoch 2; lower the learning rate"):
        trained(objective, tmp_path, checkpoint_minutes=minutes)
    assert kept(tmp_path, "best")["epoch"] == 0
    last = kept(tmp_path, "last")
    assert last["global_step"] == 2 * STEPS + (1 if inside else 0)
    assert all(torch.isfinite(value).all() for value in last["state_dict"].values())


def test_early_stopped_training_does_not_continue(tmp_path: Path):
    """It was killed after its last epoch, before anything was made of it; a further epoch would have been better."""
    scores = [0.5, 0.4, 0.3, 0.9]
    straight, again = Objective(scores), Objective(scores)
    whole = trained(straight, tmp_path, patience=2)
    assert (len(whole.epochs), whole.best) == (3, 0)
    assert trained(again, tmp_path, patience=2) == whole
    assert again.steps == 0
    for name, value in straight.network.state_dict().items():
        assert torch.equal(value, again.network.state_dict()[name])


def test_moving_the_folder_keeps_the_best_epoch(tmp_path: Path):
    """Two epochs, a kill in the third, and as good an epoch, but no better one, elsewhere."""
    scores = [0.5, 0.4, 0.5, 0.3]
    with pytest.raises(ConfigError, match="finite"):
        trained(Objective(scores, diverges=2 * STEPS), tmp_path / "here")
    (tmp_path / "here").rename(tmp_path / "there")
    history = trained(Objective(scores[2:]), tmp_path / "there")
    assert [epoch["validation_RR"] for epoch in history.epochs] == scores
    assert history.best == 0
    assert kept(tmp_path / "there", "best")["epoch"] == 0
    assert [path.name for path in sorted((tmp_path / "there").iterdir())] == ["best.ckpt", "last.ckpt"]


def test_checkpoints_keep_their_state_under_the_librarys_names(tmp_path: Path):
    """A training that was begun with another release of this project goes on from them, and knows its best epoch."""
    trained(Objective([0.5, 0.4, 0.3, 0.2]), tmp_path, checkpoint_minutes=0.0)
    names = [key.partition("{")[0] for key in kept(tmp_path, "last")["callbacks"]]
    assert sorted(names) == ["ModelCheckpoint", "ModelCheckpoint", "_TimedCheckpoint"]


def test_interrupt_propagates_and_later_ones_still_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def stopped(_: Tensor) -> tuple[Tensor, int]:
        raise KeyboardInterrupt

    objective = Objective([0.1])
    monkeypatch.setattr(objective, "loss", stopped)
    handler = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(KeyboardInterrupt):
            trained(objective, tmp_path)
        assert signal.getsignal(signal.SIGINT) is handler
    finally:
        signal.signal(signal.SIGINT, handler)


class Command:
    """What a pickle may hold: a command that is run when it is read."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self):
        return os.mkdir, (str(self.place),)


@pytest.mark.parametrize("which", ["last", "best"])
def test_a_checkpoint_runs_nothing_and_damage_is_named(which: str, tmp_path: Path):
    trained(Objective([0.5, 0.4]), tmp_path / "run", epochs=2)
    file = tmp_path / "run" / f"{which}.ckpt"
    torch.save({**kept(tmp_path / "run", which), "more": Command(tmp_path / "made")}, file)
    with pytest.raises(DataError, match=rf"a checkpoint of this training, got .*{which}.ckpt.*; delete .*run, and"):
        trained(Objective([0.3]), tmp_path / "run", epochs=3)
    assert not (tmp_path / "made").exists()
    trained(Objective([0.5, 0.4]), tmp_path / "cut", epochs=2)
    file = tmp_path / "cut" / f"{which}.ckpt"
    file.write_bytes(file.read_bytes()[:200])
    with pytest.raises(DataError, match=f"a checkpoint of this training, got .*{which}.ckpt"):
        trained(Objective([0.3]), tmp_path / "cut", epochs=3)
