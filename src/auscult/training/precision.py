"""Which precision a training is fastest in on this machine."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

_DESCRIBED = Path("/proc/cpuinfo")
_INSTRUCTIONS = frozenset({"amx_bf16", "avx512_bf16"})


def native_precision() -> str:
    """Half precision where what trains has instructions for it: the GPU if there is one, else the processor.

    Returns:
        "bf16"; "16-mixed" on GPUs of before bfloat16; "float32" on processors without it, where that is faster.
    """
    # Experiments are also written where nothing that trains is installed.
    if find_spec("torch") is not None:
        import torch

        if torch.cuda.is_available():
            return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "16-mixed"
    flags = _DESCRIBED.read_text(encoding="utf-8").split() if _DESCRIBED.is_file() else []
    return "bf16" if _INSTRUCTIONS & set(flags) else "float32"


__all__ = ["native_precision"]
