"""Models without training on the questions of `asking.py`: BM25, all-MiniLM-L6-v2, and the sum of three readers.

    AUSCULT_DATA=... PYTHONPATH=. python benchmarks/asking_packaged.py [--collection NAME ...]

Each reads title, heading and text of every passage, and scores all passages for each question (`open_models.py`,
`packaged_readers.py`). Measures are R@1 and R@10 of the section that answers, as in `asking.py`. Vectors of
all-MiniLM-L6-v2 are kept in --cache. Reading takes hours on one core, mostly multilingual-e5-small's: a collection is
written when it ends.

Writes its records into benchmarks/results/asking.json; those of other models and collections stay.
Needs: pip install 'auscult[lab,benchmarks]'
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from asking import COLLECTIONS, KIND, RESULT, answering, documents_of, questions_of, recall
from auscult.encoders.contract import FloatArray
from auscult.files.writing import write_json
from auscult.provenance import stamp
from auscult.understanding import Query
from auscult_lab.evaluation.records import read_records, records_of_others
from kept_vectors import KeptVectors
from open_models import OpenModel, Passages, as_it_is, bm25, three_readers
from unseen_documents import CACHE, kept_vectors, open_encoder


def models_over(collection: Passages, vectors: KeptVectors, name: str) -> tuple[OpenModel, ...]:
    """Return the models, after they have read the collection."""
    encoder = as_it_is(collection, vectors, name, {})
    return bm25(collection), encoder, three_readers(collection, encoder)


def row_of(
    collection: str, shown: Passages, scores: FloatArray, questions: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """Return a model's row for a collection."""
    by_id = {document.doc_id: document for document in shown.documents}
    ranks = []
    for question, of_passages in zip(questions, scores, strict=True):
        right = answering(question, by_id[question["doc_id"]])
        order = np.argsort(-of_passages, kind="stable")[:10]
        found = [shown.passages[row][1].passage_id in right for row in order.tolist()]
        ranks.append(found.index(True) + 1 if any(found) else 0)
    return {
        "collection": collection,
        "documents": len(shown.documents),
        "passages": len(shown.passages),
        "questions": len(questions),
        **recall(ranks),
    }


def add_row(path: Path, model: str, row: Mapping[str, Any]) -> None:
    """Write a model's row for a collection in place of an earlier one."""
    mine = [each for each in read_records(path) if each["model"] == model] if path.is_file() else []
    rows = [each for record in mine for each in record["collections"] if each["collection"] != row["collection"]]
    now = stamp()
    # Rows of other runs keep their own stamp; the record has that of the newest.
    rows.append({**row, **now})
    record = {"kind": KIND, "title": model, "model": model, "fingerprint": "", "collections": rows, **now}
    write_json(path, [*records_of_others(path, model), record])


def main() -> None:
    """Measure the models, collection by collection."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--collection", nargs="+", choices=COLLECTIONS, default=[*COLLECTIONS])
    options.add_argument("--encoder", type=Path, help="folder of all-MiniLM-L6-v2")
    options.add_argument("--cache", type=Path, default=CACHE, help="where vectors are kept")
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    encoder, digest = open_encoder(chosen.encoder)
    vectors = kept_vectors(encoder, digest, chosen.cache)
    for name in chosen.collection:
        shown, questions = Passages(documents_of(name)), questions_of(name)
        queries = [Query("", "", text=each["question"]) for each in questions]
        for model in models_over(shown, vectors, encoder.name):
            row = row_of(name, shown, model.rank(queries), questions)
            print(model.name, row, file=sys.stderr, flush=True)
            add_row(chosen.out, model.name, row)


if __name__ == "__main__":
    main()
