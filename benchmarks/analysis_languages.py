"""Terms of French and Spanish: BM25 with English terms, Snowball's stems, and the language's own analysis.

    AUSCULT_DATA=... python benchmarks/analysis_languages.py

Questions and documents are in the same language. A passage is its title, heading and text. Writes
benchmarks/results/analysis-languages.json: R@1 and nDCG@10 in percent with 95 % intervals over questions, and the
difference from English terms. It also counts doses in the documents whose decimal numbers stay one term.

No German collection is measured: there is none with a licence that allows it.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from auscult.documents.analysis import Analyzer
from auscult.files.json_text import parse_json
from auscult.files.writing import write_text
from auscult.provenance import find_revision, now
from auscult_lab.scorers.lexical import Bm25Config, Bm25Index
from benchmarks.resampling import Values, drawn, with_interval

RESULT = Path(__file__).resolve().parent / "results" / "analysis-languages.json"
SETS = (
    ("leaflets_fr_dev", "fr"),
    ("frwiki_dev", "fr"),
    ("casimedicos", "fr"),
    ("leaflets_es_dev", "es"),
    ("casimedicos", "es"),
)
DEPTH = 10
DOSES = 500
_DOSE = re.compile(r"(?<![\w.,/])(\d{1,3})[.,](\d{1,2}) ?(mg|g|ml|µg|mcg|UI|%)(?!\w)")


@dataclass(frozen=True)
class Collection:
    """Passages of one language, and its questions with their grades by the passage's row."""

    texts: list[str]
    questions: list[str]
    grades: list[Mapping[int, int]]


def records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of a gzip-compressed JSONL file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(parse_json, lines)


def read(folder: Path, language: str) -> Collection:
    """Return the passages and questions of a collection in one language."""
    texts: dict[str, str] = {}
    for document in records(folder / "documents.jsonl.gz"):
        if document["lang"] == language:
            for section in document["sections"]:
                texts[section["passage_id"]] = "\n".join((document["title"], section["heading"], section["text"]))
    rows = {passage: row for row, passage in enumerate(texts)}
    graded: dict[str, dict[int, int]] = {}
    with gzip.open(folder / "qrels.tsv.gz", "rt", encoding="utf-8") as lines:
        for query, passage, grade in (line.rstrip("\n").split("\t") for line in lines):
            if passage in rows:
                graded.setdefault(query, {})[rows[passage]] = int(grade)
    asked = [query for query in records(folder / "queries.jsonl.gz") if query["lang"] == language]
    asked = [query for query in asked if query["query_id"] in graded]
    return Collection(
        [*texts.values()], [query["text"] for query in asked], [graded[query["query_id"]] for query in asked]
    )


def analyzers(language: str) -> dict[str, Analyzer]:
    """Return the analysers that are compared."""
    return {
        "english": Analyzer(stop_words=True, stemming=True, normal_form=True),
        "snowball": Analyzer(stop_words=True, stemming=True, language=language),
        "own": Analyzer(stop_words=True, stemming=True, normal_form=True, language=language),
    }


def measure(collection: Collection, analyse: Analyzer) -> dict[str, Values]:
    """Return R@1 and nDCG@10 of each question."""
    config = Bm25Config()
    index = Bm25Index([analyse(text) for text in collection.texts], config.k1, config.b)
    first, gains = [], []
    for question, grades in zip(collection.questions, collection.grades, strict=True):
        order = np.argsort(-index.score_all(analyse(question)), kind="stable")[:DEPTH].tolist()
        first.append(float(grades.get(order[0], 0) > 0))
        gains.append(ndcg(order, grades))
    return {"r1": np.array(first), "ndcg10": np.array(gains)}


def ndcg(order: Sequence[int], grades: Mapping[int, int]) -> float:
    """Return nDCG@10 with linear gains."""
    discounts = 1 / np.log2(np.arange(DEPTH) + 2)
    ideal = sorted(grades.values(), reverse=True)[:DEPTH]
    found = [grades.get(row, 0) for row in order]
    return float(np.dot(found, discounts[: len(found)]) / np.dot(ideal, discounts[: len(ideal)]))


def compare(collection: Collection, language: str) -> dict[str, Any]:
    """Return the measures of each analyser, with intervals, and differences from English."""
    shares = drawn(np.random.default_rng(55), len(collection.questions))
    by_question = {name: measure(collection, analyse) for name, analyse in analyzers(language).items()}
    rows: dict[str, Any] = {}
    for name, measured in by_question.items():
        rows[name] = {
            key: with_interval(100 * values.mean(), 100 * shares @ values) for key, values in measured.items()
        }
        if name != "english":
            for key, values in measured.items():
                gain = values - by_question["english"][key]
                rows[name][f"{key}_more"] = with_interval(100 * gain.mean(), 100 * shares @ gain)
    return rows


def doses_kept(collection: Collection, language: str) -> dict[str, int]:
    """Return of how many written doses the number stays one term, and equals its other spelling."""
    doses = [match for text in collection.texts for match in _DOSE.finditer(text)]
    chosen = [doses[at] for at in np.linspace(0, len(doses) - 1, min(DOSES, len(doses))).astype(int)]
    analyse = analyzers(language)["own"]
    kept = 0
    for dose in chosen:
        whole, fraction, unit = dose.groups()
        term = f"{whole}.{fraction.rstrip('0')}".removesuffix(".")
        written = (f"{whole},{fraction} {unit}", f"{whole}.{fraction} {unit}", f"{whole},{fraction}{unit}")
        kept += all(analyse(text)[0] == term for text in written)
    return {"doses": len(chosen), "kept": kept}


def main() -> None:
    """Measure, and write the record."""
    if "AUSCULT_DATA" not in os.environ:
        sys.exit("set AUSCULT_DATA to the folder of the corpora")
    folder = Path(os.environ["AUSCULT_DATA"]) / "languages"
    sets, doses = [], {}
    for name, language in SETS:
        collection = read(folder / name, language)
        row = {
            "collection": name,
            "language": language,
            "passages": len(collection.texts),
            "questions": len(collection.questions),
            "analysers": compare(collection, language),
        }
        if name.startswith("leaflets"):
            doses[language] = doses_kept(collection, language)
        sets.append(row)
        means = {key: (each["r1"]["mean"], each["ndcg10"]["mean"]) for key, each in row["analysers"].items()}
        print(name, language, means, file=sys.stderr)
    record = {"kind": "analysis-languages", "date": now(), "revision": find_revision(), "sets": sets, "doses": doses}
    write_text(RESULT, json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
