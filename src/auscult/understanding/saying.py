"""Words without content of their own, and words for people."""

from __future__ import annotations

from importlib import resources
from typing import Final

from auscult.concepts.names import FUNCTION_WORDS


def _words(file: str) -> frozenset[str]:
    return frozenset(resources.files("auscult.understanding").joinpath(file).read_text("utf-8").split())


SAYING_NOTHING: Final = FUNCTION_WORDS | _words("asking_words.txt")
"""Normalised words like all but "gout" in "Can you tell me something about gout?"."""
PEOPLE: Final = _words("people.txt")
"""Normalised words for people in general: "child", "smoker", "older"."""
