"""What stands in a note for something else: marks left by de-identification, and the passage's own heading."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from auscult.concepts.recognition.covered import Covered
from auscult.concepts.recognition.entity import Entity
from auscult.documents import Document, Passage

_PLACEHOLDER = re.compile(
    r"""
      \[\*\*.{0,200}?\*\*\]                       # MIMIC-III: [**2101-3-4**], [**Hospital1 18**]
    | _{3,}                                       # MIMIC-IV: ___
    | \[[A-Z][A-Z0-9]+(?:[ _-][A-Z0-9]+)*\]       # [REDACTED], [PATIENT NAME]
    | <{1,2}/?[A-Z][A-Z0-9]+(?:[ _-][A-Z0-9]+)*>{1,2}  # <DATE>, <<NAME>>
    | \b[X]{3,}\b | \*{3,}                        # XXXX, ***
    """,
    re.VERBOSE | re.DOTALL,
)
_BEFORE_HEADING = re.compile(r"\s*(?:\(?(?:\d{1,2}|[IVX]{1,4}|[A-Z])[.)]\s+)?")

Span = tuple[int, int]


def placeholders(text: str) -> list[Span]:
    """Half-open ranges of de-identification marks, in order."""
    return [found.span() for found in _PLACEHOLDER.finditer(text)]


def own_headings(document: Document) -> list[Span]:
    """Where passages begin with their own heading, in offsets of the document's text.

    Sections are usually given without it; where a text keeps it, its words say what the passage is about and not what
    it mentions ("Allergies: penicillin").
    """
    return [span for passage in document.passages if (span := _own_heading(document.text, passage))]


def without(entities: Iterable[Entity], spans: Sequence[Span]) -> list[Entity]:
    """The entities that touch none of the ranges."""
    covered = Covered(spans)
    return [entity for entity in entities if not covered.touches(entity.start, entity.end)]


def _own_heading(text: str, passage: Passage) -> Span | None:
    heading = passage.heading.strip().rstrip(":").rstrip()
    begin = _BEFORE_HEADING.match(text, passage.start, passage.end)
    at = begin.end() if begin else passage.start
    end = at + len(heading)
    if not heading or end > passage.end or text[at:end].casefold() != heading.casefold():
        return None
    # A sentence may begin with the heading's word; a heading ends with a colon, a dash or the line.
    follows = text[end : passage.end].lstrip(" \t")[:1]
    return (at, end) if follows in ("", ":", "-", "\u2013", "\n", "\r") else None


__all__ = ["Span", "own_headings", "placeholders", "without"]
