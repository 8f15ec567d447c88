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

from asking import ASKED, KIND, RESULT, Asked, collection_of, documents_of, questions_of, recall
from auscult.encoders.contract import FloatArray
from auscult.files.writing import write_json
from auscult.provenance import stamp
from auscult_lab.evaluation.records import read_records, records_of_others
from kept_vectors import KeptVectors
from open_models import OpenModel, Passages, as_it_is, bm25, three_readers
from unseen_documents import CACHE, kept_vectors, open_encoder


def models_over(collection: Passages, vectors: KeptVectors, name: str) -> tuple[OpenModel, ...]:
    """Return the models, after they have read the collection."""
    encoder = as_it_is(collection, vectors, name, {})
    return bm25(collection), encoder, three_readers(collection, encoder)


def row_of(asked: str, shown: Passages, scores: FloatArray, questions: Sequence[Asked]) -> dict[str, Any]:
    """Return a model's row for a set of questions."""
    ranks = []
    for question, of_passages in zip(questions, scores, strict=True):
        order = np.argsort(-of_passages, kind="stable")[:10]
        found = [shown.passages[row][1].passage_id in question.right for row in order.tolist()]
        ranks.append(found.index(True) + 1 if any(found) else 0)
    return {
        "collection": asked,
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
    options.add_argument("--collection", nargs="+", choices=ASKED, default=[*ASKED])
    options.add_argument("--encoder", type=Path, help="folder of all-MiniLM-L6-v2")
    options.add_argument("--cache", type=Path, default=CACHE, help="where vectors are kept")
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    encoder, digest = open_encoder(chosen.encoder)
    vectors = kept_vectors(encoder, digest, chosen.cache)
    for collection in dict.fromkeys(map(collection_of, chosen.collection)):
        shown = Passages(documents_of(collection))
        names = [name for name in chosen.collection if collection_of(name) == collection]
        sets = {name: questions_of(name, shown.documents) for name in names}
        edges = np.cumsum([len(questions) for questions in sets.values()])
        queries = [each.query for questions in sets.values() for each in questions]
        for model in models_over(shown, vectors, encoder.name):
            # All sets at once, as a reader reads the passages again each time.
            parts = np.split(model.rank(queries), edges[:-1])
            for (name, questions), scores in zip(sets.items(), parts, strict=True):
                row = row_of(name, shown, scores, questions)
                print(model.name, row, file=sys.stderr, flush=True)
                add_row(chosen.out, model.name, row)


if __name__ == "__main__":
    main()
