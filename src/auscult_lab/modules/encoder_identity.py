"""Which pre-trained encoder this is: told by its weights, whatever folder it lies in.

What an encoder had read before it was begun with is part of what a model knows. Where it was trained elsewhere, nothing
here can tell in full what that was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from auscult.files.reading import digest_of_file, digest_of_files

# As transformers writes them: whole, or in parts.
_WEIGHTS = ("model*.safetensors", "pytorch_model*.bin")


@dataclass(frozen=True, slots=True)
class KnownEncoder:
    """A published encoder.

    Attributes:
        name: As it is published.
        learned_from: What its publishers say that it was trained on, and what has been seen of that.
    """

    name: str
    learned_from: str


KNOWN: Mapping[str, KnownEncoder] = {
    "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db": KnownEncoder(
        "all-MiniLM-L6-v2",
        "by its model card 1,170,060,424 pairs of Reddit, S2ORC, PAQ and others; compared with no test here",
    ),
}
"""Encoders by the SHA-256 of their weights."""


def digest_of_weights(folder: Path) -> str:
    """Return the SHA-256 of an encoder's weights, in hexadecimal.

    Args:
        folder: As transformers saves one.

    Returns:
        Of the one file of weights; of the names and bytes of all, where they are in parts; empty where there is none.
    """
    for pattern in _WEIGHTS:
        files = sorted(folder.glob(pattern))
        if files:
            return digest_of_file(files[0]) if len(files) == 1 else digest_of_files(files, folder)
    return ""


def name_of_weights(digest: str, otherwise: str) -> str:
    """Return the name that an encoder is published under, or what it is called here.

    Args:
        digest: Of `digest_of_weights`.
        otherwise: What it is called where its weights are none of `KNOWN`.
    """
    known = KNOWN.get(digest)
    return otherwise if known is None else known.name
