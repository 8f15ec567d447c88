"""The training loop, which is Lightning's: devices, several processes, checkpoints, resuming and progress.

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
    """A network with its loss, validation measures and optimiser."""

    @property
    def network(self) -> nn.Module:
        """The network, which is trained in place."""
        ...

    def loss(self, batch: Any) -> tuple[Tensor, int]:
        """Return the loss of a batch, a mean, and its number of rows."""
        ...

    def measures(self) -> Mapping[str, float]:
        """Return validation measures after an epoch, higher is better; empty for none."""
        ...

    def optimizer(self) -> torch.optim.Optimizer:
        """Return the optimiser of the network's parameters."""
        ...


@runtime_checkable
class Resumable(Protocol):
    """A batch sampler that can resume in the middle of an epoch."""

    def resume(self, epoch: int, batches: int) -> None:
        """Skip the first batches of this epoch, which were done before the interruption."""
        ...


@dataclass(frozen=True, slots=True)
class History:
    """Figures of every epoch, and the epoch of the network's weights."""

    epochs: list[dict[str, float]]
    best: int

    @property
    def seconds(self) -> float:
        """Seconds of all epochs, including those of earlier processes."""
        return round(sum(epoch["seconds"] for epoch in self.epochs), 1)

    def with_queries(self, per_epoch: int) -> list[dict[str, float]]:
        """Return figures of every epoch, with the number of queries up to its end."""
        return [{**epoch, "queries": (row + 1) * per_epoch} for row, epoch in enumerate(self.epochs)]


@dataclass(slots=True)
class _Part:
    """Progress of the current epoch, for checkpoints inside epochs."""

    batches: int = 0
    rows: int = 0
    loss: float = 0.0
    seconds: float = 0.0


class _Module(lightning.LightningModule):
    """Adapts an objective to the library, and saves every epoch's figures in the checkpoint."""

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
            # A checkpoint inside the epoch would save diverged weights.
            self._check_loss(self._part.loss)
        return loss

    def on_train_epoch_start(self) -> None:
        self._began = time.monotonic()

    def on_train_epoch_end(self) -> None:
        # Not the library's mean: it has only the later part of a resumed epoch.
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
        """Stop a diverged training in all processes, since otherwise some would wait for others."""
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
    """Checkpoints that also resume after the folder was moved, when the library forgets the best score.

    It would prefer the first epoch after the move, however bad, to the best one before.
    """

    @property
    def state_key(self) -> str:
        """The library's key of the best score in checkpoints; by default the name of this class is in it."""
        return super().state_key.replace(_Checkpoint.__qualname__, ModelCheckpoint.__qualname__)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        def here(path: str) -> str:
            return str(Path(str(self.dirpath)) / Path(path).name) if path else path

        moved = {key: here(state_dict[key]) for key in ("best_model_path", "kth_best_model_path", "last_model_path")}
        scores = {here(path): score for path, score in state_dict["best_k_models"].items()}
        super().load_state_dict({**state_dict, **moved, "best_k_models": scores, "dirpath": self.dirpath})


class _TimedCheckpoint(_Checkpoint):
    """Checkpoints inside epochs; at the end of an epoch, the callbacks after validation write them."""

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
    """Return the share of the peak learning rate: rising linearly, then falling to 0 at the last step."""
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

    With a monitored measure, there are checkpoints under `folder` for every epoch, and inside epochs as often as the
    schedule says. A later call resumes from the last one. The network ends with the weights of the best epoch.

    Args:
        objective: Network, loss, validation, optimiser.
        loader: Batches. Its batch sampler assigns batches to processes.
        schedule: Epochs, seed, stopping, devices.
        folder: Folder of the checkpoints.
        say: Called with the figures of each epoch.
        progress: Show progress bars.

    Raises:
        ConfigError: The loss is not finite; earlier checkpoints stay.
        DataError: A checkpoint is damaged.
        KeyboardInterrupt: The user interrupted the training.
    """
    # Suppress advertisements, and hints on worker processes, which are not used here.
    logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", message=".*does not have many workers.*")
    warnings.filterwarnings("ignore", message=r".*LeafSpec.*")
    # Batch samplers skip the batches that are done: see `Resumable`.
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
        # The library forgets on resuming that patience had run out.
        kept, stopping = _read(resume), [each for each in callbacks if isinstance(each, EarlyStopping)]
        if any(kept["callbacks"][each.state_key]["wait_count"] >= each.patience for each in stopping):
            stopped = list(kept["auscult_epochs"])
    if stopped is None:
        try:
            trainer.fit(module, loader, ckpt_path=resume, weights_only=True)
        except SystemExit as end:
            # The library turns an interrupt into an exit, as after an error.
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
    """Return a checkpoint, with only numbers, texts and their collections, so that no code in it is run.

    Raises:
        DataError: It is damaged, or something else.
    """
    try:
        content: dict[str, Any] = torch.load(checkpoint, map_location="cpu", weights_only=True, mmap=True)
    except Exception as error:
        # The library raises half a dozen kinds of errors, whose texts advise to trust the file.
        remedy = f"delete {checkpoint.parent}, and the training begins its epochs anew"
        raise DataError("a checkpoint of this training", f"{checkpoint}, damaged or of others", remedy) from error
    return content


def _callbacks(schedule: Schedule, folder: Path) -> list[Callback]:
    if schedule.monitor is None:
        return []
    # Two callbacks: the library's own "last" is only updated by epochs that are better than all before.
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
    """Check whether this is the process of a training that prints and writes."""
    return int(getattr(rank_zero_only, "rank", 0) or 0) == 0
