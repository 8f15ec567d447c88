"""Letters without accents, as notes are often typed."""

from __future__ import annotations

import unicodedata
from typing import Final

_LIGATURES: Final = str.maketrans({"œ": "oe", "æ": "ae", "ß": "ss"})
_UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


def plain_letters(text: str, language: str) -> str:
    """Return a text in lower case without accents and ligatures; in German "ä" becomes "ae".

    Args:
        text: The text; letters may be followed by their accents.
        language: Code of its language.
    """
    text = text.lower()
    if text.isascii():
        return text
    text = unicodedata.normalize("NFC", text).translate(_LIGATURES)
    if language == "de":
        text = text.translate(_UMLAUTS)
    return "".join(each for each in unicodedata.normalize("NFD", text) if not unicodedata.combining(each))
