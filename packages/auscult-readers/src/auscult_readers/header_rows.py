"""Headers of tables in whose files no header is marked."""

from __future__ import annotations

from collections.abc import Sequence

from auscult.readers.tables import LONGEST_LABEL


def has_header_row(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row of a table without marked headers is one: only this row has no numbers.

    Args:
        rows: Texts of the cells of each row.
    """
    first, *others = rows
    if len(first) < 2 or not all(0 < len(text) <= LONGEST_LABEL for text in first):
        return False
    columns = zip(*others, strict=False)
    return not any(map(str.isdigit, "".join(first))) and any(
        all(text[:1].isdigit() for text in each) for each in columns
    )
