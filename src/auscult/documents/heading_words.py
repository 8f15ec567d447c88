"""Which words make a heading of a clinical note; the words themselves are in note_headings.toml."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

MOST_WORDS = 10
_TOKEN = re.compile(r"[^\W_]+")
_ROMAN = re.compile(r"[IVX]+")
# No heading in lower-case letters begins with one of these ("The plan: ...").
_OPENINGS = frozenset({"a", "all", "any", "at", "by", "for", "from", "in", "is", "of", "on", "or", "the", "this", "to"})


@dataclass(frozen=True, slots=True)
class Words:
    """What is known of a heading's words.

    Attributes:
        upper: Upper case throughout.
        formed: A heading by its form: upper case, and more than abbreviations and numerals, which laboratory values
            ("HDL") and cranial nerves ("III, IV, VI") are.
        known: Made of words of headings only, in any case.
        inner: A part of an examination or a list, which stays inside its section.
    """

    upper: bool
    formed: bool
    known: bool
    inner: bool


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    essential: frozenset[str]  # core and short
    beside: frozenset[str]
    short: frozenset[str]
    inner: frozenset[str]


def examine(words: str) -> Words | None:
    """Look at the words of what may be a heading.

    Args:
        words: Without number and colon.

    Returns:
        What is known of them; None where they are none or too many.
    """
    lower = words.lower()
    split = lower.split()
    if not 0 < len(split) <= MOST_WORDS:
        return None
    vocabulary = _vocabulary()
    tokens = _TOKEN.findall(words)
    upper = words == words.upper()
    inner = lower in vocabulary.inner
    return Words(
        upper=upper,
        formed=upper and not inner and any(len(token) > 3 and not _ROMAN.fullmatch(token) for token in tokens),
        known=not inner and (upper or split[0] not in _OPENINGS) and _known(lower, vocabulary),
        inner=inner,
    )


def known_end(run: str) -> str:
    """The longest end of a run of upper-case words that is a known heading ("NKDA MEDICATIONS"); else empty."""
    for word in re.finditer(r"[A-Z][^ ]*", run):
        rest = run[word.start() :]
        found = examine(rest)
        if found and found.inner:
            break
        if found and found.known and word[0].lower() not in _OPENINGS:
            return rest
    return ""


def _known(lower: str, vocabulary: _Vocabulary) -> bool:
    if lower in vocabulary.short:
        return True
    tokens = _TOKEN.findall(lower)
    essential = vocabulary.essential
    return any(token in essential for token in tokens) and all(
        token in essential or token in vocabulary.beside or token.isdigit() for token in tokens
    )


@cache
def _vocabulary() -> _Vocabulary:
    table = tomllib.loads(resources.files(__package__).joinpath("note_headings.toml").read_text(encoding="utf-8"))
    core, beside, short = (frozenset(table[name].split()) for name in ("core", "with", "short"))
    inner = frozenset(part.strip() for part in re.split(r"[|\n]", table["inner"]) if part.strip())
    return _Vocabulary(core | short, beside, short, inner)
