"""One score from all evidence: a sum with weights that are never negative, and what it says of an answer's being right.

    score = w_read or w_unread · evidence                the weights of whether an entity was read from the query
    of a question in words: s · w, but for its vector     self-made questions use the words of titles and headings,
                                                          people's do less (s was chosen on development questions)
    P(the passage answers) = sigmoid(c · evidence + c_0)  fitted on first hits, right and wrong

No score depends on the other passages of a list, so that scores of different queries compare. The weights are fitted on
queries made from documents (`search.fitting`) and stand in `fusion.json`: beside the model's weights, or here for
models that bring none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from auscult.errors import ModelError
from auscult.interfaces import FloatArray
from auscult.queries import Query
from auscult.search.evidence import EVIDENCE

FILE = "fusion.json"
_OF_QUESTION = np.array([name == "question_vector" for name in EVIDENCE])


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
        read: Of queries in which an entity was read, (evidence,), not negative.
        unread: Of the others.
        certainty: (evidence + 1,): of the probability; the last is c_0.
        in_words: s: how much all but the question's vector counts where a question was asked in words, in [0, 1].
    """

    read: FloatArray
    unread: FloatArray
    certainty: FloatArray
    in_words: float = 1.0

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
            read, unread, certainty = (
                np.array([float(told[part].get(name, 0.0)) for name in (*EVIDENCE, "bias")], np.float32)
                for part in ("read", "unread", "certainty")
            )
            in_words = float(told.get("in_words", 1.0))
            strange = {name for part in ("read", "unread", "certainty") for name in told[part]} - {*EVIDENCE, "bias"}
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelError(f"weights of evidence in {FILE}", f"{error!r}", "copy or fit the model again") from error
        if strange or not (
            np.isfinite([read, unread, certainty]).all() and 0 <= in_words <= 1 and min(read.min(), unread.min()) >= 0
        ):
            got = f"'{min(strange)}'" if strange else "a weight below 0, or no number"
            raise ModelError(f"weights of {', '.join(EVIDENCE)}", got, "update auscult, or fit the model again")
        return cls(read[:-1], unread[:-1], certainty, in_words)

    def to_json(self) -> dict[str, Any]:
        """As `from_json` reads it."""
        names = (*EVIDENCE, "bias")
        parts = {"read": self.read, "unread": self.unread, "certainty": self.certainty}
        told: dict[str, Any] = {
            part: {name: round(float(weight), 4) for name, weight in zip(names, weights, strict=False) if weight}
            for part, weights in parts.items()
        }
        return {**told, "in_words": round(self.in_words, 4)}

    def weights(self, query: Query) -> FloatArray:
        """Of a query's evidence."""
        weights = self.read if query.entity else self.unread
        return np.where(_OF_QUESTION, weights, weights * np.float32(self.in_words)) if query.text else weights

    def scores(self, query: Query, evidence: FloatArray) -> FloatArray:
        """Of passages, (passages,)."""
        found: FloatArray = evidence @ self.weights(query)
        return found

    def probability(self, evidence: npt.NDArray[np.floating]) -> float:
        """That the first hit answers, by its evidence, (evidence,)."""
        return float(1 / (1 + np.exp(-(evidence @ self.certainty[:-1] + self.certainty[-1]))))
