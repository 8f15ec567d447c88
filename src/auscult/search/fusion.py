"""One score from all evidence: a weighted sum. No weight is negative.

    score = w · evidence

There is one w for queries by entity and aspects, and one for questions in words. A question in which an entity was read
adds the first one's weight of titles. One that says no more than entity and aspects adds its weight of headings, too;
where the entity is a title of the collection, it is weighted mostly as a query by entity and aspects is.

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
from typing import Any, Final, Protocol, runtime_checkable

import numpy as np

from auscult.errors import ModelError
from auscult.interfaces import FloatArray
from auscult.search.certainty import CERTAINTY, NO_BACKGROUND, Background, certain_evidence
from auscult.search.evidence import EVIDENCE
from auscult.understanding import Query
from auscult.understanding.query import unread_words

FILE = "fusion.json"
READ: Final = 1.0
"""How much of the weight that a heading has among those of entity and aspects a question has that says no more than
both, where its own weights have none for headings. Of 0 to 1.2, from 0.8 on about the best on self-made questions of
Simple English Wikipedia and NHS pages, with `fast`; on the development questions, whose documents have no headings, it
changes nothing."""
TITLED: Final = 1.0
"""How much of the weight that an entity's title has among those of entity and aspects a question has in which an entity
was read, whatever more it says. Of 0 to 3, from 1 on all did as well on 700 questions made of titles of NHS and MedQuAD
pages ("how long does … last"), with `fast`."""
AS_PARTS: Final = 0.6
"""How much a question that says no more than entity and aspects is weighed as these are, where the entity is a title of
the collection. Of 0, 0.5, 0.6, 0.75 and 1, nDCG@10 of 200 training questions of MedQuAD on 400 documents with `fast`:
94.9, 97.4, 97.5, 96.8, 96.0."""
_TITLE: Final = EVIDENCE.index("entity_title")
_HEADING: Final = EVIDENCE.index("aspect_heading")
_SETS: Final[Mapping[str, Sequence[str]]] = {"parts": EVIDENCE, "words": EVIDENCE, "certainty": CERTAINTY}


@runtime_checkable
class BringsFusion(Protocol):
    """An encoder with weights of its own."""

    @property
    def fusion(self) -> Mapping[str, Any]:
        """Content of its `fusion.json`."""
        ...


@dataclass(frozen=True, slots=True)
class Fusion:
    """Weights of the evidence.

    Attributes:
        parts: For queries by entity and aspects, (evidence,), not negative.
        words: For questions in words, (evidence,), not negative.
        certainty: For the probability, (certainty + 1,); the last is c_0.
        usual: Background of questions over a usual collection.
    """

    parts: FloatArray
    words: FloatArray
    certainty: FloatArray
    usual: Background = NO_BACKGROUND

    @classmethod
    def of(cls, encoder: object) -> Fusion:
        """Return the weights that an encoder brings, else those for models that bring none."""
        if isinstance(encoder, BringsFusion) and encoder.fusion:
            return cls.from_json(encoder.fusion)
        return cls.from_json(json.loads((files("auscult.search") / FILE).read_text(encoding="utf-8")))

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> Fusion:
        """Parse the weights of a `fusion.json`. Evidence that it does not name has weight 0.

        Raises:
            ModelError: The file names unknown evidence, or a weight is negative or no number.
        """
        try:
            parts, words, certainty = (
                np.array([float(saved[part].get(name, 0.0)) for name in (*names, "bias")], np.float32)
                for part, names in _SETS.items()
            )
            strange = {name for part, names in _SETS.items() for name in saved[part]} - {*CERTAINTY, "bias"}
            usual = Background.from_json(saved.get("background", {}))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelError(f"weights of evidence in {FILE}", f"{error!r}", "copy or fit the model again") from error
        every = np.concatenate([parts, words, certainty, usual.mean, usual.deviation])
        if strange or not (np.isfinite(every).all() and min(parts.min(), words.min()) >= 0):
            got = f"'{min(strange)}'" if strange else "a weight below 0, or no number"
            raise ModelError(f"weights of {', '.join(CERTAINTY)}", got, "update auscult, or fit the model again")
        return cls(parts[:-1], words[:-1], certainty, usual)

    def to_json(self) -> dict[str, Any]:
        """Return the weights as `from_json` reads them."""
        sets = zip(_SETS.items(), (self.parts, self.words, self.certainty), strict=True)
        return {
            part: {
                name: round(float(weight), 4) for name, weight in zip((*names, "bias"), weights, strict=False) if weight
            }
            for (part, names), weights in sets
        } | {"background": self.usual.to_json()}

    def weights(self, query: Query) -> FloatArray:
        """Return the weight of each evidence for a query, (evidence,)."""
        if not query.text:
            return self.parts
        if not query.entity:
            return self.words
        weights = self.words.copy()
        weights[_TITLE] += TITLED * self.parts[_TITLE]
        if query.aspects and not unread_words(query):
            weights[_HEADING] = weights[_HEADING] or READ * self.parts[_HEADING]
            if query.titled:
                weights += AS_PARTS * (self.parts - weights)
        return weights

    def scores(self, query: Query, evidence: FloatArray) -> FloatArray:
        """Return the scores of passages, (passages,)."""
        scores: FloatArray = evidence @ self.weights(query)
        return scores

    def probabilities(self, evidence: FloatArray, held_shares: FloatArray, background: Background) -> list[float]:
        """Return the probability that each passage answers.

        Args:
            evidence: Evidence of the passages, (passages, evidence).
            held_shares: How much of the question's words they hold (`asked_and_held`).
            background: Background of the question, over a sample of the collection.
        """
        evidence_columns = certain_evidence(evidence, held_shares, background.with_usual(self.usual))
        probabilities: list[float] = (
            1 / (1 + np.exp(-(evidence_columns @ self.certainty[:-1] + self.certainty[-1])))
        ).tolist()
        return probabilities


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
