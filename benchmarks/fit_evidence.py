"""Fit the weights of the evidence: src/auscult/search/fusion.json, or those of a general encoder.

    AUSCULT_DATA=... python benchmarks/fit_evidence.py [--encoder FOLDER] [--questions N]
    AUSCULT_DATA=... python benchmarks/fit_evidence.py --model fast [--keep order|pairs]

Questions are made from titles and headings of training documents (`fitting.fitting`). For models without weights, these
are Simple English Wikipedia, NHS pages and OpenStax with the shipped CDV, which has vectors of entity and aspect, and
NHS pages with all-MiniLM-L6-v2, which has a vector of the question (located as in `unseen_documents.py`). For a general
encoder, they are the data of its variant in `experiments/general.yaml`. --keep order keeps the weights for the order of
hits and fits only their certainty; --keep pairs keeps only those of entity and aspects. No test corpus is read, except
for people's training questions that the experiment names. Five minutes on one core, mostly for encoding.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from auscult.concepts.opening import open_knowledge_base
from auscult.encoders import load_model, model_folder
from auscult.files.writing import write_json
from auscult.ingest.building import build_index
from auscult.search import Searcher, fusion
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.families.table import read_experiment
from auscult_lab.fitting.fitting import FITTED_ON, QUESTIONS, Keep, fit_indexes
from auscult_lab.fitting.weighing import asked_by_people, fit_model, learned_from
from auscult_lab.training.experiment_files import variant_path
from unseen_documents import find_encoder

WEIGHTS = Path(fusion.__file__).with_name(fusion.FILE)
SHIPPED = "cdv"
EXPERIMENT = Path(__file__).resolve().parents[1] / "experiments" / "general.yaml"
SPLIT = "train"


def indexes(encoder: Path, folder: Path) -> Iterator[Searcher]:
    """Yield an index of each corpus, for each of its models."""
    known = open_knowledge_base()
    for model, corpora in ((SHIPPED, ("simplewiki", "nhs", "openstax")), (str(encoder), ("nhs",))):
        loaded = load_model(model)
        for corpus in corpora:
            place = folder / f"{loaded.name}-{corpus}"
            report = build_index(open_corpus(corpus).documents(SPLIT), loaded, place, knowledge_base=known)
            print(f"{loaded.name}, {corpus}: {report.counts.passages:,} passages", file=sys.stderr)
            yield Searcher.open(place, loaded)


def fit_general(name: str, folder: Path, keep: Keep | None, documents: int, questions: int) -> None:
    """Fit a shipped general encoder's weights, as its training does."""
    experiment = read_experiment(variant_path(EXPERIMENT, f"general-{name}"))
    collections, people = learned_from(experiment, say, documents), asked_by_people(experiment, say)
    fit_model(model_folder(name), collections, experiment, folder, people=people, keep=keep, questions=questions)


def say(line: str) -> None:
    """Print a message to standard error."""
    print(line, file=sys.stderr)


def main() -> None:
    """Fit, and write."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--encoder", type=Path, help="folder of all-MiniLM-L6-v2")
    options.add_argument("--questions", type=int, default=QUESTIONS, help="of each index")
    options.add_argument("--model", choices=("fast", "best"), help="fit a shipped general encoder's own weights")
    options.add_argument("--documents", type=int, default=FITTED_ON, help="of each corpus; with --model")
    options.add_argument("--keep", choices=("order", "pairs"), help="what is left as it is; with --model")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if chosen.model:
            fit_general(chosen.model, Path(folder), chosen.keep, chosen.documents, chosen.questions)
            return
        fitted = fit_indexes(indexes(find_encoder(chosen.encoder), Path(folder)), chosen.questions)
    write_json(WEIGHTS, fitted.to_json())


if __name__ == "__main__":
    main()
