"""Styles and lists of a Word file: which paragraphs are headings, and the markers of list items."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from auscult.readers.signs import BOXES, sign
from auscult_readers.word.package import child, children, local, value

_HEADING: Final = re.compile(r"heading ([1-9])", re.IGNORECASE)
_CONTENTS: Final = re.compile(r"toc(?: \d| heading)|table of figures|index \d", re.IGNORECASE)
_DEEPEST_STYLE: Final = 20
_ROMAN: Final = ((10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
_PLACE: Final = re.compile(r"%([1-9])")


@dataclass(frozen=True, slots=True)
class Style:
    """The kind of a paragraph according to its style.

    Attributes:
        level: Level of a heading, from 1; 0 for text.
        title: Whether it is the document's title.
        contents: Whether it is a line of a table of contents.
        list_id: Id of the list to which an item belongs; "" for no item.
        list_level: Level of the item in its list, from 0.
    """

    level: int = 0
    title: bool = False
    contents: bool = False
    list_id: str = ""
    list_level: int = 0


@dataclass(frozen=True, slots=True)
class Look:
    """The look of letters. None means that it is not specified.

    Attributes:
        bold: Whether they are bold.
        struck: Whether they are struck through.
        hidden: Whether they are not printed.
        raised: Whether they are superscript.
        font: Name of the font.
    """

    bold: bool | None = None
    struck: bool | None = None
    hidden: bool | None = None
    raised: bool | None = None
    font: str | None = None

    def over(self, other: Look) -> Look:
        """Return this look, with unspecified values taken from another."""
        if other == Look():
            return self
        told = {name: getattr(other if getattr(self, name) is None else self, name) for name in Look.__slots__}
        return Look(**told)


def look_of(properties: Any) -> Look:
    """Return the look in the properties of a run; `properties` is None for a run without."""
    if properties is None:
        return Look()
    flags: dict[str, bool | None] = {}
    raised = font = None
    for element in properties:
        name = local(element)
        if name in ("b", "strike", "dstrike", "vanish"):
            flags[name] = is_on(element)
        elif name == "vertAlign":
            raised = value(element) == "superscript"
        elif name == "rFonts":
            font = value(element, "ascii") or value(element, "hAnsi") or None
    struck = flags.get("strike") or flags.get("dstrike", flags.get("strike"))
    return Look(flags.get("b"), struck, flags.get("vanish"), raised, font)


class Styles:
    """The styles of a file."""

    def __init__(self, root: Any) -> None:
        """Read the part that they are in; None for a file without."""
        self._elements = {value(each, "styleId"): each for each in children(root, "style")} if root is not None else {}
        self._default = next((key for key, each in self._elements.items() if self._is_default(each)), "")
        self._known: dict[str, Style] = {}
        self._looks: dict[str, Look] = {}

    def look(self, style_id: str) -> Look:
        """Return the look of letters of a style."""
        if style_id not in self._looks:
            look, named = Look(), style_id
            for _ in range(_DEEPEST_STYLE):
                style = self._elements.get(named)
                if style is None:
                    break
                look, named = look.over(look_of(child(style, "rPr"))), value(child(style, "basedOn"))
            self._looks[style_id] = look
        return self._looks[style_id]

    def look_of_paragraph(self, paragraph: Any) -> Look:
        """Return the look of letters of a paragraph's style."""
        return self.look(value(child(paragraph, "pPr", "pStyle")) or self._default)

    def of(self, paragraph: Any) -> Style:
        """Return the kind of a paragraph, from its own properties and then from its style."""
        properties = child(paragraph, "pPr")
        named = self._named(value(child(properties, "pStyle")) or self._default)
        level = _outline(properties)
        own = child(properties, "numPr")
        list_id, list_level = named.list_id, named.list_level
        if own is not None:
            list_id = value(child(own, "numId")) or list_id
            list_level = _number(value(child(own, "ilvl")), list_level)
        level = named.level if level is None else level
        return Style(level, named.title, named.contents, "" if list_id == "0" else list_id, list_level)

    @staticmethod
    def _is_default(style: Any) -> bool:
        return value(style, "default") in ("1", "true") and value(style, "type") == "paragraph"

    def _named(self, style_id: str) -> Style:
        if style_id not in self._known:
            self._known[style_id] = self._read(style_id)
        return self._known[style_id]

    def _read(self, style_id: str) -> Style:
        """Read a style, with the properties that it inherits."""
        level: int | None = None
        title = contents = False
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
            own = child(style, "pPr", "numPr")
            if own is not None and not list_id:
                list_id, list_level = value(child(own, "numId")), _number(value(child(own, "ilvl")), 0)
            style_id = value(child(style, "basedOn"))
        return Style(level or 0, title, contents, list_id, list_level)


