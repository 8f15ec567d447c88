"""Questions in people's words about sections of documents that nobody trained on, and near misses.

    AUSCULT_DATA=... PYTHONPATH=. python benchmarks/asking.py [--model MODEL ...] [--collection NAME ...]
        [--label LABEL]

The questions are `questions_written/dev` of the data: 253 that a section answers, in ten manners of asking, and 80 that
the collection does not answer. They serve to choose models, not to train them. A collection is all of its documents
that no training question is about (`questions_written/not_for_training`): MedQuAD's test part and others, half of the
NHS pages, of the labels of medicines, and of the notes. MedQuAD is also asked 300 of its test questions, drawn by
chance: in its own words ("medquad-worded"), and by name and heading ("medquad-named").

For each model and collection: R@1 and R@10 of the section that answers, with a 95 % bootstrap interval; of right first
hits, the share that is said at most to be uncertain, the share whose marked sentences hold the answer's sentence, and
how many are marked; of near misses, how many are said to answer; of wrong first hits, how many are with a probability
above one half. Indexes are kept in --cache; the first run takes half an hour with `fast`.

Writes benchmarks/results/asking.json, a record per model; those of other models stay.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from auscult.catalogue import data_dir
from auscult.concepts.opening import open_for_questions
from auscult.documents import Document
from auscult.encoders import load_model
from auscult.files.writing import write_json
from auscult.ingest.building import build_index
from auscult.provenance import stamp
from auscult.search import Searcher
from auscult.search.certainty import DOUBTFUL, LIKELY
from auscult.search.hits import Hit
from auscult.understanding import Query
from auscult_lab.evaluation.records import records_of_others
from study.shipped.written import Source, answers_of, kept_apart, shares_most

RESULT = Path(__file__).resolve().parent / "results" / "asking.json"
CACHE = Path.home() / ".cache" / "auscult" / "asking"
KIND = "asking"
_RESAMPLED = 2_000
_OF_MEDQUAD, _SEED = 300, 0
_WORDED, _NAMED = "medquad-worded", "medquad-named"


class Asked(NamedTuple):
    """A question, and the passages that answer it, each with the first and one past the last character of the answer.

    Where the answer is a whole passage, its range is None.
    """

    query: Query
    right: Mapping[str, tuple[int, int] | None]


def _rows(name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(data_dir() / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


COLLECTIONS = {
    "medquad": Source("medquad", sections=answers_of, file="documents.jsonl.gz"),
    "nhs": Source("nhs"),
    "labels": Source("drug-labels"),
    "notes": Source("mtsamples", "note_id", "sample_name"),
}
ASKED = (*COLLECTIONS, _WORDED, _NAMED)
"""The sets of questions, which begin with the name of their collection."""


def collection_of(asked: str) -> str:
    """Return the collection of a set of questions."""
    return asked.partition("-")[0]


def documents_of(collection: str) -> list[Document]:
    """Return the documents of a collection that no training question is about."""
    kept = kept_apart()
    return [*COLLECTIONS[collection].documents(lambda _, doc_id: doc_id in kept)]


def questions_of(asked: str, documents: Sequence[Document]) -> list[Asked]:
    """Return the questions of a set.

    Args:
        asked: A name of `ASKED`.
        documents: The documents of its collection.
    """
    by_id = {document.doc_id: document for document in documents}
    if asked in {_WORDED, _NAMED}:
        return _questions_of_medquad(by_id, is_worded=asked == _WORDED)
    rows = [row for row in _rows("questions_written/dev/questions") if row["collection"] == asked]
    return [Asked(Query("", "", text=row["question"]), answering(row, by_id[row["doc_id"]])) for row in rows]


def _questions_of_medquad(documents: Mapping[str, Document], *, is_worded: bool) -> list[Asked]:
    found = []
    for row in random.Random(_SEED).sample([*_rows("medquad/queries_test")], _OF_MEDQUAD):
        query = Query("", "", text=row["text"]) if is_worded else Query("", row["entity"], (row["aspect"],))
        under = [
            passage.passage_id
            for doc_id in dict.fromkeys(each["doc_id"] for each in row["relevant"])
            for passage in documents[doc_id].passages
            if passage.heading == row["aspect"]
        ]
        found.append(Asked(query, dict.fromkeys(under)))
    return found


def recall(ranks: Sequence[int]) -> dict[str, Any]:
    """Return R@1 with its interval, and R@10, of the ranks of the answers, 0 for none."""
    found = np.array(ranks)
    low, high = _interval(found == 1)
    return {"r1": float((found == 1).mean()), "r1_interval": [low, high], "r10": float((found > 0).mean())}


def answering(question: Mapping[str, Any], document: Document) -> dict[str, tuple[int, int] | None]:
    """Return the passages that hold a question's answer, under its heading where one is, and where the answer is."""
    holding = {}
    for passage in document.passages:
        at = document.text.find(question["answer"], passage.start, passage.end)
        if at >= 0:
            holding[passage.passage_id] = passage.heading == question["heading"], at
    named = any(is_named for is_named, _ in holding.values())
    length = len(question["answer"])
    return {key: (at, at + length) for key, (is_named, at) in holding.items() if is_named or not named}


