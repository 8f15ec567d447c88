"""Codes of languages (ISO 639-1), and their English names."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

ENGLISH: Final = "en"
UNKNOWN: Final = ""
NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "en": "English", "fr": "French", "es": "Spanish", "de": "German",
        "ar": "Arabic", "cs": "Czech", "da": "Danish", "el": "Greek", "fi": "Finnish", "hu": "Hungarian",
        "it": "Italian", "ja": "Japanese", "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese",
        "ro": "Romanian", "ru": "Russian", "sv": "Swedish", "tr": "Turkish", "uk": "Ukrainian", "zh": "Chinese",
    }
)  # fmt: skip
"""The languages that are told apart."""
READ_BESIDE_ENGLISH: Final = ("fr", "es", "de")
"""Languages whose sentences, words, headings and negations are read by rules of their own."""


def language_name(code: str) -> str:
    """Return the English name of a language; the code itself if it has none here."""
    return NAMES.get(code, code)
