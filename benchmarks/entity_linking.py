"""Speed of linking entities of knowledge graphs in text, and the share of linked words.

    AUSCULT_DATA=... python benchmarks/entity_linking.py

Links encyclopedia articles and clinical notes to two graphs: the prepared medical one (`knowledge-base`), and the
general one that is built from the encyclopedia itself. Times are processor times of one thread, which other processes
of a busy machine affect less than wall-clock times. Writes benchmarks/results/entity_linking.json.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from auscult.files.writing import write_json
from auscult.provenance import stamp
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.graphs.graph import KnowledgeGraph
from auscult_lab.graphs.linking import EntityLinker, NgramLinker
from auscult_lab.graphs.opening import open_graph

RESULT = Path(__file__).resolve().parent / "results" / "entity_linking.json"
GRAPHS = ("knowledge-base", "enwiki")
CORPORA = ("enwiki", "mtsamples")


def seconds(deed: Callable[[], object], repeats: int) -> float:
    """Return the least processor time of several runs."""
    taken = []
    for _ in range(repeats):
        begun = time.process_time()
        deed()
        taken.append(time.process_time() - begun)
    return min(taken)


def speed(linker: EntityLinker, corpus: str, repeats: int) -> dict[str, Any]:
    """Return megabytes (UTF-8) per second over a corpus, and counts of linked entities."""
    texts: Sequence[str] = [document.text for document in open_corpus(corpus).documents()]
    size = sum(len(text.encode()) for text in texts) / 1e6
    spans = [(text, linker.link(text)) for text in texts]
    linked = sum(len(text[span.start : span.end].split()) for text, entities in spans for span in entities)
    taken = seconds(lambda: [linker.link(text) for text in texts], repeats)
    return {
        "corpus": corpus,
        "documents": len(texts),
        "megabytes": size,
        "megabytes_per_second": size / taken,
        "spans": sum(len(entities) for _, entities in spans),
        "entities": len({span.entity_id for _, entities in spans for span in entities}),
        "linked_share_of_words": linked / sum(len(text.split()) for text in texts),
    }


def measure(name: str, graph: KnowledgeGraph, repeats: int) -> dict[str, Any]:
    """Return the record of one graph over all corpora."""
    begun = time.process_time()
    linker = NgramLinker.from_graph(graph)
    built = time.process_time() - begun
    return {
        "graph": name,
        "entities": len(graph.entities),
        "names": sum(map(len, graph.names)),
        "triples": len(graph.triples),
        "build_seconds": built,
        "corpora": [speed(linker, corpus, repeats) for corpus in CORPORA],
    }


def main() -> None:
    """Measure and write the record."""
    parser = argparse.ArgumentParser(description="Speed of linking text to knowledge graphs.")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULT)
    arguments = parser.parse_args()
    record = {
        "kind": "entity_linking",
        "title": "Linking text to the entities of knowledge graphs",
        "cores_used": 1,
        "repeats": arguments.repeats,
        "graphs": [measure(name, open_graph(name), arguments.repeats) for name in GRAPHS],
        "versions": {"ahocorasick_rs": version("ahocorasick_rs")},
        **stamp(),
    }
    write_json(arguments.out, record)
    print(json.dumps(record, indent=2))


if __name__ == "__main__":
    main()
