"""Derive aspects from section headings, with the preprocessing of arnold2020 section 3.2.

"We apply moderate preprocessing (lowercase, remove punctuation, split at 'and|&')": "Signs and symptoms" is
the two aspects "signs" and "symptoms". The lead of an article ("Abstract") and an unmarked first passage are
"information".

In French, Spanish and German, the usual headings have the aspects of English ("Posologie" is "dosage"), by the tables
of `documents.known_headings`. Other headings have their own words, split at that language's "and".
"""

from __future__ import annotations

import re

from auscult.documents import Document
from auscult.documents.known_headings import known_heading, split_heading
from auscult.documents.language_names import READ_BESIDE_ENGLISH

INFORMATION = "information"
_LEADS = frozenset({"", "abstract", "summary", "overview", "introduction", "lead"})
_SPLIT = re.compile(r"\band\b|&")
# Apostrophes are removed ("Crohn's" -> "crohns"); other punctuation separates words.
_APOSTROPHE = re.compile(r"['\u2019]")
_PUNCTUATION = re.compile(r"[\W_]+")


def normalise_heading(heading: str, *, language: str = "en") -> tuple[str, ...]:
    """Return the aspects of a heading: lower case, no punctuation, split at "and" and "&".

    Args:
        heading: As the author wrote it, or an aspect of a query ("frequency and epidemiology").
        language: Code of its language. One without a table of headings is read as English.

    Returns:
        At least one aspect, in order, without repeats: ("signs", "symptoms") for "Signs and symptoms";
        ("information",) for the lead of an article and for a heading without words.
    """
    if language in READ_BESIDE_ENGLISH:
        return _normalise_other(heading, language)
    parts = (
        " ".join(_PUNCTUATION.sub(" ", part).split()) for part in _SPLIT.split(_APOSTROPHE.sub("", heading.lower()))
    )
    aspects = tuple(dict.fromkeys(part for part in parts if part))
    return (INFORMATION,) if not aspects or (len(aspects) == 1 and aspects[0] in _LEADS) else aspects


def _normalise_other(heading: str, language: str) -> tuple[str, ...]:
    """Return the aspects of a heading in a language with a table of headings."""
    whole = known_heading(heading, language)
    parts = split_heading(heading, language)
    known = [known_heading(part, language) for part in parts]
    if whole is not None and whole.aspect and not (whole.open and all(known)):
        return (whole.aspect,)
    aspects = (
        each.aspect if each is not None and each.aspect else " ".join(_PUNCTUATION.sub(" ", part).split())
        for part, each in zip(parts, known, strict=True)
    )
    found = tuple(dict.fromkeys(aspect for aspect in aspects if aspect))
    return (INFORMATION,) if not found or (len(found) == 1 and found[0] in _LEADS) else found


def document_aspects(document: Document, *, language: str = "en") -> tuple[tuple[str, ...], ...]:
    """Return the aspects of every passage, in order; empty for a passage without a heading that is not the lead.

    Args:
        document: The document.
        language: Code of its language, as in `normalise_heading`.
    """
    return tuple(
        normalise_heading(passage.heading, language=language) if passage.heading.strip() or number == 0 else ()
        for number, passage in enumerate(document.passages)
    )
