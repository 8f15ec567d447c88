"""The answer in a document: the stretch of sentences marked at first, and the smaller and larger ones around it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from auscult.search.spans import Span, SpanFinder
from auscult.service.page.reading import Part

_STEPS: Final = 40
_TOP: Final = 0.8
_GIVEN: Final = re.compile(r"(\d{1,7})-(\d{1,7})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is marked.

    Attributes:
        first: Number of its first sentence.
        last: One past its last.
        chain: Stretches from the smallest to the largest, each in the next, that are stepped through.
        at: Which of them is marked.
        top: Sentences that answer best within it.
    """

    first: int
    last: int
    chain: tuple[tuple[int, int], ...]
    at: int
    top: frozenset[int]

    @property
    def smaller(self) -> str:
        """The next smaller one, as an address has it; empty where there is none."""
        return "-".join(map(str, self.chain[self.at - 1])) if self.at else ""

    @property
    def larger(self) -> str:
        """The next larger one."""
        return "-".join(map(str, self.chain[self.at + 1])) if self.at + 1 < len(self.chain) else ""


def answer_in(finder: SpanFinder, parts: list[Part], passage_id: str, given: str) -> Answer | None:
    """What to mark of a document.

    Args:
        finder: Of the document, with its sentences' scores.
        parts: Its passages.
        passage_id: That was found; empty, or one of another document, for the best stretch of all.
        given: "first-last" of an address; what fits no sentences is as if it were not there.
    """
    span = _given(finder, given) or _found(finder, parts, passage_id)
    if span is None:
        return None
    chain = [span]
    while len(chain) < _STEPS and (smaller := finder.shrink(chain[0])) != chain[0]:
        chain.insert(0, smaller)
    at = len(chain) - 1
    while len(chain) < at + _STEPS and (larger := finder.grow(chain[-1])) != chain[-1]:
        chain.append(larger)
    inside = range(span.first, span.last)
    best = max(finder.scores[number] for number in inside)
    top = [number for number in inside if finder.scores[number] >= _TOP * best > 0]
    return Answer(
        first=span.first,
        last=span.last,
        chain=tuple((each.first, each.last) for each in chain),
        at=at,
        top=frozenset(sorted(top, key=lambda number: -finder.scores[number])[:3]),
    )


def _given(finder: SpanFinder, given: str) -> Span | None:
    found = _GIVEN.fullmatch(given)
    if not found:
        return None
    first, last = map(int, found.groups())
    return finder.span(first, last) if 0 <= first < last <= len(finder.scores) else None


def _found(finder: SpanFinder, parts: list[Part], passage_id: str) -> Span | None:
    part = next((each for each in parts if each.passage_id == passage_id and each.last > each.first), None)
    return finder.best(part.first, part.last) if part else finder.best()
