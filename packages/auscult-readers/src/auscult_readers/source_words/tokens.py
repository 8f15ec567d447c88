"""Divide a text into what must not be lost: words, numbers, units, signs of comparison and boxes."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final
from unicodedata import normalize

from auscult.readers.signs import BOXES, EMPTY, TICKED, sign

TICK: Final = TICKED
_SIGNS: Final = "<>≤≥±%‰"
_TOKEN: Final = re.compile(rf"\d+(?:[.,]\d+)*|[^\W\d_]+|[{_SIGNS}{BOXES}]")
_ACCENTS: Final = re.compile("[\u00ad\u0300-\u036f]")
_THOUSANDS: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_PRIVATE: Final = re.compile("[\uf000-\uf0ff]")
_BOXES: Final = str.maketrans({box: TICK for box in BOXES if box != EMPTY})

NEGATIONS: Final = frozenset({
    "no", "not", "nor", "never", "none", "nil", "without", "denies", "denied", "negative", "neg", "absent", "stop",
    "kein", "keine", "keinen", "keiner", "nicht", "ohne", "nie", "pas", "sans", "jamais", "aucun", "aucune", "sin",
    "нет", "не", "без", "brak", "bez",
})  # fmt: skip
"""Words whose loss reverses a statement."""
UNITS: Final = frozenset({
    "g", "mg", "μg", "mcg", "ng", "kg", "microgram", "micrograms", "milligram", "milligrams", "gram", "grams", "l",
    "ml", "dl", "μl", "mmol", "μmol", "nmol", "mol", "iu", "units", "unit", "mmhg", "%", "‰", "cm", "mm", "h", "min",
})  # fmt: skip


def tokens_of(text: str) -> list[str]:
    """Return the tokens of a text, in order, in lower case without accents.

    "½" is "1" and "2"; "1,000" is "1000". Letters of another form ("ﬁ", "µ") are those of Unicode's form NFKD. Signs
    of the private area, which fonts of signs use, become the signs that they show.
    """
    folded = _ACCENTS.sub("", normalize("NFKD", _PRIVATE.sub(_shown, text).translate(_BOXES))).lower()
    return _TOKEN.findall(_THOUSANDS.sub("", folded))


def _shown(found: re.Match[str]) -> str:
    """Return the sign for a private character, whose font is unknown here; " " if it may be several.

    A letter beside other letters is of Symbol ("\uf06dg" is "μg"). One by itself may be a box.
    """
    code, text = ord(found[0]), found.string
    beside = text[max(0, found.start() - 1) : found.start()] + text[found.end() : found.end() + 1]
    fonts = ("symbol",) if any(map(str.isalnum, beside)) else ("symbol", "wingdings", "wingdings 2")
    signs = {sign(font, code) for font in fonts} - {""}
    return signs.pop() if len(signs) == 1 else " "


def words_in(text: str) -> list[str]:
    """Return the tokens of a text that have letters or digits."""
    return [token for token in tokens_of(text) if token[0].isalnum()]


def words_without(text: str, others: str) -> str:
    """Return the words of a text minus those of another: a word that is there 3 times and here 5 times comes twice."""
    return " ".join((Counter(tokens_of(text)) - Counter(tokens_of(others))).elements())


def weight(token: str) -> int:
    """Return how much harm the loss of a token may do: 3 for a negation, 2 for a number, unit or sign, 1 for a word."""
    if token in NEGATIONS:
        return 3
    return 2 if token in UNITS or not token.isalpha() else 1


def runs_in(sought: list[str], tokens: list[str]) -> int:
    """Return how often some tokens follow each other in a list of tokens."""
    first, size = sought[0], len(sought)
    return sum(token == first and tokens[at : at + size] == sought for at, token in enumerate(tokens))
