"""Split text into paragraphs, list items and sentences.

docs/explanation/sentence-splitting.md tells how the default splitter was chosen.

Three rules correct sentence starts where health text differs from what a general splitter expects. They were written
on text that is not in the gold set of docs/explanation/sentence-splitting.md:

1. join: no sentence begins after "Dr.", "vs." or "e.g."; after "p.o.", "q.8h." or "spp." if a lower-case letter or a
   figure follows; after "No." or "Fig." if a figure follows; after "Vit." if a letter follows; or inside "?UTI";
2. shift: closing quotes and brackets stay with the sentence that they end, opening ones with the one that they begin;
3. split: a full stop ends a sentence between a plain word of four letters or more and a blank with a capital, even
   inside quotes and brackets and where an apostrophe looks like an opening quote. A full stop also ends a sentence
   after the frequency or duration of a medication ("b.i.d. Stop aspirin.", "in 2 wks. He").

Sentences are searched within paragraphs and list items, so a line break always ends a sentence. In health pages and
clinical notes, headings, list items and table rows end without a full stop, and a splitter that looks across line
breaks joins them with the text below. Cutting there first is safer and faster than any statistics. Text wrapped
at a fixed width, like MIMIC-III's notes, would be cut into pieces: `unwrapped` joins its lines first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from types import MappingProxyType
from typing import Protocol, runtime_checkable

from auscult.documents.abbreviations import goes_on, may_be_abbreviation
from auscult.documents.sentence_ends import sentence_ends
from auscult.documents.stop_words import known_language

# A run of anything but the characters at which str.splitlines() breaks.
_LINE = re.compile(r"[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")

# "- x", "* x", "• x", "1. x", "1) x", "(1) x", "a) x", "(a) x". A dash needs a blank after it: "-5 °C"
# is none; "A. Smith" and "1990. He" are none either.
_LIST_MARKER = re.compile(r"(?:[-*+•‣◦▪●○·–—]|\(?\d{1,2}[.)]|\(?[a-z][)]|\([ivx]{1,4}\))\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One line of text without its surrounding white space.

    Attributes:
        start: Offset of the first visible character (of the list marker, if there is one).
        body: Offset after the list marker; equals `start` if there is none.
        end: One past the last visible character.
        list_item: Whether it begins with a list marker.
    """

    start: int
    body: int
    end: int
    list_item: bool


@runtime_checkable
class SentenceSplitter(Protocol):
    """Splits a paragraph into sentences."""

    name: str

    def split(self, text: str) -> list[tuple[int, int]]:
        """Return the sentences as half-open character ranges in order; only white space is outside them."""
        ...


def paragraphs(text: str) -> Iterator[Paragraph]:
    """Yield every line with visible characters, in order.

    Args:
        text: Any text.

    Yields:
        Paragraphs without overlap that together contain every non-space character of the text.
    """
    for line in _LINE.finditer(text):
        content = line.group()
        tail = content.lstrip()
        if not tail:
            continue
        end = line.start() + len(content.rstrip())
        start = line.end() - len(tail)
        marker = _LIST_MARKER.match(text, start, end)
        yield Paragraph(start, marker.end() if marker else start, end, marker is not None)


# Ends of a sentence if a capitalised word follows: frequencies, durations, amounts, routes after a dose, and letters
# after a word for a lettered series ("kappa B").
_HOW_OFTEN = r"(?:q|b\.i|t\.i|q\.i|q\.o|q\.h|q\.a|q\.p)\.[dhms]|q\.? ?\d[\d-]*\.? ?h|(?:h\.s|a\.c|p\.c|n\.p\.o)"
_BY_WHICH_WAY = r"p\.o|p\.r|i\.v|i\.m|s\.c|s\.l|p\.r\.n"
_LETTERED = "alpha|beta|gamma|delta|kappa|lambda|hepatitis|vitamin|type|group|class|factor|stage|grade|influenza"
_BEFORE_END = re.compile(
    rf"(?:\s(?:{_HOW_OFTEN})"
    rf"|(?:\d|\b(?:m?c?g|ml|mL|units?|tablets?|capsules?|drops?|puffs?)|(?<=[a-z]\.)) (?:{_BY_WHICH_WAY})"
    r"|\d ?(?:[ap]\.m|wks?|hrs?|yrs?|mos?|mins?|secs?|h|d|m?c?g|m[lL]|kg|cm|lbs?|oz|tabs?|caps?|tsp|tbsp|gtts?)"
    rf"|\b(?i:{_LETTERED}) [A-Z])\Z"
)
_LONGEST_BEFORE_END = 32
_STOP = re.compile(
    r"\.[\"”)]?\s+(?=(?:[\"“‘(\[]?(?!Hg\b|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)[A-Z][a-z]+|[AI](?= [a-z]))\b)"
)
_CLOSING = re.compile(r"[\"”’)\]]+(?=\s|$)")
_OPENING = re.compile(r"(?<=\s)[\"“‘(\[]+$")
_PLAIN_END = re.compile(r"(?:\b[a-z]{4,}|pH)[.!?][\"”’)\]]*\s+(?=[\"“‘(\[]?[A-Z])")
_SHORTENED = re.compile(r"(?:subsp|approx|dept|univ|prof|assoc|para|inst|vols|figs|temp|resp|tabs|caps|susp|incl)\.")


