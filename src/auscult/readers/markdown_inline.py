"""The inline marks of Markdown: emphasis, code, links, escapes, references, tags; what of a text is left without them.

By CommonMark's rules as far as they decide what a person reads; where they decide how it looks (which of nested
emphasis is strong), by simpler ones. Linear in the text's length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Final

from auscult.readers.html.standard import unescaped

HARD_BREAK: Final = "\n"
_TOKEN: Final = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])|(?P<hard>(?:\\|(?<![ ])[ ]{2,}+)\n)|(?P<code>`+)"
    r"|(?P<entity>&\#?[a-zA-Z0-9]{1,32};)"
    r"|<(?P<address>(?:https?://|mailto:)[^\s<>]*|[^\s<>@]+@[^\s<>]+)>|(?P<break><br[ ]?/?>)|(?P<comment><!--)"
    r"|(?P<tag></?[a-zA-Z][^<>]*>)|(?P<open>!?\[)|(?P<close>\])|(?P<marks>\*+|_+|~~+)",
    re.IGNORECASE | re.VERBOSE,
)
_TARGET: Final = re.compile(
    r"\(\s*+(?:<[^<>\n]*+>|[^\s()<>]*+(?:\([^\s()]*+\)[^\s()]*+)*+)(?:\s++(?:\"[^\"]*+\"|'[^']*+'|\([^()]*+\)))?+\s*+\)"
)
_REFERENCE: Final = re.compile(r"\[([^\[\]]{0,999})\]")


@dataclass(slots=True)
class Span:
    """Characters [start, end) of a text that are kept; `text` stands for them where it is not None."""

    start: int
    end: int
    text: str | None = None


def label_of(written: str) -> str:
    """A link's label as definitions are compared by."""
    return " ".join(written.split()).casefold()


def kept(text: str, defined: Collection[str]) -> list[Span]:
    """What a person reads of a paragraph.

    Args:
        text: Its characters, lines parted by line feeds.
        defined: Labels that have a definition (`label_of`), so that "[label]" is a link.

    Returns:
        Spans in order; a break that the author set is one whose text is `HARD_BREAK`.
    """
    return _Inline(text, defined).spans()


class _Inline:
    def __init__(self, text: str, defined: Collection[str]) -> None:
        self._text = text
        self._defined = defined
        self._spans: list[Span] = []
        self._brackets: list[Span] = []
        self._marks: dict[str, list[Span]] = {"*": [], "_": [], "~": []}
        self._ticks: dict[int, list[int]] = {}
        self._handlers: dict[str, Callable[[re.Match[str]], int]] = {
            "escaped": self._escaped,
            "hard": self._break,
            "break": self._break,
            "code": self._code,
            "entity": self._entity,
            "address": self._address,
            "comment": self._comment,
            "tag": self._tag,
            "open": self._open,
            "close": self._close,
            "marks": self._emphasis,
        }
        for run in reversed(list(re.finditer(r"`+", text)) if "`" in text else []):
            self._ticks.setdefault(run.end() - run.start(), []).append(run.start())

    def spans(self) -> list[Span]:
        text, place = self._text, 0
        while match := _TOKEN.search(text, place):
            if match.start() > place:
                self._spans.append(Span(place, match.start()))
            place = self._handlers[str(match.lastgroup)](match)
        self._spans.append(Span(place, len(text)))
        return [span for span in self._spans if span.end > span.start]

    def _keep(self, start: int, end: int, text: str | None = None) -> Span:
        span = Span(start, end, text)
        self._spans.append(span)
        return span

    def _escaped(self, match: re.Match[str]) -> int:
        self._keep(match.start() + 1, match.end())
        return match.end()

    def _break(self, match: re.Match[str]) -> int:
        self._keep(match.start(), match.end(), HARD_BREAK)
        return match.end()

    def _code(self, match: re.Match[str]) -> int:
        # Of a run whose first tick is escaped fewer are left than any run may have.
        starts = self._ticks.get(match.end() - match.start(), [])
        while starts and starts[-1] <= match.start():
            starts.pop()
        if not starts:
            self._keep(*match.span())
            return match.end()
        self._keep(match.end(), starts[-1])
        return starts[-1] + match.end() - match.start()

    def _entity(self, match: re.Match[str]) -> int:
        resolved = unescaped(match.group())
        self._keep(*match.span(), None if resolved == match.group() else resolved)
        return match.end()

    def _address(self, match: re.Match[str]) -> int:
        self._keep(match.start() + 1, match.end() - 1)
        return match.end()

    def _comment(self, match: re.Match[str]) -> int:
        end = self._text.find("-->", match.end())
        if end < 0:
            # A comment goes on to the end of the paragraph.
            return len(self._text)
        return end + 3

    def _tag(self, match: re.Match[str]) -> int:
        around = self._text[match.start() - 1 : match.start()], self._text[match.end() : match.end() + 1]
        if match.group().lower() == "<sup>" and around[0].isdigit() and (around[1].isdigit() or around[1] in "-\u2212"):
            # 10<sup>9</sup> is no 109.
            self._keep(match.start(), match.end(), "^")
        return match.end()

    def _open(self, match: re.Match[str]) -> int:
        self._brackets.append(self._keep(*match.span()))
        return match.end()

    def _close(self, match: re.Match[str]) -> int:
        bracket = self._brackets.pop() if self._brackets else None
        if bracket is not None and (end := self._link_end(bracket, match)) is not None:
            bracket.end = bracket.start
            return end
        self._keep(*match.span())
        return match.end()

    def _link_end(self, bracket: Span, match: re.Match[str]) -> int | None:
        """Where a link ends that a bracket closes; None where it is only a bracket."""
        if target := _TARGET.match(self._text, match.end()):
            return target.end()
        reference = _REFERENCE.match(self._text, match.end())
        written = self._text[bracket.end : min(match.start(), bracket.end + 999)]
        if reference is not None and label_of(reference[1] or written) in self._defined:
            return reference.end()
        return match.end() if label_of(written) in self._defined else None

    def _emphasis(self, match: re.Match[str]) -> int:
        before, after = self._text[match.start() - 1 : match.start()], self._text[match.end() : match.end() + 1]
        mark = match.group()[0]
        opens, closes = _flanks(before, after), _flanks(after, before)
        if mark == "_":
            opens, closes = opens and not before.isalnum(), closes and not after.isalnum()
        span = self._keep(*match.span())
        openers = self._marks[mark]
        while closes and span.end > span.start and openers:
            opener = openers[-1]
            taken = min(2, span.end - span.start, opener.end - opener.start)
            opener.end -= taken
            span.start += taken
            if opener.end == opener.start:
                openers.pop()
        if opens and span.end > span.start:
            openers.append(span)
        return match.end()


def _flanks(before: str, after: str) -> bool:
    """Whether a run of marks between two characters stands at the left of a word."""
    if not after or after.isspace():
        return False
    return after.isalnum() or not before or not before.isalnum()


__all__ = ["HARD_BREAK", "Span", "kept", "label_of"]
