"""How models read, as tables: weights with bars, and the most similar tokens."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from auscult.errors import printable
from auscult.interfaces import FloatArray

if TYPE_CHECKING:
    from auscult_lab.encoders.ck.ranker import Interactions

_BAR = 10
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_BEST = 3


def weights_table(rows: list[tuple[str, float | None]], what: str) -> Table:
    """Weights as percent and as bars; the heaviest has the longest bar, and is bold."""
    heaviest = max(weight or 0.0 for _, weight in rows) or 1.0
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("weight", justify="right", no_wrap=True)
    table.add_column("", width=_BAR, no_wrap=True, style="blue" if what == "query word" else "red")
    table.add_column(what)
    for text, weight in rows:
        share = "not read" if weight is None else f"{100 * weight:.1f} %"
        style = "dim" if weight is None else "bold" if math.isclose(weight, heaviest) else ""
        table.add_row(share, Text(_bar((weight or 0.0) / heaviest)), Text(printable(text), style=style))
    return table


def _bar(share: float) -> str:
    eighths = round(share * 8 * _BAR)
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def similarity_table(found: Interactions, matrix: FloatArray) -> Table:
    """For every token of the query, what of the text is most like it.

    Args:
        found: Tokens and entities.
        matrix: Their cosines, (query tokens, passage tokens).
    """
    rows = zip(zip(found.query, found.query_entities, strict=True), matrix, strict=True)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("query token", "entity", "most similar in the text"):
        table.add_column(title)
    for (token, entity), row in rows:
        best = (-row).argsort(kind="stable")[:_BEST].tolist()
        alike = ", ".join(f"{printable(found.passage[column])} {row[column]:.2f}" for column in best)
        table.add_row(Text(printable(token)), Text(printable(entity), style="red"), Text(alike))
    return table
