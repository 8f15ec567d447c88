"""Arrays of torch in files."""

from __future__ import annotations

from pathlib import Path

import torch

from auscult_lab.modules.arrays import read_arrays, read_notes, write_arrays


def test_arrays_sharing_memory_are_read_back_with_notes(tmp_path: Path) -> None:
    whole = torch.arange(6.0).reshape(2, 3)
    write_arrays(tmp_path / "weights.safetensors", {"whole": whole, "turned": whole.T}, {"of": "a test"})
    arrays = read_arrays(tmp_path / "weights.safetensors")
    assert torch.equal(arrays["whole"], whole)
    assert torch.equal(arrays["turned"], whole.T)
    assert read_notes(tmp_path / "weights.safetensors") == {"of": "a test"}


def test_written_arrays_have_default_file_permissions(tmp_path: Path) -> None:
    write_arrays(tmp_path / "weights.safetensors", {"weight": torch.ones(3)})
    (tmp_path / "other").touch()
    assert (tmp_path / "weights.safetensors").stat().st_mode == (tmp_path / "other").stat().st_mode
