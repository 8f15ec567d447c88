"""Tables of PDFs whose cells are centred: lines of a cell stand between those of the cells beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from auscult.readers.contract import SourceFile
from auscult_readers.pdf.reader import PdfReader
from small_pdfs import BODY, CAUSES, GOUT, Drawn

BOLD = ("Helvetica-Bold", 10)
COLUMNS = (60, 220, 380)
Cells = Sequence[Sequence[str]]
Placed = tuple[int, int, float, str]
"""A row, a column, points from the top, and a line."""

WRAPPED = (
    ("Medicine", "Dose", "Why"),
    ("Metoprolol|succinate", "50 mg once|a day", "heart rate and|blood pressure"),
    ("Apixaban", "5 mg twice|a day", "prevents a|stroke"),
    ("Levothyroxine|sodium", "75 micrograms|before breakfast", "thyroid"),
    ("Insulin", "as told", "sugar of|the blood|too high"),
    ("Iron", "one tablet|on each|second|day", "anaemia from|bleeding"),
)


def by_line(placed: Placed) -> tuple[float, ...]:
    return placed[2], placed[1]


def by_cell(placed: Placed) -> tuple[float, ...]:
    return placed[:3]


def read(drawn: Drawn) -> list[str]:
    (draft,) = PdfReader().read(SourceFile("a.pdf", drawn.content()))
    return draft.text.split("\n")


def centred(cells: Cells, leading: float, between: float, order: Callable[[Placed], tuple[float, ...]]) -> Drawn:
    """Draw a table whose cells are parted by "|" into lines, and stand at the middle of their row.

    Args:
        cells: By row; the first row is bold.
        leading: Points between two lines of a cell.
        between: Points between the last line of the tallest cell and the first one of the next row's.
        order: What the lines are sorted by before they are drawn.
    """
    placed: list[Placed] = []
    y = 100.0
    for number, row in enumerate(cells):
        tallest = max(cell.count("|") for cell in row)
        for column, cell in enumerate(row):
            top = y + leading * (tallest - cell.count("|")) / 2
            placed += [(number, column, top + leading * line, text) for line, text in enumerate(cell.split("|"))]
        y += leading * tallest + between
    drawn = Drawn()
    for number, column, top, text in sorted(placed, key=order):
        drawn.line(COLUMNS[column], top, text, BODY if number else BOLD)
    return drawn


def labelled(cells: Cells) -> list[str]:
    header, *rows = ([cell.replace("|", " ") for cell in row] for row in cells)
    return [" | ".join(f"{label}: {cell}" for label, cell in zip(header, row, strict=True)) for row in rows]


@pytest.mark.parametrize("order", [by_line, by_cell])
@pytest.mark.parametrize("between", [0, 3, 8])
@pytest.mark.parametrize("leading", [11.5, 12, 14])
def test_vertically_centred_cells_stay_in_their_row(
    leading: float, between: float, order: Callable[[Placed], tuple[float, ...]]
) -> None:
    assert read(centred(WRAPPED, leading, leading + between, order)) == labelled(WRAPPED)


@pytest.mark.parametrize("between", [14, 22])
@pytest.mark.parametrize(
    "header",
    [
        ("Group", "Number of|patients", "Mean age|in years"),
        ("Group|of people", "Number", "Mean age|in years"),
        ("Age group|of the|people", "Number|of cases", "Mean age|in|years"),
    ],
)
def test_a_header_with_centred_cells_is_one_row(header: Sequence[str], between: float) -> None:
    cells = (header, ("Children", "120", "8.5"), ("Adults", "340", "47.1"))
    assert read(centred(cells, 14, between, by_line)) == labelled(cells)


@pytest.mark.parametrize("order", [by_line, by_cell])
def test_a_centred_group_name_belongs_to_each_row(
    order: Callable[[Placed], tuple[float, ...]],
) -> None:
    groups = (
        ("Adults", (("5 mg", "4.5"), ("10 mg", "4.9"))),
        ("Children", (("1 mg", "3.8"), ("2 mg", "3.9"), ("3 mg", "4.1"))),
        ("Old people", (("4 mg", "7.0"),)),
    )
    placed: list[Placed] = []
    y = 122.0
    for number, (name, rows) in enumerate(groups, start=1):
        placed.append((number, 0, y + 7 * (len(rows) - 1), name))
        for line, row in enumerate(rows):
            placed += [(number, column, y + 14 * line, text) for column, text in enumerate(row, start=1)]
        y += 14 * len(rows)
    drawn = Drawn()
    for column, label in enumerate(("Group", "Dose", "Mean")):
        drawn.line(COLUMNS[column], 100, label, BOLD)
    for _, column, top, text in sorted(placed, key=order):
        drawn.line(COLUMNS[column], top, text)
    assert read(drawn) == [
        f"Group: {name} | Dose: {dose} | Mean: {mean}" for name, rows in groups for dose, mean in rows
    ]


def test_rules_between_rows_split_no_centred_cell() -> None:
    drawn = centred(WRAPPED, 14, 22, by_line)
    y = 100.0
    for row in WRAPPED:
        y += 14 * max(cell.count("|") for cell in row) + 22
        drawn.canvas.line(55, drawn.size[1] - y + 14, 520, drawn.size[1] - y + 14)
    assert read(drawn) == labelled(WRAPPED)


def test_prose_columns_half_a_line_apart_are_prose() -> None:
    drawn = Drawn()
    drawn.paragraph(60, 100, 200, GOUT)
    drawn.paragraph(320, 107, 200, CAUSES)
    assert read(drawn) == [GOUT, "", CAUSES]
