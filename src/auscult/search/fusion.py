"""One score from all evidence: a weighted sum. No weight is negative.

    score = w · evidence

There is one w for queries by entity and aspects, and one for questions in words. The evidence of a question in words is
divided by its spread over the collection, and that of its entities and aspects weighed by how sure they were read
(`search.evidence`), so that one w suits collections with titles and headings and those without. The surer a title of
the collection and an aspect were read in a question, the more it is weighed as a query by entity and aspects is.

The first hits of a question are read again by a re-ranker (`search.reranking`), where an encoder has weights for it.

`search.certainty` computes the probability that a passage answers; its weights are kept here, with the others.

A score does not depend on the other passages of a list, so that scores of different queries compare. The exception is
`question_sentence`, never negative, which only the first passages by all other evidence have. The weights are fitted on
queries made from documents (`fitting.fitting`). They are in `fusion.json`: beside the model's weights, or in this
package for models that bring none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from auscult.encoders.contract import FloatArray
from auscult.errors import ModelError
from auscult.search.certainty import CERTAINTY, NO_BACKGROUND, Background, certain_evidence
from auscult.search.hits import EVIDENCE
from auscult.understanding.query import Query

FILE = "fusion.json"
AS_PARTS: Final = 0.8
"""How much a question is weighed as a query by entity and aspects is, where both were read with certainty and the
entity is a title of the collection. Of 0, 0.4, 0.8 and 1.2 the best with MedQuAD's training questions, with `fast`; on
written questions of documents left out it changes nothing."""
_SMALLEST: Final = 1e-6
_SETS: Final[Mapping[str, Sequence[str]]] = {
    "parts": EVIDENCE,
    "words": EVIDENCE,
    "certainty": CERTAINTY,
    "certainty_of_parts": CERTAINTY,
}


@runtime_checkable
class BringsFusion(Protocol):
    """An encoder with weights of its own."""

    @property
    def fusion(self) -> Mapping[str, Any]:
        """Content of its `fusion.json`."""
        ...


class Rereading(NamedTuple):
    """How much it counts what a re-ranker says, whose log odds for a passage are r.

        added to the score        order · log(1 + exp(r))
        log odds of an answer     certainty · (those before) + log_odds · r + ahead · a + bias

    a is the log of the passage's share of the sum of exp(score), over the passages that were read again.

    Attributes:
        order: Not negative, as `certainty`, `log_odds` and `ahead`.
        certainty: Of the log odds that an answer had before.
        log_odds: Of the re-ranker's log odds.
        ahead: Of how far the passage is ahead of the others.
        bias: Added to the sum.
    """

    order: float
    certainty: float
    log_odds: float
    ahead: float
    bias: float

    def added(self, log_odds: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return what is added to the scores of passages, (passages,), never negative."""
        added: npt.NDArray[np.float64] = self.order * np.logaddexp(0, log_odds)
        return added

    def probabilities(
        self, before: Sequence[float], log_odds: npt.NDArray[np.float64], ahead: FloatArray
    ) -> list[float]:
        """Return the probability that each passage answers.

        Args:
            before: The probability before it was read again.
            log_odds: The re-ranker's log odds, (passages,).
            ahead: How far it is ahead, a above, (passages,).
        """
        totals = self.certainty * log_odds_of(before) + self.log_odds * log_odds + self.ahead * ahead
        found: list[float] = (1 / (1 + np.exp(-totals - self.bias))).tolist()
        return found


