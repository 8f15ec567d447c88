"""Every recorded figure, as tables for programs. The pages show only some of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from auscult_lab.evaluation.pre_trained import encoder_cell
from auscult_lab.evaluation.records import EvaluationRecord, GroupRecord
from auscult_lab.evaluation.tables import SHOWN, percent, repeated_row
from study.epochs import mark_of
from study.pages.cosine_table import published_cosine
from study.pages.elements import element_rows
from study.pages.how_made import experiment_of, training_minutes
from study.pages.plain_values import flatten, is_table, plain
from study.pages.reading import Filed, Results
from study.published import published_table

Row = Mapping[str, str]
_UNTOLD = ("kind", "history")


def full_tables(results: Results) -> dict[str, list[Row]]:
    """Return tables by name: models, groups of queries, differences and trainings, then other kinds of records.

    Measures are in percent. Columns that a row lacks are empty in the file.
    """
    makers: dict[str, Callable[[EvaluationRecord], Iterable[Row]]] = {
        "models": _model,
        "groups": _groups,
        "differences": _differences,
        "learning": _learning,
    }
    tables: dict[str, list[Row]] = {
        name: [{**_key(each), **row} for each in results.evaluations for row in make(each.record)]
        for name, make in makers.items()
    }
    tables["elements"] = [*element_rows()]
    for kind, records in results.others.items():
        if kind == "training":
            tables[kind] = [_training(record) for record in records]
        elif kind == "weighted-cosine":
            tables[kind] = [_cosine(record) for record in records]
        else:
            tables.update(_of_kind(table_name(kind), records))
    return {name: rows for name, rows in tables.items() if rows}


def table_name(kind: str) -> str:
    """Return the name of the table of a kind of records."""
    return kind.replace("_", "-")


def as_csv(rows: Sequence[Row]) -> str:
    """Return a table as comma-separated values, with the columns of all its rows."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def _key(filed: Filed) -> dict[str, str]:
    asked = filed.record.asked
    task = {"corpus": asked.corpus, "protocol": asked.protocol, "split": asked.split, "subset": asked.subset}
    return {"record": filed.file, **task, "track": filed.record.track, "model": filed.record.model}


def _model(record: EvaluationRecord) -> Iterable[Row]:
    row = {"queries": str(record.queries), "candidates": plain(record.candidates)}
    row |= {name: percent(value) for name, value in record.measures.items()}
    for name, (low, high) in record.intervals.items():
        row |= {f"{name} low": percent(low), f"{name} high": percent(high)}
    for name in (*SHOWN, "RR"):
        beaten = record.better_than.get("AP" if name == "MAP" else name, [])
        row[f"better than, by {name}"] = "; ".join(beaten)
    row |= {f"{part} match": percent(rate) for part, rate in record.match_rates.items()}
    lasted, microseconds = training_minutes(record.training), record.microseconds_per_candidate
    row |= _published(record)
    yield row | {
        "experiment": experiment_of(record),
        "training, min": "" if lasted is None else f"{lasted:.1f}",
        "parameters": plain(record.training.get("parameters")),
        "ms per query": f"{record.ms_per_query:.2f}",
        "µs per candidate": "" if microseconds is None else f"{microseconds:.1f}",
        "reading the collection, s": f"{record.prepare_seconds:.1f}",
        "track in words": record.track_told,
        "encoder": encoder_cell(record.training),
        "precision": record.precision,
        "seed": str(record.seed),
        "version": f"{record.version} {record.revision}".strip(),
        "date": record.date[:10],
        "hardware": record.hardware,
        "trained on hardware": str(record.training.get("hardware", "")),
        "fingerprint": record.fingerprint,
    }


def _published(record: EvaluationRecord) -> Row:
    """Return the published figures that a record's model repeats, and where they are from."""
    table = published_table(record, None)
    repeated = repeated_row(record, table)
    if table is None or repeated is None:
        return {}
    figures = {f"publ. {name}": percent(value) for name, value in repeated.measures.items()}
    return {"published in": f"{table.title}, {table.track}", **figures}


