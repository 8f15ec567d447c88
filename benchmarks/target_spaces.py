"""Test whether CDV's target vectors distinguish entities and aspects that were not in training.

    AUSCULT_DATA=... python benchmarks/target_spaces.py RUN [RUN ...]

RUN is the folder of a training of CDV. Its held-out documents, which only its word vectors have read, answer:

    entities   is the place of a document's title the nearest one to what its first sentences are embedded as, among the
               places of all titles that were held out and of all entities that training described?
    aspects    is a heading's place the nearest one to what the sentences under it are embedded as, among the headings
               that are common in training?

and, to look at, the nearest known neighbours of held-out titles and of the aspects that MedQuAD's test asks for. Places
are those that CDV is trained towards (arnold2020, Eq. 5 and 6); nearness is the cosine. A title is *described* where
the knowledge base has its entity (Eq. 5, first case), or else placed by its words alone (second case).

Writes benchmarks/results/target_spaces.json.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from auscult.concepts import normalise_heading
from auscult.encoders import load_model
from auscult.encoders.contract import FloatArray
from auscult.files.writing import write_json
from auscult.provenance import stamp
from auscult_lab.cdv.encoder import CdvEncoder
from auscult_lab.cdv.experiment import CdvExperiment
from auscult_lab.cdv.objective import common_headings
from auscult_lab.cdv.spaces import BloomSpace, TargetSpace
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.training.data import TrainingData, gather

RESULT = Path(__file__).resolve().parent / "results" / "target_spaces.json"
LEAD = 8
NEIGHBOURS = 3
SHOWN = 12


def main() -> None:
    """Measure, and write the record."""
    parser = argparse.ArgumentParser(description="The quality of CDV's target spaces on held-out documents.")
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN")
    parser.add_argument("--out", type=Path, default=RESULT)
    arguments = parser.parse_args()
    write_json(arguments.out, [measured(run) for run in arguments.runs])
    print(arguments.out)


def measured(run: Path) -> dict[str, Any]:
    """Return the record of one training's two spaces."""
    encoder = load_model(run / "model")
    if not isinstance(encoder, CdvEncoder):
        raise SystemExit(f"expected a training of CDV, got {run}")
    experiment = CdvExperiment.model_validate_json((run / "experiment.json").read_text(encoding="utf-8"))
    data = gather(experiment, print)
    entities, aspects = encoder.spaces["entity"], encoder.spaces["aspect"]
    return {
        "kind": "target_spaces",
        "title": "Target spaces of CDV",
        "model": experiment.title or experiment.name,
        "space": entities.kind,
        "seed": experiment.seed,
        "held_out_documents": len(data.held_out),
        "entities": _entities(entities, data),
        "aspects": _aspects(aspects, data),
        **stamp(),
    }


def _entities(space: TargetSpace, data: TrainingData) -> dict[str, Any]:
    names = _known_entities(space, data)
    titled = [(item.document, item.title) for item in data.held_out if item.title is not None]
    titles = {title.key: title.name for _, title in titled}
    names |= titles
    keys = list(names)
    places = _unit(np.stack([space.place(key, names[key]) for key in keys]))
    rows = {key: row for row, key in enumerate(keys)}
    ranks: dict[bool, list[int]] = {True: [], False: []}
    for document, title in titled:
        texts = [document.slice(sentence) for sentence in document.sentences[:LEAD]]
        described = data.knowledge is not None and data.knowledge.get(title.key) is not None
        ranks[described].append(_rank(space.embed(texts).mean(axis=0), places, rows[title.key]))
    examples = [key for key in titles if np.any(places[rows[key]])][:SHOWN]
    return {
        "places": len(keys),
        "described": _figures(ranks[True]),
        "by words alone": _figures(ranks[False]),
        "nearest": {titles[key]: _nearest(places[rows[key]], places, keys, names, {key}) for key in examples},
    }


def _known_entities(space: TargetSpace, data: TrainingData) -> dict[str, str]:
    """Return key -> name of the knowledge base's entities and of training titles, the candidates for confusion."""
    names = {concept.concept_id: concept.names[0] for concept in data.knowledge or ()}
    names |= {item.title.key: item.title.name for item in data.documents if item.title is not None}
    return {key: name for key, name in names.items() if not isinstance(space, BloomSpace) or key in space.known}


def _aspects(space: TargetSpace, data: TrainingData) -> dict[str, Any]:
    common = sorted({heading for headings in common_headings(data.documents, 20) for heading in headings})
    rows = {heading: row for row, heading in enumerate(common)}
    places = _unit(np.stack([space.place(heading, heading) for heading in common]))
    ranks: list[int] = []
    for item in data.held_out:
        for passage, headings in enumerate(item.aspects):
            spans = zip(item.document.sentences, item.passage_of, strict=True)
            texts = [item.document.slice(sentence) for sentence, owner in spans if owner == passage]
            if len(headings) == 1 and headings[0] in rows and texts:
                ranks.append(_rank(space.embed(texts).mean(axis=0), places, rows[headings[0]]))
    aspects = dict.fromkeys(
        heading
        for query in open_corpus("medquad").queries("test")
        for aspect in query.aspects
        for heading in normalise_heading(aspect)
    )
    names = {heading: heading for heading in common}
    nearest = {
        aspect: _nearest(_unit(space.place(aspect, aspect)[None])[0], places, common, names, set())
        for aspect in aspects
    }
    return {"places": len(common), "passages": _figures(ranks), "nearest": nearest}


def _rank(vector: FloatArray, places: FloatArray, own: int) -> int:
    """Return the number of other places at least as near as the true one."""
    scores = places @ vector
    return int((scores >= scores[own]).sum()) - 1


def _figures(ranks: Sequence[int]) -> dict[str, float]:
    places = np.array(ranks)
    if not len(places):
        return {"asked": 0}
    return {
        "asked": len(places),
        "R@1": round(float((places < 1).mean()), 4),
        "R@10": round(float((places < 10).mean()), 4),
        "RR": round(float((1 / (places + 1)).mean()), 4),
    }


def _nearest(
    vector: FloatArray, places: FloatArray, keys: Sequence[str], names: Mapping[str, str], without: set[str]
) -> list[str]:
    order = np.argsort(-(places @ vector), kind="stable")
    found = [names[keys[row]] for row in order[: NEIGHBOURS + len(without)] if keys[row] not in without]
    return found[:NEIGHBOURS]


def _unit(rows: FloatArray) -> FloatArray:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), dtype=np.float32)


if __name__ == "__main__":
    main()
