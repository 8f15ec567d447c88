"""Records of any kind as text: their fields in words, their values as a reader writes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_DAY = len("2026-01-31")


def flatten(record: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    """Fields by their names in words; those of fields behind a colon. A name that is no words stays as it is: CD_q."""
    for name, value in record.items():
        label = prefix + (name.replace("_", " ") if name.islower() else name)
        if isinstance(value, dict):
            yield from flatten(value, f"{label}: ")
        else:
            yield label, value


def is_table(value: Any) -> bool:
    """Whether a value is a list of records."""
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def plain(value: Any) -> str:
    """A value in words and figures: four digits of what is small, thousands set apart."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: ""}[value]
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
    if isinstance(value, list):
        between = "; " if is_table(value) else ", "
        return between.join(plain(each) for each in value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {plain(each)}" for name, each in flatten(value))
    return str(value)


def measured_on(*records: Mapping[str, Any]) -> str:
    """Say when and on which processors records were measured; memory and system are in the tables for programs."""
    return f"Measured {'; '.join(dict.fromkeys(map(day_and_processor, records)))}."


def day_and_processor(record: Mapping[str, Any]) -> str:
    """Return a record's day and the name of its processor."""
    return f"{str(record['date'])[:_DAY]}, {str(record['hardware']).partition(',')[0]}"
