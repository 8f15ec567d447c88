"""What a graph's knowledge adds to rankers that read words: means over several seeds, and differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from auscult_lab.evaluation.tables import TextTable

_MEASURES = ("MAP", "R@1")
_NOTE = "Points, with 95 % intervals of a bootstrap that draws seeds and queries anew."
_APART = "UM: as U, with entities in a matrix of their own instead of the paper's sum."


def seeds_tables(records: Sequence[Mapping[str, Any]]) -> list[TextTable]:
    """Return a table of variants and one of planned differences; records of as many queries and seeds share both."""
    measured: dict[tuple[int, int], list[Mapping[str, Any]]] = {}
    for record in records:
        measured.setdefault((record["queries"], len(record["seeds"])), []).append(record)
    return [table for alike in measured.values() for table in _tables(alike)]


def _tables(records: Sequence[Mapping[str, Any]]) -> list[TextTable]:
    first = records[0]
    variants = tuple(
        (variant["model"], *(_figures(variant["by_seed"][measure]) for measure in _MEASURES))
        for record in records
        for variant in record["variants"]
    )
    differences = tuple(
        (told["model"], told["than"], _change(told["MAP"]), _verdict(told["MAP"]))
        for record in records
        for told in record["differences"]
    )
    seeds = "Several seeds" if len(first["seeds"]) > 1 else "One seed"
    counts = f"{first['queries']} queries of {first['corpus']}, {len(first['seeds'])} seeds, adapted models."
    apart = (_APART,) if any("um" in record["given"] for record in records) else ()
    whence = f"Measured {str(first['date'])[:10]}, {first['hardware']}."
    return [
        TextTable(seeds, ("Model", *_MEASURES), variants, (counts, *apart, whence)),
        TextTable(f"{seeds}: what each part adds", ("Model", "against", "MAP", "by MAP"), differences, (_NOTE,)),
    ]


def _figures(by_seed: Sequence[float]) -> str:
    mean = 100 * sum(by_seed) / len(by_seed)
    return f"{mean:.2f} ({', '.join(f'{100 * each:.1f}' for each in by_seed)})"


def _change(told: Mapping[str, float]) -> str:
    return f"{100 * told['mean']:+.2f} [{100 * told['low']:+.2f}, {100 * told['high']:+.2f}]"


def _verdict(told: Mapping[str, float]) -> str:
    """The interval alone decides: there is no test over seeds."""
    if told["low"] <= 0.0 <= told["high"]:
        return "no difference shown"
    return "gain" if told["mean"] > 0 else "loss"
