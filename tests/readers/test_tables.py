from __future__ import annotations

from auscult.readers.tables import merged_header, readable_lines, readable_rows


def test_each_row_repeats_the_header() -> None:
    rows = [["Allopurinol", "100 mg"], ["Colchicine", "500 µg\n twice"]]
    assert readable_lines(["Drug", "Dose"], rows) == [
        "Drug: Allopurinol | Dose: 100 mg",
        "Drug: Colchicine | Dose: 500 µg twice",
    ]


def test_cells_without_a_header_are_joined_in_lines() -> None:
    assert readable_lines(None, [["a", "b"], [], ["", " "]]) == ["a | b"]


def test_labels_of_empty_columns_are_kept_once() -> None:
    assert readable_lines(["Drug", "Dose", "Note"], [["Colchicine", "5 mg", ""]]) == [
        "Drug | Dose | Note",
        "Drug: Colchicine | Dose: 5 mg",
    ]


def test_empty_cells_are_omitted_extra_cells_are_unlabelled() -> None:
    assert readable_lines(["Dose:", ""], [["5 mg", "daily", "x"]]) == ["Dose: 5 mg | daily | x"]
    rows = [["", "5 mg"], ["Colchicine", ""]]
    assert readable_lines(["Drug", "Dose"], rows) == ["Dose: 5 mg", "Drug: Colchicine"]


def test_a_header_alone_is_a_line() -> None:
    assert readable_lines(["Drug", "", "Dose"], [[""]]) == ["Drug | Dose"]
    assert readable_lines([], []) == []


def test_a_long_header_is_written_only_once() -> None:
    long = "for whom it is meant " * 4
    assert readable_lines(["Drug", long], [["a", "b"], ["c", "d"]]) == [f"Drug | {long.strip()}", "a | b", "c | d"]


def test_source_positions_of_cells_are_kept() -> None:
    line = readable_rows(["Drug"], [[[("Allo", 3), ("purinol", 9)], [("100 mg", 20)]]], lambda text: (text, -1))
    assert line == [[("Drug: ", -1), ("Allo", 3), ("purinol", 9), (" | ", -1), ("100 mg", 20)]]


def test_headers_of_two_rows_are_read_from_above() -> None:
    assert merged_header([["Drug", "Dose", "Dose"], ["Drug", "adults", " children "], ["", "", "", "x"]]) == [
        "Drug",
        "Dose adults",
        "Dose children",
        "x",
    ]
