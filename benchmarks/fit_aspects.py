"""Fit the layer with which a shipped encoder reads what a question asks, and measure it on questions by others.

    AUSCULT_DATA=... PYTHONPATH=. python benchmarks/fit_aspects.py --model fast [--write]

It learns from names and phrasings of the known aspects and from written questions (`study.shipped.aspects`). It is
measured on phrasings by others (`questions_written/phrasings` of the data), of aspects with the same name, and on
written questions about held-out documents: how often the likeliest aspect is right. A minute on one core.

Writes benchmarks/results/fit_aspects.json, a record per model; with --write also the model's layer.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from auscult.catalogue import data_dir
from auscult.concepts.opening import open_for_questions
from auscult.encoders import load_model, model_folder
from auscult.encoders.contract import FloatArray
from auscult.encoders.general.encoder import GeneralEncoder
from auscult.encoders.general.towers import Towers, unit
from auscult.errors import ModelError
from auscult.files.writing import write_json
from auscult.provenance import stamp
from auscult_lab.evaluation.records import records_of_others
from auscult_lab.general.saving import set_asks
from study.shipped.aspects import asked_aspects, fit_aspects
from study.shipped.written import words_for

RESULT = Path(__file__).resolve().parent / "results" / "fit_aspects.json"
QUESTIONS = Path(__file__).resolve().parents[1] / "data" / "questions"
KIND = "fit_aspects"


def by_others(aspects: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """Return phrasings by others with their aspect, as they are read of a known disease, and of other things."""
    with gzip.open(data_dir() / "questions_written/phrasings.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        (row["phrasing"].replace("{e}", words_for(row["of"] == "disease")[-1]), (row["aspect"],))
        for row in rows
        if row["aspect"] in aspects
    ]


def right_share(likely: FloatArray, aspects: Sequence[str], right: Sequence[tuple[str, ...]]) -> float:
    """Return how often the likeliest aspect is right."""
    return float(np.mean([aspects[row] in each for row, each in zip(likely.argmax(axis=1), right, strict=True)]))


def main() -> None:
    """Fit, measure, and write."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--model", default="fast", help="a shipped encoder, or a folder")
    options.add_argument("--write", action="store_true", help="put the layer into the model's folder")
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    encoder = load_model(chosen.model)
    if not isinstance(encoder, GeneralEncoder) or not encoder.aspects:
        raise ModelError("a general encoder that knows aspects", chosen.model, "give --model fast or best")
    known = encoder.aspects
    every = [*asked_aspects(QUESTIONS, known, open_for_questions())]
    vectors = unit(encoder.reader.ask([each.asking for each in every]))
    learned = np.array([not each.held_out for each in every])
    right = np.array([known.index(each.aspects[0]) for each in every])
    counts = np.array([each.count for each in every], np.float32)
    weight, bias = fit_aspects(vectors[learned], right[learned], counts[learned], len(known))
    towers = Towers({**encoder.towers.weights, "asks.weight": weight, "asks.bias": bias})
    others = by_others(known)
    texts, wanted = [text for text, _ in others], [aspects for _, aspects in others]
    record = {
        "kind": KIND,
        "title": encoder.name,
        "model": encoder.name,
        "fingerprint": encoder.fingerprint,
        "aspects": len(known),
        "learned_from": int(learned.sum()),
        "phrasings_by_others": len(others),
        "right_in_phrasings_by_others": right_share(towers.likely(encoder.reader.ask(texts)), known, wanted),
        "held_out": int((~learned).sum()),
        "right_in_held_out": right_share(
            towers.likely(vectors[~learned]), known, [each.aspects for each in every if each.held_out]
        ),
        **stamp(),
    }
    print(json.dumps(record, indent=1))
    write_json(chosen.out, [*records_of_others(chosen.out, encoder.name), record])
    if chosen.write:
        set_asks(model_folder(chosen.model), {"weight": weight, "bias": bias}, {"learned_from": record["learned_from"]})


if __name__ == "__main__":
    main()
