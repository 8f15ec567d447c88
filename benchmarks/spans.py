"""Are answers found whose boundaries nobody marked? The sections of documents are hidden, and looked for again.

    AUSCULT_DATA=... python benchmarks/spans.py [--model MODEL ...]

Documents of two sections and more are indexed as one passage each, without headings. Each query of the corpus, an
entity and an aspect, is asked of the documents that answer it, and the span found is compared with the section that
the corpus holds relevant (of several in a document, with the one that it fits best):

    f1         of the characters of the span and of the section, the harmonic mean of the shares in common
    boundary   share of the two ends that are found exactly
    near       share of the two ends that are found at most one sentence off

| way                | what is returned                                                              |
|--------------------|-------------------------------------------------------------------------------|
| span               | `search.spans`                                                                 |
| span, vectors      | the same, sentences scored by all of the model's vectors                       |
| span, words        | the same, with the share of the asked words that a sentence holds              |
| whole document     | all of it                                                                      |
| window             | of windows of the mean section's sentences, one after the other, the best mean |
| best sentence ±3   | the best sentence with three on either side                                    |
| author's section   | the best mean of the true sections: what there is to reach                     |

Settings, above all the exponent and 20 sentences at most, were chosen on the NHS pages, whose record is here too, and
on training articles of Wikipedia; MedQuAD's and Wikipedia's test documents were left for the end. 95 % intervals by
bootstrap over documents. `milliseconds` is what finding a span takes in a document whose sentences have been scored,
and in one of 540 sentences.

Writes benchmarks/results/spans.json, a record a model and corpus. Five minutes on a core.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from auscult.documents import Document, Passage, Section, build_document
from auscult.encoders import load_model
from auscult.files.writing import write_json
from auscult.interfaces import DocumentEncoder
from auscult.provenance import stamp
from auscult.search import Searcher, build_index
from auscult.search.spans import SpanFinder, finder
from auscult.understanding import Query
from auscult_lab.corpora.opening import open_corpus

RESULT = Path(__file__).resolve().parent / "results" / "spans.json"
KIND = "spans"
CORPORA = ("nhs", "medquad", "wikisection")
SPLIT = "test"
AROUND: Final = 3
SEED, RESAMPLES = 0, 2_000
LONG: Final = 540
MEASURES = ("f1", "boundary", "near")
Values = npt.NDArray[np.float64]
Found = tuple[int, int]
"""First sentence, and one past the last."""


@dataclass(frozen=True)
class Asked:
    """A query, a document that answers it, and the sections that do, as sentences."""

    query: Query
    doc_id: str
    sections: tuple[Found, ...]


def hidden(document: Document) -> Document:
    """The document as one passage, without its headings."""
    passage = Passage(
        f"{document.doc_id}/all", "", document.passages[0].start, document.passages[-1].end, document.sentences
    )
    return replace(document, passages=(passage,))


def sections_of(document: Document) -> dict[str, Found]:
    """The sentences of each passage by its id; passages without sentences are left out."""
    found, at = {}, 0
    for passage in document.passages:
        if passage.sentences:
            found[passage.passage_id] = (at, at + len(passage.sentences))
        at += len(passage.sentences)
    return found


def asked_of(name: str) -> tuple[dict[str, Document], list[Asked]]:
    """Documents of several sections by id, and what is asked of them."""
    corpus = open_corpus(name)
    documents = {each.doc_id: each for each in corpus.documents(SPLIT) if len(sections_of(each)) > 1}
    places = {
        passage_id: (doc_id, found)
        for doc_id, document in documents.items()
        for passage_id, found in sections_of(document).items()
    }
    relevant: dict[str, dict[str, list[Found]]] = {}
    for each in corpus.judgements(SPLIT):
        if each.relevance > 0 and each.passage_id in places:
            doc_id, found = places[each.passage_id]
            relevant.setdefault(each.query_id, {}).setdefault(doc_id, []).append(found)
    asked = [
        Asked(query, doc_id, tuple(found))
        for query in corpus.queries(SPLIT)
        for doc_id, found in relevant.get(query.query_id, {}).items()
    ]
    return documents, asked


def ways(searcher: Searcher, asked: Asked, document: Document, window: int) -> Iterator[tuple[str, SpanFinder, Found]]:
    """What each way returns."""
    scored = finder(searcher, asked.query, asked.doc_id)
    vector = searcher.encode([asked.query])[0]
    rows = np.concatenate(
        [
            searcher.index.reader.sentence_vectors(row)
            for row in searcher.index.reader.passages_of(_row(searcher, asked))
        ]
    )
    vectors = SpanFinder(scored.document, searcher.shares(rows, vector)[:, 2])
    worded = finder(searcher, asked.query, asked.doc_id, words=True)
    for name, each in (("span", scored), ("span, vectors", vectors), ("span, words", worded)):
        if best := each.best():
            yield name, each, (best.first, best.last)
    count, best_sentence = len(scored.scores), int(np.argmax(scored.scores))
    windows = [(first, min(count, first + window)) for first in range(0, count, window)]
    yield "whole document", scored, (0, count)
    yield "window", scored, max(windows, key=lambda each: scored.mean(*each))
    yield "best sentence ±3", scored, (max(0, best_sentence - AROUND), min(count, best_sentence + AROUND + 1))
    yield "author's section", scored, max(sections_of(document).values(), key=lambda each: scored.mean(*each))


def _row(searcher: Searcher, asked: Asked) -> int:
    return searcher.index.reader.document_rows[asked.doc_id]


def agreement(found: Found, sections: Sequence[Found], finder_of: SpanFinder) -> tuple[float, float, float]:
    """The measures, by the section that fits best."""
    starts, ends = finder_of.frame.starts, finder_of.frame.ends

    def measured(section: Found) -> tuple[float, float, float]:
        first, last = int(starts[found[0]]), int(ends[found[1] - 1])
        begin, end = int(starts[section[0]]), int(ends[section[1] - 1])
        common = max(0, min(last, end) - max(first, begin))
        off = [abs(one - other) for one, other in zip(found, section, strict=True)]
        f1 = 2 * common / (last - first + end - begin)
        return f1, float(np.mean([each == 0 for each in off])), float(np.mean([each <= 1 for each in off]))

    return max(map(measured, sections))


def intervals(values: Values, owners: Sequence[str]) -> tuple[Values, Values]:
    """Means, (measures,), and those of samples of documents, (resamples, measures)."""
    names = sorted(set(owners))
    place = {name: number for number, name in enumerate(names)}
    rows = np.array([place[each] for each in owners])
    sums = np.stack([np.bincount(rows, column, len(names)) for column in values.T], axis=1)
    counts = np.bincount(rows, minlength=len(names))
    drawn = np.random.default_rng(SEED).multinomial(len(names), np.full(len(names), 1 / len(names)), RESAMPLES)
    return values.mean(axis=0), (drawn @ sums) / (drawn @ counts)[:, None]


def told(values: Mapping[str, Values], owners: Sequence[str]) -> list[dict[str, Any]]:
    """The ways with their measures, and how much better in F1 the span is than each."""
    _, ours = intervals(values["span"], owners)
    found = []
    for way, measured in values.items():
        means, drawn = intervals(measured, owners)
        row: dict[str, Any] = {"way": way}
        for number, measure in enumerate(MEASURES):
            row |= {measure: float(means[number]), **_interval(drawn[:, number], measure)}
        if way != "span":
            more = float((values["span"] - measured)[:, 0].mean())
            row |= {"span_better_by": more, **_interval(ours[:, 0] - drawn[:, 0], "span_better_by")}
        found.append(row)
    return found


def _interval(drawn: Values, name: str) -> dict[str, float]:
    low, high = np.quantile(drawn, (0.025, 0.975)).tolist()
    return {f"{name}_low": low, f"{name}_high": high}


def milliseconds(deed: Callable[[], object], times: int = 50) -> float:
    """The median of what it takes."""
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        deed()
        taken.append(1000 * (time.perf_counter() - begun))
    return float(np.median(taken))


def time_of_long() -> float:
    """Of finding a span in 540 scored sentences."""
    text = "\n".join("One sentence stands here. Another one follows it. A third." for _ in range(LONG // 3))
    document = build_document(doc_id="long", title="Long", sections=[Section("", text)])
    scored = SpanFinder(document, np.random.default_rng(SEED).normal(size=len(document.sentences)))
    return milliseconds(scored.best)


def measured(encoder: DocumentEncoder, name: str) -> dict[str, Any]:
    """A model's record of a corpus, but for where it comes from."""
    documents, asked = asked_of(name)
    lengths = [last - first for each in documents.values() for first, last in sections_of(each).values()]
    window = max(1, round(float(np.mean(lengths))))
    rows: dict[str, list[tuple[float, float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "index"
        build_index(map(hidden, documents.values()), encoder, place)
        searcher = Searcher.open(place, encoder)
        for each in asked:
            for way, scored, found in ways(searcher, each, documents[each.doc_id], window):
                rows.setdefault(way, []).append(agreement(found, each.sections, scored))
        some = finder(searcher, asked[0].query, asked[0].doc_id)
        taken = milliseconds(some.best)
    owners = [each.doc_id for each in asked]
    return {
        "corpus": name,
        "split": SPLIT,
        "documents": len(documents),
        "questions": len(asked),
        "sentences_of_a_section": float(np.mean(lengths)),
        "ways": told({way: np.array(values) for way, values in rows.items()}, owners),
        "milliseconds": {"first document": taken, f"{LONG} sentences": time_of_long()},
    }


def main() -> None:
    """Measure models, and write what was found."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--model", nargs="+", default=["fast"], help="what scores sentences")
    options.add_argument("--corpus", nargs="+", default=CORPORA)
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    records = []
    for model in chosen.model:
        encoder = load_model(model)
        for name in chosen.corpus:
            records.append({"kind": KIND, "title": f"{encoder.name}, {name}", "model": encoder.name})
            records[-1] |= {**measured(encoder, name), **stamp()}
            print(json.dumps(records[-1], indent=1), file=sys.stderr, flush=True)
    write_json(chosen.out, records)


if __name__ == "__main__":
    main()
