"""Run ONNX files on the CPU, and quantise them to 8 bits. Only this file imports ONNX Runtime.

The library sends telemetry unless this is turned off before its first import, so `_runtime` is the only import.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from auscult.errors import ModelError
from auscult.telemetry import naming_extra, switch_off


def open_session(path: Path, *, threads: int = 0) -> Any:
    """Open an ONNX file for inference.

    Args:
        path: The file.
        threads: Threads of the runtime; 0 for one per core.

    Raises:
        ModelError: The file is not an ONNX file, or is damaged.
    """
    onnxruntime = _runtime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    # Processors with AVX2 but without an instruction for 8-bit products add pairs of products in 16 bits, which
    # overflow. This option uses unsigned weights there, which is exact and a fifth slower. Others are unaffected.
    options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        # This optimisation replaces an addition and a normalisation by an operator that takes four times as long.
        slow = ["SkipLayerNormFusion"]
        return onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"], disabled_optimizers=slow)
    except Exception as error:
        # The runtime has no documented error class.
        raise ModelError("an ONNX file of a transformer", f"{path} ({error})", "export or copy it again") from error


def quantise(path: Path, smaller: Path) -> None:
    """Write a copy of a file with 8-bit linear layers; activations are quantised at run time (zafrir2019).

    Raises:
        MissingExtraError: The package is not installed.
    """
    with naming_extra("onnx", "onnx", "onnxruntime"):
        _runtime()
        from onnxruntime.quantization import quantize_dynamic
    quantize_dynamic(str(path), str(smaller), op_types_to_quantize=["MatMul", "Gemm"], per_channel=True)


def _runtime() -> Any:
    """Import ONNX Runtime, without its telemetry."""
    switch_off()
    # Imported here because few commands run a transformer.
    import onnxruntime

    # For programs that imported it before, and versions that ignore the variable. Old versions lack this function.
    if disable := getattr(onnxruntime, "disable_telemetry_events", None):
        disable()
    return onnxruntime
