"""Paragraphs, list items and sentences of a text.

How the default was chosen is told in docs/explanation/sentence-splitting.md.

Sentence starts are put right where health text differs from what a general splitter expects. These are three small
rules, written on text that the gold set of docs/explanation/sentence-splitting.md does not contain:

1. join: no sentence begins behind "Dr.", "vs." or "e.g.", none behind "p.o.", "q.8h." or "spp." when a small
   letter or a figure follows, none behind "No." or "Fig." when a figure follows, none behind "Vit." when a letter
   follows, and none inside "?UTI";
2. shift: closing quotes and brackets stay with the sentence they end, opening ones go to the one they begin;
3. split: a full stop behind a plain word of four letters or more, a blank and a capital end a sentence, also
   inside quotes and brackets and where an apostrophe was taken for an opening quote; so does one behind how often
   or how long a medicine is taken ("b.i.d. Stop aspirin.", "in 2 wks. He").

Paragraphs and list items are the frame inside which sentences are looked for.
A line break always ends a sentence. Health pages and clinical notes end headings, list items and table rows
without a full stop, so a splitter that may look across line breaks glues them to what follows; cutting there
first is both safer and faster than any statistics. Text that was wrapped at a fixed width, as MIMIC-III's notes
are, would be cut in pieces: `unwrapped` reads it as if it were not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from types import MappingProxyType

from auscult.interfaces import SentenceSplitter

# A run of anything but the characters at which str.splitlines() breaks.
_LINE = re.compile(r"[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")

# "- x", "* x", "• x", "1. x", "1) x", "(1) x", "a) x", "(a) x". A dash needs a blank after it: "-5 °C"
# is none; "A. Smith" and "1990. He" are none either.
_LIST_MARKER = re.compile(r"(?:[-*+•‣◦▪●○·–—]|\(?\d{1,2}[.)]|\(?[a-z][)]|\([ivx]{1,4}\))\s+(?=\S)")

_ENDED_LINE = re.compile(r"[^\n]*\n?")
# A wrapped text has lines of about one width: most paragraphs' lines end within so many characters of the longest.
_NARROWEST, _WIDEST = 50, 100
_RAGGED = 20
_ITEM = re.compile(r"[ \t]*(?:[-*+#=_\u2022]|\(?\d{1,2}[.)]|\(?[a-zA-Z][)]|[A-Z][\w /&-]{0,60}:)")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """One line of text without its surrounding white space.

    Attributes:
        start: Offset of the first visible character (of the list marker, where there is one).
        body: Offset behind the list marker; equals `start` where there is none.
        end: One past the last visible character.
        list_item: Begins with a list marker.
    """

    start: int
    body: int
    end: int
    list_item: bool


def paragraphs(text: str) -> Iterator[Paragraph]:
    """Every line with visible characters, in order.

    Args:
        text: Any text.

    Yields:
        Non-overlapping paragraphs that together hold every non-space character of the text.
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


def unwrapped(text: str) -> str:
    """Join the lines of wrapped paragraphs.

    Args:
        text: Any text.

    Returns:
        A text of the same length in which a line break inside a wrapped paragraph is a blank; `text` itself where
        it does not look wrapped: no line is longer than 100 characters, and at least a fifth of the lines
        with words (three or more) end at most 20 characters before the longest.
    """
    lines = _ENDED_LINE.findall(text)
    widths = [len(line.rstrip()) for line in lines]
    width = max(widths, default=0)
    filled = sum(width - length <= _RAGGED for length in widths)
    if not _NARROWEST <= width <= _WIDEST or filled < max(3, sum(map(bool, widths)) / 5):
        return text
    joined = []
    for line, length, following in zip(lines, widths, [*lines[1:], ""], strict=True):
        goes_on = width - length <= _RAGGED and following.strip() and not _ITEM.match(following)
        joined.append(line.replace("\r", " ").replace("\n", " ") if goes_on else line)
    return "".join(joined)