def _groups(record: EvaluationRecord) -> Iterable[Row]:
    by: dict[str, Sequence[GroupRecord]] = {
        "question type": record.by_question_type,
        f"length of the {record.length_of}": record.by_length,
    }
    # Of many models, and of what learned nothing, these would make thousands of rows that say little.
    if not record.of_bench and record.track != "untrained" and "only)" not in record.model:
        by |= {"source": record.by_source, "aspect": record.by_aspect}
    for name, groups in by.items():
        for group in groups:
            shown = {each: percent(group.measures[each]) for each in (*SHOWN, "RR") if each in group.measures}
            yield {"by": name, "group": group.name, "queries": str(group.queries), **shown}


def _differences(record: EvaluationRecord) -> Iterable[Row]:
    for difference in record.differences:
        for name in ("MAP", "R@1", "RR"):
            if name in difference.measures:
                gap = difference.measures[name]
                ends = {"mean": gap.mean, "low": gap.low, "high": gap.high}
                interval = {end: f"{100 * value:+.2f}" for end, value in ends.items()}
                yield {"against": difference.than, "measure": name, **interval, "p": f"{gap.p:.4f}"}


def _learning(record: EvaluationRecord) -> Iterable[Row]:
    history = [epoch for epoch in record.training.get("history", []) if "validation_RR" in epoch]
    values = [epoch["validation_RR"] for epoch in history]
    if values:
        best = values.index(max(values))
        yield {
            "epochs": str(len(values)),
            "queries seen": plain(history[-1].get("queries")),
            "best epoch": str(history[best].get("epoch", best)),
            "first RR": percent(values[0]),
            "halfway RR": percent(values[(len(values) - 1) // 2]),
            "best RR": percent(values[best]),
        }


def _cosine(record: Mapping[str, Any]) -> Row:
    row = {name: str(record.get(name, "")) for name in ("corpus", "model", "queries", "passages")}
    row |= {name: percent(value) for name, value in record["measures"].items()}
    row |= {f"MAP@10, {batch}": percent(means["MAP@10"]) for batch, means in sorted(record["by_batch"].items())}
    row |= {f"better than, by {name}": "; ".join(beaten) for name, beaten in record.get("better_than", {}).items()}
    return row | {
        **published_cosine(record),
        "ms per query": f"{record['ms_per_query']:.2f}",
        "date": str(record.get("date", "")),
        "hardware": str(record.get("hardware", "")),
    }


def _training(record: Mapping[str, Any]) -> Row:
    """Return the row of a training; every epoch's figures stay in the record."""
    row = {"model": str(record["model"]) + mark_of(record), "track": str(record["track"])}
    row |= {name: plain(record[name]) for name in ("documents", "sentences", "parameters", "epochs")}
    row |= {"best epoch": str(record["best_epoch"])}
    row |= {
        name.replace("_", " "): f"{100 * record['validation'][name]:.2f}"
        for name in ("validation_R@1", "validation_RR")
    }
    minutes = sum(epoch["seconds"] for epoch in record["history"]) / 60
    return row | {"training, min": f"{minutes:.0f}", "date": str(record["date"]), "hardware": str(record["hardware"])}


def _of_kind(kind: str, records: Iterable[Mapping[str, Any]]) -> dict[str, list[Row]]:
    """Return a table of the plain fields, one row per record, and one table for each list of records in them."""
    tables: dict[str, list[Row]] = {kind: []}
    for record in records:
        flat = dict(flatten({name: value for name, value in record.items() if name not in _UNTOLD}))
        title = str(record.get("title") or record.get("model") or "")
        tables[kind].append({name: plain(value) for name, value in flat.items() if not is_table(value)})
        for name, rows in flat.items():
            if is_table(rows):
                own = [{key: plain(value) for key, value in flatten(row)} for row in rows]
                tables.setdefault(f"{kind}-{name.replace(' ', '-')}", []).extend({"of": title, **row} for row in own)
    return tables
