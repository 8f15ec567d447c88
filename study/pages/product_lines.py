"""What each part of the library costs, a line a record; everything else that was measured is in the tables."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from auscult_lab.evaluation.tables import TextTable
from study.pages.picked import value_at
from study.pages.plain_values import plain

_FIGURE = re.compile(r"\{([^{}]+)\}")


@dataclass(frozen=True, slots=True)
class Line:
    """The line of a kind of records.

    Attributes:
        part: What was measured.
        figures: What came out. In both, braces hold the place of a figure (`picked.value_at`).
    """

    part: str
    figures: str


_SHOWN = (
    "Word", "OpenDocument text", "RTF", "Excel", "OpenDocument sheet", "PowerPoint", "OpenDocument slides", "HTML",
    "EPUB", "PDF", "text", "Markdown", "table", "JSON", "mail",
)  # fmt: skip
LINES: Mapping[str, Line] = {
    "indexing": Line("{title}", "{sentences_per_second} sentences a second, {peak_memory_mb} MB of memory"),
    "search": Line(
        "{title}",
        "{p50_ms} ms a search (p95 {p95_ms}); all sentence vectors by NumPy "
        "{contenders / contender=all sentence vectors, numpy / p50_ms}; BM25 "
        "{contenders / contender=bm25s 0.3.16 / p50_ms}",
    ),
    "sentence-splitting": Line(
        "[Sentence splitting](../explanation/sentence-splitting.md)",
        "F1 of boundaries {splitters / splitter=sentencex+repair / framed / all / f1}, "
        "{splitters / splitter=sentencex+repair / sentences_per_second} sentences a second",
    ),
    "shown_words": Line(
        "Random files of {kinds / kind=Word / documents} a kind that differ from what they show",
        ", ".join(f"{kind} {{kinds / kind={kind} / differing}}" for kind in _SHOWN),
    ),
    "reranking": Line(
        "Ranking {candidates} candidates, ms",
        "BM25 {rows / model=BM25 / ms_per_query}, KNRM {rows / model=KNRM / ms_per_query}, "
        "CONV-KNRM {rows / model=CONV-KNRM / ms_per_query}, HAR {rows / model=HAR / ms_per_query}",
    ),
    "capr-latency": Line(
        "Encoders, {tokens_of_a_passage} tokens a passage, 64 passages, ms",
        "bi {points / model=bi&form=float32&passages=64 / median_ms}, "
        "poly {points / model=poly&form=float32&passages=64 / median_ms}, "
        "cross {points / model=cross&form=float32&passages=64 / median_ms}",
    ),
    "capr-forms": Line(
        "R@1 of encoders in 32 and in 8 bits",
        "bi {forms / model=bi&form=float32 / R@1} and {forms / model=bi&form=onnx-int8 / R@1}; "
        "cross {forms / model=cross&form=float32 / R@1} and {forms / model=cross&form=onnx-int8 / R@1}",
    ),
    "workbench": Line(
        "`auscult try`: {questions} questions, {passages} passages",
        "{seconds} s from files to the page; MAP of BM25 {models / model=BM25 / MAP}, QL {models / model=QL / MAP}, "
        "DRMM-TKS {models / model=DRMM-TKS / MAP}",
    ),
    "adapting": Line("`auscult train --notes`", "{minutes} minutes for {passages} passages of notes"),
    "note-headings": Line(
        "Headings of {notes} notes, F1",
        "HEADING: text {styles / style=HEADING: text / f1}; Heading alone "
        "{styles / style=Heading alone, text below / f1}",
    ),
    "entity_recognition": Line(
        "{title}",
        "{recognizers / recognizer=dictionary / megabytes_per_second} MB a second; all labels of {megabytes} MB in "
        "{labelling_seconds} s",
    ),
    "entity_linking": Line(
        "{title}",
        "{graphs / graph=knowledge-base / names} names, ready in {graphs / graph=knowledge-base / build_seconds} s",
    ),
    "knowledge_vectors": Line(
        "{title}, MRR",
        "{runs / graph=knowledge-base / MRR}; by frequency alone {runs / graph=knowledge-base / frequency MRR}",
    ),
}
"""In the order of the page."""


def product_table(others: Mapping[str, Sequence[Mapping[str, Any]]]) -> TextTable:
    """Build the table of all kinds that have a line.

    Args:
        others: Records by kind.

    Raises:
        DataError: A record lacks a figure of its line.
    """
    rows = tuple(
        (_filled(line.part, record), _filled(line.figures, record))
        for kind, line in LINES.items()
        for record in others.get(kind, ())
    )
    note = "Dates, hardware and all other figures: [tables](../../benchmarks/results/tables/)."
    return TextTable("", ("Part", "Figures"), rows, (note,))


def _filled(text: str, record: Mapping[str, Any]) -> str:
    return _FIGURE.sub(lambda found: plain(value_at(record, found[1])), text)
