"""Fit which sentence of a passage answers, and measure it on collections that were left out.

    AUSCULT_DATA=... PYTHONPATH=. python benchmarks/fit_answering.py [--write]

Learns from the written questions of six collections (`study.shipped.answering`). For each collection: how often the
likeliest sentence of a question's passage holds the answer, with weights that were fitted on the five others, with
those that were fitted on all six (on questions about held-out documents), and by the most similar sentence. 95 %
bootstrap intervals over questions. Indexes of the documents asked about are kept in --cache; they take half an hour
with `fast` on one core.

Writes benchmarks/results/fit_answering.json, a record per model; with --write also the weights of the search.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from auscult.encoders import load_model
from auscult.encoders.contract import DocumentEncoder
from auscult.files.writing import write_json
from auscult.provenance import stamp
from auscult.search.answering import FEATURES, FILE, weigh
from auscult_lab.evaluation.records import records_of_others
from fit_written import QUESTIONS, SEED, Gathering
from study.shipped.answering import Layers, Lesson, fit_answering, read_lessons
from study.shipped.written import COLLECTIONS, read_documents, read_questions

RESULT = Path(__file__).resolve().parent / "results" / "fit_answering.json"
CACHE = Path.home() / ".cache" / "auscult" / "answering"
KIND = "fit_answering"
_RESAMPLED = 2_000
_QUESTION = FEATURES.index("question")
Odds = Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]]


def lessons_of(encoder: DocumentEncoder, collections: Sequence[str], cache: Path) -> list[Lesson]:
    """Return the questions of some collections, as an encoder's searches read them."""
    gathering, found = Gathering(encoder, cache, 0), []
    asked = {(each.collection, each.doc_id) for each in read_questions(QUESTIONS)}
    for name in collections:
        documents = [each for each in read_documents(name) if (name, each.doc_id) in asked]
        found += read_lessons(gathering.opened(name, documents), name, documents, QUESTIONS)
    return found


def right_share(lessons: Sequence[Lesson], odds: Odds) -> dict[str, Any]:
    """Return how often the likeliest sentence answers, with its interval."""
    right = np.array([lesson.answers[int(np.argmax(odds(lesson.features)))] for lesson in lessons])
    chance = np.random.default_rng(SEED)
    means = right[chance.integers(len(right), size=(_RESAMPLED, len(right)))].mean(axis=1)
    return {"right": float(right.mean()), "interval": np.percentile(means, [2.5, 97.5]).tolist()}


def by(layers: Layers) -> Odds:
    """Return the log odds by some weights, from features."""
    return lambda features: weigh(features, layers)


def main() -> None:
    """Fit, measure, and write."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--model", default="fast", help="a shipped encoder, or a folder")
    options.add_argument("--collection", nargs="+", choices=COLLECTIONS, default=[*COLLECTIONS])
    options.add_argument("--cache", type=Path, default=CACHE, help="where indexes are kept")
    options.add_argument("--write", action="store_true", help="put the weights into the package")
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    encoder = load_model(chosen.model)
    lessons = lessons_of(encoder, chosen.collection, chosen.cache / Path(chosen.model).name)
    layers, rows = fit_answering(lessons, SEED), []
    for name in chosen.collection:
        own = [each for each in lessons if each.collection == name]
        held_out = [each for each in own if each.held_out]
        others = fit_answering([each for each in lessons if each.collection != name], SEED)
        rows.append(
            {
                "collection": name,
                "questions": len(own),
                "sentences_of_a_passage": float(np.mean([len(each.answers) for each in own])),
                "left_out": right_share(own, by(others)),
                "most_similar": right_share(own, lambda features: features[:, _QUESTION]),
                "held_out_questions": len(held_out),
                "held_out": right_share(held_out, by(layers)),
            }
        )
        print(rows[-1], file=sys.stderr, flush=True)
    record = {"kind": KIND, "title": encoder.name, "model": encoder.name, "fingerprint": encoder.fingerprint}
    write_json(chosen.out, [*records_of_others(chosen.out, encoder.name), {**record, "collections": rows, **stamp()}])
    if chosen.write:
        place = Path(str(files("auscult.search") / FILE))
        write_json(place, {name: np.round(values, 4).tolist() for name, values in layers.items()})


if __name__ == "__main__":
    main()
