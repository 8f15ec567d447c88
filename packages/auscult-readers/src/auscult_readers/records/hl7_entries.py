"""Entries of HL7 v2 messages in words: allergies, diagnoses, procedures, problems, medicines and their timing.

Each field has its name: "Allergen: Penicillin; severity: severe". Numbers of fields are those of HL7 2.8. Codes that
HL7 defines without a name have the words of its tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from auscult.readers.dates import iso_date
from auscult.readers.tree import Piece, written
from auscult_readers.records.hl7_message import Message
from auscult_readers.records.timing import words_of_event, words_of_unit

EMPTY: Final = '""'
"""A value that the sender deleted."""
_UNKNOWN_AMOUNT: Final = "999"


def _coded(message: Message, value: str) -> str:
    return message.coded(value) or message.part(value, 1)


def _date(message: Message, value: str) -> str:
    return iso_date(message.part(value, 1))


def _quantity(message: Message, value: str) -> str:
    """Return a quantity (CQ): "5^d" is "5 days"."""
    return words_of_unit(message.part(value, 1), message.coded_part(value, 2))


def _pattern(message: Message, value: str) -> str:
    """Return a pattern of repetition (RPT): its code, its period, its times and its events."""
    number, unit, at, event, offset, offset_unit = (message.part(value, part) for part in range(5, 11))
    return ", ".join(
        filter(
            None,
            (
                message.coded_part(value, 1),
                " ".join(filter(None, (message.part(value, part) for part in (2, 3, 4)))),
                f"every {words_of_unit(number, unit)}" if number else "",
                f"at {at}" if at else "",
                f"{words_of_unit(offset, offset_unit)} from the event" if offset else "",
                words_of_event(event),
                message.part(value, 11),
            ),
        )
    )


_PRIORITIES: Final = {
    "S": "stat", "A": "as soon as possible", "R": "routine", "P": "before surgery", "T": "timing critical",
    "PRN": "as needed",
}  # fmt: skip
_OLD_UNITS: Final = {"S": "s", "M": "min", "H": "h", "D": "d", "W": "wk", "L": "mo"}
_OLD_DURATION: Final = re.compile(r"([SMHDWLX])(\d{1,5})")


def _duration(code: str) -> str:
    """Return a duration of old messages: "D5" is "for 5 days", and "X3" is "3 times"."""
    found = _OLD_DURATION.fullmatch(code)
    if found is None:
        return f"for {code}" if code else ""
    return f"{found[2]} times" if found[1] == "X" else f"for {words_of_unit(found[2], _OLD_UNITS[found[1]])}"


def _old_timing(message: Message, value: str) -> str:
    """Return the timing of messages before HL7 2.5 (TQ), which is one field: "1^BID^D5^20240301"."""
    start, end = (iso_date(message.part(value, number)) for number in (4, 5))
    priority = message.part(value, 6)
    return ", ".join(
        filter(
            None,
            (
                message.plain(message.signs[3].join(_parts(message, value, 1))),
                message.part(value, 2),
                _duration(message.part(value, 3)),
                f"from {start}" if start else "",
                f"until {end}" if end else "",
                _PRIORITIES.get(priority, priority),
                message.part(value, 7),
                message.part(value, 8),
            ),
        )
    )


def _parts(message: Message, value: str, number: int) -> list[str]:
    parts = value.split(message.signs[0])
    return parts[number - 1].split(message.signs[3]) if number <= len(parts) else []


class Field(NamedTuple):
    """A field of an entry.

    Attributes:
        number: Number of the field in its segment.
        label: Name of the field in the text.
        words: Returns the words of one of its values.
        unit: Number of the field with its unit; 0 if it has none.
        meanings: Words of codes that have none in the message.
    """

    number: int
    label: str
    words: Callable[[Message, str], str] = _coded
    unit: int = 0
    meanings: dict[str, str] = {}  # noqa: RUF012


@dataclass(frozen=True, slots=True)
class Entry:
    """A segment that becomes a line.

    Attributes:
        heading: Heading of such lines; "" for segments that belong to the entry or order before them.
        fields: Its fields in the order of the line.
        action: Number of the field that says whether the entry was deleted; 0 if it has none.
        lead: Word before its fields.
    """

    heading: str
    fields: tuple[Field, ...]
    action: int = 0
    lead: str = ""

    def is_deleted(self, message: Message, segment: list[Piece]) -> bool:
        """Whether the sender deleted this entry."""
        return self.action > 0 and message.part(message.field(segment, self.action), 1) in ("D", "DE")


_ALLERGEN: Final = Field(3, "Allergen")
_ALLERGY_FIELDS: Final = (
    Field(2, "type", meanings={
        "DA": "drug", "FA": "food", "MA": "miscellaneous", "MC": "miscellaneous contraindication",
        "EA": "environmental", "AA": "animal", "PA": "plant", "LA": "pollen",
    }),
    Field(4, "severity", meanings={"SV": "severe", "MO": "moderate", "MI": "mild", "U": "unknown"}),
    Field(5, "reaction"),
)  # fmt: skip
_SURENESS: Final = {
    "U": "unconfirmed", "P": "pending", "S": "suspected", "C": "confirmed", "I": "confirmed but inactive",
    "E": "erroneous", "D": "doubted",
}  # fmt: skip
_SENSITIVITIES: Final = {"AD": "adverse reaction", "AL": "allergy", "CT": "contraindication", "IN": "intolerance"}
_DIAGNOSIS_TYPES: Final = {"A": "admitting", "W": "working", "F": "final"}
_DONE: Final = {"CP": "complete", "RE": "refused", "NA": "not administered", "PA": "partially administered"}

ENTRIES: Final[dict[str, Entry]] = {
    "AL1": Entry("Allergies", (_ALLERGEN, *_ALLERGY_FIELDS, Field(6, "identified", _date))),
    "IAM": Entry(
        "Allergies",
        (
            _ALLERGEN, Field(17, "status", meanings=_SURENESS), *_ALLERGY_FIELDS,
            Field(9, "sensitivity", meanings=_SENSITIVITIES), Field(11, "onset", _date), Field(12, "onset"),
        ),
        action=6,
    ),
    "PRB": Entry(
        "Problems",
        (
            Field(3, "Problem"), Field(13, "confirmation"), Field(14, "status"), Field(16, "onset", _date),
            Field(17, "onset"), Field(9, "resolved", _date),
        ),
        action=1,
    ),
    "DG1": Entry(
        "Diagnoses",
        (
            Field(3, "Diagnosis"), Field(4, "description"), Field(6, "type", meanings=_DIAGNOSIS_TYPES),
            Field(5, "date", _date),
        ),
        action=21,
    ),
    "PR1": Entry(
        "Procedures",
        (Field(3, "Procedure"), Field(4, "description"), Field(5, "date", _date), Field(15, "because of")),
        action=20,
    ),
    "RXO": Entry(
        "Medicines ordered",
        (
            Field(1, "Medicine"), Field(2, "amount", unit=4), Field(3, "at most", unit=4), Field(5, "form"),
            Field(18, "strength", unit=19), Field(21, "rate", unit=22), Field(17, "per"),
            Field(23, "total a day", _quantity), Field(20, "indication"), Field(6, "instructions"),
            Field(7, "instructions"), Field(11, "to dispense", unit=12),
        ),
    ),
    "RXE": Entry(
        "Medicines ordered",
        (
            Field(2, "Medicine"), Field(3, "amount", unit=5), Field(4, "at most", unit=5), Field(6, "form"),
            Field(1, "timing", _old_timing), Field(25, "strength", unit=26), Field(23, "rate", unit=24),
            Field(22, "per"), Field(19, "total a day", _quantity), Field(27, "indication"), Field(7, "instructions"),
            Field(21, "instructions"), Field(10, "to dispense", unit=11),
        ),
    ),
    "RXD": Entry(
        "Medicines dispensed",
        (
            Field(2, "Medicine"), Field(4, "dispensed", unit=5), Field(6, "form"), Field(16, "strength", unit=17),
            Field(3, "date", _date), Field(12, "total a day", _quantity), Field(9, "notes"),
            Field(15, "instructions"),
        ),
    ),
    "RXG": Entry(
        "Medicines to give",
        (
            Field(4, "Medicine"), Field(5, "amount", unit=7), Field(6, "at most", unit=7), Field(8, "form"),
            Field(3, "timing", _old_timing), Field(17, "strength", unit=18), Field(15, "rate", unit=16),
            Field(14, "per"), Field(22, "indication"), Field(9, "notes"), Field(13, "instructions"),
        ),
    ),
    "RXA": Entry(
        "Medicines given",
        (
            Field(5, "Medicine"), Field(20, "status", meanings=_DONE), Field(6, "amount", unit=7), Field(8, "form"),
            Field(13, "strength", unit=14), Field(12, "per"), Field(3, "date", _date), Field(18, "refused because"),
            Field(19, "indication"), Field(9, "notes"),
        ),
        action=21,
    ),
    "RXR": Entry("", (Field(1, "Route"), Field(2, "site"), Field(4, "method"))),
    "RXC": Entry(
        "",
        (
            Field(2, "Component"), Field(3, "amount", unit=4), Field(5, "strength", unit=6),
            Field(1, "type", meanings={"B": "base", "A": "additive"}),
        ),
    ),
    "TQ1": Entry(
        "",
        (
            Field(2, "amount", _quantity), Field(3, "repeated", _pattern), Field(4, "at"),
            Field(5, "relative time", _quantity), Field(6, "duration", _quantity), Field(7, "from", _date),
            Field(8, "until", _date), Field(9, "priority", meanings=_PRIORITIES), Field(10, "condition"),
            Field(11, "instructions"), Field(13, "each lasts", _quantity), Field(14, "times in all"),
        ),
        lead="Timing",
    ),
}  # fmt: skip
"""Segments that become lines, by name."""
ORDERED: Final = ("RXO", "RXE", "RXD", "RXG", "RXA")
"""Entries that are orders, or what was done about them. Results after one belong to it."""


def words_of_entry(message: Message, segment: list[Piece], state: str = "") -> list[Piece]:
    """Return an entry as the pieces of a line: "Medicine: Amoxicillin; order: discontinued; amount: 500 mg".

    Args:
        message: The message.
        segment: A segment that is in `ENTRIES`.
        state: State of the order that the entry is a part of; "" if there is nothing to say about it.
    """
    entry = ENTRIES[segment[0].text]
    line: list[Piece] = []
    for field in entry.fields:
        if value := _value(message, segment, field):
            line += [written(f"{'; ' if line else ''}{field.label}: "), *value]
            if state:
                line.append(written(f"; order: {state}"))
                state = ""
    return [written(f"{entry.lead}: "), *line] if entry.lead and line else line


def _value(message: Message, segment: list[Piece], field: Field) -> list[Piece]:
    """Return the pieces of a field's values, separated by commas, with their unit."""
    value: list[Piece] = []
    for each in message.repetitions(message.piece(segment, field.number)):
        said = field.words(message, each.text)
        # 999 is an unknown amount.
        if said in ("", EMPTY) or (said == _UNKNOWN_AMOUNT and field.label == "amount"):
            continue
        value += [written(", ")] if value else []
        value.append(placed(each, field.meanings.get(said, said)))
    unit = _coded(message, message.field(segment, field.unit)) if field.unit and value else ""
    return [*value, written(f" {unit}")] if unit else value


