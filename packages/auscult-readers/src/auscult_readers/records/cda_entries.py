"""Entries of a clinical document (CDA) in words: "No allergy to penicillin", "Warfarin: 5 mg; every 12 hours".

Entries have codes and numbers in attributes. What negates or ends an entry comes first. People, identifiers and
templates are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from auscult.readers.dates import iso_date
from auscult.readers.tree import Element
from auscult_readers.records.timing import words_of_event, words_of_unit

_STATEMENTS: Final = (
    "observation", "substanceAdministration", "supply", "procedure", "act", "encounter", "organizer",
)  # fmt: skip
MEDIA: Final = ("observationMedia", "regionOfInterest")
"""Entries that enclose a file, or show a part of one."""
# Kinds of statements that say nothing by themselves.
_NO_NAMES: Final = frozenset({"ASSERTION", "CONC"})
_ENDED: Final = ("aborted", "cancelled", "nullified", "obsolete", "suspended", "held")
_MOODS: Final = {
    "PRP": "proposed",
    "GOL": "goal",
    "PRMS": "promised",
    "APT": "appointment",
    "ARQ": "appointment requested",
}
_PLANNED: Final = {"INT": "planned", "RQO": "requested"}
_NOT_DONE: Final = {
    "substanceAdministration": ("not given", "do not give"),
    "supply": ("not supplied", "do not supply"),
}
_NULLS: Final = {
    "NI": "no information", "UNK": "unknown", "ASKU": "asked but unknown", "NASK": "not asked", "NA": "not applicable",
    "NAV": "not available", "MSK": "masked", "OTH": "other", "PINF": "without an upper limit",
    "NINF": "without a lower limit", "TRC": "trace",
}  # fmt: skip
_RELATIONS: Final = {"MFST": "reaction", "RSON": "reason", "CAUS": "cause"}
_SUBSTANCES: Final = ("CSM", "PRD", "DEV")
_MOMENT: Final = re.compile(r"\d{8}(\d\d)(\d\d)")
_DEEPEST: Final = 20


def words_of_null(element: Element) -> str:
    """Return why an element has no value ("no information"); "" if it does not say so."""
    return _NULLS.get(element.get("nullFlavor"), "")


def lines_of_entry(entry: Element) -> list[str]:
    """Return an entry as lines, one for each statement; those of a group have a line each."""
    return [line for statement in entry.elements for line in _lines(statement, 0)]


def _lines(statement: Element, depth: int) -> Iterator[str]:
    if statement.tag not in _STATEMENTS or depth > _DEEPEST:
        return
    is_group = statement.tag == "organizer"
    if line := _statement(statement, depth):
        yield line[:1].upper() + line[1:]
    for component in statement.elements if is_group else ():
        if component.tag == "component":
            for inner in component.elements:
                yield from _lines(inner, depth + 1)


def _statement(statement: Element, depth: int) -> str:
    """Return a statement and those inside it as one line."""
    parts = [_core(statement), *_details(statement)]
    if depth < _DEEPEST:
        parts += _related(statement, depth)
    elif any(statement.all(*_STATEMENTS)):
        parts.append("statements nested deeper are not read")
    line = "; ".join(filter(None, parts))
    lead = _lead(statement) if line else []
    return ": ".join(filter(None, (", ".join(lead), line)))


def _lead(statement: Element) -> list[str]:
    """Return what negates or ends a statement. An observation says what is not so in its own words."""
    mood, lead = statement.get("moodCode"), []
    if _is_negated(statement) and statement.tag != "observation":
        done, to_do = _NOT_DONE.get(statement.tag, ("not done", "do not perform"))
        lead.append(to_do if mood in _PLANNED else done)
    status = _code_of(statement, "statusCode")
    lead += [status] if status in _ENDED else []
    planned = _PLANNED.get(mood, "") if statement.tag != "substanceAdministration" and not lead else ""
    return [*lead, *filter(None, (_MOODS.get(mood, ""), planned))]


def _is_negated(statement: Element) -> bool:
    names = ("negationInd", "valueNegationInd", "actionNegationInd")
    return any(statement.get(name).strip().lower() in ("true", "1") for name in names)


def _core(statement: Element) -> str:
    """Return what a statement is about: its code and values, its medicine, and its own text."""
    name = _coded(statement.child("code"))
    products = [_product(each) for each in statement.all_children("consumable", "product")]
    values = ", ".join(filter(None, (_value(each) for each in statement.all_children("value"))))
    substances = ", ".join(filter(None, (_substance(each) for each in statement.all_children("participant"))))
    about = ": ".join(filter(None, (values, substances)))
    if statement.tag == "observation" and _is_negated(statement):
        # Only the value is negated: "Problem: no pneumonia".
        if about:
            about = f"no {_lowered(about)}"
        elif name:
            name = f"no {_lowered(name)}"
    text = statement.child("text")
    written = text.words() if text is not None else ""
    return ": ".join(dict.fromkeys(filter(None, (name, *products, about, written))))


def _details(statement: Element) -> Iterator[str]:
    """Yield dose, times, way and state of a statement."""
    for tag, label in (
        ("doseQuantity", "dose"),
        ("rateQuantity", "rate"),
        ("maxDoseQuantity", "at most"),
        ("quantity", "quantity"),
    ):
        for each in statement.all_children(tag):
            yield _named(label, _quantity(each))
    for each in statement.all_children("effectiveTime"):
        yield _time(each)
    for tag, label in (
        ("routeCode", "route"), ("administrationUnitCode", "form"), ("approachSiteCode", "site"),
        ("targetSiteCode", "site"), ("methodCode", "method"), ("priorityCode", "priority"),
        ("interpretationCode", "interpretation"),
    ):  # fmt: skip
        for each in statement.all_children(tag):
            yield _named(label, _coded(each))
    for each in statement.all_children("repeatNumber"):
        yield _named("repeated", _quantity(each))
    for each in statement.all_children("precondition"):
        criterion = each.child("criterion") or each
        inner = (criterion.child("value"), criterion.child("code"), criterion.child("text"))
        yield _named("if", next(filter(None, (_value(part) for part in inner if part is not None)), ""))
    for each in statement.all_children("referenceRange"):
        values = each.child("observationRange") or each
        found = values.child("value") or values.child("text")
        yield _named("reference range", _value(found) if found is not None else "")
    status = _code_of(statement, "statusCode")
    usual = ("", "completed") if statement.tag != "substanceAdministration" else ("",)
    yield _named("status", "" if status in (*usual, *_ENDED) else status)


def _related(statement: Element, depth: int) -> Iterator[str]:
    """Yield the statements inside a statement."""
    for relation in statement.all_children("entryRelationship"):
        for inner in relation.elements:
            if inner.tag == "organizer":
                yield "; ".join(_lines(inner, depth + 1))
            elif inner.tag in _STATEMENTS:
                yield _named(_RELATIONS.get(relation.get("typeCode"), ""), _statement(inner, depth + 1))


def _named(label: str, words: str) -> str:
    return f"{label}: {words}" if label and words else words


def _lowered(words: str) -> str:
    return words[:1].lower() + words[1:] if words[1:2].islower() else words


def _code_of(statement: Element, tag: str) -> str:
    element = statement.child(tag)
    return element.get("code").strip().lower() if element is not None else ""


def _coded(element: Element | None) -> str:
    """Return the words of a code: its name, its original text, or the name in another system; else the code."""
    if element is None:
        return ""
    original, translation = element.child("originalText"), element.child("translation")
    words = element.get("displayName") or (original.words() if original is not None else "")
    if not words and translation is not None:
        words = translation.get("displayName")
    code = element.get("code").strip()
    if not words and code and code not in _NO_NAMES:
        words = " ".join(filter(None, (element.get("codeSystemName"), code)))
    return " ".join(words.split()) or words_of_null(element)


def _product(holder: Element) -> str:
    """Return the name of a medicine or of another product."""
    for tag in ("manufacturedMaterial", "manufacturedLabeledDrug"):
        if (material := holder.child("manufacturedProduct", tag)) is not None:
            name = material.child("name")
            words = (_coded(material.child("code")), name.words() if name is not None else "")
            return ", ".join(dict.fromkeys(filter(None, words)))
    return ""


def _substance(participant: Element) -> str:
    entity = participant.child("participantRole", "playingEntity")
    if entity is None or participant.get("typeCode") not in _SUBSTANCES:
        return ""
    code, name = entity.child("code"), entity.child("name")
    # A code without a value says only that there is no substance to name.
    words = "" if code is None or code.get("nullFlavor") else _coded(code)
    return words or (name.words() if name is not None else "")


def _value(value: Element) -> str:
    """Return a value of any type."""
    kind = value.get("type").rpartition(":")[2]
    if kind.endswith("TS"):
        return _time(value)
    if value.get("representation") == "B64":
        return ""
    return _quantity(value) or _coded(value) or value.words()


def _quantity(quantity: Element) -> str:
    """Return a number with its unit, a range or a ratio."""
    if quantity.get("value"):
        unit = quantity.get("unit")
        return " ".join(filter(None, (quantity.get("value"), "" if unit == "1" else unit)))
    above, below = quantity.child("numerator"), quantity.child("denominator")
    if above is not None:
        return " / ".join(filter(None, (_quantity(above), _quantity(below) if below is not None else "")))
    low, high = (
        _quantity(each) if each is not None else "" for each in (quantity.child("low"), quantity.child("high"))
    )
    if low and high:
        return f"{low} to {high}"
    if low or high:
        return f"at least {low}" if low else f"at most {high}"
    center = quantity.child("center")
    return _quantity(center) if center is not None else ""


def _time(time: Element) -> str:
    """Return a time: a date, a period, how something repeats, or an event of the day."""
    parts = [_moment(time)]
    low, high, width = (time.child(name) for name in ("low", "high", "width"))
    low_words, high_words = (_moment(each) if each is not None else "" for each in (low, high))
    if low_words and high_words:
        parts.append(f"{low_words} to {high_words}")
    else:
        parts.append(f"from {low_words}" if low_words else f"until {high_words}" if high_words else "")
    for element, before in ((width, "for"), (time.child("period"), "every")):
        if element is not None and element.get("value"):
            parts.append(f"{before} {words_of_unit(element.get('value'), element.get('unit'))}")
    offset = time.child("offset")
    distance = _quantity(offset) if offset is not None else ""
    parts.append(f"{distance} from the event" if distance else "")
    event = time.child("event")
    parts.append(words_of_event(event.get("code")) if event is not None else "")
    return ", ".join(filter(None, parts))


def _moment(time: Element) -> str:
    """Return a date, with its time of day if it has one."""
    value = time.get("value")
    date, clock = iso_date(value), _MOMENT.match(value)
    return f"{date} {clock[1]}:{clock[2]}" if date and clock and clock[0][8:] != "0000" else date or value