@dataclass(frozen=True, slots=True)
class _Level:
    form: str
    text: str
    start: int
    bullet: str


class Lists:
    """The lists of a file. Counts their items and writes the marker of each."""

    def __init__(self, root: Any) -> None:
        """Read the part that they are in; None for a file without."""
        abstract = (
            {value(each, "abstractNumId"): _levels(each) for each in children(root, "abstractNum")}
            if (root is not None)
            else {}
        )
        self._levels: dict[str, dict[int, _Level]] = {}
        self._counted_as: dict[str, str] = {}
        for numbering in children(root, "num") if root is not None else ():
            number, named = value(numbering, "numId"), value(child(numbering, "abstractNumId"))
            own = [*children(numbering, "lvlOverride")]
            self._levels[number] = dict(abstract.get(named, {}))
            for override in own:
                self._override(number, override)
            # Lists of one abstract list continue its count, except those with a start override.
            self._counted_as[number] = number if own else named
        self._counts: dict[str, dict[int, int]] = {}

    def marker(self, list_id: str, level: int) -> str:
        """Return the marker of a list's next item: "• ", "2. ", "b) "; "" if it has none."""
        levels = self._levels.get(list_id)
        if levels is None or level not in levels:
            return "• " if levels is None and list_id else ""
        counts = self._counts.setdefault(self._counted_as[list_id], {})
        counts[level] = counts.get(level, levels[level].start - 1) + 1
        for deeper in [each for each in counts if each > level]:
            del counts[deeper]
        if levels[level].form == "bullet":
            return f"{levels[level].bullet} "
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
            self._levels[number][level] = _Level(known.form, known.text, _number(start, known.start), known.bullet)


def is_on(flag: Any) -> bool | None:
    """Whether an on/off property is on; None if it is missing."""
    return None if flag is None else value(flag) not in ("0", "false", "off", "none")


def _levels(abstract: Any) -> dict[int, _Level]:
    return {_number(value(each, "ilvl"), 0): _level(each) for each in children(abstract, "lvl")}


def _level(element: Any) -> _Level:
    form, text = value(child(element, "numFmt")) or "decimal", value(child(element, "lvlText"))
    font = look_of(child(element, "rPr")).font or ""
    # Check boxes have a meaning. All other bullets are written alike.
    box = sign(font, ord(text)) if len(text) == 1 else ""
    return _Level(form, text, _number(value(child(element, "start")), 1), box if box and box in BOXES else "•")


def _outline(properties: Any) -> int | None:
    """Return the outline level of a heading, from 1; 0 for text, None if it is not specified."""
    told = value(child(properties, "outlineLvl"))
    return None if not told else (_number(told, 9) + 1) % 10


def _number(told: str, otherwise: int) -> int:
    return int(told) if told.isascii() and told.isdigit() and len(told) < 6 else otherwise


def _written(count: int, form: str) -> str:
    """Write a number in the format of a list."""
    if form in ("lowerLetter", "upperLetter"):
        # After "z" comes "aa".
        letters = chr(ord("a") + (count - 1) % 26) * min((count - 1) // 26 + 1, 5) if count > 0 else ""
        return letters.upper() if form == "upperLetter" else letters
    if form in ("lowerRoman", "upperRoman") and 0 < count < 40:
        left, text = count, ""
        for size, letters in _ROMAN:
            text += letters * (left // size)
            left %= size
        return text.upper() if form == "upperRoman" else text
    return f"{count:02d}" if form == "decimalZero" else str(count)
