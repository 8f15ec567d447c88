"""Lengths of questions in words, as wang2021 groups them (Figure 5), with longer questions told apart.

Counted is what models read: entity and aspects of a query ("gout treatment", on MedQuAD), and the question itself where
a query has neither, as all have in the paper.
"""

from __future__ import annotations

import re

_BOUNDS = ((1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 7), (8, 9), (10, 12))
LENGTHS = (*(f"{low}" if low == high else f"{low}-{high}" for low, high in _BOUNDS), f"over {_BOUNDS[-1][1]}")
"""Names of the groups, shortest first. The paper's last one is "more than 5"."""

FEW = 30
"""Groups of fewer queries are marked: one of them moves a mean by more than three points."""

_WORD = re.compile(r"\w+(?:[-'’./]\w+)*")


def length_group(text: str) -> str:
    """The group of a text; what is joined by hyphen, apostrophe, point or stroke is one word.

    Args:
        text: As it is read.

    Returns:
        One of `LENGTHS`; empty for a text without words.
    """
    words = len(_WORD.findall(text))
    if not words:
        return ""
    return next((name for name, (_, high) in zip(LENGTHS, _BOUNDS, strict=False) if words <= high), LENGTHS[-1])


def counted(queries: int) -> str:
    """The size of a group as tables and figures tell it, with an asterisk where it is of few."""
    return f"{queries:,}{'*' if queries < FEW else ''}"
