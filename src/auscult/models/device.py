"""Where models run that nobody has put anywhere."""

from __future__ import annotations

import torch


def fastest_device() -> torch.device:
    """The first GPU that torch can use, else the processor. `CUDA_VISIBLE_DEVICES` chooses another GPU, or none."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


__all__ = ["fastest_device"]