def measured(searcher: Searcher, documents: Sequence[Document], asked: str) -> dict[str, Any]:
    """Ask a set of questions, and return its row."""
    questions = questions_of(asked, documents)
    misses = [row for row in _rows("questions_written/dev/unanswerable") if row["collection"] == asked]
    ranks, firsts, marked, marks = [], [], [], []
    for question in questions:
        query = question.query
        hits = searcher.search(query.text or query, 10)
        ranks.append(next((hit.rank for hit in hits if hit.passage_id in question.right), 0))
        firsts.append(hits[0].probability or 0.0)
        if ranks[-1] == 1 and (answer := question.right[hits[0].passage_id]):
            told = [each for each in hits[0].sentences if each.marked]
            marked.append(any(shares_most(each.start, each.end, *answer) for each in told))
            marks.append(len(told))
    is_right, probabilities = np.array(ranks) == 1, np.array(firsts)
    row = {
        "collection": asked,
        "documents": len(documents),
        "passages": sum(len(document.passages) for document in documents),
        "questions": len(questions),
        **recall(ranks),
        "right_said_uncertain": float((probabilities[is_right] < DOUBTFUL).mean()),
        "wrong_above_half": float((probabilities[~is_right] > 0.5).mean()),
    }
    if marks:
        row |= {"answer_marked": float(np.mean(marked)), "marks": float(np.mean(marks))}
    if misses:
        missed = [_probability(searcher.search(row["question"], 1)) for row in misses]
        said = int(sum(each >= LIKELY for each in missed))
        row |= {"near_misses": len(misses), "near_misses_said_to_answer": said}
    return row


def _probability(hits: Sequence[Hit]) -> float:
    return (hits[0].probability or 0.0) if hits else 0.0


def _interval(values: np.ndarray[Any, np.dtype[np.bool_]]) -> tuple[float, float]:
    chance = np.random.default_rng(0)
    means = values[chance.integers(len(values), size=(_RESAMPLED, len(values)))].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5]).tolist()
    return low, high


def main() -> None:
    """Measure models, and write the records."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--model", nargs="+", default=["fast"], help="shipped models, or folders of models")
    options.add_argument("--collection", nargs="+", choices=ASKED, default=[*ASKED])
    options.add_argument("--cache", type=Path, default=CACHE, help="where the indexes are kept")
    options.add_argument("--label", default="", help="what the records call a model of another version: 0.1.0")
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    known = open_for_questions()
    for name in chosen.model:
        encoder, rows = load_model(name), []
        for asked in chosen.collection:
            collection = collection_of(asked)
            documents, place = documents_of(collection), chosen.cache / Path(name).name / collection
            if not place.is_dir():
                build_index(documents, encoder, place, knowledge_base=known, corpus=collection)
            rows.append(measured(Searcher.open(place, encoder), documents, asked))
            print(name, json.dumps(rows[-1]), file=sys.stderr, flush=True)
        label = f"{encoder.name} {chosen.label}".strip()
        record = {"kind": KIND, "title": label, "model": label, "fingerprint": encoder.fingerprint}
        others = records_of_others(chosen.out, label)
        write_json(chosen.out, [*others, {**record, "collections": rows, **stamp()}])


if __name__ == "__main__":
    main()
