"""Languages with their own analysis, and function words of French, Spanish and German.

The function words are Snowball's (`stop_words.toml` has the source and the licence).
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources

from auscult.documents.language_names import ENGLISH, READ_BESIDE_ENGLISH


def known_language(language: str) -> str:
    """Return a language's code if it has its own analysis, and English's otherwise.

    Args:
        language: A code such as "de"; also "", for an unknown language.
    """
    return language if language in READ_BESIDE_ENGLISH else ENGLISH


@cache
def stop_words(language: str) -> frozenset[str]:
    """Return the function words of a language, in lower case and with accents.

    Args:
        language: "de", "es" or "fr".
    """
    text = resources.files(__package__).joinpath("stop_words.toml").read_text(encoding="utf-8")
    return frozenset(tomllib.loads(text)[language].split())
