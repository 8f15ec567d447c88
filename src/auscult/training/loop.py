"""The one training loop: Lightning's. Devices, several processes, checkpoints, resuming and progress are its work.

This is the only file that imports `lightning`.
"""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import lightning
import torch
from lightning.pytorch.callbacks import Callback, EarlyStopping, ModelCheckpoint
from lightning.pytorch.utilities import rank_zero_only
from torch import Tensor, nn
from torch.utils.data import DataLoader

_LAST, _BEST = "last", "best"


class Objective(Protocol):
    """What is trained and what for."""

    @property
    def network(self) -> nn.Module:
        """What is trained, in place."""
        ...

    def loss(self, batch: Any) -> tuple[Tensor, int]:
        """The loss of a batch, and how many rows it is a mean of."""
        ...

    def measures(self) -> Mapping[str, float]:
        """Validation measures after an epoch, higher is better; empty for none."""
        ...

    def optimizer(self) -> torch.optim.Optimizer:
        """The optimiser of the network's parameters."""
        ...


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """How long and where to train.

    Attributes:
        decay: Factor on the learning rate after each epoch.
        monitor: The validation measure that chooses the epoch; None keeps the last one and writes no checkpoints.
        patience: Stop after so many epochs without a better one; None never stops early.
    """

    epochs: int
    seed: int
    decay: float = 1.0
    monitor: str | None = None
    patience: int | None = None
    gradient_clip: float | None = None
    accelerator: str = "auto"
    devices: int | Literal["auto"] = "auto"


@dataclass(frozen=True, slots=True)
class History:
    """Figures of every epoch, and which epoch's weights the network has now."""

    epochs: list[dict[str, float]]
    best: int


class _Module(lightning.LightningModule):
    """Adapts an objective to the library, and keeps every epoch's figures in the checkpoint beside the weights."""

    def __init__(self, objective: Objective, decay: float, say: Callable[[str], None]) -> None:
        super().__init__()
        self.network = objective.network
        self.epochs: list[dict[str, float]] = []
        self._objective = objective
        self._decay = decay
        self._say = say
        self._began = 0.0

    def training_step(self, batch: Any, _: int) -> Tensor:
        loss, rows = self._objective.loss(batch)
        self.log("loss", loss, on_step=False, on_epoch=True, prog_bar=True, batch_size=rows, sync_dist=True)
        return loss

    def on_train_epoch_start(self) -> None:
        self._began = time.monotonic()

    def on_train_epoch_end(self) -> None:
        measures = {f"validation_{name}": value for name, value in self._objective.measures().items()}
        self.log_dict(measures, prog_bar=True, sync_dist=True)
        self.network.train()
        seconds = round(time.monotonic() - self._began, 2)
        figures = {"loss": float(self.trainer.callback_metrics["loss"]), **measures}
        rounded = {name: round(value, 6) for name, value in figures.items()}
        self.epochs.append({"epoch": self.current_epoch, **rounded, "seconds": seconds})
        listed = ", ".join(f"{name} {value:.4f}" for name, value in figures.items())
        self._say(f"epoch {self.current_epoch}: {listed}, {seconds:.0f} s")

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["auscult_epochs"] = self.epochs

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        self.epochs = list(checkpoint["auscult_epochs"])

    def configure_optimizers(self) -> Any:
        optimizer = self._objective.optimizer()
        return [optimizer], [torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=self._decay)]


def fit(
    objective: Objective,
    loader: DataLoader[Any],
    schedule: Schedule,
    *,
    folder: Path,
    say: Callable[[str], None],
    progress: bool,
) -> History:
    """Train a network in place.

    With a monitored measure, every epoch is checkpointed under `folder`; a later call goes on from the last one, and
    the network ends with the weights of the best.

    Args:
        objective: Network, loss, validation, optimiser.
        loader: Batches. Its batch sampler deals batches out to processes itself.
        schedule: Epochs, seed, stopping, devices.
        folder: For checkpoints.
        say: Told of each epoch's figures.
        progress: Show progress bars.
    """
    _quiet()
    lightning.seed_everything(schedule.seed, verbose=False)
    callbacks: list[Callback] = []
    if schedule.monitor is not None:
        # Two: the library's own "last" follows only the epochs that are better than those before.
        shared: dict[str, Any] = {"enable_version_counter": False, "save_on_train_epoch_end": True}
        callbacks.append(ModelCheckpoint(folder, filename=_BEST, monitor=schedule.monitor, mode="max", **shared))
        callbacks.append(ModelCheckpoint(folder, filename=_LAST, every_n_epochs=1, **shared))
        if schedule.patience is not None:
            callbacks.append(
                EarlyStopping(schedule.monitor, mode="max", patience=schedule.patience, check_on_train_epoch_end=True)
            )
    trainer = lightning.Trainer(
        max_epochs=schedule.epochs,
        accelerator=schedule.accelerator,
        devices=schedule.devices,
        gradient_clip_val=schedule.gradient_clip,
        callbacks=callbacks,
        default_root_dir=folder,
        logger=False,
        enable_checkpointing=schedule.monitor is not None,
        enable_model_summary=False,
        enable_progress_bar=progress,
        use_distributed_sampler=False,
    )
    last = folder / f"{_LAST}.ckpt"
    resume = last if schedule.monitor is not None and last.is_file() else None
    module = _Module(objective, schedule.decay, say)
    # weights_only=False: the checkpoints are this training's own, and they hold its callbacks' state.
    trainer.fit(module, loader, ckpt_path=resume, weights_only=False)
    chosen = len(module.epochs) - 1
    if schedule.monitor is not None:
        best = torch.load(folder / f"{_BEST}.ckpt", map_location="cpu", weights_only=False)
        module.load_state_dict(best["state_dict"])
        chosen = int(best["epoch"])
    objective.network.cpu()
    return History(module.epochs, chosen)


def is_main_process() -> bool:
    """Whether this process should speak and write: of several that train together, one does."""
    return int(getattr(rank_zero_only, "rank", 0) or 0) == 0


def _quiet() -> None:
    """Keep the library's advertisements and hints that do not apply (worker processes) from the user."""
    logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", message=".*does not have many workers.*")
    warnings.filterwarnings("ignore", message=r".*LeafSpec.*")
    warnings.filterwarnings("ignore", message=".*Checkpoint directory .* exists and is not empty.*")
