"""Fit how sure hits are said to be on written questions: of the shipped encoders, or another.

    AUSCULT_DATA=... PYTHONPATH=. python benchmarks/fit_written.py --model fast [--write]

Each collection of these questions counts the same:

    written     questions about held-out documents and near misses, of six collections
                (`study.shipped.written_candidates`)
    small       such questions, of 12 indexes of 12 documents each, and a third as many about other documents
    people's    training questions of BioASQ, PubMedQA and cpgQA (`experiments/general.yaml`)
    self-made   by titles and headings, of three of the six collections (`fitting.own_questions`): they fit the
                certainty of queries by entity and aspects, and count a quarter for that of questions in words

The weights of the order stay: fitted anew on these questions, they find as many of a collection that was left out.
Each collection is left out in turn, and searched with a certainty that was fitted on the others: the expected
calibration error and the shares of right first hits and of others by verdict, beside the same figures of the model's
present weights. Indexes are kept in --cache; with `fast` they take a quarter of an hour on a core.

Writes benchmarks/results/fit_written.json, a record per model; with --write also the model's weights.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from auscult.concepts.opening import open_for_questions
from auscult.documents import Document
from auscult.encoders import load_model, model_folder
from auscult.encoders.contract import DocumentEncoder
from auscult.encoders.folder import read_settings
from auscult.files.writing import write_json
from auscult.index.manifest import CURRENT
from auscult.ingest.building import build_index
from auscult.provenance import stamp
from auscult.search import Searcher
from auscult.search.certainty import DOUBTFUL, LIKELY
from auscult.search.fusion import Fusion
from auscult_lab.evaluation.records import records_of_others
from auscult_lab.families.table import read_experiment
from auscult_lab.fitting.fitting import WITHOUT, Candidates, Judged, candidates, first_of, fit, judged_questions
from auscult_lab.fitting.own_questions import own_questions
from auscult_lab.fitting.weighing import asked_by_people
from auscult_lab.general.saving import set_fusion
from auscult_lab.training.experiment_files import variant_path
from nothing_here import calibration_error
from study.shipped.written import COLLECTIONS, read_documents
from study.shipped.written_candidates import small_candidates, some_documents, written_candidates

RESULT = Path(__file__).resolve().parent / "results" / "fit_written.json"
CACHE = Path.home() / ".cache" / "auscult" / "fit_written"
EXPERIMENT = Path(__file__).resolve().parents[1] / "experiments" / "general.yaml"
QUESTIONS = Path(__file__).resolve().parents[1] / "data" / "questions"
KIND = "fit_written"
SELF_MADE: Final = ("medquad", "wikipedia", "nhs")
OWN, PEOPLES = 300, 300
SMALL, FEW = 4, 12
"""Indexes of a collection, and documents of each."""
SEED = 0
Asked = Mapping[str, Sequence[Candidates]]


class Gathering:
    """Indexes and candidates of one encoder."""

    def __init__(self, encoder: DocumentEncoder, cache: Path, documents: int) -> None:
        self._encoder, self._cache, self._known = encoder, cache, open_for_questions()
        self._documents = documents
        self._chance = np.random.default_rng(SEED)

    def opened(self, name: str, documents: Sequence[Document]) -> Searcher:
        """Return a searcher of some documents, whose index is kept."""
        place = self._cache / name
        if not (place / CURRENT).is_file():
            build_index(documents, self._encoder, place, knowledge_base=self._known, corpus=name)
        print(name, len(documents), "documents", file=sys.stderr, flush=True)
        return Searcher.open(place, self._encoder)

    def written(self) -> tuple[Asked, list[Candidates]]:
        """Return candidates of written questions by collection, and those of self-made ones."""
        by_collection, own = {}, []
        for name in COLLECTIONS:
            documents = some_documents(name, read_documents(name), self._documents, QUESTIONS, SEED)
            searcher = self.opened(name, documents)
            by_collection[name] = [*written_candidates(searcher, name, documents, QUESTIONS, SEED)]
            if name in SELF_MADE:
                own += [candidates(searcher, each, self._chance) for each in own_questions(searcher, OWN, SEED)]
        return by_collection, own

    def small(self) -> list[Candidates]:
        """Return candidates of written questions over indexes of a few documents, as somebody begins with."""
        found = []
        for name in SELF_MADE:
            asked = some_documents(name, read_documents(name), 0, QUESTIONS, SEED)
            for number in range(SMALL):
                documents = random.Random(number).sample(asked, FEW)
                searcher = self.opened(f"{name}-{number}", documents)
                found += small_candidates(searcher, name, documents, QUESTIONS, number)
        return found

    def judged(self) -> dict[str, tuple[Searcher, Judged]]:
        """Return indexes with people's questions about them, by collection."""
        experiment = read_experiment(variant_path(EXPERIMENT, "general-fast"))
        by_collection = {}
        for name, judged in asked_by_people(experiment, lambda line: print(line, file=sys.stderr)).items():
            answers = {each.passage_id for each in judged.judgements if each.relevance > 0}
            holding = [any(part.passage_id in answers for part in each.passages) for each in judged.documents]
            others = [row for row, holds in enumerate(holding) if not holds]
            taken = {*random.Random(SEED).sample(others, min(len(others), 2 * self._documents))}
            documents = [each for row, each in enumerate(judged.documents) if holding[row] or row in taken]
            searcher = self.opened(name, documents)
            by_collection[name] = searcher, judged
        return by_collection

    def by_people(self) -> Asked:
        """Return candidates of people's questions by collection."""
        by_collection = {}
        for name, (searcher, judged) in self.judged().items():
            asked = [*judged_questions(searcher, judged)][:PEOPLES]
            by_collection[name] = [candidates(searcher, each, self._chance, hides=False) for each in asked]
        return by_collection