# Never at the end of a sentence, whatever follows.
_BEFORE_ANYTHING = re.compile(
    r"(?<!\w)(?:Drs?|Mrs?|Ms|Prof|St|[Ee]\.g|[Ii]\.e|cf|viz|vs|subsp|[Aa]pprox|Tab|Cap|Inj|Syr|Susp|Rx|Dx|Hx)\.$"
)
# Not at the end of a sentence when a small letter, a figure or a bracket follows.
_BEFORE_SMALL = re.compile(
    r"(?<!\w)(?:(?:[A-Za-z]{1,2}\.)+[A-Za-z]|q\.? ?\d[\d-]*h?|al|ca|c|q|(?i:spp|tabs?|caps?|susp|inj"
    r"|hrs?|min|wks?|yrs?|mos?|resp|temp|wt|ht|dept|max|est|etc|incl|esp|vit|staph|strep|hep))\.[\"”)]?$"
)
# Not at the end of a sentence when a figure follows.
_BEFORE_FIGURE = re.compile(
    r"(?<!\w)(?:[Nn]os?|[Ff]igs?|[Vv]ol|pp?|[Tt]emp|[Rr]esp|[Ss]ect?|[Cc]h|[Ee]qs?|[Rr]ef|para)\.$"
)
# Not at the end of a sentence when one letter follows, perhaps with a number: "Vit. B12", "Strep. A".
_BEFORE_LETTER = re.compile(r"(?<!\w)(?:[Vv]it|[Hh]ep|[Ss]trep|[Ii]nfl|[Gg]rp?)\.$")
_LETTER = re.compile(r"[A-Z]\d{0,2}(?![\w.])")
# "p53" begins a sentence, other than "x3" and "q6h", which go on.
_CONTINUES = re.compile(r"(?![a-pr-wyz]{1,3}\d{2})[a-z0-9(%$<>=~+/]")
# At the end of a sentence when a word with a capital follows: how often, how long, how much, and by which way behind a
# dose; a letter behind what letters tell apart ("kappa B").
_HOW_OFTEN = r"(?:q|b\.i|t\.i|q\.i|q\.o|q\.h|q\.a|q\.p)\.[dhms]|q\.? ?\d[\d-]*\.? ?h|(?:h\.s|a\.c|p\.c|n\.p\.o)"
_BY_WHICH_WAY = r"p\.o|p\.r|i\.v|i\.m|s\.c|s\.l|p\.r\.n"
_LETTERED = "alpha|beta|gamma|delta|kappa|lambda|hepatitis|vitamin|type|group|class|factor|stage|grade|influenza"
_ENDS = re.compile(
    rf"(?:\s(?:{_HOW_OFTEN})"
    rf"|(?:\d|\b(?:m?c?g|ml|mL|units?|tablets?|capsules?|drops?|puffs?)|(?<=[a-z]\.)) (?:{_BY_WHICH_WAY})"
    r"|\d ?(?:[ap]\.m|wks?|hrs?|yrs?|mos?|mins?|secs?|h|d|m?c?g|m[lL]|kg|cm|lbs?|oz|tabs?|caps?|tsp|tbsp|gtts?)"
    rf"|\b(?i:{_LETTERED}) [A-Z])"
    r"\.[\"”)]?\s+(?=(?:[\"“‘(\[]?(?!Hg\b|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)[A-Z][a-z]+|[AI](?= [a-z]))\b)"
)
_CLOSING = re.compile(r"[\"”’)\]]+(?=\s|$)")
_OPENING = re.compile(r"(?<=\s)[\"“‘(\[]+$")
_PLAIN_END = re.compile(r"(?:\b[a-z]{4,}|pH)[.!?][\"”’)\]]*\s+(?=[\"“‘(\[]?[A-Z])")
_SHORTENED = re.compile(r"(?:subsp|approx|dept|univ|prof|assoc|para|inst|vols|figs|temp|resp|tabs|caps|susp|incl)\.")
_LOOK_BACK = 16


def _joins(text: str, end: int, start: int) -> bool:
    """Whether the words before `end` and from `start` belong to one sentence."""
    before = text[max(0, end - _LOOK_BACK) : end]
    if end == start:  # nothing between them: only a query in front of a word ("?UTI") is joined
        return before.endswith("?") and (len(before) == 1 or before[-2] in " /(:")
    if before[-1] not in '."”)':
        return False
    following = text[start]
    if _LETTER.match(text, start) and _BEFORE_LETTER.search(before):
        return True
    if following.isdigit() and _BEFORE_FIGURE.search(before):
        return True
    if _CONTINUES.match(text, start) and _BEFORE_SMALL.search(before):
        return True
    return _BEFORE_ANYTHING.search(before) is not None


def repair(text: str, starts: Iterable[int]) -> list[int]:
    """Correct the sentence starts that a library found.

    Args:
        text: One paragraph.
        starts: Offsets at which the library begins a sentence; 0 may be left out.

    Returns:
        Corrected offsets, ascending, without repeats.
    """
    kept: set[int] = set()
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
        if start < len(text) and end and not _joins(text, end, start):
            kept.add(start)
    for obvious in _PLAIN_END.finditer(text):
        if not _SHORTENED.match(text, obvious.start()):
            kept.add(obvious.end())
    kept.update(end.end() for end in _ENDS.finditer(text))
    return sorted(kept)


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
