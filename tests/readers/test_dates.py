from __future__ import annotations

import pytest

from auscult.readers.dates import iso_date, iso_of


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("2024-03-05T10:00:00Z", "2024-03-05"),
        ("2024-3-5", "2024-03-05"),
        ("2024/03/05 10:00", "2024-03-05"),
        ("20240305", "2024-03-05"),
        ("20240305103000.123+0100", "2024-03-05"),
        ("202403", "2024-03"),
        (" 2024-03 ", "2024-03"),
        ("2024", "2024"),
        ("2024-02-29", "2024-02-29"),
        ("2024-02-30", ""),
        ("2024-13-01", ""),
        ("2024-00-01", ""),
        ("05/03/2024", ""),
        ("2024-03-05x", ""),
        ("5 March 2024", ""),
        ("", ""),
    ],
)
def test_dates_are_as_exact_as_they_were_written(written: str, date: str) -> None:
    assert iso_date(written) == date


def test_dates_end_at_the_first_part_without_digits() -> None:
    assert iso_of("2024", "3", "5") == "2024-03-05"
    assert iso_of("2024", "Spring", "") == "2024"
    assert iso_of("2024", "", "5") == "2024"
    assert iso_of("last year", "3", "5") == ""
