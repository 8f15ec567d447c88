"""Weights and certainty on collections whose questions they were not fitted on.

    AUSCULT_DATA=... python benchmarks/left_out.py [--model MODEL ...] [--seeds N ...] [--questions N]

The weights of questions in words and the certainty are fitted on self-made questions and on people's training questions
of several collections (`experiments/general.yaml`). Here each collection is left out in turn, and searched with weights
that were fitted on:

| weights   | fitted on                                                                    |
|-----------|------------------------------------------------------------------------------|
| self-made | questions made of titles and headings alone                                  |
| left out  | these, and people's questions of the other collections                       |
| all       | these, and people's questions of all collections: those that a model ships   |

For each, nDCG@10 and P@1 of the questions' candidates (answers, passages that single evidences rank first, and random
others). For `left out` also the quality of the certainty. Each question is searched twice, with all passages and
without the documents of its answers: the expected calibration error over both, the AUC, and the shares with the verdict
"no answer" or at most "may answer". Only training questions are used, no test questions.

Writes benchmarks/results/left_out.json: one record per model, with means over seeds and the largest difference between
two of them (`spread`). Five minutes per seed on one core.
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
    """Return candidates of self-made questions and of people's, by collection."""
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


def found_first(questions: Sequence[Candidates], fusion: Fusion) -> dict[str, float]:
    """Return nDCG@10 and P@1 of questions in words by weights."""
    ndcgs, firsts = [], []
    for question in questions:
        if question.in_words and question.relevant.any():
            order = np.argsort(-(question.evidence @ fusion.words), kind="stable")
            ndcgs.append(ndcg(order.tolist(), dict.fromkeys(np.flatnonzero(question.relevant).tolist(), 1)))
            firsts.append(bool(question.relevant[order[0]]))
    return {"ndcg10": float(np.mean(ndcgs)), "p1": float(np.mean(firsts))}


def believed(questions: Sequence[Candidates], fusion: Fusion) -> dict[str, float]:
    """Return measures of the certainty of first hits, with the answers and without."""
    probabilities, right = [], []
    for question in questions:
        scores = question.evidence @ (fusion.words if question.in_words else fusion.parts)
        if question.related.all() or not question.relevant.any():
            continue
        pair = [_first(scores, shown) for shown in (np.ones(len(scores), bool), ~question.related)]
        probabilities.append(
            fusion.probabilities(
                question.undivided[pair], question.coverage[pair], question.background, in_words=question.in_words
            )
        )
        right.append([bool(question.relevant[pair[0]]), False])
    chances, answers = np.array(probabilities), np.array(right)
    right_first = answers[:, 0]
    return {
        "calibration_error": calibration_error(chances.ravel(), answers.ravel()),
        "auc": areas(chances[:, 0], chances[:, 1], 0)[0],
        "told_nothing_where_right": float((chances[right_first, 0] < DOUBTFUL).mean()),
        "said_to_answer_where_right": float((chances[right_first, 0] >= LIKELY).mean()),
        "told_nothing_without_answers": float((chances[:, 1] < DOUBTFUL).mean()),
        "at_most_may_answer_without_answers": float((chances[:, 1] < LIKELY).mean()),
    }


def _first(scores: FloatArray, shown: np.ndarray[Any, np.dtype[np.bool_]]) -> int:
    return int(np.flatnonzero(shown)[np.argmax(scores[shown])])


def measured(name: str, seed: int, questions: int, folder: Path) -> list[dict[str, Any]]:
    """Return the results of one seed, one row per collection of people's questions."""
    own, people = gathered(name, seed, questions, folder)
    self_made = [question for collection in own.values() for question in collection]
    order = Fusion.of(load_model(name))
    alone, every = fit(self_made, order=order, keep="pairs"), fit(self_made, [*people.values()], order, "pairs")
    rows = []
    for left, by_people in people.items():
        others = [collection for other, collection in people.items() if other != left]
        fusion = fit(self_made, others, order, "pairs")
        fits = {"self-made": alone, "left out": fusion, "all": every}
        rows.append(
            {
                "collection": left,
                "questions": len(by_people),
                "weights": {fitted_on: found_first(by_people, weights) for fitted_on, weights in fits.items()},
                "certainty": believed(by_people, fusion),
            }
        )
    return rows


def record(name: str, by_seed: Mapping[int, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    """Return a model's record from the results of each seed."""
    rows = [*zip(*by_seed.values(), strict=True)]
    return {
        "kind": KIND,
        "title": load_model(name).name,
        "model": load_model(name).name,
        "seeds": [*by_seed],
        "weights": [
            {"collection": seeds[0]["collection"], "fitted_on": fitted_on, "questions": seeds[0]["questions"]}
            | over_seeds([row["weights"][fitted_on] for row in seeds])
            for seeds in rows
            for fitted_on in seeds[0]["weights"]
        ],
        "certainty": [
            {"collection": seeds[0]["collection"], **over_seeds([row["certainty"] for row in seeds])} for seeds in rows
        ],
        **stamp(),
    }


def over_seeds(of_seeds: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return means of figures, and their spreads."""
    figures: dict[str, float] = {}
    for name in of_seeds[0]:
        values = [figures_of[name] for figures_of in of_seeds]
        figures |= {name: float(np.mean(values)), f"{name}_spread": max(values) - min(values)}
    return figures


def say(line: str) -> None:
    """Print a message to standard error."""
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    """Measure models, and write the records."""
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
        by_seed = {}
        with tempfile.TemporaryDirectory() as folder:
            for seed in chosen.seeds:
                by_seed[seed] = measured(name, seed, chosen.questions, Path(folder))
                say(f"{name}, seed {seed}: {json.dumps(by_seed[seed])}")
        records.append(record(name, by_seed))
        write_json(chosen.out, records)


if __name__ == "__main__":
    main()
