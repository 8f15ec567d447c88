"""Filters: what documents say of themselves, each value a link that asks only those that have it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final
from weakref import WeakKeyDictionary

from auscult.index import PassageIndex
from auscult.index.fields import SOURCE
from auscult.service.page.asking import Asked
from auscult.service.page.hits import DATES

_MOST_VALUES: Final = 40
_SHOWN: Final = 8
_MOST_FIELDS: Final = 8
_NOT_FOR_PEOPLE: Final = frozenset({"access", "split", "overlaps_test_entity"})
"""Who may see a document, and what only studies of models ask for."""
_DATE: Final = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?(?:T.*)?")


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a field, with how many documents have it, and the address that asks for it or no longer."""

    name: str
    documents: int
    chosen: bool
    href: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """A field that documents have.

    Attributes:
        name: Of the field.
        values: Those shown at once, most documents first; those chosen are among them.
        further: The others.
        is_date: Whether a range is asked for, and not values.
        bounds: First and last of the range asked for.
        active: Whether only some of its values are asked for.
    """

    name: str
    values: tuple[Value, ...] = ()
    further: tuple[Value, ...] = ()
    is_date: bool = False
    bounds: tuple[str, str] = ("", "")
    active: bool = False


def filters_of(index: PassageIndex, asked: Asked) -> list[Filter]:
    """The fields that narrow something down: with two values at least, and not one of its own for each document."""
    names = sorted(set(index.reader.fields) - _NOT_FOR_PEOPLE, key=lambda name: (name != SOURCE, name))
    found = (_filter(index, name, asked) for name in names)
    return [each for each in found if each is not None][:_MOST_FIELDS]


_KEPT: WeakKeyDictionary[PassageIndex, dict[str, dict[str, int]]] = WeakKeyDictionary()


def _counts(index: PassageIndex, name: str) -> dict[str, int]:
    """How many documents have each value, counted once: an opened index never changes."""
    kept = _KEPT.setdefault(index, {})
    if name not in kept:
        kept[name] = {value: number for value, number in index.counts(name).items() if value}
    return kept[name]


def _filter(index: PassageIndex, name: str, asked: Asked) -> Filter | None:
    counts = _counts(index, name)
    chosen = asked.fields.get(name, ())
    bounds = asked.bounds.get(name, ("", ""))
    if name in DATES or (counts and all(map(_DATE.fullmatch, counts))):
        asks = any(bounds)
        return Filter(name=name, is_date=True, bounds=bounds, active=asks) if len(counts) > 1 or asks else None
    tells = 1 < len(counts) <= _MOST_VALUES and max(counts.values()) > 1
    if not tells and not chosen:
        return None
    values = [
        Value(value, number, value in chosen, asked.with_value(name, value, value not in chosen).at())
        for value, number in counts.items()
    ]
    values.sort(key=lambda value: not value.chosen)
    shown = max(_SHOWN, len(chosen))
    return Filter(
        name=name, values=tuple(values[:shown]), further=tuple(values[shown:_MOST_VALUES]), active=bool(chosen)
    )
