"""Answers without marked boundaries: sections of documents are hidden, and searched for.

    AUSCULT_DATA=... python benchmarks/spans.py [--model MODEL ...]

Documents of two or more sections are indexed as one passage each, without headings. Each query of the corpus, an entity
and an aspect, searches the documents that answer it, and the span found is compared with the section judged relevant
(of several in a document, with the best match):

    f1         harmonic mean of the shares of common characters, in the span and in the section
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

Settings, mainly the exponent and the limit of 20 sentences, were chosen on the NHS pages, which are also measured here,
and on training articles of Wikipedia; test documents of MedQuAD and Wikipedia were only used at the end. 95 % intervals
by bootstrap over documents. `milliseconds` is the time to find a span in a document with scored sentences, and in one
of 540 sentences.

Writes benchmarks/results/spans.json, one record per model and corpus. Five minutes on one core.
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
from auscult.encoders.contract import DocumentEncoder
from auscult.files.writing import write_json
from auscult.index.words import analyse
from auscult.ingest.building import build_index
from auscult.provenance import stamp
from auscult.search import Searcher
from auscult.search.evidence import question_terms
from auscult.search.spans import SpanFinder, score_document
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
    """A query, a document that answers it, and the answering sections, as ranges of sentences."""

    query: Query
    doc_id: str
    sections: tuple[Found, ...]


def hidden(document: Document) -> Document:
    """Return the document as one passage, without its headings."""
    passage = Passage(
        f"{document.doc_id}/all", "", document.passages[0].start, document.passages[-1].end, document.sentences
    )
    return replace(document, passages=(passage,))


def sections_of(document: Document) -> dict[str, Found]:
    """Return the sentences of each passage by its id; passages without sentences are left out."""
    spans, at = {}, 0
    for passage in document.passages:
        if passage.sentences:
            spans[passage.passage_id] = (at, at + len(passage.sentences))
        at += len(passage.sentences)
    return spans


def asked_of(name: str) -> tuple[dict[str, Document], list[Asked]]:
    """Return documents of several sections by id, and the questions about them."""
    corpus = open_corpus(name)
    documents = {document.doc_id: document for document in corpus.documents(SPLIT) if len(sections_of(document)) > 1}
    places = {
        passage_id: (doc_id, span)
        for doc_id, document in documents.items()
        for passage_id, span in sections_of(document).items()
    }
    relevant: dict[str, dict[str, list[Found]]] = {}
    for judgement in corpus.judgements(SPLIT):
        if judgement.relevance > 0 and judgement.passage_id in places:
            doc_id, span = places[judgement.passage_id]
            relevant.setdefault(judgement.query_id, {}).setdefault(doc_id, []).append(span)
    questions = [
        Asked(query, doc_id, tuple(spans))
        for query in corpus.queries(SPLIT)
        for doc_id, spans in relevant.get(query.query_id, {}).items()
    ]
    return documents, questions


def ways(
    searcher: Searcher, question: Asked, document: Document, window: int
) -> Iterator[tuple[str, SpanFinder, Found]]:
    """Yield the span that each way returns, with its finder."""
    scored = score_document(searcher, question.query, question.doc_id)
    vector = searcher.encode([question.query])[0]
    rows = np.concatenate(
        [
            searcher.index.reader.stored(row).vectors
            for row in searcher.index.reader.passages_of(_row(searcher, question))
        ]
    )
    vectors = SpanFinder(scored.document, searcher.shares(rows, vector)[:, 2])
    # The share of the question's words that a sentence holds, as `SentenceScore.score` of hits has it.
    shares = searcher.index.reader.words.shares(question_terms(question.query))
    contained = map(analyse.holding(shares), map(scored.document.slice, scored.document.sentences))
    held = np.array([sum(shares[term] for term in terms) for terms in contained])
    worded = SpanFinder(scored.document, scored.scores + held)
    for name, used in (("span", scored), ("span, vectors", vectors), ("span, words", worded)):
        if best := used.best():
            yield name, used, (best.first, best.last)
    count, best_sentence = len(scored.scores), int(np.argmax(scored.scores))
    windows = [(first, min(count, first + window)) for first in range(0, count, window)]
    yield "whole document", scored, (0, count)
    yield "window", scored, max(windows, key=lambda span: scored.mean(*span))
    yield "best sentence ±3", scored, (max(0, best_sentence - AROUND), min(count, best_sentence + AROUND + 1))
    yield "author's section", scored, max(sections_of(document).values(), key=lambda span: scored.mean(*span))


def _row(searcher: Searcher, asked: Asked) -> int:
    return searcher.index.reader.document_rows[asked.doc_id]


def agreement(span: Found, sections: Sequence[Found], finder_of: SpanFinder) -> tuple[float, float, float]:
    """Return the measures for the section that fits best."""
    starts, ends = finder_of.frame.starts, finder_of.frame.ends

    def measured(section: Found) -> tuple[float, float, float]:
        first, last = int(starts[span[0]]), int(ends[span[1] - 1])
        begin, end = int(starts[section[0]]), int(ends[section[1] - 1])
        common = max(0, min(last, end) - max(first, begin))
        off = [abs(one - other) for one, other in zip(span, section, strict=True)]
        f1 = 2 * common / (last - first + end - begin)
        return f1, float(np.mean([each == 0 for each in off])), float(np.mean([each <= 1 for each in off]))

    return max(map(measured, sections))


def intervals(values: Values, owners: Sequence[str]) -> tuple[Values, Values]:
    """Return means, (measures,), and those of samples of documents, (resamples, measures)."""
    names = sorted(set(owners))
    place = {name: number for number, name in enumerate(names)}
    rows = np.array([place[each] for each in owners])
    sums = np.stack([np.bincount(rows, column, len(names)) for column in values.T], axis=1)
    counts = np.bincount(rows, minlength=len(names))
    drawn = np.random.default_rng(SEED).multinomial(len(names), np.full(len(names), 1 / len(names)), RESAMPLES)
    return values.mean(axis=0), (drawn @ sums) / (drawn @ counts)[:, None]


def way_rows(values: Mapping[str, Values], owners: Sequence[str]) -> list[dict[str, Any]]:
    """Return the ways with their measures, and the span's advantage in F1 over each."""
    _, ours = intervals(values["span"], owners)
    rows = []
    for way, measured in values.items():
        means, drawn = intervals(measured, owners)
        row: dict[str, Any] = {"way": way}
        for number, measure in enumerate(MEASURES):
            row |= {measure: float(means[number]), **_interval(drawn[:, number], measure)}
        if way != "span":
            more = float((values["span"] - measured)[:, 0].mean())
            row |= {"span_better_by": more, **_interval(ours[:, 0] - drawn[:, 0], "span_better_by")}
        rows.append(row)
    return rows


