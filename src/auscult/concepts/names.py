"""Fold names to keys that are equal for different spellings, list their spellings, and list function words.

There are three keys, from strict to loose: `normalise_name` removes what does not change the meaning (case, accents,
punctuation, possessives, plurals, and the variants of `documents.word_forms`), `order_free_key` also the word order,
and `short_key` also words such as "disease".
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib import resources
from types import MappingProxyType

from auscult.documents.analysis import fold
from auscult.documents.word_forms import ROMAN_LETTERS, SERIES, TOKEN, american, normal_words, spelt_out

_WORD = re.compile(r"[^\W_]+")
_OWNER = re.compile(r"(?<=[a-zA-Z])['\u2019]s\b|(?<=s)['\u2019](?= )")
# American -> British, for words that show which letter was dropped. Each rule is applied by itself, so that none
# undoes another.
_TO_BRITISH = tuple(
    (re.compile(american, re.IGNORECASE), british)
    for american, british in (
        (r"(?<!a)emi(?=a|c)", "aemi"),
        (r"(?<!c)hem(?=[aor])", "haem"),
        (r"\bedem", "oedem"),
        (r"\besoph", "oesoph"),
        (r"rrhe(?=a|i)", "rrhoe"),
        (r"tumor\b", "tumour"),
        (r"\bfet(?=al|us)", "foet"),
        (r"\bceliac", "coeliac"),
        (r"\bped(?=iatric)", "paed"),
        (r"pnea\b", "pnoea"),
        (r"anesth", "anaesth"),
        (r"\bestrogen", "oestrogen"),
        (r"gynec", "gynaec"),
        (r"behavior", "behaviour"),
        (r"\bcolor", "colour"),
    )
)
_VARIES = re.compile("|".join(rule.pattern for rule in (_OWNER, *(rule for rule, _ in _TO_BRITISH))), re.IGNORECASE)
_TO_ROMAN = {"1": "I", "2": "II", "3": "III", "4": "IV", "5": "V", "6": "VI", "7": "VII", "8": "VIII", "9": "IX"}
_TO_ARABIC = {roman: arabic for arabic, roman in _TO_ROMAN.items()}
_NUMBERED = re.compile(r"(?<=\btype )(?:[1-9]|I{1,3}|I?V|VI{1,3}|IX)(?![\w.])", re.IGNORECASE)


def spelling_variants(name: str) -> tuple[str, ...]:
    """Return the spellings of a name in running text: British or American, possessive or not, "type 2" or "II".

    Args:
        name: "Alzheimer's disease", "leukemia".

    Returns:
        The name itself, then its variants, whose changed letters are in lower case: ("Alzheimer's disease",
        "Alzheimer disease", "Alzheimers disease"), ("leukemia", "leukaemia").
    """
    number = _NUMBERED.search(name)
    variants = [*dict.fromkeys((name, _WORD.sub(_americanise, name)))]
    if not number and not _VARIES.search(name):
        return tuple(variants)
    if number:
        other = _TO_ROMAN.get(number.group()) or _TO_ARABIC[number.group().upper()]
        variants += [_NUMBERED.sub(other, variant, count=1) for variant in variants]
    if _OWNER.search(name):
        variants += [_OWNER.sub(owner, variant) for owner in ("", "s") for variant in variants]
    for pattern, replacement in _TO_BRITISH:
        variants += [pattern.sub(replacement, variant) for variant in variants if pattern.search(variant)]
    return tuple(dict.fromkeys(variants))


def _americanise(match: re.Match[str]) -> str:
    word = match.group().lower()
    spelt = american(word)
    return match.group() if spelt == word else spelt


_POSSESSIVE = re.compile(r"['\u2019\u02bc`](?:s\b)?")
_FILLERS = frozenset(["of", "the", "in", "and", "with", "to", "due", "by", "type", "on", "or", "for", "from"])
# Words that people often omit: "Crohn's", "diabetes type 2".
GENERIC_WORDS = frozenset({"disease", "disorder", "syndrome", "mellitus", "hereditary", "familial"})
_IRREGULAR = {
    "eyes": "eye", "ears": "ear", "legs": "leg", "arms": "arm", "gums": "gum",
    "diabetes": "diabetes", "rabies": "rabies", "scabies": "scabies", "herpes": "herpes", "caries": "caries",
}  # fmt: skip


# The words of a question are folded many times while it is parsed.
@lru_cache(maxsize=1 << 12)
def normalise_name(name: str) -> str:
    """Fold a name to a key that is equal for all its spellings.

    Args:
        name: As written: "Crohn's Disease", "haemophilia A", "leukaemias", "glycogen storage disease type
            II".

    Returns:
        Lower-case ASCII-folded words, one blank apart: "crohn disease", "hemophilia a", "leukemia",
        "glycogen storage disease type 2". Empty when the name has no letter or digit.
    """
    words: list[str] = []
    for token in TOKEN.findall(_POSSESSIVE.sub("", spelt_out(fold(name)))):
        for word in normal_words(token):
            # In a name "IV" is a number.
            is_number = word == "iv" or (word in ROMAN_LETTERS and words and words[-1] in SERIES)
            words.append(ROMAN_LETTERS[word] if is_number else _singularise(word))
    return " ".join(words)


def content_key(key: str) -> str:
    """Return a normalised name without small words: "cancer of the breast" becomes "cancer breast"."""
    return " ".join(word for word in key.split() if word not in _FILLERS)


def order_free_key(key: str) -> str:
    """Return a key that ignores word order and small words: equal for "leukemia acute" and "acute leukemia".

    Args:
        key: A name as `normalise_name` returns it.
    """
    return " ".join(sorted([word for word in key.split() if word not in _FILLERS]))


def short_key(key: str) -> str:
    """Return an order-free key without words such as "disease": "crohn" for "crohn disease".

    It is empty if fewer than four letters would be left.
    """
    return shortened(order_free_key(key))


def shortened(ordered: str) -> str:
    """Return the `short_key` for a key of `order_free_key`."""
    short = " ".join([word for word in ordered.split() if word not in GENERIC_WORDS])
    return short if sum(map(str.isalpha, short)) >= 4 else ""


@cache
def abbreviations() -> Mapping[str, str]:
    """Return the identifiers of abbreviated concepts by normalised abbreviation."""
    return MappingProxyType({normalise_name(row["abbreviation"]): row["concept"] for row in _read_abbreviations()})


@cache
def abbreviated_names() -> Mapping[str, str]:
    """Return the normalised full names by normalised abbreviation."""
    return MappingProxyType(
        {normalise_name(row["abbreviation"]): normalise_name(row["name"]) for row in _read_abbreviations()}
    )


def _read_abbreviations() -> csv.DictReader[str]:
    table = resources.files("auscult.concepts").joinpath("abbreviations.tsv").read_text(encoding="utf-8")
    return csv.DictReader(table.splitlines(), delimiter="\t")


def _singularise(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    # Four letters are too few: "AIDS", "SARS", "lens".
    if len(word) <= 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-1]


# fmt: off
FUNCTION_WORDS = frozenset({
    "a", "about", "all", "also", "although", "an", "and", "another", "any", "are", "as", "at", "be", "because", "been",
    "being", "both", "but", "by", "can", "could", "did", "do", "does", "doing", "done", "each", "either", "for", "from",
    "further", "had", "has", "have", "having", "he", "her", "here", "hers", "herself", "him", "himself", "his", "i",
    "if", "in", "into", "is", "it", "its", "itself", "just", "may", "me", "might", "more", "most", "much", "must", "my",
    "myself", "of", "on", "one", "only", "or", "other", "others", "our", "ours", "ourselves", "own", "rather", "s",
    "same", "shall", "she", "should", "since", "so", "some", "such", "t", "than", "that", "the", "their", "theirs",
    "them", "themselves", "then", "there", "therefore", "these", "they", "this", "those", "though", "through", "thus",
    "to", "too", "up", "us", "very", "was", "we", "were", "what", "where", "whereas", "which", "while", "who", "whom",
    "whose", "will", "with", "would", "you", "your", "yours", "yourself",
})
# fmt: on
"""English words with little meaning of their own. Negations and question words are not among them: "not", "no",
"without", "before", "how", "why", "when"."""
