"""How long and where a pre-trained encoder is trained, as its experiment says."""

from __future__ import annotations

from auscult.training.experiment import EncoderTraining
from auscult.training.loop import PRECISIONS, Schedule


def encoder_schedule(choice: EncoderTraining, *, seed: int, monitor: str) -> Schedule:
    """A schedule for the training loop.

    Args:
        choice: The experiment's.
        seed: The experiment's.
        monitor: The validation measure that chooses the epoch.
    """
    return Schedule(
        epochs=choice.epochs,
        seed=seed,
        warm_up=choice.warm_up,
        precision=PRECISIONS[choice.precision],
        checkpoint_minutes=choice.checkpoint_minutes,
        monitor=monitor,
        patience=choice.patience,
        gradient_clip=choice.gradient_clip,
        accelerator=choice.accelerator,
        devices=choice.devices,
    )


__all__ = ["encoder_schedule"]
