"""Derive aspects from section headings, with the preprocessing of arnold2020 section 3.2.

"We apply moderate preprocessing (lowercase, remove punctuation, split at 'and|&')": "Signs and symptoms" is
the two aspects "signs" and "symptoms". The lead of an article ("Abstract") and an unmarked first passage are
"information".
"""

from __future__ import annotations

import re

from auscult.documents import Document

INFORMATION = "information"
_LEADS = frozenset({"", "abstract", "summary", "overview", "introduction", "lead"})
_SPLIT = re.compile(r"\band\b|&")
# Apostrophes are removed ("Crohn's" -> "crohns"); other punctuation separates words.
_APOSTROPHE = re.compile(r"['\u2019]")
_PUNCTUATION = re.compile(r"[\W_]+")


def normalise_heading(heading: str) -> tuple[str, ...]:
    """Return the aspects of a heading: lower case, no punctuation, split at "and" and "&".

    Args:
        heading: As the author wrote it, or an aspect of a query ("frequency and epidemiology").

    Returns:
        At least one aspect, in order, without repeats: ("signs", "symptoms") for "Signs and symptoms";
        ("information",) for the lead of an article and for a heading without words.
    """
    parts = (
        " ".join(_PUNCTUATION.sub(" ", part).split()) for part in _SPLIT.split(_APOSTROPHE.sub("", heading.lower()))
    )
    aspects = tuple(dict.fromkeys(part for part in parts if part))
    return (INFORMATION,) if not aspects or (len(aspects) == 1 and aspects[0] in _LEADS) else aspects


def document_aspects(document: Document) -> tuple[tuple[str, ...], ...]:
    """Return the aspects of every passage, in order; empty for a passage without a heading that is not the lead."""
    return tuple(
        normalise_heading(passage.heading) if passage.heading.strip() or number == 0 else ()
        for number, passage in enumerate(document.passages)
    )
