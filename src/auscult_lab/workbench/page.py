"""The report as a self-contained HTML page: no server, no network, no library.

Style, script and data are in the page. Its content security policy forbids all requests and all scripts but its own, by
hash. The user's texts are escaped in the HTML, and the script makes text nodes of them, never markup, so that a passage
with `<script>` is shown as text.

The data has every passage once, and relevance and highlights once for each question and passage, for all models. Two
thousand questions with ten answers from ten models are thus a file that a browser opens quickly.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

from auscult.errors import ConfigError
from auscult.files.writing import whole_or_nothing
from auscult_lab.evaluation.bench_tables import compressed
from auscult_lab.evaluation.published_figures import PublishedTable, published_references
from auscult_lab.evaluation.records import EvaluationRecord, GroupRecord
from auscult_lab.evaluation.tables import beaten_by, model_letters
from auscult_lab.workbench.assemble import AskedQuestion, ReportContent
from auscult_lab.workbench.conclusion import best_first, conclude, deciding_measure, short_names

_SCRIPTS = ("state.js", "results.js", "charts.js", "questions.js", "published.js", "start.js")
"""In the order in which they need each other; together one script."""


def write_page(content: ReportContent, path: Path) -> None:
    """Write a report atomically.

    Args:
        content: Content of the report.
        path: Path of the HTML file; a missing folder is created.

    Raises:
        ConfigError: There is no record: nothing was compared.
        DataError: The place cannot be written to.
    """
    if not content.records:
        raise ConfigError("at least one evaluated model", "none", "evaluate a model first")
    page = _fill_template(content)
    with whole_or_nothing(path) as partial:
        # A lone surrogate, which JSON input may contain, has no UTF-8.
        partial.write_text(page, encoding="utf-8", errors="replace")


def _fill_template(content: ReportContent) -> str:
    script = "\n".join(['"use strict";', *map(_read_layout, _SCRIPTS)])
    style = _read_layout("page.css")
    headline, *sentences = conclude(content.records)
    data = json.dumps(page_data(content), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    warnings = "".join(f"<li>{escape(warning)}</li>" for warning in content.warnings)
    if warnings:
        title = "<h2>What to know about the data</h2>"
        warnings = f'<aside class="warnings" aria-label="Warnings">{title}<ul>{warnings}</ul></aside>'
    return Template(_read_layout("page.html")).substitute(
        policy=f"default-src 'none'; script-src {_hash_source(script)}; style-src {_hash_source(style)}; "
        "base-uri 'none'; form-action 'none'",
        style=style,
        script=script,
        # Without "<", it cannot end the script element or begin a comment.
        data=data.replace("<", "\\u003c"),
        title=escape(content.title),
        version=escape(content.version),
        date=escape(content.date),
        day=escape(content.date[:10]),
        counts="".join(
            f"<div><dt>{escape(name)}</dt><dd>{number:,}</dd></div>" for name, number in content.counts.items()
        ),
        warnings=warnings,
        headline=escape(headline),
        conclusion=escape(" ".join(sentences)),
        hardware=_list_hardware("Measured on", (record.hardware for record in content.records))
        + _list_hardware(" Trained on", (str(record.training.get("hardware") or "") for record in content.records)),
    )


def _list_hardware(what: str, values: Iterable[str]) -> str:
    found = sorted({value for value in values if value})
    return f"{what} {escape('; '.join(found))}." if found else ""


def _hash_source(text: str) -> str:
    """Return a source of a content security policy that allows only this text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _read_layout(name: str) -> str:
    return resources.files("auscult_lab.workbench").joinpath("layout", name).read_text(encoding="utf-8")


def page_data(content: ReportContent) -> dict[str, Any]:
    """Build the data for the page's script; `layout/state.js` describes its keys."""
    records = best_first(content.records)
    labels = [record.label for record in records]
    return {
        "main": deciding_measure(records),
        "measures": _order_measures(records),
        "models": _describe_models(records),
        "breakdowns": _describe_breakdowns(records),
        **_describe_questions(content.questions, labels),
        "published": _describe_papers(content.published, records),
    }


def _order_measures(records: Sequence[EvaluationRecord]) -> list[str]:
    names = list(dict.fromkeys(name for record in records for name in record.measures))
    names.sort(key=lambda name: name != deciding_measure(records))
    # "MAP" repeats "AP".
    return [name for name in names if name != "AP" or "MAP" not in names]


def _describe_models(records: Sequence[EvaluationRecord]) -> list[dict[str, Any]]:
    letters, called = model_letters(records), short_names(records)
    return [
        {
            "name": called[record.label],
            "letter": letters.get(record.label, ""),
            "values": {
                name: [_round(each) for each in (value, *record.intervals.get(name, ()))]
                for name, value in record.measures.items()
            },
            "beats": {
                name: _describe_beaten(record, name, letters, called)
                for name in record.measures
                if beaten_by(record, name)
            },
            "minutes": _training_cost(record, "seconds", 60.0),
            "parameters": _training_cost(record, "parameters"),
            "ms": _round(record.ms_per_query),
            "bestEpoch": record.training.get("best_epoch"),
            "curves": _collect_curves(record.training.get("history") or []),
        }
        for record in records
    ]


