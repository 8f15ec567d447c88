"""How well do weights and certainty serve a collection whose questions nobody fitted them on?

    AUSCULT_DATA=... python benchmarks/left_out.py [--model MODEL ...] [--seeds N ...] [--questions N]

The weights of questions in words and the certainty are fitted on self-made questions and on people's training questions
of several collections (`experiments/general.yaml`). Here each collection is left out in turn, and its questions are
asked with weights that were fitted on:

| weights   | fitted on                                                                    |
|-----------|------------------------------------------------------------------------------|
| self-made | questions made of titles and headings alone                                  |
| left out  | these, and people's questions of the other collections                       |
| all       | these, and people's questions of all collections: those that a model ships   |

For each, nDCG@10 and P@1 of the question's candidates (its answers, what any one evidence puts first, and others by
chance). For `left out` also how far the certainty can be believed, each question asked twice, with its answers and with
all passages of their documents taken out: the expected calibration error over both, the AUC, and the shares that are
told "no answer" or at most "may answer". Only training questions are asked, no test question.

Writes benchmarks/results/left_out.json: a record a model, with means over the seeds and the largest distance between
two of them (`spread`). Five minutes a seed on a core.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from ablation import ndcg
from auscult.concepts.opening import open_knowledge_base
from auscult.encoders import load_model
from auscult.encoders.general.encoder import GeneralEncoder
from auscult.files.writing import write_json
from auscult.interfaces import FloatArray
from auscult.provenance import stamp
from auscult.search import Searcher, build_index
from auscult.search.certainty import DOUBTFUL, LIKELY
from auscult.search.fusion import Fusion
from auscult_lab.fitting.fitting import Candidates, candidates, fit, judged_questions
from auscult_lab.fitting.own_questions import own_questions
from auscult_lab.fitting.weighing import asked_by_people, learned_from
from auscult_lab.general.experiment import read_general_experiment
from auscult_lab.training.experiment_files import variant_path
from nothing_here import areas, calibration_error

RESULT = Path(__file__).resolve().parent / "results" / "left_out.json"
KIND = "left_out"
EXPERIMENT = Path(__file__).resolve().parents[1] / "experiments" / "general.yaml"
DOCUMENTS = 80
"""Of each collection that questions are made of."""
Asked = Mapping[str, Sequence[Candidates]]


def gathered(name: str, seed: int, questions: int, folder: Path) -> tuple[Asked, Asked]:
    """Candidates of self-made questions and of people's, by collection."""
    experiment = read_general_experiment(variant_path(EXPERIMENT, f"general-{name}"))
    encoder, chance = cast(GeneralEncoder, load_model(name)), np.random.default_rng(seed)
    known = open_knowledge_base(experiment.knowledge) if experiment.knowledge else None

    def opened(collection: str, documents: Sequence[Any], reader: GeneralEncoder) -> Searcher:
        place = folder / collection
        if not place.is_dir():
            build_index(documents, reader, place, knowledge_base=known, corpus=collection)
        return Searcher.open(place, encoder)

    own, people = {}, {}
    for collection, documents in learned_from(experiment, say, DOCUMENTS).items():
        searcher = opened(collection, documents, encoder.reading_text_alone())
        own[collection] = [candidates(searcher, each, chance) for each in own_questions(searcher, questions, seed)]
    for collection, judged in asked_by_people(experiment, say).items():
        searcher = opened(f"{collection}-people", judged.documents, encoder)
        every = [*judged_questions(searcher, judged)]
        taken = np.sort(chance.permutation(len(every))[:questions]).tolist()
        people[collection] = [candidates(searcher, every[row], chance) for row in taken]
    return own, people


def found_first(asked: Sequence[Candidates], fusion: Fusion) -> dict[str, float]:
    """nDCG@10 and P@1 of candidates in words by weights."""
    ndcgs, firsts = [], []
    for each in asked:
        if each.in_words and each.relevant.any():
            order = np.argsort(-(each.evidence @ fusion.words), kind="stable")
            ndcgs.append(ndcg(order.tolist(), dict.fromkeys(np.flatnonzero(each.relevant).tolist(), 1)))
            firsts.append(bool(each.relevant[order[0]]))
    return {"ndcg10": float(np.mean(ndcgs)), "p1": float(np.mean(firsts))}


