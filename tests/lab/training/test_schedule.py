"""The precision that a machine trains fastest in."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from auscult_lab.training import schedule
from auscult_lab.training.schedule import native_precision


@pytest.mark.parametrize(
    ("gpu", "bfloat16", "flags", "expected"),
    [
        (False, False, "sse4_2 avx512_bf16", "bf16"),
        (False, False, "sse4_2 avx2", "float32"),
        (True, True, "sse4_2", "bf16"),
        (True, False, "amx_bf16", "16-mixed"),
    ],
)
def test_the_training_hardware_decides_the_precision(
    gpu: bool, bfloat16: bool, flags: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "cpuinfo").write_text(f"flags\t: {flags}\n")
    monkeypatch.setattr(schedule, "_DESCRIBED", tmp_path / "cpuinfo")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: gpu)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: bfloat16)
    assert native_precision() == expected