def repair(text: str, starts: Iterable[int]) -> list[int]:
    """Correct the sentence starts that a library found.

    The number of a list item in Roman numerals is no sentence of its own.

    Args:
        text: One paragraph.
        starts: Offsets at which the library begins a sentence; 0 may be left out.

    Returns:
        Corrected offsets, ascending, without repeats.
    """
    corrected: set[int] = set()
    for start in starts:
        if not 0 < start < len(text):
            continue
        closing = _CLOSING.match(text, start)
        if closing and not text[start - 1].isspace():
            start = closing.end()
        opening = _OPENING.search(text, max(0, start - 4), start)
        if opening:
            start = opening.start()
        while start < len(text) and text[start].isspace():
            start += 1
        end = start
        while end and text[end - 1].isspace():
            end -= 1
        if start < len(text) and end and not goes_on(text, end, start):
            corrected.add(start)
    for obvious in _PLAIN_END.finditer(text):
        word = text[obvious.start() : text.find(".", obvious.start(), obvious.end())]
        if _SHORTENED.match(text, obvious.start()):
            continue
        if not (may_be_abbreviation(word) and goes_on(text, obvious.start() + len(word) + 1, obvious.end())):
            corrected.add(obvious.end())
    for stop in _STOP.finditer(text):
        # Full stops are few, so looking back from them takes less time than looking for what may be before them.
        if _BEFORE_END.search(text, max(0, stop.start() - _LONGEST_BEFORE_END), stop.start()):
            corrected.add(stop.end())
    if label := _LABEL.match(text):
        corrected.discard(label.end())
    return sorted(corrected)


_NUMERAL = r"(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})"
# The number of a list item or section: "XII. Doses".
_LABEL = re.compile(rf"\(?(?=[a-zA-Z])(?:{_NUMERAL}|{_NUMERAL.upper()})[.)]\s+")
_SURROGATE = re.compile("[\ud800-\udfff]")


def ranges_from_starts(text: str, starts: Iterable[int]) -> list[tuple[int, int]]:
    """Turn sentence starts into ranges that cover every non-space character once.

    The result meets the contract of `SentenceSplitter`, whatever a library returns.

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
    """Replace unpaired surrogates, which compiled libraries reject; the length stays the same."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


class LineSplitter:
    """Splitter that returns each paragraph as one sentence, for text with one sentence or phrase per line."""

    name = "line"

    def split(self, text: str) -> list[tuple[int, int]]:
        """Return one range over all visible characters, or none."""
        return ranges_from_starts(text, ())


class SentencexSplitter:
    """Splitter with a language's rules of Wikimedia's sentencex, with or without the repairs for health text.

    Args:
        repairs: Whether to correct the library's sentence starts, with `repair` or a language's `SentenceEnds`.
        language: Code of the text's language; one without rules here is split as English.
    """

    def __init__(self, *, repairs: bool = True, language: str = "en") -> None:
        # Imported on first use, so that programs that never split a text start faster.
        from sentencex import segment  # type: ignore[import-untyped]  # compiled, without stubs

        self.name = "sentencex+repair" if repairs else "sentencex"
        self._segment: Callable[[str, str], list[str]] = segment
        self._language = known_language(language)
        self._repair: Callable[[str, Iterable[int]], list[int]] | None = None
        if repairs:
            self._repair = repair if self._language == "en" else sentence_ends(self._language).corrected

    def split(self, text: str) -> list[tuple[int, int]]:
        """Return the sentence ranges of one paragraph."""
        starts: list[int] = []
        at = 0
        try:
            pieces = self._segment(self._language, text)
        except UnicodeEncodeError:
            # A compiled library rejects unpaired surrogates, but accepts replacements of equal length.
            pieces = self._segment(self._language, plain_characters(text))
        for piece in pieces:
            starts.append(at)
            at += len(piece)
        return ranges_from_starts(text, starts if self._repair is None else self._repair(text, starts))


SPLITTERS: Mapping[str, Callable[[], SentenceSplitter]] = MappingProxyType(
    {
        "sentencex+repair": SentencexSplitter,
        "sentencex": partial(SentencexSplitter, repairs=False),
        "line": LineSplitter,
    }
)


@cache
def default_splitter() -> SentenceSplitter:
    """Return the default splitter for English, "sentencex+repair"; it is created once per process."""
    return splitter_for("en")


def splitter_for(language: str) -> SentenceSplitter:
    """Return the default splitter for a language, "sentencex+repair"; it is created once per language and process.

    Args:
        language: Code of the text's language; a text in one without rules is split as English.
    """
    return _splitter_of(known_language(language))


@cache
def _splitter_of(language: str) -> SentenceSplitter:
    return SentencexSplitter(language=language)
