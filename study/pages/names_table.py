"""Rankers on the test with names that their training had, and with others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from auscult_lab.evaluation.tables import TextTable

_WAYS = ("as they are", "never trained", "trained")
_NOTE = """Percent of queries whose first passage answers, and of those whose first passage has the entity, ties against
the model. Every title of the test was replaced, in queries and passages, by another title: of the test itself, which no
training saw, or of the training documents. The last column is the difference of the two, with its 95 % interval."""


def names_table(records: Sequence[Mapping[str, Any]]) -> TextTable:
    """A row a ranker."""
    columns = ("Ranker", *_WAYS, *(f"entity, {way}" for way in _WAYS), "trained against never trained")
    rows = tuple(
        (
            str(record["model"]),
            *(
                f"{100 * record[figure][way]:.1f}"
                for figure in ("first is right", "first has the entity")
                for way in _WAYS
            ),
            _change(record["trained against never trained"]),
        )
        for record in records
    )
    first = records[0]
    whence = f"{first['queries']} queries. Measured {str(first['date'])[:10]}, {first['hardware']}."
    return TextTable("Names that training saw", columns, rows, (" ".join(_NOTE.split()), whence))


def _change(told: Mapping[str, float]) -> str:
    return f"{100 * told['change']:+.1f} [{100 * told['low']:.1f}, {100 * told['high']:.1f}]"
