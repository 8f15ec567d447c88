"""A model trained with several seeds: its measures by seed, and their mean with an interval.

    auscult train NAME-1.yaml --out runs/NAME-1   # a copy of the experiment with a name and a seed
    auscult evaluate CORPUS -m runs/NAME-1/model --json runs/NAME-1.json
    python benchmarks/seeds.py runs/NAME-1.json runs/NAME-2.json ...

The files are those of `auscult evaluate`, which keeps each ranking beside them. The interval is from a bootstrap that
draws both seeds and queries (2,000 times), so it includes the chance of both.

Writes benchmarks/results/seeds.json, one record per corpus, model and track.
Needs: pip install 'auscult[lab]'
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from auscult.provenance import stamp
from auscult_lab.evaluation.measures import measure
from auscult_lab.evaluation.trec import read_qrels, read_run
from merging import merge_record
from resampling import Values, drawn, rounded, with_interval

RESULT = Path(__file__).resolve().parent / "results" / "seeds.json"
MEASURES = {"R@1": "R@1", "MAP": "AP"}
"""What the mean over queries is called, and a query's own measure in ir_measures' notation."""
SAME = ("corpus", "protocol", "model", "track", "queries")
"""Fields in which the evaluations of one model agree."""


def main() -> None:
    """Read the evaluations, and write the record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evaluations", nargs="+", type=Path, help="what `auscult evaluate --json` wrote, one a seed")
    files = parser.parse_args().evaluations
    evaluations = [_only(file) for file in files]
    first, *others = evaluations
    for field in SAME:
        if any(other[field] != first[field] for other in others):
            parser.error(f"evaluations of one model are wanted; these differ in {field}")
    seeds = [evaluation["training"]["seed"] for evaluation in evaluations]
    if len(set(seeds)) < len(seeds):
        parser.error(f"one evaluation a seed is wanted; the seeds are {seeds}")
    values = np.stack([_by_query(file) for file in files])
    record = {
        "kind": "seeds",
        **{field: first[field] for field in SAME},
        "seeds": seeds,
        "epochs": [evaluation["training"]["best_epoch"] for evaluation in evaluations],
        "trained_by": [evaluation["training"]["revision"] for evaluation in evaluations],
        "measures": {name: interval(values[:, :, column]) for column, name in enumerate(MEASURES)},
        **stamp(),
    }
    merge_record(RESULT, record, "corpus", "protocol", "model", "track")
    json.dump(record["measures"], sys.stdout, indent=1)


def _only(file: Path) -> dict[str, Any]:
    content = json.loads(file.read_text(encoding="utf-8"))
    records = [record for record in (content if isinstance(content, list) else [content]) if record.get("training")]
    if len(records) != 1:
        sys.exit(f"{file}: one evaluation of a trained model is wanted, {len(records)} are there")
    found: dict[str, Any] = records[0]
    return found


def _by_query(file: Path) -> Values:
    """Return the measures of every query, (queries, measures), by the ranking beside an evaluation."""
    folder = file.with_name(f"{file.stem}-runs")
    (run,), (qrels,) = folder.glob("*.run.gz"), folder.glob("*.qrels")
    measured = measure(read_run(run), read_qrels(qrels), tuple(MEASURES.values()))
    return measured.of(sorted(measured.query_ids)).values


def interval(values: Values, *, seed: int = 0) -> dict[str, Any]:
    """Return the means by seed, their mean, and its interval over seeds and queries; `values` is (seeds, queries)."""
    random = np.random.default_rng(seed)
    seeds, queries = values.shape
    means = ((drawn(random, seeds) @ values) * drawn(random, queries)).sum(axis=1)
    return {"by_seed": rounded(values.mean(axis=1)), **with_interval(float(values.mean()), means)}


if __name__ == "__main__":
    main()
