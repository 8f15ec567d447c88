"""Dates as files write them, in ISO 8601: as exact as they were written, and nothing guessed."""

from __future__ import annotations

import re
from typing import Final

_WRITTEN: Final = re.compile(r"(\d{4})(?:([-/.])(\d{1,2})(?:\2(\d{1,2}))?)?(?=$|[T\s])")
_COMPACT: Final = re.compile(r"(\d{4})(?:(\d{2})(?:(\d{2})(?:\d{2,6}(?:\.\d+)?)?)?)?(?:[+-]\d{4})?$")
_DAYS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def iso_date(written: str) -> str:
    """A date that begins with its year: "2024-03-05", "2024-03" or "2024"; times of day are left out.

    Args:
        written: "2024-03-05T10:00:00Z", "2024/3/5", "20240305", "202403051000+0000", "2024-03", "2024".

    Returns:
        Empty for anything else, and for days that no calendar has.
    """
    text = written.strip()[:40]
    if match := _WRITTEN.match(text):
        return _iso(match[1], match[3], match[4])
    if match := _COMPACT.match(text):
        return _iso(match[1], match[2], match[3])
    return ""


def iso_of(year: str, month: str = "", day: str = "") -> str:
    """A date of its parts, as far as they are numbers of a calendar."""
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