def placed(field: Piece, value: str) -> Piece:
    """Return a value with its offsets in the source if the field contains it unchanged."""
    at = field.text.find(value)
    return Piece(value, field.start + at, field.start + at + len(value)) if at >= 0 else written(value)


# Codes of orders that are no longer in force: what was done (table 0119), and their state (table 0038).
_CONTROLS: Final = {
    "CA": "cancelled", "CR": "cancelled", "OC": "cancelled", "DC": "discontinued", "DR": "discontinued",
    "OD": "discontinued", "HD": "on hold", "HR": "on hold", "OH": "on hold", "RP": "replaced", "RQ": "replaced",
    "RU": "replaced", "UA": "not accepted",
}  # fmt: skip
_STATES: Final = {
    "CA": "cancelled", "DC": "discontinued", "ER": "in error", "HD": "on hold", "RP": "replaced", "CM": "completed",
}  # fmt: skip
COMPLETED: Final = "completed"


def state_of_order(message: Message, order: list[Piece]) -> str:
    """Return the words for an order (ORC) that is not in force, with the reason; "" for any other."""
    control, state = (message.part(message.field(order, number), 1) for number in (1, 5))
    words = _CONTROLS.get(control) or _STATES.get(state, "")
    reason = message.coded(message.field(order, 16))
    return ", ".join(filter(None, (words, reason and f"reason: {reason}"))) if words else ""
