"""The one training loop: Lightning's. Devices, several processes, checkpoints, resuming and progress are its work.

This is the only file that imports `lightning`.
"""

from __future__ import annotations

import hashlib
import logging
import math
import os
import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import lightning
import torch
from lightning.pytorch.callbacks import Callback, EarlyStopping, ModelCheckpoint
from lightning.pytorch.utilities import rank_zero_only
from torch import Tensor, nn
from torch.utils.data import DataLoader

from auscult.errors import ConfigError, DataError
from auscult_lab.training.schedule import Precision, Schedule
from auscult_lab.training.threads import ThreadChoice

_LAST, _BEST = "last", "best"
_PRECISIONS: Mapping[Precision, Literal["32-true", "bf16-mixed", "16-mixed"]] = {
    "float32": "32-true",
    "bf16": "bf16-mixed",
    "16-mixed": "16-mixed",
}
"""The library's names of precisions by those of experiment files."""


class Objective(Protocol):
    """What is trained and what for."""

    @property
    def network(self) -> nn.Module:
        """What is trained, in place."""
        ...

    def loss(self, batch: Any) -> tuple[Tensor, int]:
        """Return the loss of a batch, and how many rows it is a mean of."""
        ...

    def measures(self) -> Mapping[str, float]:
        """Return validation measures after an epoch, higher is better; empty for none."""
        ...

    def optimizer(self) -> torch.optim.Optimizer:
        """Return the optimiser of the network's parameters."""
        ...


@runtime_checkable
class Resumable(Protocol):
    """A batch sampler that can go on in the middle of an epoch."""

    def resume(self, epoch: int, batches: int) -> None:
        """Leave out the first batches of this epoch: they were trained on before the training was killed."""
        ...


@dataclass(frozen=True, slots=True)
class History:
    """Figures of every epoch, and which epoch's weights the network has now."""

    epochs: list[dict[str, float]]
    best: int

    @property
    def seconds(self) -> float:
        """Of all epochs; a resumed training has some of an earlier process."""
        return round(sum(epoch["seconds"] for epoch in self.epochs), 1)

    def with_queries(self, per_epoch: int) -> list[dict[str, float]]:
        """Return figures of every epoch, and how many queries had been shown at its end."""
        return [{**epoch, "queries": (row + 1) * per_epoch} for row, epoch in enumerate(self.epochs)]


@dataclass(slots=True)
class _Part:
    """What is done of the epoch in progress; kept in checkpoints inside epochs."""

    batches: int = 0
    rows: int = 0
    loss: float = 0.0
    seconds: float = 0.0


