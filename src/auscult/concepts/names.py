"""How two spellings of one name are told to be the same.

Names are folded to keys, from strict to loose: `normalise_name` drops what does not change the meaning (case,
accents, punctuation, possessives, plurals, British spelling, Roman numerals), `order_free_key` also word
order, `short_key` also words such as "disease".
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType

from auscult.concepts.spelling import american

_POSSESSIVE = re.compile(r"['\u2019\u02bc`](?:s\b)?")
_NOT_WORD = re.compile(r"[\W_]+")
_ROMAN = {
    "ii": "2", "iii": "3", "iv": "4", "vi": "6", "vii": "7", "viii": "8", "ix": "9", "xi": "11",
    "xii": "12", "xiii": "13", "xiv": "14", "xv": "15", "xvi": "16", "xvii": "17", "xviii": "18",
    "xix": "19", "xx": "20",
}  # fmt: skip
# A single letter is a number only after one of these words.
_ROMAN_LETTER = {"i": "1", "v": "5", "x": "10"}
_SERIES = frozenset({"type", "stage", "grade", "class", "group", "phase", "level", "factor", "subtype", "part"})
_FILLERS = frozenset(["of", "the", "in", "and", "with", "to", "due", "by", "type", "on", "or", "for", "from"])
# Words that people leave out: "Crohn's", "diabetes type 2".
GENERIC_WORDS = frozenset({"disease", "disorder", "syndrome", "mellitus", "hereditary", "familial"})
_IRREGULAR = {
    "eyes": "eye", "ears": "ear", "legs": "leg", "arms": "arm", "gums": "gum", "feet": "foot",
    "teeth": "tooth", "diabetes": "diabetes", "rabies": "rabies", "scabies": "scabies", "herpes": "herpes",
    "caries": "caries",
}  # fmt: skip


def normalise_name(name: str) -> str:
    """Fold a name to a key: two spellings of one name have one key.

    Args:
        name: As written: "Crohn's Disease", "haemophilia A", "leukaemias", "glycogen storage disease type
            II".

    Returns:
        Lower-case ASCII-folded words, one blank apart: "crohn disease", "hemophilia a", "leukemia",
        "glycogen storage disease type 2". Empty when the name has no letter or digit.
    """
    text = name.casefold()
    if not text.isascii():
        decomposed = unicodedata.normalize("NFKD", text)
        text = "".join(char for char in decomposed if not unicodedata.combining(char))
    text = _NOT_WORD.sub(" ", _POSSESSIVE.sub("", text))
    words: list[str] = []
    for word in american(text).split():
        if word in _ROMAN_LETTER and words and words[-1] in _SERIES:
            words.append(_ROMAN_LETTER[word])
        else:
            words.append(_ROMAN.get(word) or _singular(word))
    return " ".join(words)


def content_key(key: str) -> str:
    """A normalised name without its small words: "cancer of the breast" becomes "cancer breast"."""
    return " ".join(word for word in key.split() if word not in _FILLERS)


def order_free_key(key: str) -> str:
    """A key that word order and small words do not change: "leukemia acute" and "acute leukemia" share one.

    Args:
        key: What `normalise_name` returned.
    """
    return " ".join(sorted(word for word in key.split() if word not in _FILLERS))


def short_key(key: str) -> str:
    """An order-free key that also lacks words such as "disease": "crohn" of "crohn disease".

    Empty when too little is left to name anything (fewer than four letters).
    """
    short = " ".join(word for word in order_free_key(key).split() if word not in GENERIC_WORDS)
    return short if sum(map(str.isalpha, short)) >= 4 else ""


@cache
def abbreviations() -> Mapping[str, str]:
    """Normalised abbreviation -> identifier of what it stands for."""
    return MappingProxyType({normalise_name(row["abbreviation"]): row["concept"] for row in _rows()})


@cache
def abbreviated_names() -> Mapping[str, str]:
    """Normalised abbreviation -> normalised name of what it stands for."""
    return MappingProxyType({normalise_name(row["abbreviation"]): normalise_name(row["name"]) for row in _rows()})


def _rows() -> csv.DictReader[str]:
    table = resources.files("auscult.concepts").joinpath("abbreviations.tsv").read_text(encoding="utf-8")
    return csv.DictReader(table.splitlines(), delimiter="\t")


def _singular(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    # Four letters are too few: "AIDS", "SARS", "lens".
    if len(word) <= 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-1]
