"""How probable it is that a passage answers, and the word for that probability.

    P(the passage answers) = sigmoid(c · x + c_0)

x is the evidence (`search.evidence`), and four things more:

    asked_held       share of the question's words, by idf, that passage, headings or title hold
    asked_heaviest   1 less the share of the heaviest word that none of them holds, of the heaviest word
    first_ten        log( exp(s) / sum over the first ten of exp(s) ), s the score by which passages are ordered
    ..._stands_out   log(1 + z), z the deviations that the evidence is above its mean over the collection, at least 0

Words of the question that the passage lacks count against it: a passage that says what vitamin D is does not answer
"Does vitamin D prevent cancer?". Evidence is on absolute scales, but in a collection about one thing every passage is
near every question about it. How far a passage stands out from its collection carries over to other collections better
than the absolute value does. Where several passages are about as good as the first, none is as sure to answer. The
weights were fitted on written questions, on near misses that their collection does not answer, and on people's
questions (`benchmarks/fit_written.py`): one set for questions in words, one for queries by entity and aspect.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from auscult.encoders.contract import FloatArray
from auscult.search.hits import EVIDENCE, SENTENCE

DOUBTFUL: Final = 0.1
"""Below this probability a passage is not said to answer. Where all that are shown are, nothing was found. Of questions
of collections left out of the fitting (`benchmarks/fit_written.py`), 0 to 11 % of right first hits are below, and 19 to
60 % of others: what answers a question in a person's own words often holds few of them."""
UNLIKELY: Final = 0.01
"""Below this probability a passage is flatly said not to answer. It was chosen with 0.1.0's weights, so that no right
first hit of the questions that they were fitted on was below (`benchmarks/verdicts.py`)."""
LIKELY: Final = 0.75
"""From this probability on a passage is said to answer. With 0.7, of questions of collections left out of the fitting,
7 to 75 % of right first hits were above, and up to 16 % of others, in four of ten collections 7 % or more."""
Verdict = Literal["answers", "may answer", "no answer"]
Label = Literal["answers", "may answer", "uncertain", "no answer"]
SAMPLED: Final = 1_000
"""Passages, evenly spaced, that stand for a collection."""
HELD: Final = ("asked_held", "asked_heaviest")
FIRST: Final = 10
"""Passages that the score of one is compared with. With 20, or all, the probability was as good."""
CERTAINTY: Final = (*EVIDENCE, *HELD, "first_ten", *(f"{name}_stands_out" for name in EVIDENCE))
"""Columns that the probability is computed from, in the order of `certain_evidence`."""
_USUAL: Final = 20
"""Passages of a usual collection that are counted beside those of a small one, whose mean and deviation say little."""
_LEAST: Final = 0.03
"""Least deviation: evidence that is the same all over a collection does not tell passages apart."""


def verdict(probability: float) -> Verdict:
    """Return the word for a probability that a passage answers."""
    return "answers" if probability >= LIKELY else "may answer" if probability >= DOUBTFUL else "no answer"


