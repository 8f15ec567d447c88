"""What a Word file's paragraphs are: headings by style and outline level, and list items with their markers."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from auscult.readers.word.package import child, children, value

_HEADING: Final = re.compile(r"heading ([1-9])", re.IGNORECASE)
_CONTENTS: Final = re.compile(r"toc(?: \d| heading)|table of figures|index \d", re.IGNORECASE)
_DEEPEST_STYLE: Final = 20
_ROMAN: Final = ((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
_PLACE: Final = re.compile(r"%([1-9])")


@dataclass(frozen=True, slots=True)
class Style:
    """What a paragraph's style says of it.

    Attributes:
        level: Of a heading, from 1; 0 for text.
        title: Whether it is the document's title.
        contents: Whether it is a line of a table of contents.
        bold: Whether its letters are.
        list_id: Of the list that it is an item of; empty for none.
        list_level: In it, from 0.
    """

    level: int = 0
    title: bool = False
    contents: bool = False
    bold: bool = False
    list_id: str = ""
    list_level: int = 0


class Styles:
    """A file's styles."""

    def __init__(self, root: Any) -> None:
        """Read the part that they are in; None for a file without."""
        self._elements = {value(each, "styleId"): each for each in children(root, "style")} if root is not None else {}
        self._default = next((key for key, each in self._elements.items() if self._is_default(each)), "")
        self._known: dict[str, Style] = {}

    def of(self, paragraph: Any) -> Style:
        """What a paragraph is, by its own properties and then by its style's."""
        properties = child(paragraph, "pPr")
        named = self._named(value(child(properties, "pStyle")) or self._default)
        level = _outline(properties)
        own = child(properties, "numPr")
        list_id, list_level = named.list_id, named.list_level
        if own is not None:
            list_id = value(child(own, "numId")) or list_id
            list_level = _number(value(child(own, "ilvl")), list_level)
        level = named.level if level is None else level
        return Style(level, named.title, named.contents, named.bold, "" if list_id == "0" else list_id, list_level)

    @staticmethod
    def _is_default(style: Any) -> bool:
        return value(style, "default") in ("1", "true") and value(style, "type") == "paragraph"

    def _named(self, style_id: str) -> Style:
        if style_id not in self._known:
            self._known[style_id] = self._read(style_id)
        return self._known[style_id]

    def _read(self, style_id: str) -> Style:
        """A style, with what it takes from those that it is based on."""
        level: int | None = None
        title = contents = False
        bold: bool | None = None
        list_id, list_level = "", 0
        for _ in range(_DEEPEST_STYLE):
            style = self._elements.get(style_id)
            if style is None:
                break
            name = value(child(style, "name"))
            if level is None:
                match = _HEADING.fullmatch(name)
                level = int(match[1]) if match else _outline(child(style, "pPr"))
            title |= name.lower() == "title"
            contents |= _CONTENTS.match(name) is not None
            bold = is_on(child(style, "rPr", "b")) if bold is None else bold
            own = child(style, "pPr", "numPr")
            if own is not None and not list_id:
                list_id, list_level = value(child(own, "numId")), _number(value(child(own, "ilvl")), 0)
            style_id = value(child(style, "basedOn"))
        return Style(level or 0, title, contents, bool(bold), list_id, list_level)


@dataclass(frozen=True, slots=True)
class _Level:
    form: str
    text: str
    start: int


class Lists:
    """A file's lists: counts their items, and says what stands before each."""

    def __init__(self, root: Any) -> None:
        """Read the part that they are in; None for a file without."""
        abstract = (
            {value(each, "abstractNumId"): _levels(each) for each in children(root, "abstractNum")}
            if (root is not None)
            else {}
        )
        self._levels: dict[str, dict[int, _Level]] = {}
        self._counted_as: dict[str, str] = {}
        for each in children(root, "num") if root is not None else ():
            number, named = value(each, "numId"), value(child(each, "abstractNumId"))
            own = [*children(each, "lvlOverride")]
            self._levels[number] = dict(abstract.get(named, {}))
            for override in own:
                self._override(number, override)
            # Lists of one form go on counting, but for those that begin anew.
            self._counted_as[number] = number if own else named
        self._counts: dict[str, dict[int, int]] = {}

    def marker(self, list_id: str, level: int) -> str:
        """What stands before the list's next item: "• ", "2. ", "b) ". Empty for what has no marker."""
        levels = self._levels.get(list_id)
        if levels is None or level not in levels:
            return "• " if levels is None and list_id else ""
        counts = self._counts.setdefault(self._counted_as[list_id], {})
        counts[level] = counts.get(level, levels[level].start - 1) + 1
        for deeper in [each for each in counts if each > level]:
            del counts[deeper]
        if levels[level].form == "bullet":
            return "• "
        if levels[level].form == "none":
            return ""

        def shown(match: re.Match[str]) -> str:
            at = int(match[1]) - 1
            form = levels[at].form if at in levels else "decimal"
            return _written(counts.get(at, levels[at].start if at in levels else 1), form)

        text = _PLACE.sub(shown, levels[level].text).strip()
        return f"{text} " if text else ""

    def _override(self, number: str, override: Any) -> None:
        level = _number(value(override, "ilvl"), 0)
        fresh = child(override, "lvl")
        known = _level(fresh) if fresh is not None else self._levels[number].get(level)
        if known is not None:
            start = value(child(override, "startOverride"))
            self._levels[number][level] = _Level(known.form, known.text, _number(start, known.start))


def is_on(flag: Any) -> bool | None:
    """Whether an element that switches something on or off does; None where it is not there."""
    return None if flag is None else value(flag) not in ("0", "false", "off", "none")


def _levels(abstract: Any) -> dict[int, _Level]:
    return {_number(value(each, "ilvl"), 0): _level(each) for each in children(abstract, "lvl")}


def _level(element: Any) -> _Level:
    form, text = value(child(element, "numFmt")) or "decimal", value(child(element, "lvlText"))
    return _Level(form, text, _number(value(child(element, "start")), 1))


def _outline(properties: Any) -> int | None:
    """A heading's level, from 1; 0 for text, None where nothing is said."""
    told = value(child(properties, "outlineLvl"))
    return None if not told else (_number(told, 9) + 1) % 10


def _number(told: str, otherwise: int) -> int:
    return int(told) if told.isascii() and told.isdigit() and len(told) < 6 else otherwise


def _written(count: int, form: str) -> str:
    """A number as a list's form writes it."""
    if form in ("lowerLetter", "upperLetter"):
        # "z" is followed by "aa".
        letters = chr(ord("a") + (count - 1) % 26) * min((count - 1) // 26 + 1, 5) if count > 0 else ""
        return letters.upper() if form == "upperLetter" else letters
    if form in ("lowerRoman", "upperRoman") and 0 < count < 40:
        left, text = count, ""
        for size, letters in _ROMAN:
            text += letters * (left // size)
            left %= size
        return text.upper() if form == "upperRoman" else text
    return f"{count:02d}" if form == "decimalZero" else str(count)
