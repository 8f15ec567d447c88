"""Loss in R@1 of cheaper forms of bi-, poly- and cross-encoders: half precision, and 8-bit integers (ONNX Runtime).

    AUSCULT_DATA=... python benchmarks/capr_forms.py MODEL [MODEL ...] [--queries 500] [--cross-queries 100]

On a sample of MedQuAD's test queries with 64 candidates each, the same for all forms of a model. `capr_latency.py`
measures the time that they save. ONNX Runtime in single precision gives the same results as torch, as tests check.

Writes benchmarks/results/capr_forms.json.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from auscult.files.writing import write_json
from auscult.provenance import stamp
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.encoders.base import PassageRanker
from auscult_lab.encoders.export import convert
from auscult_lab.encoders.persistence import open_model
from auscult_lab.encoders.scorer import CaprScorer
from auscult_lab.evaluation.measures import measure
from auscult_lab.evaluation.protocol import run_task
from auscult_lab.evaluation.statistics import differences
from auscult_lab.evaluation.task import Task, build_task

RESULT = Path(__file__).resolve().parent / "results" / "capr_forms.json"
PLAIN = "float32"


def forms(ranker: PassageRanker, folder: Path) -> Iterator[tuple[str, CaprScorer]]:
    """Yield a model in each form."""
    yield PLAIN, CaprScorer(ranker)
    yield "bf16", CaprScorer(ranker, precision="bf16")
    yield "onnx-int8", CaprScorer(convert(ranker, "onnx-int8", folder))


def only_asked(task: Task) -> Task:
    """Return the task without documents that have no candidate; reading them would only take time."""
    asked = {passage_id for each in (task.candidates or {}).values() for passage_id in each}
    documents = (each for each in task.documents if any(p.passage_id in asked for p in each.passages))
    return dataclasses.replace(task, documents=tuple(documents))


def losses(kind: str, ranker: PassageRanker, number: int) -> list[dict[str, Any]]:
    """Return R@1 of each form on the same queries, and by how much it is below single precision."""
    task = only_asked(build_task(open_corpus("medquad"), number=number))
    with tempfile.TemporaryDirectory() as folder:
        measured = {}
        for form, scorer in forms(ranker, Path(folder)):
            rankings = run_task(task, scorer).rankings
            measured[form] = measure(rankings, task.judgements, ("R@1", "RR"))
            print(kind, form, measured[form].means(), flush=True)
    pairs = [(form, PLAIN) for form in measured if form != PLAIN]
    gaps = differences(measured, pairs, ("R@1",), seed=0)
    rows = []
    for form, values in measured.items():
        row: dict[str, Any] = {"model": kind, "form": form, "queries": number, **values.means()}
        if form != PLAIN:
            gap = gaps[form, PLAIN]["R@1"]
            row |= {"loss in R@1": 0.0 - gap.mean, "from": 0.0 - gap.high, "to": 0.0 - gap.low, "p": gap.p}
        rows.append(row)
    return rows


def main() -> None:
    """Measure and write the record."""
    parser = argparse.ArgumentParser(description="What cheaper forms of CAPR's encoders lose in R@1.")
    parser.add_argument("models", type=Path, nargs="+", help="model folders; one of each architecture at most")
    parser.add_argument("--queries", type=int, default=500, help="asked of a bi- or poly-encoder")
    parser.add_argument("--cross-queries", type=int, default=100, help="asked of a cross-encoder")
    parser.add_argument("--out", type=Path, default=RESULT)
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for saved in map(open_model, arguments.models):
        number = arguments.cross_queries if saved.ranker.kind == "cross" else arguments.queries
        told = {"encoder": saved.training.get("encoder"), "fingerprint": saved.fingerprint}
        rows += [{**row, **told} for row in losses(saved.ranker.kind, saved.ranker, number)]
    record = {
        "kind": "capr-forms",
        "title": "R@1 of cheaper forms",
        "corpus": "medquad",
        "candidates": 64,
        "torch": torch.__version__,
        "forms": rows,
        **stamp(),
    }
    write_json(arguments.out, record)
    print(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
