"""Rows of separated values, each table with its own longest cell."""

from __future__ import annotations

import csv
import io

import pytest

from auscult.files.reading import read_cells, separator_of

TABLE = 'id,text\r\n1,"a, ""b""\r\nc"\r\n\r\n2,d'


def test_rows_come_with_the_line_they_end_in():
    rows = read_cells(io.StringIO(TABLE, newline=""), ",", longest=100)
    assert list(rows) == [(1, ["id", "text"]), (3, ["1", 'a, "b"\r\nc']), (4, []), (5, ["2", "d"])]


def test_the_separator_is_what_the_first_line_has_most_of():
    assert separator_of("a;b;c,d", ",;\t") == ";"
    assert separator_of("a", ",;\t") == ","


@pytest.mark.parametrize("table", ['a,"b\n', 'a,"b"c\n'])
def test_quotes_that_are_not_closed_or_closed_early_are_an_error(table: str):
    with pytest.raises(csv.Error):
        list(read_cells(io.StringIO(table), ",", longest=100))


def test_each_table_has_its_own_limit_and_others_keep_theirs():
    before = csv.field_size_limit()
    wide, narrow = (read_cells(io.StringIO("x\n" + "y" * 50 + "\n"), ",", longest=longest) for longest in (50, 49))
    assert next(wide) == next(narrow) == (1, ["x"])
    with pytest.raises(csv.Error, match=r"field limit \(49\)"):
        next(narrow)
    assert next(wide) == (2, ["y" * 50])
    assert csv.field_size_limit() == before
