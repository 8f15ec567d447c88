"""Fit the weights of a re-ranker beside the other evidence, in its model.json.

    AUSCULT_DATA=... python benchmarks/fit_reranker.py RERANKER --model ENCODER [--questions N] [--documents N]

Questions are made from titles and headings of the re-ranker's training documents (`fitting.fitting.fit_reranker`), and
search indexes of some of these. No test corpus is read.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

from auscult.concepts.opening import open_knowledge_base
from auscult.encoders import load_model, load_reranker, training_record
from auscult.encoders.contract import DocumentEncoder
from auscult.encoders.reranker import set_weights
from auscult.ingest.building import build_index
from auscult.provenance import stamp
from auscult.search import Searcher
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.fitting.fitting import RERANKED, RERANKED_QUESTIONS, fit_reranker


def indexes(
    corpora: list[dict[str, str]], encoder: DocumentEncoder, documents: int, folder: Path
) -> Iterator[Searcher]:
    """Yield an index of some documents of each corpus."""
    known = open_knowledge_base()
    for choice in corpora:
        found = list(open_corpus(choice["name"]).documents(choice["split"]))
        some = random.Random(0).sample(found, min(documents, len(found)))
        place = folder / choice["name"]
        build_index(some, encoder, place, knowledge_base=known, corpus=choice["name"])
        yield Searcher.open(place, encoder)


def main() -> None:
    """Fit, and write."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("reranker", type=Path, help="its folder")
    options.add_argument("--model", required=True, help="the encoder that it is to stand beside")
    options.add_argument("--questions", type=int, default=RERANKED_QUESTIONS, help="of each corpus")
    options.add_argument("--documents", type=int, default=200, help="of each corpus")
    chosen = options.parse_args()
    encoder, reranker = load_model(chosen.model), load_reranker(str(chosen.reranker))
    corpora: list[dict[str, str]] = training_record(chosen.reranker)["corpora"]  # type: ignore[assignment]
    with tempfile.TemporaryDirectory() as folder:
        opened = indexes(corpora, encoder, chosen.documents, Path(folder))
        weights = fit_reranker(opened, reranker, chosen.questions)
    told = {"encoder": encoder.name, "documents": chosen.documents, "questions": chosen.questions, "hits": RERANKED}
    set_weights(chosen.reranker, weights, {**told, **stamp()})
    print(weights)


if __name__ == "__main__":
    main()