class _Module(lightning.LightningModule):
    """Adapts an objective to the library, and keeps every epoch's figures in the checkpoint beside the weights."""

    def __init__(
        self, objective: Objective, schedule: Schedule, loader: DataLoader[Any], say: Callable[[str], None]
    ) -> None:
        super().__init__()
        self.network = objective.network
        self.epochs: list[dict[str, float]] = []
        self._objective = objective
        self._schedule = schedule
        self._batches: object = loader.batch_sampler
        self._say = say
        self._began = time.monotonic()
        self._part = _Part()
        self._before = _Part()

    def training_step(self, batch: Any, _: int) -> Tensor:
        step = f"{self._schedule.seed}/{self.global_step}/{self.global_rank}"
        torch.manual_seed(int.from_bytes(hashlib.sha256(step.encode()).digest()[:8], "big") >> 1)
        loss, rows = self._objective.loss(batch)
        self.log("loss", loss, on_step=False, on_epoch=True, prog_bar=True, batch_size=rows, sync_dist=True)
        if self._schedule.checkpoint_minutes is not None:
            self._part.batches += 1
            self._part.rows += rows
            self._part.loss += float(loss.detach()) * rows
            # A checkpoint inside the epoch would keep what has diverged.
            self._check_loss(self._part.loss)
        return loss

    def on_train_epoch_start(self) -> None:
        self._began = time.monotonic()

    def on_train_epoch_end(self) -> None:
        # The library's mean; of an epoch that was resumed it knows only the later part.
        before = self._before.rows
        loss = self._part.loss / self._part.rows if before else float(self.trainer.callback_metrics["loss"])
        self._check_loss(loss)
        with self.trainer.precision_plugin.val_step_context():
            measures = {f"validation_{name}": value for name, value in self._objective.measures().items()}
        self.log_dict(measures, prog_bar=True, sync_dist=True)
        self.network.train()
        seconds = round(time.monotonic() - self._began + self._before.seconds, 2)
        figures = {"loss": loss, **measures}
        rounded = {name: round(value, 6) for name, value in figures.items()}
        self.epochs.append({"epoch": self.current_epoch, **rounded, "seconds": seconds})
        listed = ", ".join(f"{name} {value:.4f}" for name, value in figures.items())
        self._say(f"epoch {self.current_epoch}: {listed}, {seconds:.0f} s")
        self._part, self._before = _Part(), _Part()

    def _check_loss(self, loss: float) -> None:
        """End a training that has diverged, in all processes, since none may wait for another."""
        if not self.trainer.strategy.reduce_boolean_decision(math.isfinite(loss)):
            found = f"{loss} in epoch {self.current_epoch}"
            raise ConfigError("a finite training loss", found, "lower the learning rate and begin anew")

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["auscult_epochs"] = self.epochs
        self._part.seconds = self._before.seconds + time.monotonic() - self._began
        checkpoint["auscult_part"] = asdict(self._part)

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        self.epochs = list(checkpoint["auscult_epochs"])
        part = checkpoint.get("auscult_part", {})
        if part.get("batches"):
            self._part, self._before = _Part(**part), _Part(**part)
            if isinstance(self._batches, Resumable):
                self._batches.resume(int(checkpoint["epoch"]), self._part.batches)

    def configure_optimizers(self) -> Any:
        optimizer = self._objective.optimizer()
        warm_up = self._schedule.warm_up
        if warm_up is None:
            return [optimizer], [torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=self._schedule.decay)]
        steps = int(self.trainer.estimated_stepping_batches)
        rate = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, steps, warm_up))
        return [optimizer], [{"scheduler": rate, "interval": "step"}]


class _Checkpoint(ModelCheckpoint):
    """Goes on also where the folder was moved: the library then forgets which score is to be beaten.

    It would keep the first epoch after the move, however bad, over the best one before.
    """

    @property
    def state_key(self) -> str:
        """The library's own, under which checkpoints keep what was best so far; it is made of the name of the class."""
        return super().state_key.replace(_Checkpoint.__qualname__, ModelCheckpoint.__qualname__)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        def here(path: str) -> str:
            return str(Path(str(self.dirpath)) / Path(path).name) if path else path

        moved = {key: here(state_dict[key]) for key in ("best_model_path", "kth_best_model_path", "last_model_path")}
        scores = {here(path): score for path, score in state_dict["best_k_models"].items()}
        super().load_state_dict({**state_dict, **moved, "best_k_models": scores, "dirpath": self.dirpath})


class _TimedCheckpoint(_Checkpoint):
    """Checkpoints inside epochs; the end of an epoch is left to the callbacks that come after validation."""

    def on_train_batch_end(self, trainer: lightning.Trainer, *arguments: Any, **named: Any) -> None:
        if not trainer.is_last_batch:
            super().on_train_batch_end(trainer, *arguments, **named)


