"""Decide whether a sentence goes on after a full stop, because an abbreviation or a number ends with it.

Abbreviations of English and German notes are in `abbreviations.toml`. Forms such as "p.o." and "q.8h." are expressions.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

# Abbreviations that never end a sentence.
_BEFORE_ANYTHING: Final = re.compile(
    r"(?<!\w)(?:Drs?|Mrs?|Ms|Prof|St|[Ee]\.g|[Ii]\.e|cf|viz|vs|subsp|[Aa]pprox|Tab|Cap|Inj|Syr|Susp|Rx|Dx|Hx"
    r"|[Zz]\. ?[nB]|[Vv]\. ?a|[Oo]\. ?g|d\. ?h|[Uu]\. ?[aU]|[Ss]\. ?[oua]|[Ii]\. ?d\. ?R)\.$"
)
# Abbreviations that end no sentence if a lower-case letter, a figure or a bracket follows.
_BEFORE_SMALL: Final = re.compile(
    r"(?<!\w)(?:(?:[A-Za-z]{1,2}\. ?)+[A-Za-z]|q\.? ?\d[\d-]*h?|al|ca|c|q|(?i:spp|tabs?|caps?|susp|inj"
    r"|hrs?|min|wks?|yrs?|mos?|resp|temp|wt|ht|dept|max|est|etc|incl|esp|vit|staph|strep|hep))\.[\"”)]?$"
)
# Abbreviations that end no sentence if a figure follows.
_BEFORE_FIGURE: Final = re.compile(
    r"(?<!\w)(?:[Nn]os?|[Ff]igs?|[Vv]ol|pp?|[Tt]emp|[Rr]esp|[Ss]ect?|[Cc]h|[Ee]qs?|[Rr]ef|para)\.$"
)
# Abbreviations that end no sentence if a single letter follows, perhaps with a number: "Vit. B12", "Strep. A".
_BEFORE_LETTER: Final = re.compile(r"(?<!\w)(?:[Vv]it|[Hh]ep|[Ss]trep|[Ii]nfl|[Gg]rp?)\.$")
_LETTER: Final = re.compile(r"[A-Z]\d{0,2}(?![\w.])")
# "x3" and "q6h" continue a sentence; "p53" may begin one.
_CONTINUES: Final = re.compile(r"(?![a-pr-wyz]{1,3}\d{2})[a-zß-öø-ÿ0-9(%$<>=~+/]")
# German numbers of days and other members of a series: "am 3. Tag", "die 2. Rippe".
_ORDINAL: Final = re.compile(
    r"(?<!\w)(?:[AaIi]m|[Vv]om|[Zz]um|[Bb]is|[Aa]b|[Dd](?:er|ie|as|en|em|es)|[Jj]ede[nrs]?|[Ee]ine[rmn]?) \d{1,2}\.$"
)
_DAY: Final = re.compile(r"(?<![\w.,])\d{1,2}\.$")
_DAY_AND_MONTH: Final = re.compile(r"(?<![\w.,])\d{1,2}\. ?\d{1,2}\.$")
_MONTH_AND_YEAR: Final = re.compile(r"\d{1,2}\. ?(?:\d{4}|\d\d)(?!\d)")
_YEAR: Final = re.compile(r"(?:\d{4}|\d\d)(?!\d)")
# "?? PE": a suspicion, not the end of a question.
_QUERY: Final = re.compile(r"(?:^|\s)\?+$")
_WORD: Final = re.compile(r"[^\W\d_]+")
_LOOK_BACK: Final = 24
_LONGEST_SHORTENED: Final = 5
_ENDS_BEFORE: Final = '.!?:;)”"'


@dataclass(frozen=True, slots=True)
class _Abbreviations:
    """The lists of `abbreviations.toml`; `any` has all abbreviations, and `determiner` also the negations."""

    word: frozenset[str]
    amount: frozenset[str]
    first: frozenset[str]
    before_noun: frozenset[str]
    determiner: frozenset[str]
    negation: frozenset[str]
    whole: frozenset[str]
    month: frozenset[str]
    any: frozenset[str]


@cache
def _abbreviations() -> _Abbreviations:
    table = tomllib.loads(resources.files(__package__).joinpath("abbreviations.toml").read_text(encoding="utf-8"))
    lists = {name: frozenset(words.split()) for name, words in table.items()}
    lists["any"] = lists["word"] | lists["amount"] | lists["first"] | lists["before_noun"]
    lists["determiner"] |= lists["negation"]
    return _Abbreviations(**lists)


def goes_on(text: str, end: int, start: int) -> bool:
    """Return whether the text before `end` and the text from `start` belong to one sentence."""
    before = text[max(0, end - _LOOK_BACK) : end]
    if end == start:  # Nothing is between them: only a question mark in front of a word ("?UTI") is joined.
        return before.endswith("?") and (len(before) == 1 or before[-2] in " /(:")
    if before[-1] == "?":
        return _QUERY.search(before) is not None
    if before[-1] not in '."”)':
        return False
    following = text[start]
    small = _CONTINUES.match(text, start) is not None
    if following.isdigit() and (_BEFORE_FIGURE.search(before) or _is_date(before, text, start)):
        return True
    if small and _BEFORE_SMALL.search(before):
        return True
    if _BEFORE_ANYTHING.search(before) or _is_ordinal(before, text, start):
        return True
    if _LETTER.match(text, start) and _BEFORE_LETTER.search(before):
        return True
    return _after_abbreviation(before, following, small=small)


def is_abbreviation(before: str, *, small: bool) -> bool:
    """Return whether a text ends with an abbreviation that ends no sentence; `small`: if a small letter follows."""
    before = before[-_LOOK_BACK:]
    if _BEFORE_ANYTHING.search(before):
        return True
    return small and (_BEFORE_SMALL.search(before) is not None or _after_abbreviation(before, "a", small=True))


def may_be_abbreviation(word: str) -> bool:
    """Return whether a word is in one of the lists."""
    return word in _abbreviations().any


def _after_abbreviation(before: str, following: str, *, small: bool) -> bool:
    if before[-1] != ".":
        return False
    head, _, word = before[:-1].lower().rpartition(" ")
    word = word.lstrip('(["“‘')
    listed = _abbreviations()
    is_listed = word in listed.any
    preceding = head.rstrip().rpartition(" ")[2]
    if not is_listed:
        # An abbreviation that no list has is short and ends with a consonant.
        short = word.isalpha() and len(word) <= _LONGEST_SHORTENED and word[-1] not in "aeiouy"
        return short and following.islower() and word not in listed.whole and preceding in listed.negation
    if word in listed.before_noun:
        return True
    if small and (word in listed.amount or (word in listed.word and not following.isdigit())):
        return True
    if word in listed.first and (not preceding or preceding[-1] in _ENDS_BEFORE):
        return True
    return preceding in listed.determiner and len(word) > 2


def _is_ordinal(before: str, text: str, start: int) -> bool:
    if not before[-2:-1].isdigit():
        return False
    if _ORDINAL.search(before) and text[start].isalpha():
        return True
    word = _WORD.match(text, start)
    return word is not None and word[0].lower() in _abbreviations().month and _DAY.search(before) is not None


def _is_date(before: str, text: str, start: int) -> bool:
    """Return whether a date goes on: "3. 5. 2026"."""
    rest = _YEAR if _DAY_AND_MONTH.search(before) else _MONTH_AND_YEAR if _DAY.search(before) else None
    return rest is not None and rest.match(text, start) is not None
