"""Link prediction by TransE vectors of knowledge graphs on held-out triples, and training times.

    AUSCULT_DATA=... OMP_NUM_THREADS=1 python benchmarks/knowledge_vectors.py [--graphs NAME ...] [--published-epochs N]

Trains on the prepared medical graph (`knowledge-base`) and on two ontologies by themselves, as
`auscult concepts graph embed` does without options, and measures the test triples beside the frequency of each
relation's objects and subjects, all together and of the most frequent relations.
--published-epochs also trains the first graph with the settings of bordes2013, but this number of epochs instead of
1000. Results are saved in --runs, so that an interrupted run resumes.

Both wall-clock and processor times are recorded; other processes of a busy machine affect the latter less.
Writes benchmarks/results/knowledge_vectors.json. Needs: pip install 'auscult[lab]'
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import torch

from auscult.files.writing import write_json
from auscult.provenance import stamp
from auscult_lab.graphs.build import KnowledgeExperiment, digest_of_graph, train
from auscult_lab.graphs.opening import open_graph
from auscult_lab.graphs.transe import AS_PUBLISHED, TransEConfig

RESULT = Path(__file__).resolve().parent / "results" / "knowledge_vectors.json"
RUNS = Path("out") / "knowledge-vectors"
RELATIONS = 4
"""Those of the most test triples, whose figures are told each by itself."""
GRAPHS = ("knowledge-base", "disease-ontology", "symptom-ontology")


def measure(
    name: str, variant: str, config: TransEConfig, runs: Path, seed: int
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return figures of the test triples and of the baseline, in all and by relation, and times, for one setting."""
    graph = open_graph(name)
    experiment = KnowledgeExperiment(graph=name, graph_sha256=digest_of_graph(graph), seed=seed, model=config)
    folder = runs / f"{name}-{variant}"
    times = folder.with_suffix(".seconds.json")
    clock, processor = time.monotonic(), time.process_time()
    outcome = train(graph, experiment, folder, say=lambda words: print(f"{name}: {words}", file=sys.stderr, flush=True))
    if not times.is_file():
        taken = {"clock": time.monotonic() - clock, "processor": time.process_time() - processor}
        times.write_text(json.dumps({key: round(value, 1) for key, value in taken.items()}), encoding="utf-8")
    figures, frequency = outcome.record["figures"], outcome.record["relation_frequency"]
    filtered, raw = figures["filtered"], figures["raw"]
    run = {
        "graph": name,
        "settings": variant,
        **{key: outcome.record[key] for key in ("entities", "relations")},
        "triples": outcome.record["triples"]["all"],
        "test triples": figures["triples"],
        **filtered["both"],
        **{f"object {measure}": filtered["tail"][measure] for measure in ("MRR", "Hits@10")},
        **{f"subject {measure}": filtered["head"][measure] for measure in ("MRR", "Hits@10")},
        **{f"raw {measure}": raw["both"][measure] for measure in ("MRR", "Hits@10")},
        **{f"frequency {measure}": frequency["filtered"]["both"][measure] for measure in ("MRR", "Hits@10")},
        **{f"frequency, object {measure}": frequency["filtered"]["tail"][measure] for measure in ("MRR", "Hits@10")},
        "epochs": outcome.record["epochs"],
        **{f"seconds, {kind}": seconds for kind, seconds in json.loads(times.read_text(encoding="utf-8")).items()},
    }
    relations = [
        {
            "graph": name,
            "settings": variant,
            "relation": relation,
            "test triples": own["triples"],
            **{
                f"{side} MRR{of}": each[relation][key]["MRR"]
                for side, key in (("object", "tail"), ("subject", "head"))
                for of, each in (("", figures["by_relation"]), (", frequency", frequency["by_relation"]))
            },
        }
        for relation, own in list(figures["by_relation"].items())[:RELATIONS]
    ]
    return run, relations


def main() -> None:
    """Train, measure, and write the record."""
    parser = argparse.ArgumentParser(description="Link prediction by TransE vectors of knowledge graphs.")
    parser.add_argument("--graphs", nargs="+", default=GRAPHS)
    parser.add_argument("--published-epochs", type=int, default=0)
    parser.add_argument("--runs", type=Path, default=RUNS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=RESULT)
    arguments = parser.parse_args()
    wanted = [(name, "default", TransEConfig()) for name in arguments.graphs]
    if arguments.published_epochs:
        published = AS_PUBLISHED.model_copy(update={"epochs": arguments.published_epochs})
        wanted.append((arguments.graphs[0], "as-published", published))
    measured = [measure(*each, arguments.runs, arguments.seed) for each in wanted]
    record = {
        "kind": "knowledge_vectors",
        "title": "Link prediction by TransE vectors",
        "threads": torch.get_num_threads(),
        "default": TransEConfig().model_dump(),
        "filtered": "where nothing else is said",
        "seed": arguments.seed,
        "runs": [run for run, _ in measured],
        "relations": [row for _, rows in measured for row in rows],
        **stamp(),
    }
    write_json(arguments.out, record)
    print(arguments.out)


if __name__ == "__main__":
    main()
