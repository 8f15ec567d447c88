"""How long, where, in which precision and at which rates a network is trained."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

if TYPE_CHECKING:
    # Experiments are also written where nothing that trains is installed.
    from torch import nn

Precision = Literal["float32", "bf16", "16-mixed"]
_DESCRIBED = Path("/proc/cpuinfo")
_INSTRUCTIONS = frozenset({"amx_bf16", "avx512_bf16"})


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """How long and where to train.

    Attributes:
        seed: Of every step's chance (dropout, negatives drawn in the loss), together with the step and the process: a
            training that was resumed draws what an uninterrupted one would.
        decay: Factor on the learning rate after each epoch.
        warm_up: Share of all steps in which the learning rate rises from 0; from there it falls to 0 at the last
            step, both in a straight line, and `decay` takes no part. None leaves the rate to `decay`.
        precision: "bf16" and "16-mixed" compute in half precision and keep weights in single.
        checkpoint_minutes: Also checkpoint inside epochs, as often as this; the loader's batch sampler must then be
            `Resumable`. None checkpoints at the end of epochs only.
        monitor: The validation measure that chooses the epoch; None keeps the last one and writes no checkpoints.
        patience: Stop after so many epochs without a better one; None never stops early.
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
        """Take what settings of an experiment say by these fields' names; of several that say one, the first counts."""
        said: dict[str, Any] = {"seed": seed, "monitor": monitor}
        for each in fields(cls):
            for saying in settings:
                if hasattr(saying, each.name):
                    said.setdefault(each.name, getattr(saying, each.name))
        return cls(**said)


def native_precision() -> Precision:
    """Return half precision where what trains has instructions for it: the GPU if there is one, else the processor.

    Returns:
        "bf16"; "16-mixed" on GPUs of before bfloat16; "float32" on processors without it, where that is faster.
    """
    if find_spec("torch") is not None:
        import torch

        if torch.cuda.is_available():
            return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "16-mixed"
    flags = _DESCRIBED.read_text(encoding="utf-8").split() if _DESCRIBED.is_file() else []
    return "bf16" if _INSTRUCTIONS & set(flags) else "float32"


def parameter_groups(parameters: Iterable[nn.Parameter], *, decay: float, rate: float) -> list[dict[str, Any]]:
    """Return parameters of one rate as optimisers take them: biases and gains are not decayed; no group is empty."""
    found = list(parameters)
    groups = [
        {"params": [each for each in found if each.dim() > 1], "weight_decay": decay, "lr": rate},
        {"params": [each for each in found if each.dim() <= 1], "weight_decay": 0.0, "lr": rate},
    ]
    return [group for group in groups if group["params"]]
