"""Words of the times at which something is given: units and events, by the codes that FHIR, HL7 v2 and CDA share."""

from __future__ import annotations

from typing import Final

UNITS: Final = {"s": "second", "min": "minute", "h": "hour", "d": "day", "wk": "week", "mo": "month", "a": "year"}
"""Units of time by their code in UCUM."""
DAYS: Final = {
    "mon": "Monday", "tue": "Tuesday", "wed": "Wednesday", "thu": "Thursday", "fri": "Friday", "sat": "Saturday",
    "sun": "Sunday",
}  # fmt: skip
_EVENTS: Final = {
    "MORN": "in the morning", "MORN.early": "early in the morning", "MORN.late": "late in the morning",
    "NOON": "at noon", "AFT": "in the afternoon", "AFT.early": "early in the afternoon",
    "AFT.late": "late in the afternoon", "EVE": "in the evening", "EVE.early": "early in the evening",
    "EVE.late": "late in the evening", "NIGHT": "at night", "PHS": "after falling asleep", "IMD": "immediately",
    "HS": "before sleep", "WAKE": "after waking up", "C": "with a meal", "CM": "with breakfast", "CD": "with lunch",
    "CV": "with dinner", "AC": "before a meal", "ACM": "before breakfast", "ACD": "before lunch",
    "ACV": "before dinner", "PC": "after a meal", "PCM": "after breakfast", "PCD": "after lunch",
    "PCV": "after dinner", "IC": "between meals", "ICM": "between breakfast and lunch",
    "ICD": "between lunch and dinner", "ICV": "between dinner and sleep",
}  # fmt: skip


def words_of_event(code: str) -> str:
    """Return the words of an event of the day ("PCM" is "after breakfast"), or the code if it is unknown."""
    return _EVENTS.get(code, code)


def words_of_unit(number: str, unit: str) -> str:
    """Return a number with a unit of time ("5", "d" is "5 days"). Other units are kept as written."""
    word = UNITS.get(unit)
    return " ".join(filter(None, (number, f"{word}{'' if number == '1' else 's'}" if word else unit)))