def _training_cost(record: EvaluationRecord, name: str, per: float = 1.0) -> float | None:
    """Return a training figure: 0 for untrained models, None where the record does not have it."""
    value = 0.0 if record.track == "untrained" else record.training.get(name)
    return None if value is None else _round(value / per)


def _describe_beaten(
    record: EvaluationRecord, name: str, letters: Mapping[str, str], called: Mapping[str, str]
) -> dict[str, Any]:
    beaten = [label for label in beaten_by(record, name) if label in called]
    return {
        "letters": compressed([letters[label] for label in beaten if label in letters]),
        "names": sorted(called[label] for label in beaten),
    }


def _collect_curves(history: Sequence[Mapping[str, Any]]) -> dict[str, list[float | None]]:
    names = dict.fromkeys(
        name for epoch in history for name in epoch if name == "loss" or name.startswith("validation_")
    )
    return {name: [_round(epoch.get(name)) for epoch in history] for name in names}


def _describe_breakdowns(records: Sequence[EvaluationRecord]) -> list[dict[str, Any]]:
    named = {
        "question type": [record.by_question_type for record in records],
        "length in words": [record.by_length for record in records],
        "source": [record.by_source for record in records],
        "aspect": [record.by_aspect for record in records],
    }
    return [
        _describe_breakdown(name, groups) for name, groups in named.items() if any(len(each) > 1 for each in groups)
    ]


def _describe_breakdown(name: str, by_model: Sequence[Sequence[GroupRecord]]) -> dict[str, Any]:
    queries = {group.name: group.queries for groups in by_model for group in groups}
    measures = dict.fromkeys(name for groups in by_model for group in groups for name in group.measures)
    values = [{group.name: group.measures for group in groups} for groups in by_model]
    return {
        "name": name,
        "groups": [{"name": each, "queries": number} for each, number in queries.items()],
        "measures": {
            measure: [[_round(own.get(group, {}).get(measure)) for group in queries] for own in values]
            for measure in measures
            if measure != "MAP" or "AP" not in measures
        },
    }


def _describe_questions(questions: Sequence[AskedQuestion], labels: Sequence[str]) -> dict[str, Any]:
    passages: dict[tuple[str, str, str], int] = {}
    answering = [label for label in labels if any(label in question.answers for question in questions)]
    measures = (values for question in questions for values in question.measures.values())
    names = list(dict.fromkeys(name for values in measures for name in values))
    # The first measure is the page's default: AP, whose mean is MAP.
    names.sort(key=lambda name: name != "AP")
    rows = []
    for question in questions:
        candidates: dict[int, list[Any]] = {}
        rankings = []
        for label in answering:
            ranking = []
            for answer in question.answers.get(label, ()):
                number = passages.setdefault((answer.passage_id, answer.title, answer.text), len(passages))
                flat = [place for span in answer.highlights for place in span]
                candidates.setdefault(number, [number, answer.relevance, flat])
                ranking.append([list(candidates).index(number), _round(answer.score)])
            rankings.append(ranking)
        own = [question.measures.get(label, {}) for label in answering]
        rows.append(
            {
                "id": question.query_id,
                "text": question.text,
                "relevant": question.relevant,
                "candidates": list(candidates.values()),
                "rankings": rankings,
                "values": [[_round(values.get(name)) for name in names] for values in own],
            }
        )
    return {
        "passages": list(passages),
        "questions": rows,
        "answering": [labels.index(label) for label in answering],
        "questionMeasures": names,
    }


def _describe_papers(tables: Iterable[PublishedTable], records: Sequence[EvaluationRecord]) -> list[dict[str, Any]]:
    references = published_references()
    papers: dict[str, list[dict[str, Any]]] = {}
    for table in tables:
        here = {found.model for record in records if (found := table.find(record.model))}
        about = [table.corpus, table.track]
        about += [f"{table.candidates} candidates per question"] if table.candidates else []
        about += [f"{table.queries:,} questions"] if table.queries else []
        rows = [
            [row.group, row.model, [_round(row.measures.get(name)) for name in table.measures], row.model in here]
            for row in table.rows
        ]
        papers.setdefault(table.citation, []).append(
            {"table": table.table, "about": about, "measures": table.measures, "rows": rows, "note": table.note}
        )
    return [{"key": key, "title": key, **references.get(key, {}), "tables": own} for key, own in papers.items()]


def _round(value: float | None) -> float | None:
    """Round to six significant digits; return None for a missing or infinite value (of a diverged training)."""
    return float(f"{value:.6g}") if value is not None and math.isfinite(value) else None