@dataclass(frozen=True, slots=True)
class Fusion:
    """Weights of the evidence.

    Attributes:
        parts: For queries by entity and aspects, (evidence,), not negative.
        words: For questions in words, (evidence,), not negative.
        certainty: For the probability, of questions in words, (certainty + 1,); the last is c_0.
        certainty_of_parts: The same of queries by entity and aspects.
        usual: Background of questions over a usual collection.
        rereading: For what a re-ranker says of first hits of questions in words; None where none is asked.
    """

    parts: FloatArray
    words: FloatArray
    certainty: FloatArray
    certainty_of_parts: FloatArray
    usual: Background = NO_BACKGROUND
    rereading: Rereading | None = None

    @classmethod
    def of(cls, encoder: object) -> Fusion:
        """Return the weights that an encoder brings, else those for models that bring none."""
        if isinstance(encoder, BringsFusion) and encoder.fusion:
            return cls.from_json(encoder.fusion)
        return cls.from_json(json.loads((files("auscult.search") / FILE).read_text(encoding="utf-8")))

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Fusion:
        """Parse the weights of a `fusion.json`. Evidence that it does not name has weight 0.

        Earlier versions wrote one certainty for both kinds of queries.

        Raises:
            ModelError: The file names unknown evidence, or a weight is negative or no number.
        """
        try:
            saved = {"certainty_of_parts": saved["certainty"], **saved}
            parts, words, certainty, of_parts = (
                np.array([float(saved[part].get(name, 0.0)) for name in (*names, "bias")], np.float32)
                for part, names in _SETS.items()
            )
            strange = {name for part, names in _SETS.items() for name in saved[part]} - {*CERTAINTY, "bias"}
            usual = Background.from_json(saved.get("background", {}))
            read = saved.get("rereading")
            rereading = None if read is None else Rereading(**{name: float(value) for name, value in read.items()})
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelError(f"weights of evidence in {FILE}", f"{error!r}", "copy or fit the model again") from error
        of_reading = np.array(rereading or (), np.float64)
        every = np.concatenate([parts, words, certainty, of_parts, usual.mean, usual.deviation, of_reading])
        never_negative = np.concatenate([parts, words, of_reading[:-1]])
        if strange or not (np.isfinite(every).all() and never_negative.min() >= 0):
            got = f"'{min(strange)}'" if strange else "a weight below 0, or no number"
            raise ModelError(f"weights of {', '.join(CERTAINTY)}", got, "update auscult, or fit the model again")
        return cls(parts[:-1], words[:-1], certainty, of_parts, usual, rereading)

    def to_json(self) -> dict[str, Any]:
        """Return the weights as `from_json` reads them."""
        sets = zip(_SETS.items(), (self.parts, self.words, self.certainty, self.certainty_of_parts), strict=True)
        return {
            part: {
                name: round(float(weight), 4) for name, weight in zip((*names, "bias"), weights, strict=False) if weight
            }
            for (part, names), weights in sets
        } | {
            "background": self.usual.to_json(),
            **({"rereading": self.rereading._asdict()} if self.rereading is not None else {}),
        }

    def weights(self, query: Query) -> FloatArray:
        """Return the weight of each evidence for a query, (evidence,)."""
        return self.mixed(sureness(query)) if query.text else self.parts

    def mixed(self, sure: float) -> FloatArray:
        """Return the weight of each evidence for a question in words, (evidence,).

        Args:
            sure: Result of `sureness`.
        """
        # As of a usual collection, because the weights for entity and aspects are of evidence that is not divided.
        share = np.float32(sure)
        return (1 - share) * self.words + share * self.parts * self.usual.spread if sure else self.words

    def scores(self, query: Query, evidence: FloatArray) -> FloatArray:
        """Return the scores of passages, (passages,)."""
        scores: FloatArray = evidence @ self.weights(query)
        return scores

    def probabilities(
        self,
        evidence: FloatArray,
        held_shares: FloatArray,
        first_ten: FloatArray,
        background: Background,
        *,
        in_words: bool,
    ) -> list[float]:
        """Return the probability that each passage answers.

        Args:
            evidence: Evidence of the passages, not divided by its spread, (passages, evidence).
            held_shares: How much of the question's words they hold (`asked_and_held`).
            first_ten: How much better they are than the others of the first ten (`shares_of_first`), (passages,).
            background: Background of the question over the collection.
            in_words: Whether it is a question in words.
        """
        weights = self.certainty if in_words else self.certainty_of_parts
        # Summed row by row, because a matrix product rounds differently for another number of rows.
        totals = (certain_evidence(evidence, held_shares, first_ten, background) * weights[:-1]).sum(axis=1) + weights[
            -1
        ]
        probabilities: list[float] = (1 / (1 + np.exp(-totals))).tolist()
        return probabilities


def log_odds_of(probabilities: Sequence[float] | npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the log odds of probabilities, same shape; those of 0 and 1 are finite."""
    likely = np.clip(np.asarray(probabilities, np.float64), _SMALLEST, 1 - _SMALLEST)
    found: npt.NDArray[np.float64] = np.log(likely / (1 - likely))
    return found


def sureness(query: Query) -> float:
    """Return how much a question is weighed as a query by entity and aspects is, from 0 to 1."""
    if not query.titled:
        return 0.0
    # What was given with the question, or taken from an earlier one, has no likelihoods: it is certain.
    entity = max(query.likelihoods, default=1.0)
    aspect = max(query.aspect_likelihoods, default=float(bool(query.aspects)))
    return AS_PARTS * entity * aspect


def fuse_scores(scores: Sequence[FloatArray]) -> FloatArray:
    """Return two or more models' scores of the same passages as one: the mean of standardised scores, (passages,).

    Scores of different models are on different scales. Each model's are shifted and stretched to mean 0 and standard
    deviation 1 over a query's candidates (montague2001's zero-mean unit-variance normalisation). Then they are averaged
    (CombSUM, fox1994, but for a factor). All models count the same: nothing is tuned.

    Args:
        scores: Of each model, (passages,), at least one model; higher is better. A model that scores all alike says
            nothing, and adds nothing.
    """
    rows = np.stack([np.asarray(values, dtype=np.float64) for values in scores])
    if not rows.size:
        return np.zeros(rows.shape[1], dtype=np.float32)
    spread = rows.std(axis=1, keepdims=True)
    standard = (rows - rows.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0)
    fused: FloatArray = standard.mean(axis=0).astype(np.float32)
    return fused
