"""Reader of rich text (.rtf): paragraphs, headings, lists and tables, with the offset of each character in the file.

The tables of control words and character sets are those of striprtf. Its conversion is not used: it loses offsets and
headings, and keeps struck-out, hidden and deleted text. Headers, footers, comments and pictures are left out. Footnotes
are moved to the end. Specification: Rich Text Format 1.9.1.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from striprtf.striprtf import charset_map, destinations, specialchars

from auscult.readers.contract import DraftDocument, SourceFile
from auscult.readers.dates import iso_date
from auscult.readers.flow import Facts, Flow, draft_of, has_words
from auscult.readers.html.reader import role_of
from auscult.readers.tables import has_header_row
from auscult.readers.tree import Element, Piece, Role, written
from auscult.readers.typesetting import Typesetter

MEDIA_TYPE: Final = "application/rtf"
# One character per byte. Control words stand for characters beyond ASCII.
_ENCODING: Final = "cp1252"
_TOKEN: Final = re.compile(
    r"\\(?P<word>[A-Za-z]{1,32})(?P<number>-?\d{1,10})? ?|\\'(?P<hex>[0-9A-Fa-f]{2})|\\(?P<sign>[^A-Za-z])"
    r"|(?P<brace>[{}])|(?P<gap>[\r\n\0]+)|(?P<text>[^\\{}\r\n\0]+)|(?P<rest>.)",
    re.DOTALL,
)
_INTO: Final = {
    "fonttbl": "fonts", "stylesheet": "styles", "info": "info", "footnote": "note", "pntext": "marker",
    "listtext": "marker", "shptxt": "box",
}  # fmt: skip
_SHAPES: Final = frozenset({"shp", "shpinst", "shptxt"})
_IGNORED: Final = "ignored"
# Destinations whose paragraphs are inside of another paragraph.
_APART: Final = ("note", "box")
_UNSEEN: Final = frozenset({"strike", "striked", "v", "deleted"})
_TOLD: Final = {"title": "title", "author": "author", "creatim": "created", "revtim": "date"}
_DATES: Final = ("created", "date")
_PARTS: Final = ("yr", "mo", "dy")
_STYLE: Final = re.compile(r"\s*(?:heading (\d)|(title))\b", re.IGNORECASE)
_NUMBERED: Final = re.compile(r"\(?\w{1,6}[.)]")
_LONGEST_BOLD: Final = 100


@dataclass(slots=True)
class _State:
    """Properties of a group's text; `into` names where it goes, empty for the document's own."""

    into: str = ""
    font: int = -1
    skipped: int = 1
    bold: bool = False
    raised: bool = False
    unseen: frozenset[str] = frozenset()

    def format(self, word: str, number: int) -> bool:
        """Apply a word about characters. Return whether it is one."""
        match word:
            case "f":
                self.font = number
            case "b":
                self.bold = number != 0
            case "super" | "sub" | "nosupersub":
                self.raised = word == "super" and number != 0
            case "plain":
                self.bold, self.raised, self.unseen = False, False, frozenset()
            case "uc":
                self.skipped = max(number, 0)
            case _ if word in _UNSEEN:
                self.unseen = self.unseen | {word} if number else self.unseen - {word}
            case _:
                return False
        return True


class RtfReader:
    """Reads rich text."""

    name = "RTF"
    suffixes: tuple[str, ...] = (".rtf",)

    def recognises(self, file: SourceFile) -> bool:
        """Whether the file begins with the control word of rich text."""
        return file.head.lstrip().startswith(b"{\\rtf")

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """Yield the one document of the file.

        Raises:
            UnreadableError: The file has no words.
        """
        parser = _Parser(file.content.decode(_ENCODING, "replace"))
        parser.parse()
        properties = {name: " ".join(value.split()) for name, value in parser.properties.items()}
        properties |= {name: iso_date(properties[name]) for name in _DATES if name in properties}
        flow = Flow()
        Typesetter(
            flow,
            lambda element: Role.HEADING if element.get("level") else role_of(element),
            lambda element: int(element.get("level")),
        ).set(parser.root)
        facts = Facts(
            title=properties.pop("title", ""), metadata={name: value for name, value in properties.items() if value}
        )
        yield draft_of(flow, facts, media_type=MEDIA_TYPE, encoding=_ENCODING)


class _Parser:
    """Parses the tokens of a file in one pass.

    Attributes:
        root: Paragraphs, lists and tables with the tags of HTML. Headings have a "level".
        properties: Title, author and dates.
    """

    def __init__(self, source: str) -> None:
        self.root, self.properties = Element(""), dict[str, str]()
        self._source, self._at = source, source.find("{") % (len(source) + 1)
        self._state, self._above = _State(), list[_State]()
        self._paragraph, self._marker, self._held = Element("p"), "", list[Element]()
        self._notes, self._cell, self._row = Element("div"), Element("td"), Element("tr")
        self._table: Element | None = None
        self._in_table, self._level, self._plain = False, -1, False
        # Code pages of fonts and levels of styles, by their numbers. `_entry` is the number of the current one.
        self._page, self._pages, self._levels, self._entry = "cp1252", dict[int, str](), dict[int, int](), -1
        self._bytes, self._bytes_at, self._unread, self._high = b"", 0, 0, 0
        self._starred = False

    def parse(self) -> None:
        """Fill `root` and `properties`."""
        while (token := _TOKEN.match(self._source, self._at)) and self._token(token):
            pass
        self._decode(self._at)
        self._end()
        body = self.root.elements
        levels = [int(each.get("level")) for each in body if each.get("level")]
        # The style of titles is level 0. The only heading of level 1 is a title, too, if there are lower ones.
        lower = 0 if levels and min(levels) == 1 == levels.count(1) < len(levels) else 1
        by_bold = not levels and not all(each.get("bold") for each in body)
        for paragraph in body:
            words = paragraph.words()
            bold = (
                by_bold and paragraph.get("bold") and len(words) <= _LONGEST_BOLD and words[-1:] not in (".", ",", ";")
            )
            if paragraph.get("level") or (bold and has_words(words)):
                paragraph.attributes["level"] = str(int(paragraph.get("level") or 1) + lower)
            last = paragraph.children[-1]
            if bold and isinstance(last, Piece) and last.text.rstrip().endswith(":"):
                shown = last.text.rstrip()[:-1]
                paragraph.children[-1] = Piece(shown, last.start, last.start + len(shown))
        if self._notes.children:
            title = Element("p", {"level": "2"})
            title.children.append(written("Footnotes"))
            self.root.children += [title, self._notes]
        for table in self.root.all("table"):
            rows = [row.elements for row in table.elements]
            first, *others = [
                [all(paragraph.get("bold") for paragraph in cell.elements) for cell in row] for row in rows
            ]
            bold = all(first) and len(others) > 0 and not all(map(all, others))
            if (
                table.elements[0].get("header")
                or bold
                or has_header_row([[cell.words() for cell in row] for row in rows])
            ):
                for cell in table.elements[0].elements:
                    cell.tag = "th"

    def _token(self, token: re.Match[str]) -> bool:
        """Apply a token. Return False at the end of the document's group."""
        start, self._at = token.span()
        if self._bytes and not (token["hex"] or token["gap"]):
            self._decode(start)
        if token["brace"] == "{":
            self._above.append(replace(self._state))
        elif token["brace"]:
            self._unread, before = 0, self._state.into
            if before in _APART and self._above[-1].into != before:
                self._end()
                self._paragraph = self._held.pop()
            self._state = self._above.pop()
        elif token["word"]:
            self._word(token["word"], token["number"], start)
        elif token["hex"] and self._unread:
            self._unread -= 1
        elif token["hex"]:
            self._bytes_at = self._bytes_at if self._bytes else start
            self._bytes += bytes.fromhex(token["hex"])
        elif token["sign"] in ("\n", "\r"):
            self._end()
        elif token["sign"] and token["sign"] != "-":
            self._put(specialchars.get(token["sign"], ""), start)
        elif text := token["text"]:
            skipped = min(self._unread, len(text))
            self._unread -= skipped
            self._put(text[skipped:], start + skipped)
        self._starred = token["sign"] == "*"
        return bool(self._above)

    def _word(self, word: str, given: str | None, start: int) -> None:
        # A word without a number switches something on.
        number = int(given or 1)
        if word == "bin":
            self._at += max(number, 0)
        elif not (self._directs(word, number) or self._state.format(word, number) or self._lays_out(word, number)):
            self._letter(word, number, start)

    def _directs(self, word: str, number: int) -> bool:
        """Apply a word that says where text goes, or what a date, font or style is. Return whether it is one."""
        state = self._state
        if word == "ud":
            state.into = ""
        elif state.into == _IGNORED or (self._starred and word not in _SHAPES):
            state.into = _IGNORED
        elif word in _INTO:
            state.into = _INTO[word]
            if state.into in _APART:
                self._held.append(self._paragraph)
                self._paragraph = Element("p")
        elif state.into == "info" and word in _TOLD:
            state.into = _TOLD[word]
        elif word in destinations and word not in _SHAPES:
            state.into = _IGNORED
        elif state.into in _DATES:
            if word in _PARTS:
                self.properties[state.into] = f"{self.properties.get(state.into, '')}-{number:02}".lstrip("-")
        elif (word, state.into) in (("f", "fonts"), ("s", "styles")):
            self._entry = number
        elif word == "fcharset":
            self._pages[self._entry] = charset_map.get(number, self._page)
        elif word == "ansicpg":
            self._page = f"cp{number}"
        else:
            return False
        return True

    def _lays_out(self, word: str, number: int) -> bool:
        """Apply a word about paragraphs or tables. Return whether it is one."""
        match word:
            case "pard":
                self._in_table, self._level = False, -1
            case "s":
                self._level = self._levels.get(number, -1)
            case "outlinelevel":
                self._level = number + 1 if number < 9 else -1
            case "par" | "sect" | "page":
                self._end()
            case "line":
                self._paragraph.children.append(Element("br"))
            case "intbl":
                self._in_table = True
            case "cell":
                self._in_table = True
                self._end()
                self._row.children.append(self._cell)
                self._cell = Element("td")
            case "trhdr":
                self._row.attributes["header"] = "1"
            case "row":
                if self._table is None:
                    self._table = Element("table")
                    self.root.children.append(self._table)
                self._table.children.append(self._row)
                self._row, self._in_table = Element("tr"), False
            case _:
                return False
        return True

    def _letter(self, word: str, number: int, start: int) -> None:
        """Write the character that a word stands for; words that mean nothing here write none."""
        if word != "u":
            self._put(" " if word in ("tab", "nestcell") else specialchars.get(word, ""), start)
            return
        self._unread = self._state.skipped
        code = number % 0x10000
        if 0xD800 <= code < 0xDC00:
            self._high = code
            return
        if 0xDC00 <= code < 0xE000:
            code = 0x10000 + ((self._high - 0xD800) << 10) + code - 0xDC00 if self._high else 0xFFFD
        self._high = 0
        self._put(chr(code), start)

    def _decode(self, end: int) -> None:
        content, self._bytes = self._bytes, b""
        try:
            text = content.decode(self._pages.get(self._state.font, self._page), "replace")
        except LookupError:
            text = content.decode("cp1252", "replace")
        self._put(text, self._bytes_at, end)

    def _put(self, text: str, start: int, end: int = -1) -> None:
        state = self._state
        if not text or state.unseen:
            return
        if state.into == "marker":
            self._marker += text
        elif state.into == "styles":
            if style := _STYLE.match(text):
                self._levels[self._entry] = int(style[1] or 0)
        elif state.into in ("title", "author"):
            self.properties[state.into] = self.properties.get(state.into, "") + text
        elif state.into in ("", *_APART):
            holder = self._paragraph
            if state.raised:
                holder = Element("sup")
                self._paragraph.children.append(holder)
            holder.children.append(Piece(text, start, self._at if end < 0 else end))
            self._plain |= has_words(text) and not state.bold

    def _end(self) -> None:
        """End the paragraph, and add it to its cell, its list or the text."""
        ended, self._paragraph = self._paragraph, Element("p")
        marker, self._marker = self._marker.strip(), ""
        plain, self._plain = self._plain, False
        if not ended.words():
            return
        home = self._notes if self._state.into == "note" else self._cell if self._in_table else self.root
        if home is self.root:
            self._table = None
        if marker:
            if not home.elements or home.elements[-1].tag != "ul":
                home.children.append(Element("ul"))
            home = home.elements[-1]
            if _NUMBERED.fullmatch(marker):
                ended.children.insert(0, written(f"{marker} "))
            else:
                ended.tag = "li"
        else:
            ended.attributes = {} if plain else {"bold": "1"}
            if self._level >= 0 and home is self.root:
                ended.attributes["level"] = str(self._level)
        home.children.append(ended)
