"""Sentence ends in French, Spanish and German: F1 on hand-marked lines, beside English rules and sentencex alone.

    AUSCULT_DATA=... python benchmarks/sentence_languages.py [--grascco FOLDER] [--table-only]

The marked lines are in benchmarks/data/sentence_gold_{fr,es,de}.jsonl. They have no text: file, document, section,
character range, and a checksum. Only German lines of the stratum "written", written for this, have theirs. The other
German ones are of GraSCCo, made-up clinical notes (Modersohn et al. 2022, CC BY 4.0): --grascco names the folder
data/raw/11502329/grascco_phi_annotation_json of github.com/calgo-lab/redakt-grascco. Without it, their figures stay as
they were recorded.

Writes benchmarks/results/sentence-languages.json and, from it, a table of docs/explanation/sentence-splitting.md.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from auscult.catalogue import data_dir
from auscult.documents import default_splitter
from auscult.documents.splitting import SentencexSplitter, splitter_for
from auscult.files.json_text import parse_json
from auscult.files.writing import write_text
from auscult.provenance import find_revision, now
from benchmarks.analysis_languages import records
from benchmarks.sentence_splitting import DOCUMENT, HALVES, Range, framed

HERE = Path(__file__).resolve().parent
RESULT = HERE / "results" / "sentence-languages.json"
MARKS = ("<!-- generated languages: begin -->", "<!-- generated languages: end -->")
NAMES = {"fr": "French", "es": "Spanish", "de": "German, notes", "de written": "German, written"}


@dataclass(frozen=True)
class Line:
    """A marked line, and the ranges of its sentences."""

    half: str
    text: str
    sentences: list[Range]


def read_lines(language: str, data: Path, grascco: Path | None) -> dict[str, list[Line]]:
    """Return the marked lines of a language by set.

    Args:
        language: "de", "es" or "fr".
        data: Folder of the corpora.
        grascco: Folder of GraSCCo's JSON files; None to leave its lines out.
    """
    rows = [parse_json(line) for line in (HERE / "data" / f"sentence_gold_{language}.jsonl").read_text().splitlines()]
    if language == "de":
        written, of_notes = [], []
        for row in rows:
            sentences = [(begin, end) for begin, end in row["sentences"]]
            if row["stratum"] == "written":
                written.append(Line(row["half"], row["text"], sentences))
            elif grascco is not None:
                text = checked(row, note_of(grascco / f"{row['doc']}_phi.json"))
                of_notes.append(Line(row["half"], text, sentences))
        return {**({"de": of_notes} if of_notes else {}), "de written": written}
    texts = {}
    for file in sorted({row["file"] for row in rows}):
        for record in records(data / file):
            sections = [section["text"] for section in record.get("sections", ())] or [record["text"]]
            texts[file, record.get("doc_id") or record["id"]] = sections
    return {language: [line_of(row, texts[row["file"], row["doc"]][row["section"]]) for row in rows]}


@cache
def note_of(path: Path) -> str:
    """Return the text of a note of GraSCCo, as INCEpTION exports it."""
    features = parse_json(path.read_text(encoding="utf-8"))["%FEATURE_STRUCTURES"]
    text: str = next(each["sofaString"] for each in features if "sofaString" in each)
    return text


def checked(row: dict[str, Any], text: str) -> str:
    """Return the marked part of a text; exit if it is not the one that was marked."""
    part = text[row["start"] : row["end"]]
    if not hashlib.sha256(part.encode()).hexdigest().startswith(row["sha256"]):
        sys.exit(f"{row['doc']}: not the text that was marked")
    return part


def line_of(row: dict[str, Any], section: str) -> Line:
    """Return a marked line with its text, checked against its checksum."""
    text = checked(row, section)
    return Line(row["half"], text, [(begin - row["start"], end - row["start"]) for begin, end in row["sentences"]])


def f1(lines: list[Line], find: Callable[[str], list[Range]]) -> float:
    """Return the F1 of the ends of sentences within lines, in percent."""
    hits = total = 0
    for line in lines:
        # The end of a line is given; only earlier ends are decisions.
        marked = {end for _, end in line.sentences[:-1]}
        found = {end for _, end in find(line.text)[:-1]}
        hits += len(marked & found)
        total += len(marked) + len(found)
    return 200 * hits / total


def measure(language: str, data: Path, grascco: Path | None) -> dict[str, Any]:
    """Return the figures of a language's sets by half."""
    splitters = {
        "english": default_splitter(),
        "sentencex": SentencexSplitter(repairs=False, language=language),
        "own": splitter_for(language),
    }
    measured: dict[str, Any] = {}
    for name, lines in read_lines(language, data, grascco).items():
        measured[name] = {}
        for half in HALVES:
            chosen = [line for line in lines if line.half == half]
            measured[name][half] = {
                "lines": len(chosen),
                "ends": sum(len(line.sentences) - 1 for line in chosen),
                "f1": {key: round(f1(chosen, framed(splitter)), 2) for key, splitter in splitters.items()},
            }
    return measured


def table(result: dict[str, Any]) -> str:
    """Return the generated part of the document."""
    lines = [
        "| lines | half | lines | ends within | English rules | sentencex | **own** |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for name, halves in result["sets"].items():
        for half, row in halves.items():
            rates = " | ".join(f"{row['f1'][key]:.1f}" for key in ("english", "sentencex", "own"))
            lines.append(f"| {NAMES[name]} | {half} | {row['lines']} | {row['ends']} | {rates} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, then write the record and the table."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--table-only", action="store_true", help="only write the table again, from the record")
    options.add_argument("--grascco", type=Path, help="folder of GraSCCo's JSON files")
    chosen = options.parse_args()
    if not chosen.table_only:
        sets = parse_json(RESULT.read_text(encoding="utf-8"))["sets"]
        for language in ("fr", "es", "de"):
            sets |= measure(language, data_dir(), chosen.grascco)
        record = {"kind": "sentence-languages", "date": now(), "revision": find_revision(), "sets": sets}
        write_text(RESULT, json.dumps(record, indent=1) + "\n")
    before, rest = DOCUMENT.read_text(encoding="utf-8").split(MARKS[0])
    after = rest.split(MARKS[1])[1]
    result = parse_json(RESULT.read_text(encoding="utf-8"))
    write_text(DOCUMENT, f"{before}{MARKS[0]}\n{table(result)}\n{MARKS[1]}{after}")


if __name__ == "__main__":
    main()
