"""Fit how likely a question is about each name in it: src/auscult/understanding/names.json.

    AUSCULT_DATA=... PYTHONPATH=. python benchmarks/fit_names.py [--write]

The questions are the written ones (`data/questions`) about documents with titles. A name is right if it is the title of
the question's document, or names the same concept. For a third of the questions that title is left out, as where a
collection has nothing on a subject. The weights are those of a logistic regression on `QuestionParser.features`. They
are measured on questions about documents that are held out (`study.shipped.written`): how often the likeliest name
is right. Two minutes on one core.

Writes benchmarks/results/fit_names.json; with --write also the weights.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from auscult.concepts import EntityResolver
from auscult.concepts.names import normalise_name
from auscult.concepts.opening import open_for_questions
from auscult.concepts.word_counts import count_words
from auscult.files.writing import write_json
from auscult.provenance import stamp
from auscult.understanding import reading
from auscult.understanding.reading import FEATURES, QuestionParser
from study.shipped.aspects import TITLED
from study.shipped.written import is_held_out, read_documents, read_questions

WEIGHTS = Path(reading.__file__).with_name("names.json")
QUESTIONS = Path(__file__).resolve().parents[1] / "data" / "questions"
RESULT = Path(__file__).resolve().parent / "results" / "fit_names.json"
_LEFT_OUT: Final = 3
_PENALTY: Final = 1e-4
_Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Names:
    """The names in a question: their features, (names, features), which are right, and whether it is held out."""

    features: _Array
    right: _Array
    held_out: bool


def names_of_questions() -> Iterator[Names]:
    """Yield the names of each question in which there are any."""
    resolver, asked = EntityResolver(open_for_questions()), read_questions(QUESTIONS)

    def concept(words: str) -> str:
        return next((match.concept.concept_id for match in resolver.resolve(words, limit=1, fuzzy=False)), "")

    for collection in TITLED:
        titles = {each.doc_id: each.title for each in read_documents(collection)}
        every = {normalise_name(title) for title in titles.values()} - {""}
        words = count_words(every)
        for number, each in enumerate(question for question in asked if question.collection == collection):
            own = normalise_name(titles[each.doc_id])
            subject, left_out = concept(titles[each.doc_id]), number % _LEFT_OUT == 0
            known: Collection[str] = every - {own} if left_out else every
            parser = QuestionParser(resolver, known, words)
            names = [name for name in parser.names(each.question) if name.is_listed]
            right = [
                normalise_name(name.words) == own or bool(subject and concept(name.words) == subject) for name in names
            ]
            if names:
                features = np.array(parser.features(each.question, names), np.float64)
                yield Names(features, np.array(right, bool), is_held_out(each.doc_id))
        print(collection, file=sys.stderr)


def fitted(names: list[Names]) -> _Array:
    """Return the weights of features and bias, (features + 1,)."""
    features = np.concatenate([each.features for each in names])
    columns = np.c_[features, np.ones(len(features))]
    signs = np.where(np.concatenate([each.right for each in names]), 1.0, -1.0)

    def loss(weights: _Array) -> tuple[float, _Array]:
        margins = signs * (columns @ weights)
        slope = -(signs / (1 + np.exp(margins))) @ columns / len(columns)
        slope[:-1] += 2 * _PENALTY * weights[:-1]
        return float(np.logaddexp(0, -margins).mean() + _PENALTY * weights[:-1] @ weights[:-1]), slope

    weights: _Array = minimize(loss, np.zeros(columns.shape[1]), jac=True, method="L-BFGS-B").x
    return weights


def main() -> None:
    """Fit, measure on what is held out, and write."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--write", action="store_true", help="replace the weights")
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    every = [*names_of_questions()]
    weights = fitted([each for each in every if not each.held_out])
    checked = [each for each in every if each.held_out and each.right.any()]
    first = np.mean([each.right[np.argmax(each.features @ weights[:-1])] for each in checked])
    named = zip((*FEATURES, "bias"), weights.tolist(), strict=True)
    saved = {name: round(weight, 4) for name, weight in named}
    record = {
        "kind": "fit_names",
        "title": "Names in questions",
        "learned_from": len(every) - sum(each.held_out for each in every),
        "held_out": len(checked),
        "likeliest_right": float(first),
        "weights": saved,
        **stamp(),
    }
    print(record)
    write_json(chosen.out, [record])
    if chosen.write:
        write_json(WEIGHTS, saved)


if __name__ == "__main__":
    main()
