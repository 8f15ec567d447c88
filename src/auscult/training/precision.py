"""Which precision a training is fastest in on this machine's processor."""

from __future__ import annotations

from pathlib import Path

_DESCRIBED = Path("/proc/cpuinfo")
_INSTRUCTIONS = frozenset({"amx_bf16", "avx512_bf16"})


def native_precision() -> str:
    """Half precision, "bf16", where the processor has instructions for it; "float32" elsewhere, being faster there."""
    flags = _DESCRIBED.read_text(encoding="utf-8").split() if _DESCRIBED.is_file() else []
    return "bf16" if _INSTRUCTIONS & set(flags) else "float32"


__all__ = ["native_precision"]
