"""Recognition of headings in clinical notes: precision and recall by template style, and speed on one core.

    AUSCULT_DATA=... python benchmarks/note_headings.py [--development]

Notes of MTSamples and ACI-Bench have separate headings and texts. They are rendered as raw text in the styles of their
sources (MTSamples: "HEADING: text"; ACI-Bench: a heading on its own line, an empty line, text) and in other common
styles, with unchanged texts; then headings are searched for. Headings inside a section's text are not in the data, and
count against precision. A heading counts as found where its start and its words are right. The rules were tuned on the
development half of the notes; the figures are for the other half.

Writes benchmarks/results/note_headings.json. No text of a note is kept.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import platform
import random
import re
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from auscult.documents.note_headings import find_sections
from auscult.files.writing import write_text
from auscult.provenance import describe_hardware, find_revision, now

RESULT = Path(__file__).resolve().parent / "results" / "note_headings.json"
FILES = {"MTSamples": "clinical_notes/mtsamples.jsonl.gz", "ACI-Bench": "clinical_notes/aci_bench.jsonl.gz"}
SEED = 4
RESAMPLES = 1000
REPEATS = 5

_NUMBER = re.compile(r"(?:\(?\d{1,2}|[IVX]{1,4}|[A-H])[.)]\s+")
_SMALL = {"and", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"}

Heading = tuple[int, str]


@dataclass(frozen=True)
class Note:
    """A note of the data: headings (may be empty) and texts."""

    source: str
    sections: tuple[tuple[str, str], ...]


def is_development(identifier: str) -> bool:
    """Check whether a note is in the development half."""
    return hashlib.sha256(identifier.encode()).digest()[0] % 2 == 0


def read_notes(data: Path, *, development: bool) -> list[Note]:
    """Return the notes of one half that have at least one heading."""
    notes = []
    for source, file in FILES.items():
        with gzip.open(data / file, "rt", encoding="utf-8") as lines:
            for record in map(json.loads, lines):
                # Numbers are not part of a heading's words, as in `find`.
                pairs = [
                    (_NUMBER.sub("", (each.get("heading") or "").strip(), count=1), each["text"])
                    for each in record["sections"]
                ]
                if any(heading for heading, _ in pairs) and is_development(record["note_id"]) == development:
                    notes.append(Note(source, tuple(pairs)))
    return notes


def title_case(heading: str) -> str:
    """Return `PAST MEDICAL HISTORY` as `Past Medical History`; abbreviations stay as they are."""

    def word(match: re.Match[str]) -> str:
        word = match[0]
        if word.lower() in _SMALL:
            return word.lower() if match.start() else word.capitalize()
        return word if len(word) <= 2 or not re.search("[AEIOUY]", word) else word.capitalize()

    return re.sub(r"[A-Z]+", word, heading) if heading.isupper() else heading


def render(
    note: Note, before: str, behind: str, separator: str, words: Callable[[str], str] = str
) -> tuple[str, list[Heading]]:
    """Return a note as raw text, and its headings with their offsets.

    Args:
        note: The note.
        before: Text before a heading; `{}` is the section's number.
        behind: Text after a heading.
        separator: Text after a section's text.
        words: Function that formats a heading.
    """
    text, headings = "", []
    for number, (heading, body) in enumerate(note.sections, start=1):
        if heading:
            text += before.format(number)
            headings.append((len(text), words(heading)))
            text += words(heading) + behind
        text += body + separator
    return text, headings


STYLES: dict[str, Callable[[Note], tuple[str, list[Heading]]]] = {
    "HEADING: text": lambda note: render(note, "", ": ", "\n\n"),
    "HEADING: on its own line": lambda note: render(note, "", ":\n", "\n\n"),
    "HEADING alone, empty line": lambda note: render(note, "", "\n\n", "\n\n"),
    "HEADING alone, text below": lambda note: render(note, "", "\n", "\n\n"),
    "1. HEADING: text": lambda note: render(note, "{}. ", ": ", "\n"),
    "Heading: text": lambda note: render(note, "", ": ", "\n\n", title_case),
    "Heading alone, text below": lambda note: render(note, "", "\n", "\n\n", title_case),
    "HEADING: text HEADING: text, inline": lambda note: render(note, "", ": ", " "),
}

Counts = tuple[int, int, int]


def measures(rows: list[Counts]) -> tuple[float, float, float]:
    """Return precision, recall and F1 over notes of (right, found, given) headings."""
    right, found, given = (sum(column) for column in zip(*rows, strict=True))
    precision, recall = right / max(found, 1), right / max(given, 1)
    return precision, recall, 2 * precision * recall / max(precision + recall, 1e-12)


def with_intervals(rows: list[Counts]) -> dict[str, Any]:
    """Return measures with 95 % intervals: percentiles over notes drawn with replacement."""
    draw = random.Random(SEED)
    samples = [measures(draw.choices(rows, k=len(rows))) for _ in range(RESAMPLES)]
    result: dict[str, Any] = {"notes": len(rows), "headings": sum(row[2] for row in rows)}
    for name, value, drawn in zip(
        ("precision", "recall", "f1"), measures(rows), zip(*samples, strict=True), strict=True
    ):
        ordered = sorted(drawn)
        ends = [ordered[round(share * (RESAMPLES - 1))] for share in (0.025, 0.975)]
        result[name] = round(value, 4)
        result[f"{name}_interval"] = [round(end, 4) for end in ends]
    return result


def find(text: str) -> list[Heading]:
    """Return the headings recognised in a text."""
    return [(found.heading_start, found.heading) for found in find_sections(text) if found.heading]


def speed(texts: list[str]) -> float:
    """Return megabytes per second of processor time, the median of several passes after a warm-up."""
    size = sum(len(text.encode()) for text in texts) / 1e6
    rates = []
    for _ in range(REPEATS + 1):
        begin = time.process_time()
        for text in texts:
            find_sections(text)
        rates.append(size / (time.process_time() - begin))
    return statistics.median(rates[1:])


def measure(notes: list[Note], *, mistakes: bool) -> dict[str, Any]:
    """Measure every style; with `mistakes`, also print the most frequent ones (development half only)."""
    rows = []
    for style, written in STYLES.items():
        counts: dict[str, list[Counts]] = {source: [] for source in FILES}
        wrong: Counter[tuple[str, str]] = Counter()
        texts = []
        for note in notes:
            text, given = written(note)
            texts.append(text)
            found = find(text)
            counts[note.source].append((len(set(found) & set(given)), len(found), len(given)))
            wrong.update(("too many", words) for _, words in set(found) - set(given))
            wrong.update(("missed", words) for _, words in set(given) - set(found))
        every = [row for of_source in counts.values() for row in of_source]
        rows.append(
            {
                "style": style,
                **with_intervals(every),
                "by_source": {source: with_intervals(of_source) for source, of_source in counts.items()},
                "megabytes_per_second": round(speed(texts), 1),
            }
        )
        figures = [f"{rows[-1][name]:.3f}" for name in ("precision", "recall", "f1")]
        print(f"{style:40}", *figures, rows[-1]["megabytes_per_second"], "MB/s", file=sys.stderr)
        if mistakes:
            for kind in ("too many", "missed"):
                most = [(words, n) for (what, words), n in wrong.most_common() if what == kind][:60]
                print("   ", kind, most, file=sys.stderr)
    return {
        "kind": "note-headings",
        "date": now(),
        "revision": find_revision(),
        "python": platform.python_version(),
        "hardware": describe_hardware(),
        "cores_used": 1,
        "seed": SEED,
        "half": "development" if mistakes else "test",
        "notes": len(notes),
        "resamples": RESAMPLES,
        "speed_repeats": REPEATS,
        "styles": rows,
    }


def main() -> None:
    """Measure, and write the result file; on the development half, print mistakes instead."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--development", action="store_true", help="measure the half that rules are tuned on")
    chosen = options.parse_args()
    if "AUSCULT_DATA" not in os.environ:
        sys.exit("set AUSCULT_DATA to the folder of the corpora")
    notes = read_notes(Path(os.environ["AUSCULT_DATA"]), development=chosen.development)
    result = measure(notes, mistakes=chosen.development)
    if not chosen.development:
        write_text(RESULT, json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
