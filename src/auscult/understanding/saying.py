"""Words without content of their own."""

from __future__ import annotations

from importlib import resources
from typing import Final

from auscult.concepts.names import FUNCTION_WORDS

SAYING_NOTHING: Final = FUNCTION_WORDS | frozenset(
    resources.files("auscult.understanding").joinpath("asking_words.txt").read_text("utf-8").split()
)
"""Normalised words like all but "gout" in "Can you tell me something about gout?"."""
