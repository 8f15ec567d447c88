"""The three score curves of a document as lines beside its text, from top to bottom, and their peaks.

Across stands a score, down the sentences: one unit a sentence, so that the drawing stretches to the height it is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from auscult.search.explain import ScoreCurves
from auscult.service.page.reading import parted

WIDTH: Final = 100
_MOST_POINTS: Final = 600
_MOST_PEAKS: Final = 5
_APART: Final = 2


@dataclass(frozen=True, slots=True)
class Peak:
    """A sentence that scores more than those around it."""

    sentence: int
    x: float
    text: str
    heading: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One curve.

    Attributes:
        name: "entity", "aspect" or "combined".
        area: SVG path of the area under it.
        line: SVG path of its edge.
        peaks: Best first.
    """

    name: str
    area: str
    line: str
    peaks: tuple[Peak, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvesView:
    """All that is drawn.

    Attributes:
        sentences: How many there are: the height of the drawing.
        passages: Where passages begin, but for the first.
        scores: The combined score of every sentence, from 0 to 100, for scripts and readers of screens.
    """

    curves: tuple[Curve, ...]
    sentences: int
    passages: tuple[int, ...]
    scores: tuple[int, ...]

    @property
    def peaks(self) -> tuple[Peak, ...]:
        """Of all evidence together, in the order of the text."""
        return tuple(sorted(self.curves[-1].peaks, key=lambda peak: peak.sentence)) if self.curves else ()


def curves_view(curves: ScoreCurves) -> CurvesView | None:
    """The drawing of a document's curves; None where there is nothing to draw."""
    if len(curves.combined) < _APART:
        return None
    sentences = curves.document.sentences
    texts = [parted(" ".join(curves.document.slice(sentence).split()))[1] for sentence in sentences]
    headings = [span.heading for span in curves.passages for _ in range(span.last - span.first)]
    drawn = [("entity", curves.entity), ("aspect", curves.aspect), ("combined", curves.combined)]
    # A model without halves has one curve.
    shown = [(name, scores) for name, scores in drawn if any(scores)]
    top = max(max(scores) for _, scores in shown) if shown else 0.0
    if top <= 0:
        return None
    return CurvesView(
        curves=tuple(_curve(name, _smooth(scores), texts, headings) for name, scores in shown),
        sentences=len(sentences),
        passages=tuple(span.first for span in curves.passages if 0 < span.first < span.last),
        scores=tuple(round(100 * max(0.0, score) / (max(curves.combined) or 1.0)) for score in curves.combined),
    )


def _smooth(scores: Sequence[float]) -> list[float]:
    """From 0 to 1, each of the sentence itself and a quarter of its neighbours: ragged lines show no place to look."""
    padded = [scores[0], *scores, scores[-1]]
    smooth = [max(0.0, 0.25 * a + 0.5 * b + 0.25 * c) for a, b, c in zip(padded, padded[1:], padded[2:], strict=False)]
    top = max(smooth) or 1.0
    return [score / top for score in smooth]


def _curve(name: str, scores: Sequence[float], texts: Sequence[str], headings: Sequence[str]) -> Curve:
    step = max(1, -(-len(scores) // _MOST_POINTS))
    points = [
        (WIDTH * max(scores[first : first + step]), first + min(step, len(scores) - first) / 2)
        for first in range(0, len(scores), step)
    ]
    points = [(points[0][0], 0), *points, (points[-1][0], len(scores))]
    told = [f"{x:.1f},{y:g}" for x, y in points]
    line = "M" + "L".join(told)
    area = f"M0,0L{'L'.join(told)}L0,{len(scores)}Z"
    peaks = tuple(
        Peak(number, round(WIDTH * scores[number], 1), texts[number], headings[number]) for number in _peaks(scores)
    )
    return Curve(name=name, area=area, line=line, peaks=peaks)


def _peaks(scores: Sequence[float]) -> list[int]:
    """Sentences that score more than their neighbours, best first, none next to another."""
    ends = (-1.0, *scores, -1.0)
    tops = [
        number
        for number, (before, here) in enumerate(pairwise(ends[:-1]))
        if here >= before and here > ends[number + 2]
    ]
    found: list[int] = []
    for number in sorted(tops, key=lambda number: -scores[number]):
        if scores[number] > 0 and all(abs(number - other) > _APART for other in found):
            found.append(number)
        if len(found) == _MOST_PEAKS:
            break
    return found
