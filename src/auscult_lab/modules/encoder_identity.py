"""Identify a pre-trained encoder by its weights, whatever its folder.

The texts that an encoder has read influence every model that begins with it. For encoders trained elsewhere, these
texts are not fully known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from auscult.files.reading import digest_of_file, digest_of_files

# File names of transformers: one file, or parts.
_WEIGHTS = ("model*.safetensors", "pytorch_model*.bin")


@dataclass(frozen=True, slots=True)
class KnownEncoder:
    """A published encoder.

    Attributes:
        name: Published name.
        learned_from: Its training data by its publishers, as far as known.
    """

    name: str
    learned_from: str


KNOWN: Mapping[str, KnownEncoder] = {
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db": KnownEncoder(
        "all-MiniLM-L6-v2",
        "by its model card 1,170,060,424 pairs of texts; compared with no test here",
    ),
}
"""Encoders by the SHA-256 of their weights."""


def digest_of_weights(folder: Path) -> str:
    """Return the SHA-256 of an encoder's weights, in hexadecimal.

    Args:
        folder: Folder that transformers saved.

    Returns:
        Digest of the file of weights; where weights are in parts, of all names and bytes; empty without weights.
    """
    for pattern in _WEIGHTS:
        files = sorted(folder.glob(pattern))
        if files:
            return digest_of_file(files[0]) if len(files) == 1 else digest_of_files(files, folder)
    return ""


def name_of_weights(digest: str, otherwise: str) -> str:
    """Return the published name of an encoder, or a default.

    Args:
        digest: Result of `digest_of_weights`.
        otherwise: Name for weights that are not in `KNOWN`.
    """
    known = KNOWN.get(digest)
    return otherwise if known is None else known.name
