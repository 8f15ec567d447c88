"""Convert dates in files to ISO 8601, with the precision of the file and without guesses."""

from __future__ import annotations

import re
from typing import Final

_WRITTEN: Final = re.compile(r"(\d{4})(?:([-/.])(\d{1,2})(?:\2(\d{1,2}))?)?(?=$|[T\s])")
_COMPACT: Final = re.compile(r"(\d{4})(?:(\d{2})(?:(\d{2})(?:\d{2,6}(?:\.\d+)?)?)?)?(?:[+-]\d{4})?$")
_DAYS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def iso_date(written: str) -> str:
    """Return a date that begins with its year as "2024-03-05", "2024-03" or "2024", without the time of day.

    Args:
        written: "2024-03-05T10:00:00Z", "2024/3/5", "20240305", "202403051000+0000", "2024-03", "2024".

    Returns:
        "" for anything else, and for days that do not exist.
    """
    text = written.strip()[:40]
    if match := _WRITTEN.match(text):
        return _iso(match[1], match[3], match[4])
    if match := _COMPACT.match(text):
        return _iso(match[1], match[2], match[3])
    return ""


def iso_of(year: str, month: str = "", day: str = "") -> str:
    """Return a date from its parts, without parts that are no valid numbers."""
    return _iso(year, month or None, day or None) if re.fullmatch(r"\d{4}", year.strip()) else ""


def _iso(year: str, month: str | None, day: str | None) -> str:
    year = year.strip()
    if month is None or not month.strip().isdecimal():
        return year
    if not 1 <= int(month) <= 12:
        return ""
    if day is None or not day.strip().isdecimal():
        return f"{year}-{int(month):02}"
    return f"{year}-{int(month):02}-{int(day):02}" if 1 <= int(day) <= _DAYS[int(month) - 1] else ""
