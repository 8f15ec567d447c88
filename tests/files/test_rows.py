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


def test_the_most_frequent_separator_of_line_one_wins():
    assert separator_of("a;b;c,d", ",;\t") == ";"
    assert separator_of("a", ",;\t") == ","


@pytest.mark.parametrize("table", ['a,"b\n', 'a,"b"c\n'])
def test_unclosed_and_misplaced_quotes_are_errors(table: str):
    with pytest.raises(csv.Error):
        list(read_cells(io.StringIO(table), ",", longest=100))


def test_each_table_has_its_own_field_limit():
    before = csv.field_size_limit()
    wide, narrow = (read_cells(io.StringIO("x\n" + "y" * 50 + "\n"), ",", longest=longest) for longest in (50, 49))
    assert next(wide) == next(narrow) == (1, ["x"])
    with pytest.raises(csv.Error, match=r"field limit \(49\)"):
        next(narrow)
    assert next(wide) == (2, ["y" * 50])
    assert csv.field_size_limit() == before
