"""Snowball's stemmers (PyStemmer); no other module imports the library."""

from __future__ import annotations

import Stemmer


def snowball(name: str, *, cached: bool = True) -> Stemmer.Stemmer:
    """Return a stemmer.

    Args:
        name: Name of its language ("english", "french").
        cached: Whether it remembers stems; False where no word is stemmed twice.
    """
    return Stemmer.Stemmer(name) if cached else Stemmer.Stemmer(name, 0)
