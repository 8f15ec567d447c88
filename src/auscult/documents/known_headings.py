"""Recognise the usual headings of notes, letters and leaflets in French, Spanish and German, and their aspects.

`headings_fr.tsv`, `_es.tsv` and `_de.tsv` have an aspect and a heading a line, the same aspects as in English. They
have the headings of package leaflets and product information that the European template prescribes (the QRD template of
the European Medicines Agency), and those that hospitals and practices use. In a heading,

- "a|b" is either, "a|" is also nothing;
- "{e}" is one to thirty words, as the name of a medicine in "Wie ist {e} einzunehmen?";
- "..." is up to three words, as in "Radiographie du poignet";
- "*graphie" is any word with this end.

Case, accents, punctuation, numbers before a heading and articles ("Motif de l'hospitalisation") make no difference.
Cost: one look-up by the first word for almost every line.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources
from typing import Final, NamedTuple

from auscult.documents.language_names import READ_BESIDE_ENGLISH
from auscult.documents.letters import plain_letters

LONGEST: Final = 250
"""Most characters of a heading: names of medicines in leaflets are long."""

_WORD: Final = re.compile(r"[^\W_]+")
_NUMBER: Final = re.compile(r"^\W*(?:(?:\d{1,2}[.)])+(?:\d{1,2}\b)?|\d{1,2}(?=\s))\W*")
_UNREAD: Final[Mapping[str, Sequence[str]]] = {
    "fr": ("de", "d", "du", "des", "la", "le", "les", "l", "a", "au", "aux", "et", "en", "un", "une"),
    "es": ("de", "del", "la", "el", "los", "las", "al", "a", "y", "e", "en", "un", "una", "le"),
    "de": ("der", "die", "das", "des", "dem", "den", "und", "von", "vom", "zu", "zum", "zur", "im"),
}
"""Words that make no difference."""
_JOINING: Final[Mapping[str, re.Pattern[str]]] = {
    "fr": re.compile(r"\bet\b|&"),
    "es": re.compile(r"\b[ye]\b|&"),
    "de": re.compile(r"\bund\b|&"),
}


class KnownHeading(NamedTuple):
    """A heading of a table.

    Attributes:
        aspect: Name of its aspect; empty if it is none of those with a name ("Verlauf").
        open: Whether it ends with words that the table does not name.
    """

    aspect: str
    open: bool


@lru_cache(maxsize=1 << 13)
def known_heading(heading: str, language: str) -> KnownHeading | None:
    """Return what the table of a language says of a heading; None if it has none like it, or there is no table.

    Args:
        heading: As the author wrote it.
        language: Code of its language.
    """
    if language not in READ_BESIDE_ENGLISH or len(heading) > LONGEST:
        return None
    every_word = _fold(_NUMBER.sub("", heading), language)
    words = [word for word in every_word if word not in _UNREAD[language]]
    if not words:
        return None
    table = _load(language)
    written = "".join(f" {word}" for word in words)
    best: KnownHeading | None = None
    for pattern, known in (*table.by_first.get(words[0], ()), *table.others):
        if (best is None or best.open > known.open) and pattern.fullmatch(written):
            best = known
    # "Le traitement comporte" is the beginning of a sentence.
    return None if best is not None and best.open and every_word[0] in _UNREAD[language] else best


def split_heading(heading: str, language: str) -> list[str]:
    """Return the parts of a heading between the language's words for "and"."""
    joining = _JOINING.get(language)
    return joining.split(heading.lower()) if joining else [heading.lower()]


class _Table(NamedTuple):
    """The headings of a language, by their first word; `others` begin with any word."""

    by_first: Mapping[str, Sequence[tuple[re.Pattern[str], KnownHeading]]]
    others: Sequence[tuple[re.Pattern[str], KnownHeading]]


@cache
def _load(language: str) -> _Table:
    table = resources.files(__package__).joinpath(f"headings_{language}.tsv").read_text(encoding="utf-8")
    by_first: dict[str, list[tuple[re.Pattern[str], KnownHeading]]] = defaultdict(list)
    others: list[tuple[re.Pattern[str], KnownHeading]] = []
    for line in table.splitlines():
        if line.startswith("#"):
            continue
        aspect, heading = line.split("\t")
        choices = [list(_choices(part, language)) for part in heading.split()]
        compiled = re.compile("".join(map(_pattern, choices)))
        row = compiled, KnownHeading("" if aspect == "-" else aspect, heading.endswith(("{e}", "...")))
        for first in _first_words(choices):
            if first:
                by_first[first].append(row)
            else:
                others.append(row)
    return _Table(by_first, others)


def _choices(part: str, language: str) -> Iterator[str]:
    """Yield the alternatives of a part as words with blanks between; "" for nothing."""
    for alternative in part.split("|"):
        if alternative in ("{e}", "...") or alternative.startswith("*"):
            yield alternative[:1] + " ".join(_read(alternative[1:], language)) if alternative[0] == "*" else alternative
        else:
            yield " ".join(_read(alternative, language))


def _pattern(choices: Iterable[str]) -> str:
    written = []
    for choice in dict.fromkeys(choices):
        if choice == "{e}":
            written.append(r"(?: \S+){1,30}")
        elif choice == "...":
            written.append(r"(?: \S+){0,3}")
        elif choice.startswith("*"):
            written.append(rf" \S*{re.escape(choice[1:])}")
        else:
            written.append(f" {re.escape(choice)}" if choice else "")
    return f"(?:{'|'.join(written)})"


def _first_words(choices: Sequence[Sequence[str]]) -> set[str]:
    """Return the words that a heading may begin with; "" among them if it may begin with any."""
    firsts: set[str] = set()
    for part in choices:
        firsts.update("" if choice[0] in "{.*" else choice.split()[0] for choice in part if choice)
        if all(part):
            break
    return firsts


def _read(text: str, language: str) -> list[str]:
    """Return the words of a text without those that make no difference."""
    return [word for word in _fold(text, language) if word not in _UNREAD[language]]


def _fold(text: str, language: str) -> list[str]:
    """Return the words of a text without case and accents."""
    return _WORD.findall(plain_letters(text, language))
