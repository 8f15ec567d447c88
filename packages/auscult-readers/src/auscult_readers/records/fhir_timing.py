"""Words of a FHIR timing: "2 times in 1 day, after breakfast, on Monday, for 5 days"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from auscult.readers.dates import iso_date
from auscult_readers.records.timing import DAYS, words_of_event, words_of_unit

_MOMENT: Final = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)")
# "BID" and "Q6H" need no name.
_ABBREVIATION: Final = re.compile(r"[A-Z][A-Z0-9]{1,7}")
_MIDNIGHT: Final = "00:00"
_BOUNDS: Final = ("boundsDuration", "boundsQuantity", "boundsRange", "boundsPeriod")
# Fields of `repeat` that are put into words here; `periodUnits` and `durationUnits` are those of DSTU2.
_KNOWN: Final = frozenset(
    {
        *_BOUNDS, "count", "countMax", "duration", "durationMax", "durationUnit", "durationUnits", "frequency",
        "frequencyMax", "period", "periodMax", "periodUnit", "periodUnits", "dayOfWeek", "timeOfDay", "when", "offset",
    }
)  # fmt: skip

Words = Callable[[Any], str]
"""Returns the words of a value of any type."""


def words_of_timing(timing: Mapping[str, Any], words: Words) -> str:
    """Return a timing: its code, its moments and how it repeats.

    Args:
        timing: Fields of the timing.
        words: Returns the words of any other value.
    """
    code = timing.get("code")
    codes = (str(_in(coding, "code")) for coding in _listed(_in(code, "coding")))
    abbreviations = ", ".join(each for each in codes if _ABBREVIATION.fullmatch(each))
    moments = [_words_of_moment(str(each)) for each in _listed(timing.get("event"))]
    repeat = timing.get("repeat")
    parts = [
        words(code) or abbreviations,
        *moments,
        *(_repeats(repeat, words) if isinstance(repeat, dict) else ()),
    ]
    return ", ".join(dict.fromkeys(filter(None, parts)))


def _repeats(repeat: Mapping[str, Any], words: Words) -> Iterator[str]:
    """Yield the parts of how something repeats."""

    def number(name: str) -> str:
        value = repeat.get(name)
        return "" if isinstance(value, dict | list) else words(value).removesuffix(".0")

    def span(name: str) -> str:
        return " to ".join(filter(None, (number(name), number(f"{name}Max"))))

    yield _frequency(span("frequency"), number("period"), number("periodMax"), _unit(repeat, "period"))
    yield from _events(repeat, number("offset"))
    times = [words(each)[:5] for each in _listed(repeat.get("timeOfDay"))]
    yield f"at {', '.join(times)}" if times else ""
    days = [DAYS.get(str(each), words(each)) for each in _listed(repeat.get("dayOfWeek"))]
    yield f"on {', '.join(days)}" if days else ""
    if lasting := span("duration"):
        yield f"each for {words_of_unit(lasting, _unit(repeat, 'duration'))}"
    yield from (_bounds(name, repeat[name], words) for name in _BOUNDS if name in repeat)
    if count := span("count"):
        yield f"{count} {'time' if count == '1' else 'times'} in all"
    for name, value in repeat.items():
        if name not in _KNOWN and not name.startswith("_") and name not in ("id", "extension") and words(value):
            yield f"{name}: {words(value)}"


def _unit(repeat: Mapping[str, Any], name: str) -> str:
    return str(repeat.get(f"{name}Unit") or repeat.get(f"{name}Units") or "")


def _frequency(times: str, period: str, longest: str, unit: str) -> str:
    if not (times or period):
        return ""
    times = times or "1"
    often = f"{times} {'time' if times == '1' else 'times'}"
    every = " to ".join(filter(None, (period, longest)))
    return f"{often} in {words_of_unit(every, unit)}" if every else often


def _events(repeat: Mapping[str, Any], offset: str) -> Iterator[str]:
    """Yield the events of the day: "30 minutes before breakfast"."""
    minutes = words_of_unit(offset, "min") if offset not in ("", "0") else ""
    events = [words_of_event(str(each)) for each in _listed(repeat.get("when"))]
    for event in events:
        yield f"{minutes} {event}" if minutes and event.startswith(("before", "after")) else event
    if minutes and not any(event.startswith(("before", "after")) for event in events):
        yield f"{minutes} from the event"


def _bounds(name: str, value: Any, words: Words) -> str:
    if name == "boundsPeriod":
        return words(value)
    if name == "boundsRange":
        low, high = (_duration(_in(value, key), words) for key in ("low", "high"))
        duration = f"{low} to {high}" if low and high else f"at least {low}" if low else f"at most {high}"
        return f"for {duration}" if low or high else ""
    duration = _duration(value, words)
    return f"for {duration}" if duration else ""


def _duration(value: Any, words: Words) -> str:
    """Return a duration, whose unit may be only a code."""
    if isinstance(value, dict) and "unit" not in value:
        number = words_of_unit(words(value.get("value")), str(value.get("code", "")))
        return " ".join(filter(None, (words(value.get("comparator")), number)))
    return words(value)


def _words_of_moment(moment: str) -> str:
    """Return a date with its time of day."""
    found = _MOMENT.match(moment)
    if found and found[2] != _MIDNIGHT:
        return f"{found[1]} {found[2]}"
    return iso_date(moment) or moment


def _in(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _listed(value: Any) -> list[Any]:
    return [] if value is None else value if isinstance(value, list) else [value]
