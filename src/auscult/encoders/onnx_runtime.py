"""ONNX Runtime on the processor: opening a file, and rounding one to 8 bits. The only file that imports it.

It reports to its maker unless told otherwise before its first import, so every import is by `_runtime`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from auscult import telemetry
from auscult.errors import ModelError, naming_extra


def open_session(path: Path, *, threads: int = 0) -> Any:
    """An ONNX file, ready to run.

    Args:
        path: The file.
        threads: Of the runtime; 0 for one a core.

    Raises:
        ModelError: The file is none, or damaged.
    """
    onnxruntime = _runtime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    # Processors with AVX2 that have no instruction for 8-bit products add pairs of them up in 16 bits, which overflow:
    # there the weights are taken without a sign, which is exact and a fifth slower. Others are not touched.
    options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        # The operator that this puts for an addition and a normalisation takes four times as long as the two.
        slow = ["SkipLayerNormFusion"]
        return onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"], disabled_optimizers=slow)
    except Exception as error:
        # The runtime's errors have no class of their own that is documented.
        raise ModelError("an ONNX file of a transformer", f"{path} ({error})", "export or copy it again") from error


def quantise(path: Path, smaller: Path) -> None:
    """Write a file once more with 8-bit linear layers; activations are rounded while it runs (zafrir2019).

    Raises:
        MissingExtraError: The package is not installed.
    """
    with naming_extra("onnx", "onnx", "onnxruntime"):
        _runtime()
        from onnxruntime.quantization import quantize_dynamic
    quantize_dynamic(str(path), str(smaller), op_types_to_quantize=["MatMul", "Gemm"], per_channel=True)


def _runtime() -> Any:
    """Import ONNX Runtime, without its telemetry."""
    telemetry.switch_off()
    # Only here: few commands run a transformer.
    import onnxruntime

    # For a program that has imported it before, and for versions that do not read the variable. Old ones lack the call.
    if disable := getattr(onnxruntime, "disable_telemetry_events", None):
        disable()
    return onnxruntime
