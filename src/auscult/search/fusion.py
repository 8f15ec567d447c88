"""One score from all evidence: a sum with weights that are never negative, and what it says of an answer's being right.

    score = w · evidence                                  one w for entity and aspects, one for questions in words; a
                                                          question in which an entity was read has that of its title,
                                                          too, and one that says no more that of headings, or where
                                                          the collection has its title mostly those of the first

How probable it is that a passage answers stands in `search.certainty`; its weights are kept here, with the others.

No score depends on the other passages of a list, so that scores of different queries compare; but for
`question_sentence`, never negative, which only the passages have that are the first by all else. The weights are fitted
on queries made from documents (`fitting.fitting`) and stand in `fusion.json`: beside the model's weights, or here for
models that bring none.
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
        """What its `fusion.json` says."""
        ...


@dataclass(frozen=True, slots=True)
class Fusion:
    """Weights of the evidence.

    Attributes:
        parts: Of queries by entity and aspects, (evidence,), not negative.
        words: Of questions in words.
        certainty: (certainty + 1,): of the probability; the last is c_0.
        usual: What questions' evidence is like over a usual collection.
    """

    parts: FloatArray
    words: FloatArray
    certainty: FloatArray
    usual: Background = NO_BACKGROUND

    @classmethod
    def of(cls, encoder: object) -> Fusion:
        """The weights an encoder brings, else those for models that bring none."""
        if isinstance(encoder, BringsFusion) and encoder.fusion:
            return cls.from_json(encoder.fusion)
        return cls.from_json(json.loads((files("auscult.search") / FILE).read_text(encoding="utf-8")))

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> Fusion:
        """From names and weights; evidence that is not named has none.

        Raises:
            ModelError: It names evidence that there is not, or a weight is negative or no number.
        """
        try:
            parts, words, certainty = (
                np.array([float(told[part].get(name, 0.0)) for name in (*names, "bias")], np.float32)
                for part, names in _SETS.items()
            )
            strange = {name for part, names in _SETS.items() for name in told[part]} - {*CERTAINTY, "bias"}
            usual = Background.from_json(told.get("background", {}))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelError(f"weights of evidence in {FILE}", f"{error!r}", "copy or fit the model again") from error
        every = np.concatenate([parts, words, certainty, usual.mean, usual.deviation])
        if strange or not (np.isfinite(every).all() and min(parts.min(), words.min()) >= 0):
            got = f"'{min(strange)}'" if strange else "a weight below 0, or no number"
            raise ModelError(f"weights of {', '.join(CERTAINTY)}", got, "update auscult, or fit the model again")
        return cls(parts[:-1], words[:-1], certainty, usual)

    def to_json(self) -> dict[str, Any]:
        """As `from_json` reads it."""
        sets = zip(_SETS.items(), (self.parts, self.words, self.certainty), strict=True)
        return {
            part: {
                name: round(float(weight), 4) for name, weight in zip((*names, "bias"), weights, strict=False) if weight
            }
            for (part, names), weights in sets
        } | {"background": self.usual.to_json()}

    def weights(self, query: Query) -> FloatArray:
        """Of a query's evidence."""
        if not query.text:
            return self.parts
        if not query.entity:
            return self.words
        found = self.words.copy()
        found[_TITLE] += TITLED * self.parts[_TITLE]
        if query.aspects and not unread_words(query):
            found[_HEADING] = found[_HEADING] or READ * self.parts[_HEADING]
            if query.titled:
                found += AS_PARTS * (self.parts - found)
        return found

    def scores(self, query: Query, evidence: FloatArray) -> FloatArray:
        """Of passages, (passages,)."""
        found: FloatArray = evidence @ self.weights(query)
        return found

    def probabilities(self, evidence: FloatArray, held: FloatArray, background: Background) -> list[float]:
        """Return that passages answer.

        Args:
            evidence: Of the passages, (passages, evidence).
            held: What of the question stands in them (`asked_and_held`).
            background: Of the question, over a sample of the collection.
        """
        told = certain_evidence(evidence, held, background.with_usual(self.usual))
        found: list[float] = (1 / (1 + np.exp(-(told @ self.certainty[:-1] + self.certainty[-1])))).tolist()
        return found


def fuse_scores(scores: Sequence[FloatArray]) -> FloatArray:
    """Return two or more models' scores of the same passages as one: the mean of standardised scores, (passages,).

    Scores of different models are on different scales. Each model's are shifted and stretched to mean 0 and standard
    deviation 1 over a query's candidates (montague2001's zero-mean unit-variance normalisation). Then they are averaged
    (CombSUM, fox1994, but for a factor). All models count the same: nothing is tuned.

    Args:
        scores: Of each model, (passages,), at least one model; higher is better. A model that scores all alike says
            nothing, and adds nothing.
    """
    rows = np.stack([np.asarray(each, dtype=np.float64) for each in scores])
    if not rows.size:
        return np.zeros(rows.shape[1], dtype=np.float32)
    spread = rows.std(axis=1, keepdims=True)
    standard = (rows - rows.mean(axis=1, keepdims=True)) / np.where(spread > 0, spread, 1.0)
    fused: FloatArray = standard.mean(axis=0).astype(np.float32)
    return fused
