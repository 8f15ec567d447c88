"""The quality of CDV's target spaces: what they tell apart that training never had, and what lies beside what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from auscult_lab.evaluation.tables import TextTable

_NOTE = """An entity is asked by the first eight sentences of a held-out document, and found where the place of its
title is the nearest of all places; *described*: the knowledge base has it. A heading is asked by a held-out passage's
sentences, among common headings."""
_SHOWN = 2


def target_tables(records: Sequence[Mapping[str, Any]]) -> list[TextTable]:
    """A row a model and what is asked; then, of the first, neighbours to look at."""
    rows = [
        (
            str(record["model"]),
            asked,
            f"{figures['asked']:,}",
            f"{places:,}",
            f"{100 * figures['R@1']:.1f}",
            f"{100 * figures['R@10']:.1f}",
        )
        for record in records
        for asked, figures, places in _asked(record)
        if figures["asked"]
    ]
    columns = ("Model", "asked", "how many", "places", "R@1", "R@10")
    whence = f"Measured {str(records[0]['date'])[:10]}, {records[0]['hardware']}."
    tables = [TextTable("Targets: places of what training never had", columns, tuple(rows), (_flat(_NOTE), whence))]
    first = records[0]
    nearest = [
        (kind, name, ", ".join(found))
        for kind, of in (("title", first["entities"]["nearest"]), ("aspect", first["aspects"]["nearest"]))
        for name, found in list(of.items())[-_SHOWN:]
    ]
    title = f"Nearest known places to what was held out, and to aspects that are asked: {first['model']}"
    return [*tables, TextTable(title, ("", "asked", "nearest"), tuple(nearest), ())]


def _asked(record: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any], int]]:
    entities, aspects = record["entities"], record["aspects"]
    return [
        ("entity, described", entities["described"], entities["places"]),
        ("entity, by words alone", entities["by words alone"], entities["places"]),
        ("heading", aspects["passages"], aspects["places"]),
    ]


def _flat(text: str) -> str:
    return " ".join(text.split())