def quality(questions: Sequence[Candidates], fusion: Fusion) -> dict[str, float]:
    """Return the order's R@1 and the certainty's quality, questions without their answers counted as in the fitting."""
    chances, right, counts, whole = [], [], [], []
    for question in questions:
        background = question.background.with_usual(fusion.usual)
        for first, share, count in first_of(question, fusion):
            chances += fusion.probabilities(
                question.undivided[first], question.coverage[first], share, background, in_words=question.in_words
            )
            right += question.relevant[first].tolist()
            counts.append(count)
            whole.append(count == 1.0 and bool(question.relevant.any()))
    said, is_right, is_whole = np.array(chances), np.array(right), np.array(whole)
    repeated = np.repeat(np.arange(len(said)), (np.array(counts) / WITHOUT).astype(int))
    return {
        "r1": float(is_right[is_whole].mean()),
        "calibration_error": calibration_error(said[repeated], is_right[repeated]),
        **shares_said(said, is_right),
    }


def shares_said(said: npt.NDArray[np.float64], right: npt.NDArray[np.bool_]) -> dict[str, float]:
    """Return the shares of right first hits and of others that are said to be uncertain, and to answer.

    Args:
        said: Probability of each first hit, (hits,).
        right: Whether it answers, (hits,).
    """
    return {
        "right_said_uncertain": float((said[right] < DOUBTFUL).mean()),
        "right_said_to_answer": float((said[right] >= LIKELY).mean()),
        "wrong_said_uncertain": float((said[~right] < DOUBTFUL).mean()),
        "wrong_said_to_answer": float((said[~right] >= LIKELY).mean()),
    }


def main() -> None:
    """Fit, measure collections left out, and write."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--model", default="fast", help="a shipped encoder, or a folder")
    options.add_argument("--documents", type=int, default=300, help="of each collection, if fewer are asked about")
    options.add_argument("--cache", type=Path, default=CACHE, help="where the indexes are kept")
    options.add_argument("--write", action="store_true", help="put the weights into the model's folder")
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    encoder = load_model(chosen.model)
    before = Fusion.of(encoder)
    gathering = Gathering(encoder, chosen.cache / Path(chosen.model).name, chosen.documents)
    written, own = gathering.written()
    every = {**written, "small": gathering.small(), **gathering.by_people()}
    rows = []
    for left, questions in every.items():
        others = [collection for name, collection in every.items() if name != left]
        fitted = fit(own, others, before, "order")
        rows.append(
            {
                "collection": left,
                "questions": sum(bool(each.relevant.any()) for each in questions),
                "left_out": quality(questions, fitted),
                "before": quality(questions, before),
            }
        )
        print(rows[-1], file=sys.stderr, flush=True)
    pairs = [each for each in own if not each.in_words]
    fusion = fit(own, [*every.values()], before, "order")
    rows.append({"collection": "pairs", "left_out": quality(pairs, fusion), "before": quality(pairs, before)})
    print(rows[-1], fusion.to_json(), file=sys.stderr, flush=True)
    record = {"kind": KIND, "title": encoder.name, "model": encoder.name, "fingerprint": encoder.fingerprint}
    others = records_of_others(chosen.out, encoder.name)
    write_json(chosen.out, [*others, {**record, "seed": SEED, "collections": rows, **stamp()}])
    if chosen.write:
        folder = model_folder(chosen.model)
        fitted_on = {name: len(questions) for name, questions in every.items()}
        training = {
            **read_settings(folder)["training"]["fusion"],
            "certainty": {"asked": fitted_on, **stamp()},
        }
        set_fusion(folder, fusion.to_json(), training)


if __name__ == "__main__":
    main()
