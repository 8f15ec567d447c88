"""How often a search says that nothing answers, where nothing does and where something does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from auscult_lab.evaluation.tables import TextTable
from study.pages.plain_values import measured_on

_NOTE = """Percent of questions that are told that nothing answers. *Answers removed*: others on the same subject
stay in the collection."""


def nothing_here_table(records: Sequence[Mapping[str, Any]]) -> TextTable:
    """Build a row a kind of question without an answer, a column a model; beneath, how often answers are withheld."""
    first = records[0]
    models = [str(record["model"]).removeprefix("General encoder, ") for record in records]
    rows = [
        (f"{first['collection']}: {kind['kind']}", f"{kind['questions']:,}", *_shares(records, "kinds", place))
        for place, kind in enumerate(first["kinds"])
    ]
    rows += [
        (
            f"{collection['collection']}: answers removed",
            f"{collection['questions']:,}",
            *_shares(records, "collections", place, "told_nothing_without_answers"),
        )
        for place, collection in enumerate(first["collections"])
    ]
    withheld = max(collection["told_nothing_where_right"] for record in records for collection in record["collections"])
    note = (
        f"{' '.join(_NOTE.split())} Where the right answer is found, at most {100 * withheld:.1f} % are told so. "
        f"{measured_on(first)}"
    )
    return TextTable("Questions without an answer", ("Questions", "how many", *models), tuple(rows), (note,))


def _shares(
    records: Sequence[Mapping[str, Any]], field: str, place: int, share: str = "told_nothing"
) -> tuple[str, ...]:
    return tuple(f"{100 * record[field][place][share]:.1f}" for record in records)
