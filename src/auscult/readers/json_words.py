"""Words of JSON values: whatever a record has in lists and objects becomes text, so that none of it is lost.

    {"heading": "Allergies", "items": ["Penicillin", "Latex"]}   →   Allergies: "Penicillin", "Latex" on lines
    {"Plan": {"drug": "Digoxin", "dose": "62.5 µg"}}             →   Plan: "drug: Digoxin | dose: 62.5 µg"

Numbers are as written: 0.000010 is not "1e-05", and 1.50 not "1.5".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from auscult.readers.contract import UnreadableError
from auscult.readers.tables import BETWEEN

_DEEPEST: Final = 20
_HEADINGS: Final = ("heading", "title", "name")
_TEXT: Final = "text"
_INNER: Final = "sections"
_ABOVE: Final = "above"
#: Fields of a section that are neither text nor headings.
_NO_WORDS: Final = frozenset({"id", _ABOVE})


class WrittenNumber(float):
    """A number that is written as in its file."""

    _written: str

    def __new__(cls, written: str) -> WrittenNumber:
        """Return the number that a text states."""
        number = super().__new__(cls, written)
        number._written = written
        return number

    def __str__(self) -> str:
        """Return the number as written."""
        return self._written


class JsonSection(NamedTuple):
    """A section.

    Attributes:
        above: Headings above its own, outermost first.
        heading: Its heading, or "".
        text: Its text, which may have no words.
        unread: Number of its other fields, such as codes, that are not read.
    """

    above: tuple[str, ...]
    heading: str
    text: str
    unread: int = 0


def words_of(value: Any, depth: int = 0) -> str:
    """Return the words of a JSON value: items and fields on lines of their own, objects in lists on one line.

    Raises:
        UnreadableError: The value is nested too deeply.
    """
    _check_depth(depth)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return "\n".join(filter(None, (_words_on_line(each, depth + 1) for each in value)))
    if isinstance(value, Mapping):
        return "\n".join(_label_fields(value, depth + 1))
    return str(value)


def _words_on_line(value: Any, depth: int) -> str:
    """Return the words of a value on one line if it is an object or a list."""
    if isinstance(value, Mapping):
        return BETWEEN.join(_label_fields(value, depth))
    words = words_of(value, depth)
    return "; ".join(words.splitlines()) if isinstance(value, list) else words


def _label_fields(fields: Mapping[str, Any], depth: int) -> Iterator[str]:
    for name, value in fields.items():
        if words := _words_on_line(value, depth):
            yield f"{name}: {words}"


def sections_of(value: Any, above: tuple[str, ...] = ()) -> Iterator[JsonSection]:
    """Yield the sections of a JSON value, in order, some without words.

    Args:
        value: A list of sections, an object of texts by heading, or a text.
        above: Headings above them.

    Raises:
        UnreadableError: The value is nested too deeply.
    """
    _check_depth(len(above))
    if isinstance(value, list):
        for each in value:
            if isinstance(each, Mapping):
                yield from _read_section(each, above)
            else:
                yield JsonSection(above, "", words_of(each))
    elif isinstance(value, Mapping) and not {_TEXT, _INNER, *_HEADINGS} & value.keys():
        for heading, inner in value.items():
            yield JsonSection(above, heading, words_of(inner))
    elif isinstance(value, Mapping):
        yield from _read_section(value, above)
    else:
        yield JsonSection(above, "", words_of(value))


def _read_section(section: Mapping[str, Any], above: tuple[str, ...]) -> Iterator[JsonSection]:
    """Yield a section, then those inside it."""
    named = next((name for name in _HEADINGS if isinstance(section.get(name), str)), "")
    heading = section[named].strip() if named else ""
    stated = section.get(_ABOVE)
    if isinstance(stated, list) and not above:
        above = tuple(filter(None, map(words_of, stated)))
    others = {
        name: value
        for name, value in section.items()
        if name not in (*_NO_WORDS, named, _TEXT, _INNER) and words_of(value).strip()
    }
    text = words_of(section.get(_TEXT))
    if text.strip():
        # Beside a text, a code, number or flag is about the section.
        read = {name: value for name, value in others.items() if len(words_of(value).split()) > 1}
        parts = [text, *_label_fields(read, 1)]
    elif len(others) == 1:
        # The text under another name, such as "body".
        read, parts = others, [words_of(next(iter(others.values())))]
    else:
        read, parts = others, [*_label_fields(others, 1)]
    yield JsonSection(above, heading, "\n".join(parts), len(others) - len(read))
    if _INNER in section:
        yield from sections_of(section[_INNER], (*above, heading) if heading else above)


def _check_depth(depth: int) -> None:
    if depth > _DEEPEST:
        expected = f"lists and objects at most {_DEEPEST} deep"
        raise UnreadableError("nested too deeply", expected, "more", "nest them less")
