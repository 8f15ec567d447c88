"""Sentence splitters by name; docs/sentence-splitting.md tells how the default was chosen."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from itertools import pairwise
from types import MappingProxyType

from auscult.documents.repair import repair
from auscult.interfaces import SentenceSplitter

_SURROGATE = re.compile("[\ud800-\udfff]")


def ranges_from_starts(text: str, starts: Iterable[int]) -> list[tuple[int, int]]:
    """Turn sentence starts into ranges that cover every non-space character once.

    Whatever a library returns, what comes out of here keeps the `SentenceSplitter` contract.

    Args:
        text: The text that was split.
        starts: Offsets at which a sentence begins, in order; a missing 0 is put in.

    Returns:
        Half-open ranges without surrounding white space, in order; none of them empty.
    """
    cuts = [0, *(start for start in starts if 0 < start < len(text)), len(text)]
    ranges = []
    for start, end in pairwise(cuts):
        piece = text[start:end]
        stripped = piece.lstrip()
        if stripped:
            first = end - len(stripped)
            ranges.append((first, first + len(stripped.rstrip())))
    return ranges


def plain_characters(text: str) -> str:
    """The text with half surrogate pairs, which compiled libraries refuse, replaced; the length stays."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


class LineSplitter:
    """Takes each paragraph for one sentence: for text that has one sentence, or one phrase, a line."""

    name = "line"

    def split(self, text: str) -> list[tuple[int, int]]:
        """One range over all visible characters, or none."""
        return ranges_from_starts(text, ())


class SentencexSplitter:
    """The rules of Wikimedia's sentencex (its English set), with or without the repairs for health text.

    Args:
        repairs: Apply `repair` to what the library finds.
    """

    def __init__(self, *, repairs: bool = True) -> None:
        # Imported when first used: those who never split a text do not pay for it.
        from sentencex import segment  # type: ignore[import-untyped]  # compiled, without stubs

        self.name = "sentencex+repair" if repairs else "sentencex"
        self._segment: Callable[[str, str], list[str]] = segment
        self._repairs = repairs

    def split(self, text: str) -> list[tuple[int, int]]:
        """Sentence ranges of one paragraph."""
        starts: list[int] = []
        at = 0
        for piece in self._pieces(text):
            starts.append(at)
            at += len(piece)
        return ranges_from_starts(text, repair(text, starts) if self._repairs else starts)

    def _pieces(self, text: str) -> list[str]:
        try:
            return self._segment("en", text)
        except UnicodeEncodeError:
            # Half a surrogate pair is no character to a compiled library; a stand-in of equal length is.
            return self._segment("en", plain_characters(text))


def _unrepaired() -> SentenceSplitter:
    return SentencexSplitter(repairs=False)


SPLITTERS: Mapping[str, Callable[[], SentenceSplitter]] = MappingProxyType(
    {"sentencex+repair": SentencexSplitter, "sentencex": _unrepaired, "line": LineSplitter}
)


@cache
def default_splitter() -> SentenceSplitter:
    """The splitter used where none is named, "sentencex+repair"; made once per process."""
    return SentencexSplitter()
