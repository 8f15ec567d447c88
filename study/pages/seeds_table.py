"""Models that were trained with several seeds, and what a graph's knowledge adds over several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from auscult_lab.evaluation.tables import TextTable
from study.pages.plain_values import measured_on

_MEASURE = "MAP"
_MEASURED = ("R@1", "MAP")
_NOTE = f"`benchmarks/knowledge_seeds.py`; points of {_MEASURE}, 95 % intervals over seeds and queries."
_SEVERAL = "`benchmarks/seeds.py`; 95 % intervals over seeds and queries."
_APART = "UM: as U, but entities are compared in a matrix of their own."


def seeds_tables(records: Sequence[Mapping[str, Any]]) -> list[TextTable]:
    """Build a table of planned differences; records of as many queries and seeds share one."""
    measured: dict[tuple[int, int], list[Mapping[str, Any]]] = {}
    for record in records:
        measured.setdefault((record["queries"], len(record["seeds"])), []).append(record)
    return [_table(alike) for alike in measured.values()]


def several_seeds_table(records: Sequence[Mapping[str, Any]]) -> TextTable:
    """Build a row a model that was trained with several seeds: the means of its measures, with their intervals."""
    rows = tuple(
        (
            f"{record['model']}, {record['track']}",
            str(len(record["seeds"])),
            *(_mean(record["measures"][name]) for name in _MEASURED),
        )
        for record in records
    )
    heads = ("Model", "seeds", *_MEASURED)
    return TextTable("Trained anew with several seeds", heads, rows, (_SEVERAL,))


def _mean(measure: Mapping[str, float]) -> str:
    return f"{100 * measure['mean']:.2f} [{100 * measure['low']:.2f}, {100 * measure['high']:.2f}]"


def _table(records: Sequence[Mapping[str, Any]]) -> TextTable:
    first = records[0]
    # By comparison, then by ranker. Two records of a ranker may share a difference: the later one is shown.
    gaps: dict[str, dict[str, str]] = {}
    rankers: dict[str, None] = {}
    for record in records:
        alone = min((name for gap in record["differences"] for name in (gap["model"], gap["than"])), key=len)
        rankers[alone] = None
        for gap in record["differences"]:
            given, than = (name.removeprefix(alone).removeprefix("-") for name in (gap["model"], gap["than"]))
            gaps.setdefault(f"{given} against {than or 'words alone'}", {})[alone] = _change(gap[_MEASURE])
    rows = tuple((what, *(by_ranker.get(ranker, "") for ranker in rankers)) for what, by_ranker in gaps.items())
    seeds = "Several seeds" if len(first["seeds"]) > 1 else "One seed"
    counts = f"{first['queries']} queries of {first['corpus']}, {len(first['seeds'])} seeds, adapted."
    apart = (_APART,) if any("um" in record["given"] for record in records) else ()
    note = " ".join((_NOTE, counts, *apart, measured_on(*records)))
    return TextTable(f"{seeds}: what each part adds", ("", *rankers), rows, (note,))


def _change(gap: Mapping[str, float]) -> str:
    return f"{100 * gap['mean']:+.2f} [{100 * gap['low']:+.2f}, {100 * gap['high']:+.2f}]"