def _interval(drawn: Values, name: str) -> dict[str, float]:
    low, high = np.quantile(drawn, (0.025, 0.975)).tolist()
    return {f"{name}_low": low, f"{name}_high": high}


def milliseconds(deed: Callable[[], object], times: int = 50) -> float:
    """Return the median milliseconds of a call."""
    taken = []
    for _ in range(times):
        begun = time.perf_counter()
        deed()
        taken.append(1000 * (time.perf_counter() - begun))
    return float(np.median(taken))


def time_of_long() -> float:
    """Return the milliseconds to find a span in 540 scored sentences."""
    text = "\n".join("One sentence stands here. Another one follows it. A third." for _ in range(LONG // 3))
    document = build_document(doc_id="long", title="Long", sections=[Section("", text)])
    scored = SpanFinder(document, np.random.default_rng(SEED).normal(size=len(document.sentences)))
    return milliseconds(scored.best)


def measured(encoder: DocumentEncoder, name: str) -> dict[str, Any]:
    """Return a model's record of a corpus, without provenance."""
    documents, questions = asked_of(name)
    lengths = [last - first for document in documents.values() for first, last in sections_of(document).values()]
    window = max(1, round(float(np.mean(lengths))))
    rows: dict[str, list[tuple[float, float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "index"
        build_index(map(hidden, documents.values()), encoder, place)
        searcher = Searcher.open(place, encoder)
        for question in questions:
            for way, scored, span in ways(searcher, question, documents[question.doc_id], window):
                rows.setdefault(way, []).append(agreement(span, question.sections, scored))
        some = score_document(searcher, questions[0].query, questions[0].doc_id)
        taken = milliseconds(some.best)
    owners = [question.doc_id for question in questions]
    return {
        "corpus": name,
        "split": SPLIT,
        "documents": len(documents),
        "questions": len(questions),
        "sentences_of_a_section": float(np.mean(lengths)),
        "ways": way_rows({way: np.array(values) for way, values in rows.items()}, owners),
        "milliseconds": {"first document": taken, f"{LONG} sentences": time_of_long()},
    }


def main() -> None:
    """Measure models, and write the records."""
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