def believed(asked: Sequence[Candidates], fusion: Fusion) -> dict[str, float]:
    """How far the certainty of first hits can be believed, with the answers and without."""
    told, right = [], []
    for each in asked:
        scores = each.evidence @ (fusion.words if each.in_words else fusion.parts)
        if each.related.all() or not each.relevant.any():
            continue
        pair = [_first(scores, shown) for shown in (np.ones(len(scores), bool), ~each.related)]
        told.append(fusion.probabilities(each.evidence[pair], each.coverage[pair], each.background))
        right.append([bool(each.relevant[pair[0]]), False])
    chances, answers = np.array(told), np.array(right)
    found = answers[:, 0]
    return {
        "calibration_error": calibration_error(chances.ravel(), answers.ravel()),
        "auc": areas(chances[:, 0], chances[:, 1], 0)[0],
        "told_nothing_where_right": float((chances[found, 0] < DOUBTFUL).mean()),
        "said_to_answer_where_right": float((chances[found, 0] >= LIKELY).mean()),
        "told_nothing_without_answers": float((chances[:, 1] < DOUBTFUL).mean()),
        "at_most_may_answer_without_answers": float((chances[:, 1] < LIKELY).mean()),
    }


def _first(scores: FloatArray, shown: np.ndarray[Any, np.dtype[np.bool_]]) -> int:
    return int(np.flatnonzero(shown)[np.argmax(scores[shown])])


def measured(name: str, seed: int, questions: int, folder: Path) -> list[dict[str, Any]]:
    """What one seed found, a row a collection of people's questions."""
    own, people = gathered(name, seed, questions, folder)
    told, order = [each for asked in own.values() for each in asked], Fusion.of(load_model(name))
    alone, every = fit(told, order=order, keep="pairs"), fit(told, [*people.values()], order, "pairs")
    rows = []
    for left, asked in people.items():
        fusion = fit(told, [each for other, each in people.items() if other != left], order, "pairs")
        fits = {"self-made": alone, "left out": fusion, "all": every}
        rows.append(
            {
                "collection": left,
                "questions": len(asked),
                "weights": {fitted_on: found_first(asked, weights) for fitted_on, weights in fits.items()},
                "certainty": believed(asked, fusion),
            }
        )
    return rows


def record(name: str, found: Mapping[int, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    """A model's record, of what each seed found."""
    rows = [*zip(*found.values(), strict=True)]
    return {
        "kind": KIND,
        "title": load_model(name).name,
        "model": load_model(name).name,
        "seeds": [*found],
        "weights": [
            {"collection": seeds[0]["collection"], "fitted_on": fitted_on, "questions": seeds[0]["questions"]}
            | over_seeds([each["weights"][fitted_on] for each in seeds])
            for seeds in rows
            for fitted_on in seeds[0]["weights"]
        ],
        "certainty": [
            {"collection": seeds[0]["collection"], **over_seeds([each["certainty"] for each in seeds])}
            for seeds in rows
        ],
        **stamp(),
    }


def over_seeds(found: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Means of figures, and their spreads."""
    figures: dict[str, float] = {}
    for name in found[0]:
        values = [each[name] for each in found]
        figures |= {name: float(np.mean(values)), f"{name}_spread": max(values) - min(values)}
    return figures


def say(line: str) -> None:
    """To people, beside the output."""
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    """Measure models, and write what was found."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--model", nargs="+", choices=("fast", "best"), default=["fast"], help="whose evidence")
    options.add_argument(
        "--seeds", nargs="+", type=int, default=[1, 2, 3], help="of candidates and self-made questions"
    )
    options.add_argument("--questions", type=int, default=400, help="of each collection")
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    records = []
    for name in chosen.model:
        found = {}
        with tempfile.TemporaryDirectory() as folder:
            for seed in chosen.seeds:
                found[seed] = measured(name, seed, chosen.questions, Path(folder))
                say(f"{name}, seed {seed}: {json.dumps(found[seed])}")
        records.append(record(name, found))
        write_json(chosen.out, records)


if __name__ == "__main__":
    main()
