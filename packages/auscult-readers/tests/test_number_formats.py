"""Number formats of sheets: the same text as in Excel, and dates in ISO 8601."""

from __future__ import annotations

import pytest

from auscult_readers.number_formats import general, shown_number, shown_text


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (62.5, '0.0" microgram"', "62.5 microgram"),
        (10, '0" mg"', "10 mg"),
        (10, "0\\ \\m\\g", "10 mg"),
        (10, "0 mg", "10 mg"),
        (2.5, '0.0_) "mg/kg"', "2.5 mg/kg"),
        (62, '0.# "µg"', "62 µg"),
        (5, 'General" mg"', "5 mg"),
        (0.3, '"<"0.0', "<0.3"),
        (37.5, "0.0°C", "37.5°C"),
        (0.05, "0%", "5%"),
        (0.045, "0.0%", "4.5%"),
        (1234567.891, "#,##0", "1,234,568"),
        (1500, '#,##0" units"', "1,500 units"),
        (1200, '0.0,"k"', "1.2k"),
        (1234.5, "[$€-407] #,##0.00", "€ 1,234.50"),
        (0.125, "0.00", "0.13"),
        (3, "00000", "00003"),
        (1234567890, "000-00-0000", "1234-56-7890"),
        (0.00001, "0.00E+00", "1.00E-05"),
        (12345, "##0.0E+0", "12.3E+3"),
        (999.96, "0.0E+0", "1.0E+3"),
    ],
)
def test_numbers_have_the_units_of_their_format(value: float, code: str, text: str) -> None:
    assert shown_number(value, code) == text


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (0.5, "# ?/?", "1/2"),
        (2.5, '# ?/?" tablets"', "2 1/2 tablets"),
        (3, "# ?/?", "3"),
        (0.99, "# ?/?", "1"),
        (1.3, "# ?/8", "1 2/8"),
        (0.25, "# ??/??", "1/4"),
        (2.5, "?/?", "5/2"),
        (-1.5, "# ?/?", "-1 1/2"),
    ],
)
def test_fractions_are_shown_as_fractions(value: float, code: str, text: str) -> None:
    assert shown_number(value, code) == text


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (-3, "0.0", "-3.0"),
        (-3, '0.0;"minus "0.0', "minus 3.0"),
        (-3, "0;[Red]-0", "-3"),
        (0, '0.0;-0.0;"none"', "none"),
        (-0.001, "0.0", "0.0"),
        (2, '[<3]"low";[>=3]"high"', "low"),
        (5, '[<3]"low";[>4]"high";0', "high"),
        (3.5, '[<3]"low";[>4]"high";0', "4"),
        (5, ";;;", ""),
        (0, "0;-0;", ""),
    ],
)
def test_sections_are_chosen_by_sign_and_condition(value: float, code: str, text: str) -> None:
    assert shown_number(value, code) == text


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (45356, "dd.mm.yyyy", "2024-03-05"),
        (45356.354166667, "d/m/yy h:mm AM/PM", "2024-03-05 08:30:00"),
        (45356, "mmm-yy", "2024-03-05"),
        (0.354166667, "hh:mm", "08:30:00"),
        (1.5, "[h]:mm", "36:00:00"),
        (0.5, "mm:ss.0", "12:00:00"),
        (59, "yyyy-mm-dd", "1900-02-28"),
        (61, "yyyy-mm-dd", "1900-03-01"),
        (45356, 'yyyy"年"m"月"d"日"', "2024-03-05"),
        (-5, "dd.mm.yyyy", "-5"),
        (1e9, "dd.mm.yyyy", "1000000000"),
    ],
)
def test_dates_and_times_are_iso_8601(value: float, code: str, text: str) -> None:
    assert shown_number(value, code) == text
    assert shown_number(43894, "dd.mm.yyyy", since_1904=True) == "2024-03-05"


@pytest.mark.parametrize(
    ("value", "text"), [(62.5, "62.5"), (140.0, "140"), (1e-5, "0.00001"), (0.1 + 0.2, "0.3"), (1e20, "1e+20")]
)
def test_numbers_without_a_format_are_plain(value: float, text: str) -> None:
    assert general(value) == shown_number(value, "General") == shown_number(value, "@") == text


def test_texts_may_have_a_format() -> None:
    assert shown_text("5-10", '@" mg"') == "5-10 mg"
    assert shown_text("5-10", '0.0" mg"') == "5-10"
    assert shown_text("secret", ";;;") == ""


@pytest.mark.parametrize(
    "code",
    [
        '"',
        "[",
        "\\",
        "/",
        "?/",
        "E+",
        "0E+",
        ",,,",
        "%",
        "_",
        "*",
        ";" * 50,
        "0" * 300,
        "0" + "%" * 900,
        "#,##" * 240,
        "0,,,,,,E+0/0",
    ],
)
def test_broken_formats_do_no_harm(code: str) -> None:
    for value in (0.0, -1.5, 1e300, 1e-300, float("nan"), float("inf")):
        assert isinstance(shown_number(value, code), str)
