"""Fit which known aspect a question asks for: a multinomial logistic regression on the reader's vectors.

It learns from the aspects' names, from phrasings of them, and from written questions about passages under a heading
that is one of them. A question has "this disease" or "this" in the place of its names. Documents of held-out questions
are not learned from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from auscult.concepts import EntityResolver, KnowledgeBase
from auscult.concepts.aspects import normalise_heading
from auscult.concepts.names import normalise_name
from auscult.concepts.word_counts import count_words
from auscult.encoders.contract import FloatArray
from auscult.telemetry import naming_extra
from auscult.understanding import QuestionParser
from auscult.understanding.aspects import question_about
from study.shipped.written import (
    is_held_out,
    read_documents,
    read_phrasings,
    read_questions,
    without_names,
    words_for,
)

TITLED: Final = ("medquad", "labels", "wikipedia", "nhs")
"""Collections with titles and headings."""
WRITTEN: Final = 0.3
"""How much a written question counts beside a phrasing: a passage under "causes" may be asked in many other ways."""
_FREEDOM: Final = 100.0
"""How much losses count beside half the squares of the weights. Of 10, 30 and 100 the best on phrasings by others."""
_Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class AskedAspect:
    """A question without its names, and the aspects it asks for.

    Attributes:
        asking: The question.
        aspects: The aspects, the first the one that is learned.
        count: How much it counts.
        held_out: Whether it is not learned from.
    """

    asking: str
    aspects: tuple[str, ...]
    count: float
    held_out: bool


def asked_aspects(folder: Path, aspects: Sequence[str], known: KnowledgeBase) -> Iterator[AskedAspect]:
    """Yield names of aspects, phrasings, and written questions about passages that are headed as a known aspect.

    Args:
        folder: Folder of the written questions.
        aspects: The known aspects.
        known: Recognises names in questions.
    """
    phrasings = [each for each in read_phrasings(folder) if each.aspect in aspects]
    of_diseases = {each.aspect for each in phrasings if each.of == "disease"}
    for aspect in aspects:
        words = words_for(aspect in of_diseases)
        named = [text for word in words for text in (f"{aspect} of {word}", question_about(aspect, word))]
        for text in (aspect, f"and the {aspect}?", *named):
            yield AskedAspect(text, (aspect,), 1.0, held_out=False)
    for phrasing in phrasings:
        for text in phrasing.without_name():
            yield AskedAspect(text, (phrasing.aspect,), 1.0, held_out=False)
    resolver, questions = EntityResolver(known), read_questions(folder)
    for collection in TITLED:
        titles = {normalise_name(document.title) for document in read_documents(collection)} - {""}
        parser = QuestionParser(resolver, titles, count_words(titles))
        for each in questions:
            if each.collection == collection:
                headed = tuple(aspect for aspect in normalise_heading(each.heading) if aspect in aspects)
                if headed:
                    asking = without_names(each.question, parser)
                    yield AskedAspect(asking, headed, WRITTEN, held_out=is_held_out(each.doc_id))


def fit_aspects(
    vectors: FloatArray, right: npt.NDArray[np.int64], counts: FloatArray, aspects: int
) -> tuple[FloatArray, FloatArray]:
    """Return weights, (aspects, width), and biases, (aspects,).

    Args:
        vectors: Vectors of questions, unit rows, (questions, width).
        right: The aspect of each, (questions,).
        counts: How much each counts, (questions,).
        aspects: Number of aspects.
    """
    # Imported here because it takes a quarter of a second.
    with naming_extra("lab", "scipy"):
        from scipy.optimize import minimize

    columns = np.c_[vectors.astype(np.float64), np.ones(len(vectors))]
    shares = counts.astype(np.float64)[:, None]
    own = np.zeros((len(vectors), aspects))
    own[np.arange(len(vectors)), right] = 1

    def loss(flat: _Array) -> tuple[float, _Array]:
        weights = flat.reshape(aspects, -1)
        scores = columns @ weights.T
        scores -= scores.max(axis=1, keepdims=True)
        totals = np.log(np.exp(scores).sum(axis=1, keepdims=True))
        slope = ((np.exp(scores - totals) - own) * shares).T @ columns * _FREEDOM
        value = _FREEDOM * float((shares * (totals - (scores * own).sum(axis=1, keepdims=True))).sum())
        slope[:, :-1] += weights[:, :-1]
        return value + float((weights[:, :-1] ** 2).sum()) / 2, slope.ravel()

    found = minimize(
        loss, np.zeros(aspects * columns.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 500}
    ).x.reshape(aspects, -1)
    return found[:, :-1].astype(np.float32), found[:, -1].astype(np.float32)
