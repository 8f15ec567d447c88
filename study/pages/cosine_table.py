"""The table of question-weighted cosine: records of kind "weighted-cosine" beside galko2017, Table 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from auscult_lab.evaluation.published_figures import published_content
from auscult_lab.evaluation.tables import TextTable, model_letters_of, percent
from study.epochs import epoch_notes, mark_of

MEASURES = ("MAP@10", "P@10", "R@10", "F1@10", "F1 of means")
_PAPERS_NAMES = {"MatchPyramid": "MP"}


def cosine_table(records: Sequence[Mapping[str, Any]]) -> TextTable:
    """One row a model, in order of MAP, then the published models that no record repeats.

    Args:
        records: Of one corpus and one comparison, each with "model", "measures" (fractions), "better_than" (measure ->
            names of the models that it beats significantly) and "ms_per_query".
    """
    ordered = sorted(records, key=lambda each: (each["measures"].get("MAP@10", 0.0), each["model"]))
    letters = model_letters_of([each["model"] for each in ordered])
    published = published_content("galko2017_table1.json")
    paper = {row["model"]: row["measures"]["bioasq"] for row in published["rows"]}
    shown = [name for name in MEASURES if any(name in each["measures"] for each in ordered)]
    compared = [name for name in shown if any(name in figures for figures in paper.values())]
    rows = []
    for record in ordered:
        figures = paper.pop(_PAPERS_NAMES.get(record["model"], record["model"]), {})
        cells = [_cell(record, name, letters) for name in shown] + [_published(figures, name) for name in compared]
        rows.append(
            (
                f"{letters.get(record['model'], '')}  {record['model']}{mark_of(_training(record))}".strip(),
                *cells,
                _cost(record),
            )
        )
    rows += [
        (model, *[""] * len(shown), *(_published(figures, name) for name in compared), "")
        for model, figures in paper.items()
    ]
    columns = ("Model", *shown, *(f"publ. {name}" for name in compared), "ms per query")
    return TextTable("", columns, tuple(rows), (*_notes(ordered[0], published), *epoch_notes(map(_training, ordered))))


def _notes(record: Mapping[str, Any], published: Mapping[str, Any]) -> tuple[str, ...]:
    sizes = [f"{record[name]:,} {name}" for name in ("queries", "passages") if isinstance(record.get(name), int)]
    return (
        f"{', '.join(sizes)}. Measures in percent." if sizes else "Measures in percent.",
        "Letters after a figure: significantly better than those models (Wilcoxon signed-rank, p < 0.05, Holm).",
        f"Published: {published['citation']}, {published['table']}, another test set and other candidates. "
        f"{published['note']}",
    )


def _training(record: Mapping[str, Any]) -> Mapping[str, Any]:
    training: Mapping[str, Any] = record.get("training") or {}
    return training


def _cell(record: Mapping[str, Any], name: str, letters: Mapping[str, str]) -> str:
    if name not in record["measures"]:
        return ""
    beaten = record.get("better_than", {}).get(name, [])
    marks = "".join(sorted(letters[model] for model in beaten if model in letters))
    return f"{percent(record['measures'][name])} {marks}".strip()


def _published(figures: Mapping[str, float], name: str) -> str:
    return f"{100 * figures[name]:.1f}" if name in figures else ""


def _cost(record: Mapping[str, Any]) -> str:
    return f"{record['ms_per_query']:.2f}" if "ms_per_query" in record else ""