def label(probability: float) -> Label:
    """Return the word for a probability that people are shown: a verdict of no answer only where it is certain."""
    word = verdict(probability)
    return "uncertain" if word == "no answer" and probability >= UNLIKELY else word


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why none of the hits shown is said to answer.

    Attributes:
        best: Probability that the best of them answers; None where nothing was found.
    """

    best: float | None

    @property
    def certain(self) -> bool:
        """Whether it is flatly said that none answers."""
        return self.best is None or self.best < UNLIKELY


def doubt_of(probabilities: Sequence[float | None]) -> Doubt | None:
    """Return why none of the hits shown is said to answer; None where one may.

    Args:
        probabilities: Of all that are shown; None where the model's vectors alone scored, which says nothing.
    """
    if not probabilities:
        return Doubt(None)
    best = max((probability for probability in probabilities if probability is not None), default=1.0)
    return Doubt(best) if best < DOUBTFUL else None


def nothing_here(probabilities: Sequence[float | None]) -> str:
    """Return the sentence that says that none of the hits shown answers, or perhaps none; empty where one may.

    Args:
        probabilities: As for `doubt_of`.
    """
    doubt = doubt_of(probabilities)
    if doubt is None:
        return ""
    if doubt.best is None:
        return "Nothing was found."
    nothing = "Nothing here seems to answer this" if doubt.certain else "Perhaps nothing here answers this"
    return f"{nothing}; the nearest follow (the best of them with a chance of {doubt.best:.0%})."


@dataclass(frozen=True, slots=True)
class Background:
    """How the evidence of a question is distributed over a collection.

    Attributes:
        mean: Mean of each evidence, (evidence,).
        deviation: Standard deviation of each evidence, (evidence,).
        size: Number of passages.
    """

    mean: npt.NDArray[np.float64]
    deviation: npt.NDArray[np.float64]
    size: int

    @classmethod
    def of(cls, evidence: FloatArray) -> Background:
        """Return the background that passages with this evidence make, (passages, evidence)."""
        if not len(evidence):
            return NO_BACKGROUND
        exact = evidence.astype(np.float64)
        return cls(exact.mean(axis=0), exact.std(axis=0), len(evidence))

    @property
    def spread(self) -> FloatArray:
        """What evidence is divided by: the root of its deviation, float32 (evidence,).

        With the deviation itself, small differences would count as much as large ones; undivided, a collection where
        evidence hardly differs would hardly use it. On collections left out, the root was between both with people's
        questions and with written ones. The evidence of sentences, which only the first passages have, stays as it is.
        """
        spread = np.sqrt(np.maximum(self.deviation, _LEAST))
        spread[SENTENCE] = 1.0
        return spread.astype(np.float32)

    @classmethod
    def usual(cls, backgrounds: Sequence[Background]) -> Background:
        """Return the mean of the backgrounds of several questions, as large as a usual collection."""
        if not backgrounds:
            return NO_BACKGROUND
        means, deviations = (
            [getattr(background, name) for background in backgrounds] for name in ("mean", "deviation")
        )
        return cls(np.mean(means, axis=0), np.mean(deviations, axis=0), _USUAL)

    @classmethod
    def from_json(cls, saved: Mapping[str, Sequence[float]]) -> Background:
        """Parse the result of `to_json`. An empty mapping gives `NO_BACKGROUND`.

        Raises:
            KeyError, TypeError, ValueError: It was saved for other evidence.
        """
        if not saved:
            return NO_BACKGROUND
        mean, deviation = np.array([saved.get(name, (0.0, 0.0)) for name in EVIDENCE], np.float64).T
        return cls(mean, deviation, _USUAL)

    def to_json(self) -> dict[str, list[float]]:
        """Return mean and deviation by name of evidence, as `from_json` reads them."""
        rows = zip(EVIDENCE, self.mean.tolist(), self.deviation.tolist(), strict=True)
        return {name: [round(mean, 4), round(deviation, 4)] for name, mean, deviation in rows} if self.size else {}

    def with_usual(self, usual: Background) -> Background:
        """Return the background of both collections together."""
        size = self.size + usual.size
        if not size:
            return self
        mean = (self.size * self.mean + usual.size * usual.mean) / size
        squares = sum(
            background.size * (background.deviation**2 + (background.mean - mean) ** 2) for background in (self, usual)
        )
        return Background(mean, np.sqrt(squares / size), size)


NO_BACKGROUND: Final = Background(np.zeros(len(EVIDENCE)), np.zeros(len(EVIDENCE)), 0)


def shares_of_first(scores: npt.NDArray[np.floating], first: npt.NDArray[np.floating]) -> FloatArray:
    """Return "first_ten" of passages with these scores, at most 0, (passages,).

    Args:
        scores: Scores of the passages.
        first: Scores of all passages among which the first ten are, in any order.
    """
    best = np.sort(first)[::-1][:FIRST].astype(np.float64)
    total = best[0] + np.log(np.exp(best - best[0]).sum()) if len(best) else 0.0
    return np.minimum(scores - total, 0).astype(np.float32)


def certain_evidence(
    evidence: FloatArray, held_shares: FloatArray, first_ten: FloatArray, background: Background
) -> FloatArray:
    """Return the columns that the probability of passages is computed from, float32 (passages, len(CERTAINTY)).

    Args:
        evidence: Evidence of the passages, not divided by its spread, (passages, evidence).
        held_shares: Result of `asked_and_held` for the passages, (passages, len(HELD)).
        first_ten: Result of `shares_of_first` for the passages, (passages,).
        background: Background of the question.
    """
    above = (evidence - background.mean) / np.maximum(background.deviation, _LEAST)
    columns = (evidence, held_shares, first_ten[:, None], np.log1p(np.maximum(above, 0)))
    return np.hstack(columns).astype(np.float32)
