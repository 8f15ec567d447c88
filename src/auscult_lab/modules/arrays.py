"""Read and write weights of torch as safetensors. This is the only file of the lab that imports `safetensors`.

The rest of a model's folder is the product's (`auscult.encoders.folder`), which keeps its arrays in NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from safetensors import safe_open
from safetensors.torch import load_file, save
from torch import Tensor


def write_arrays(path: Path, arrays: Mapping[str, Tensor], notes: Mapping[str, str] | None = None) -> None:
    """Write named arrays, and notes with them."""
    # Each a copy: the library refuses arrays that share memory.
    whole = {name: array.detach().cpu().contiguous().clone() for name, array in arrays.items()}
    # The library's own files can be read by their owner alone, and a service is often another user.
    path.write_bytes(save(whole, None if notes is None else dict(notes)))


def read_arrays(path: Path) -> dict[str, Tensor]:
    """Return the arrays of a file by their names, in the processor's memory."""
    arrays: dict[str, Tensor] = load_file(path)
    return arrays


def read_notes(path: Path) -> dict[str, str]:
    """Return the notes that were written with arrays."""
    with safe_open(path, framework="pt") as file:
        return dict(file.metadata())


def with_prefix(prefix: str, arrays: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the arrays whose names begin with a prefix, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
