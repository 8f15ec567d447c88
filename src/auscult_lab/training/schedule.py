"""Schedule of a training: epochs, devices, precision and learning rates."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    # torch is optional here: experiments are also written without it.
    from torch import nn

Precision = Literal["float32", "bf16", "16-mixed"]
_DESCRIBED = Path("/proc/cpuinfo")
_INSTRUCTIONS = frozenset({"amx_bf16", "avx512_bf16"})


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """Epochs, devices and learning rates of a training.

    Attributes:
        seed: Seed of each step's random draws (dropout, negatives of the loss), together with step and process, so that
            a resumed training draws the same as an uninterrupted one.
        decay: Factor on the learning rate after each epoch.
        warm_up: Share of all steps in which the learning rate rises linearly from 0; then it falls linearly to 0 at the
            last step, without `decay`. None uses `decay` only.
        precision: "bf16" and "16-mixed" compute in half precision and keep weights in single.
        checkpoint_minutes: Minutes between checkpoints inside epochs; the loader's batch sampler must then be
            `Resumable`. None writes checkpoints only at the end of epochs.
        monitor: Validation measure that chooses the epoch; None keeps the last epoch and writes no checkpoints.
        patience: Epochs without a better one after which to stop; None never stops early.
    """

    epochs: int
    seed: int
    decay: float = 1.0
    warm_up: float | None = None
    precision: Precision = "float32"
    checkpoint_minutes: float | None = None
    monitor: str | None = None
    patience: int | None = None
    gradient_clip: float | None = None
    accelerator: str = "auto"
    devices: int | Literal["auto"] = "auto"

    @classmethod
    def of(cls, *settings: object, seed: int, monitor: str) -> Self:
        """Build a schedule from equally named fields of settings; where several have a field, the first counts."""
        values: dict[str, Any] = {"seed": seed, "monitor": monitor}
        for field in fields(cls):
            for saying in settings:
                if hasattr(saying, field.name):
                    values.setdefault(field.name, getattr(saying, field.name))
        return cls(**values)


def native_precision() -> Precision:
    """Return half precision where the GPU, or else the processor, has instructions for it.

    Returns:
        "bf16"; "16-mixed" on GPUs without bfloat16; "float32" on processors without it, where this is faster.
    """
    if find_spec("torch") is not None:
        import torch

        if torch.cuda.is_available():
            return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "16-mixed"
    flags = _DESCRIBED.read_text(encoding="utf-8").split() if _DESCRIBED.is_file() else []
    return "bf16" if _INSTRUCTIONS & set(flags) else "float32"


def parameter_groups(parameters: Iterable[nn.Parameter], *, decay: float, rate: float) -> list[dict[str, Any]]:
    """Return parameter groups with one learning rate; biases and gains are not decayed, and no group is empty."""
    found = list(parameters)
    groups = [
        {"params": [each for each in found if each.dim() > 1], "weight_decay": decay, "lr": rate},
        {"params": [each for each in found if each.dim() <= 1], "weight_decay": 0.0, "lr": rate},
    ]
    return [group for group in groups if group["params"]]
