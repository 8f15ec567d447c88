"""Aspects from section headings, with the preprocessing of arnold2020 section 3.2.

"We apply moderate preprocessing (lowercase, remove punctuation, split at 'and|&')": "Signs and symptoms" is
the two aspects "signs" and "symptoms". The lead of an article ("Abstract") and an unmarked first passage are
"information".
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from auscult.documents import Document

INFORMATION = "information"
_LEADS = frozenset({"", "abstract", "summary", "overview", "introduction", "lead"})
_SPLIT = re.compile(r"\band\b|&")
# An apostrophe joins ("Crohn's" -> "crohns"); other punctuation parts words.
_APOSTROPHE = re.compile(r"['\u2019]")
_PUNCTUATION = re.compile(r"[\W_]+")


def normalise_heading(heading: str) -> tuple[str, ...]:
    """The aspects of a heading: lower case, no punctuation, split at "and" and "&".

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
    """The aspects of every passage, in order; empty for an unmarked passage that is not the lead."""
    return tuple(
        normalise_heading(passage.heading) if passage.heading.strip() or number == 0 else ()
        for number, passage in enumerate(document.passages)
    )


class AspectVocabulary:
    """How often each aspect heads a passage.

    Args:
        counts: Aspect -> number of passages.
    """

    def __init__(self, counts: Mapping[str, int]) -> None:
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        self.counts: Mapping[str, int] = MappingProxyType(dict(ordered))

    @classmethod
    def from_documents(cls, documents: Iterable[Document]) -> AspectVocabulary:
        """Count the aspects of all passages of a stream of documents."""
        return cls(Counter(a for document in documents for aspects in document_aspects(document) for a in aspects))

    def __len__(self) -> int:
        return len(self.counts)

    def __contains__(self, aspect: object) -> bool:
        return aspect in self.counts

    def most_common(self, limit: int | None = None) -> list[tuple[str, int]]:
        """(aspect, count) from frequent to rare; equal counts in alphabetical order."""
        return list(self.counts.items())[:limit]

    def coverage(self, limit: int) -> float:
        """Share of all occurrences that the most frequent `limit` aspects make up, in [0, 1]."""
        total = sum(self.counts.values())
        return sum(count for _, count in self.most_common(limit)) / total if total else 0.0