class _Threads(Callback):
    """Lets a choice of threads see the steps, where it may choose.

    It may not where the environment says how many (`OMP_NUM_THREADS`), on a GPU, or where several processes train. A
    resumed training keeps what was chosen, so that it adds its numbers up in the same order.
    """

    def __init__(self, choice: ThreadChoice) -> None:
        self._choice = choice

    def state_dict(self) -> dict[str, Any]:
        return {} if self._choice.chosen is None else {"chosen": self._choice.chosen}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self._choice.chosen = int(state_dict["chosen"])

    def on_train_start(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        if "OMP_NUM_THREADS" not in os.environ and trainer.world_size == 1 and pl_module.device.type == "cpu":
            self._choice.begin()

    def on_train_batch_start(self, trainer: lightning.Trainer, *_: Any) -> None:
        self._choice.step_begins()

    def on_train_batch_end(self, trainer: lightning.Trainer, *_: Any) -> None:
        self._choice.step_ended()


def _rate(step: int, steps: int, warm_up: float) -> float:
    """Return the share of the full learning rate: up in a straight line, then down to 0 at the last step."""
    rising = warm_up * steps
    if step < rising:
        return (step + 1) / (rising + 1)
    return max(0.0, (steps - step) / max(1.0, steps - rising))


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

    With a monitored measure, every epoch is checkpointed under `folder`, and between epochs as often as the schedule
    says; a later call goes on from the last checkpoint, and the network ends with the weights of the best epoch.

    Args:
        objective: Network, loss, validation, optimiser.
        loader: Batches. Its batch sampler deals batches out to processes itself.
        schedule: Epochs, seed, stopping, devices.
        folder: For checkpoints.
        say: Told of each epoch's figures.
        progress: Show progress bars.

    Raises:
        ConfigError: The loss is not finite; what was checkpointed before is left as it was.
        DataError: A checkpoint is damaged.
        KeyboardInterrupt: The user's.
    """
    # The library's advertisements, and hints that do not apply: here are no worker processes.
    logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", message=".*does not have many workers.*")
    warnings.filterwarnings("ignore", message=r".*LeafSpec.*")
    # Batch samplers skip what was trained on before: see `Resumable`.
    warnings.filterwarnings("ignore", message=".*your dataloader is not resumable.*")
    warnings.filterwarnings("ignore", message=".*Checkpoint directory .* exists and is not empty.*")
    lightning.seed_everything(schedule.seed, verbose=False)
    threads = ThreadChoice(say)
    callbacks = [_Threads(threads), *_callbacks(schedule, folder)]
    trainer = lightning.Trainer(
        max_epochs=schedule.epochs,
        accelerator=schedule.accelerator,
        devices=schedule.devices,
        precision=_PRECISIONS[schedule.precision],
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
    module = _Module(objective, schedule, loader, say)
    stopped: list[dict[str, float]] | None = None
    if resume is not None:
        # Every epoch's figures where patience had run out, which the library forgets when it resumes.
        kept, stopping = _read(resume), [each for each in callbacks if isinstance(each, EarlyStopping)]
        if any(kept["callbacks"][each.state_key]["wait_count"] >= each.patience for each in stopping):
            stopped = list(kept["auscult_epochs"])
    if stopped is None:
        try:
            trainer.fit(module, loader, ckpt_path=resume, weights_only=True)
        except SystemExit as end:
            # The library makes an exit of an interrupt, like that of an error.
            if isinstance(end.__context__, KeyboardInterrupt):
                raise KeyboardInterrupt from end
            raise
        finally:
            threads.end()
    else:
        module.epochs = stopped
    chosen = len(module.epochs) - 1
    if schedule.monitor is not None:
        best = _read(folder / f"{_BEST}.ckpt")
        module.load_state_dict(best["state_dict"])
        chosen = int(best["epoch"])
    objective.network.cpu()
    return History(module.epochs, chosen)


def _read(checkpoint: Path) -> dict[str, Any]:
    """Return a checkpoint, of which only numbers, texts and their collections are read: nothing in it is run.

    Raises:
        DataError: It is damaged, or holds something else.
    """
    try:
        kept: dict[str, Any] = torch.load(checkpoint, map_location="cpu", weights_only=True, mmap=True)
    except Exception as error:
        # The library's errors are of half a dozen kinds, and their texts advise to trust the file.
        remedy = f"delete {checkpoint.parent}, and the training begins its epochs anew"
        raise DataError("a checkpoint of this training", f"{checkpoint}, damaged or of others", remedy) from error
    return kept


def _callbacks(schedule: Schedule, folder: Path) -> list[Callback]:
    if schedule.monitor is None:
        return []
    # Two: the library's own "last" follows only the epochs that are better than those before.
    shared: dict[str, Any] = {"enable_version_counter": False, "save_on_train_epoch_end": True}
    callbacks: list[Callback] = [
        _Checkpoint(folder, filename=_BEST, monitor=schedule.monitor, mode="max", **shared),
        _Checkpoint(folder, filename=_LAST, every_n_epochs=1, **shared),
    ]
    if schedule.checkpoint_minutes is not None:
        interval = timedelta(minutes=schedule.checkpoint_minutes)
        callbacks.append(
            _TimedCheckpoint(folder, filename=_LAST, train_time_interval=interval, enable_version_counter=False)
        )
    if schedule.patience is not None:
        callbacks.append(
            EarlyStopping(schedule.monitor, mode="max", patience=schedule.patience, check_on_train_epoch_end=True)
        )
    return callbacks


def is_main_process() -> bool:
    """Whether this process should speak and write: of several that train together, one does."""
    return int(getattr(rank_zero_only, "rank", 0) or 0) == 0
