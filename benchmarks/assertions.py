"""Assertions about entities in French, Spanish and German sentences: accuracy, and precision and recall by assertion.

    AUSCULT_DATA=... python benchmarks/assertions.py [--development]

The French and Spanish sentences are of case reports (CC BY, `languages/case_reports.jsonl.gz`), drawn at random, and by
words of kinship, of the past, of doubt and of denial, so that each assertion is there. `data/assertion_gold.jsonl` has
where they stand, an entity in each, and what is said of it, marked by reading. No text of them is kept. The German ones
(`tests/data/assertion_german.tsv`) were written, as no openly licensed German notes were found.

The parts "tuning" and "test" were marked before any rule was written, and the rules were adjusted on "tuning". Their
writer had seen "test", too. So "second" was drawn and marked when the rules were done; then they were adjusted on it,
and "third" was drawn and marked. What the rules read right of each at first:

| part | French | Spanish | German |
|---|---|---|---|
| test | 49 of 50 | 49 of 51 | 49 of 51 |
| second | 63 of 68 | 58 of 70 | |
| third | 38 of 43 | 47 of 49 | |

Afterwards a few more rules were added for what was missed. So the record says what the rules read today, and this
table what they do with sentences that nobody has seen. One reader marked all, and wrote the rules, too. "Compatible
con" counts as hypothetical, which "consistent with" does not in English.

Writes benchmarks/results/assertions.json.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import json
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple, get_args

from auscult.concepts.context import find_contexts
from auscult.files.json_text import parse_json
from auscult.files.writing import write_text
from auscult.provenance import describe_hardware, find_revision, now
from auscult.schema import Assertion
from auscult.search.assertions import first_assertion

HERE: Final = Path(__file__).resolve().parent
RESULT: Final = HERE / "results" / "assertions.json"
GOLD: Final = HERE / "data" / "assertion_gold.jsonl"
GERMAN: Final = HERE.parent / "tests" / "data" / "assertion_german.tsv"
LANGUAGES: Final = ("fr", "es", "de")
PARTS: Final = ("tuning", "test", "second", "third")


class Marked(NamedTuple):
    """A sentence with an entity and what it says of it."""

    language: str
    part: str
    sentence: str
    entity: tuple[int, int]
    assertion: str


def read_marked(data: Path) -> Iterator[Marked]:
    """Yield the marked sentences.

    Raises:
        SystemExit: A sentence is not what was marked.
    """
    with gzip.open(data / "languages" / "case_reports.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = {report["id"]: report["text"] for report in map(parse_json, lines)}
    for row in map(parse_json, GOLD.read_text(encoding="utf-8").splitlines()):
        sentence = texts[row["doc"]][row["start"] : row["end"]]
        if not hashlib.sha256(sentence.encode()).hexdigest().startswith(row["sha256"]):
            sys.exit(f"{row['doc']} is not the report that was marked; get the file of the data's MANIFEST.tsv")
        start, end = (at - row["start"] for at in row["entity"])
        yield Marked(row["language"], row["part"], sentence, (start, end), row["assertion"])
    with GERMAN.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            start = row["sentence"].index(row["entity"])
            yield Marked("de", row["part"], row["sentence"], (start, start + len(row["entity"])), row["status"])


def read_assertion(marked: Marked, language: str) -> str:
    """Return what the rules of a language read in a sentence."""
    (contexts,) = find_contexts(marked.sentence, [marked.entity], language=language)
    return first_assertion(contexts)


def measure(rows: list[Marked], language: str) -> dict[str, Any]:
    """Return the share of right readings, and per assertion how many were read, marked, and both."""
    read = [read_assertion(row, language) for row in rows]
    right = sum(found == row.assertion for found, row in zip(read, rows, strict=True))
    by_assertion = {}
    for each in get_args(Assertion):
        both = sum(found == each == row.assertion for found, row in zip(read, rows, strict=True))
        by_assertion[each] = {
            "marked": sum(row.assertion == each for row in rows),
            "read": read.count(each),
            "both": both,
        }
    return {
        "sentences": len(rows),
        "right": right,
        "accuracy": round(right / len(rows), 4),
        "by_assertion": by_assertion,
    }


def show_mistakes(rows: list[Marked]) -> None:
    """Print the sentences that were read otherwise than marked."""
    for row in rows:
        found = read_assertion(row, row.language)
        if found != row.assertion:
            start, end = row.entity
            shown = f"{row.sentence[:start]}[{row.sentence[start:end]}]{row.sentence[end:]}".strip()
            print(f"{row.language} {found}, not {row.assertion}: {shown}", file=sys.stderr)


def main() -> None:
    """Measure, and write the result file; with --development, print mistakes of the tuning part instead."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument(
        "--development", action="store_true", help="print mistakes of the part that rules are tuned on"
    )
    chosen = options.parse_args()
    if "AUSCULT_DATA" not in os.environ:
        sys.exit("set AUSCULT_DATA to the folder of the corpora")
    marked = list(read_marked(Path(os.environ["AUSCULT_DATA"])))
    if chosen.development:
        show_mistakes([row for row in marked if row.part == "tuning"])
    results = []
    for language in LANGUAGES:
        for part in PARTS[:1] if chosen.development else PARTS:
            rows = [row for row in marked if (row.language, row.part) == (language, part)]
            if not rows:
                continue
            of_part = {
                "language": language,
                "part": part,
                **measure(rows, language),
                "read_as_english": measure(rows, "en"),
            }
            results.append(of_part)
            figures = of_part["accuracy"], of_part["read_as_english"]["accuracy"]
            print(language, part, len(rows), *figures, file=sys.stderr)
    if not chosen.development:
        record = {
            "kind": "assertions",
            "date": now(),
            "revision": find_revision(),
            "python": platform.python_version(),
            "hardware": describe_hardware(),
            "results": results,
        }
        write_text(RESULT, json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
