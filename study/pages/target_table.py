"""The quality of CDV's target spaces: what they tell apart that training never had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from auscult_lab.evaluation.tables import TextTable
from study.pages.plain_values import measured_on

_NOTE = """R@1 in percent. An entity is asked by the first eight sentences of a held-out document, and found where its
title is the nearest of all places; *described*: the knowledge base has it. A heading is asked by a held-out passage."""
_ASKED: Mapping[str, tuple[str, str]] = {
    "entities, described": ("entities", "described"),
    "entities, by words alone": ("entities", "by words alone"),
    "headings": ("aspects", "passages"),
}


def target_table(records: Sequence[Mapping[str, Any]]) -> TextTable:
    """Build a row a model, a column what is asked; empty where nothing was asked."""
    rows = tuple(
        (str(record["model"]), *(_first(record[part][asked]) for part, asked in _ASKED.values())) for record in records
    )
    note = f"{' '.join(_NOTE.split())} {measured_on(records[0])}"
    return TextTable("Targets: places of what training never had", ("Model", *_ASKED), rows, (note,))


def _first(figures: Mapping[str, Any]) -> str:
    return f"{100 * figures['R@1']:.1f}" if figures["asked"] else ""
