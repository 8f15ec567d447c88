"""Reader of rich text (.rtf): paragraphs, headings, lists and tables, with the offset of each character in the file.

The tables of control words and character sets are those of striprtf. Its conversion is not used: it loses offsets and
headings, and keeps struck-out, hidden and deleted text. These, headers, footers and comments are left out and counted.
Footnotes are moved to the end. Characters in fonts of signs are read as the page shows them, and so are fields and
equations that have no other text. Specification: Rich Text Format 1.9.1.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from striprtf.striprtf import charset_map, destinations, specialchars

from auscult.readers.contract import DraftDocument, SourceFile
from auscult.readers.dates import iso_date
from auscult.readers.drafting import Facts, draft_of
from auscult.readers.flow import Flow, has_words
from auscult.readers.html.reader import role_of
from auscult.readers.signs import BOXES, is_sign_font, shown
from auscult.readers.tree import Element, Piece, Role, written
from auscult.readers.typesetting import Typesetter
from auscult_readers.fields import FormField, field_text
from auscult_readers.rtf_shape import shape_paragraphs
from auscult_readers.word_equations import GroupedEquation, beside

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
    "listtext": "marker", "shptxt": "box", "fldinst": "instruction", "moMath": "equation",
}  # fmt: skip
# Destinations that only enclose others.
_AROUND: Final = frozenset({"shp", "shpinst", "shptxt", "mmath", "moMathPara"})
_IGNORED: Final = "ignored"
# Destinations whose paragraphs are inside of another paragraph.
_APART: Final = ("note", "box")
_TEXT: Final = ("", *_APART)
# Control words whose text is left out, and the reason under which its words are counted.
_UNSEEN: Final = {"strike": "struck out", "striked": "struck out", "v": "hidden", "deleted": "tracked deletions"}
_COUNTED: Final = {
    **{f"{name}{pages}": "headers and footers" for name in ("header", "footer") for pages in ("", "l", "r", "f")},
    "annotation": "comments",
}
# Destinations that are read although a "*" says that older programs leave them out.
_STARRED: Final = _AROUND | {"footnote", "fldinst", "formfield", "ffl", "moMath"} | _COUNTED.keys()
_REASONS: Final = frozenset(_COUNTED.values())
_TOLD: Final = {"title": "title", "author": "author", "creatim": "created", "revtim": "date"}
_DATES: Final = ("created", "date")
_PARTS: Final = ("yr", "mo", "dy")
_FORM: Final = {"fftype": "kind", "ffres": "result", "ffdefres": "default"}
_STYLE: Final = re.compile(r"\s*(?:heading (\d)|(title))\b", re.IGNORECASE)
_NUMBERED: Final = re.compile(r"\(?\w{1,6}[.)]")
_DEFAULT: Final = -1
"""Number of the font of text that names none."""


@dataclass(slots=True)
class _State:
    """Properties of a group's text.

    Attributes:
        into: Where it goes; "" for the document's own text.
        begun: The value of `into` that began with this very group.
        in_equation: Whether the group around it is one of an equation.
    """

    into: str = ""
    begun: str = ""
    in_equation: bool = False
    font: int = _DEFAULT
    skipped: int = 1
    bold: bool = False
    raised: bool = False
    unseen: tuple[str, ...] = ()

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
                self.font, self.bold, self.raised, self.unseen = _DEFAULT, False, False, ()
            case "uc":
                self.skipped = max(number, 0)
            case _ if word in _UNSEEN:
                others = tuple(each for each in self.unseen if each != word)
                self.unseen = (*others, word) if number else others
            case _:
                return False
        return True


@dataclass(slots=True)
class _Line:
    """A paragraph that is being read.

    Attributes:
        element: Its words.
        marker: Its list marker.
        plain: Whether any of its words are not bold.
        level: Level of a heading, -1 for text.
        in_table: Whether it is in a table.
        last: Its last character so far.
    """

    element: Element = field(default_factory=lambda: Element("p"))
    marker: str = ""
    plain: bool = False
    level: int = -1
    in_table: bool = False
    last: str = ""


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
        flow.left_out.update({reason: len("".join(texts).split()) for reason, texts in parser.left_out.items()})
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
        left_out: Texts that are left out, by reason.
    """

    def __init__(self, source: str) -> None:
        self.root, self.properties, self.left_out = Element(""), dict[str, str](), defaultdict[str, list[str]](list)
        self._source, self._at = source, source.find("{") % (len(source) + 1)
        self._state, self._above = _State(), list[_State]()
        # The current paragraph, and those that are interrupted by a note or a box.
        self._line, self._interrupted = _Line(), list[_Line]()
        self._notes, self._cell, self._row = Element("div"), Element("td"), Element("tr")
        self._table: Element | None = None
        # Code pages and names of fonts, and levels of styles, by number. `_entry` is the number of the current one.
        self._page, self._pages, self._levels, self._entry = "cp1252", dict[int, str](), dict[int, int](), _DEFAULT
        self._fonts, self._sign_fonts, self._default = dict[int, str](), dict[int, str](), _DEFAULT
        self._fields, self._is_filled = list[FormField](), False
        self._equation, self._began_at = GroupedEquation(), 0
        self._bytes, self._bytes_at, self._unread, self._high = b"", 0, 0, 0
        self._starred = False

    def parse(self) -> None:
        """Fill `root`, `properties` and `left_out`."""
        while (token := _TOKEN.match(self._source, self._at)) and self._token(token):
            pass
        self._decode(self._at)
        self._end()
        shape_paragraphs(self.root, self._notes)

    def _token(self, token: re.Match[str]) -> bool:
        """Apply a token. Return False at the end of the document's group."""
        start, self._at = token.span()
        if self._bytes and not (token["hex"] or token["gap"]):
            self._decode(start)
        if token["brace"] == "{":
            self._above.append(self._state)
            in_equation = self._state.into == "equation"
            self._state = replace(self._state, begun="", in_equation=in_equation)
            if in_equation:
                self._equation.begin_group()
        elif token["brace"]:
            self._end_group()
        elif token["word"]:
            self._word(token["word"], token["number"], start)
        elif token["hex"] and self._unread:
            self._unread -= 1
        elif token["hex"]:
            self._bytes_at = self._bytes_at if self._bytes else start
            self._bytes += bytes.fromhex(token["hex"])
        elif token["sign"] in ("\n", "\r"):
            self._lays_out("par", 1)
        elif token["sign"] and token["sign"] != "-":
            self._put(specialchars.get(token["sign"], ""), start)
        elif text := token["text"]:
            skipped = min(self._unread, len(text))
            self._unread -= skipped
            self._put(self._as_shown(text[skipped:]), start + skipped)
        self._starred = token["sign"] == "*"
        return bool(self._above)

    def _end_group(self) -> None:
        """Return to the state before the current group, and add what the group stands for."""
        self._unread, ended = 0, self._state
        if ended.begun in _APART:
            self._end()
            self._line = self._interrupted.pop()
        self._state = self._above.pop()
        if ended.in_equation:
            self._equation.end_group()
        elif ended.begun == "equation":
            self._put_beside(self._equation.text())
        elif ended.begun == "instruction":
            form = self._fields.pop()
            text = field_text(form.instruction) or form.text()
            self._is_filled = bool(text)
            self._put_beside(text)

    def _put_beside(self, text: str) -> None:
        """Write what a group stands for."""
        if self._state.into in _TEXT and beside(self._line.last, text):
            self._line.element.children.append(written(" "))
        self._put(text, self._began_at)

    def _word(self, word: str, given: str | None, start: int) -> None:
        # A word without a number switches something on.
        number = int(given or 1)
        if word == "bin":
            self._at += max(number, 0)
        elif not (
            self._directs(word, number, start) or self._state.format(word, number) or self._lays_out(word, number)
        ):
            self._letter(word, number, start)

    def _directs(self, word: str, number: int, start: int) -> bool:
        """Apply a word that says where text goes, or what a date, font or style is. Return whether it is one."""
        state = self._state
        if word == "ud":
            # The text before it, for programs without Unicode, is ignored, and so is the group around both.
            state.into = self._above[-2].into if len(self._above) > 1 else ""
        elif state.into == _IGNORED or (self._starred and word not in _STARRED):
            state.into = _IGNORED
        elif word in _COUNTED:
            state.into = _COUNTED[word]
            self.left_out[state.into].append(" ")
        elif state.into == "instruction" and word in _FORM:
            setattr(self._fields[-1], _FORM[word], number)
        elif state.into == "instruction" and word in ("formfield", "ffl"):
            self._fields[-1].entries += [""] * (word == "ffl")
            state.into = "entry" if word == "ffl" else state.into
        elif state.into == "equation" and word.startswith("m") and word in destinations:
            self._equation.name_group(word.removeprefix("m"))
        elif word in _INTO and state.into != "equation" and (state.into not in _REASONS or word == "fldinst"):
            self._begin(_INTO[word], start)
        elif word == "fldrslt" and self._is_filled:
            state.into = _IGNORED
        elif state.into == "info" and word in _TOLD:
            state.into = _TOLD[word]
        elif word in destinations and word not in _AROUND:
            state.into = _IGNORED
        else:
            return self._defines(word, number)
        return True

    def _begin(self, into: str, start: int) -> None:
        """Begin a destination with the current group."""
        self._state.into = self._state.begun = into
        if into in _APART:
            self._interrupted.append(self._line)
            self._line = _Line(in_table=self._line.in_table and into == "box")
        elif into == "instruction":
            self._fields.append(FormField())
            self._began_at = start
        elif into == "equation":
            self._equation, self._began_at = GroupedEquation(), start

    def _defines(self, word: str, number: int) -> bool:
        """Apply a word that defines a date, font, style or code page. Return whether it is one."""
        into = self._state.into
        if into in _DATES:
            if word in _PARTS:
                self.properties[into] = f"{self.properties.get(into, '')}-{number:02}".lstrip("-")
        elif (word, into) in (("f", "fonts"), ("s", "styles")):
            self._entry = number
        elif word == "fcharset":
            self._pages[self._entry] = charset_map.get(number, self._page)
        elif word == "ansicpg":
            self._page = f"cp{number}"
        elif word == "deff":
            self._default = number
        else:
            return False
        return True

    def _lays_out(self, word: str, number: int) -> bool:
        """Apply a word about paragraphs or tables. Return whether it is one."""
        line = self._line
        if self._state.into not in _TEXT:
            return False
        match word:
            case "pard":
                line.in_table, line.level = False, -1
            case "s":
                line.level = self._levels.get(number, -1)
            case "outlinelevel":
                line.level = number + 1 if number < 9 else -1
            case "par" | "sect" | "page":
                self._end()
            case "line":
                line.element.children.append(Element("br"))
                line.last = ""
            case "intbl":
                line.in_table = True
            case "cell":
                line.in_table = True
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
                self._row, line.in_table = Element("tr"), False
            case _:
                return False
        return True

    def _letter(self, word: str, number: int, start: int) -> None:
        """Write the character that a word stands for; words that mean nothing here write none."""
        if word != "u":
            self._put(" " if word in ("tab", "cell", "nestcell") else specialchars.get(word, ""), start)
            return
        self._unread = self._state.skipped
        code = number % 0x10000
        if 0xD800 <= code < 0xDC00:
            self._high = code
            return
        if 0xDC00 <= code < 0xE000:
            code = 0x10000 + ((self._high - 0xD800) << 10) + code - 0xDC00 if self._high else 0xFFFD
        self._high = 0
        self._put(self._as_shown(chr(code)), start)

    def _as_shown(self, text: str) -> str:
        font = self._sign_fonts.get(self._state.font)
        return shown(font, text) if font else text

    def _decode(self, end: int) -> None:
        content, self._bytes = self._bytes, b""
        font = self._state.font
        # Fonts of signs have a sign for each byte.
        page = "latin-1" if font in self._sign_fonts else self._pages.get(font, self._page)
        try:
            text = content.decode(page, "replace")
        except LookupError:
            text = content.decode("cp1252", "replace")
        self._put(self._as_shown(text), self._bytes_at, end)

    def _put(self, text: str, start: int, end: int = -1) -> None:
        into = self._state.into
        if not text:
            return
        if into in _TEXT:
            self._write(text, start, self._at if end < 0 else end)
        elif into in _REASONS:
            self.left_out[into].append(text)
        elif into == "marker":
            self._line.marker += text
        elif into == "equation":
            self._equation.add(text)
        elif into == "instruction":
            self._fields[-1].instruction += text
        elif into == "entry":
            self._fields[-1].entries[-1] += text
        elif into == "fonts":
            name = self._fonts[self._entry] = self._fonts.get(self._entry, "") + text
            if is_sign_font(font := name.partition(";")[0]):
                numbers = (self._entry, _DEFAULT) if self._entry == self._default else (self._entry,)
                self._sign_fonts.update(dict.fromkeys(numbers, font))
        elif into == "styles":
            if style := _STYLE.match(text):
                self._levels[self._entry] = int(style[1] or 0)
        elif into in ("title", "author"):
            self.properties[into] = self.properties.get(into, "") + text

    def _write(self, text: str, start: int, end: int) -> None:
        """Add text to the paragraph, or to what is left out."""
        state, line = self._state, self._line
        if state.unseen:
            self.left_out[_UNSEEN[state.unseen[-1]]].append(text)
            return
        holder = line.element
        if state.raised:
            holder = Element("sup")
            line.element.children.append(holder)
        elif _is_box_beside_word(line.last, text[0]):
            holder.children.append(written(" "))
        holder.children.append(Piece(text, start, end))
        line.plain |= has_words(text) and not state.bold
        line.last = text[-1]

    def _end(self) -> None:
        """End the paragraph, and add it to its cell, its list or the text."""
        ended = self._line
        self._line = _Line(level=ended.level, in_table=ended.in_table)
        element, marker = ended.element, ended.marker.strip()
        if not element.words():
            return
        home = self._notes if self._state.into == "note" else self._cell if ended.in_table else self.root
        if home is self.root:
            self._table = None
        if marker:
            if not home.elements or home.elements[-1].tag != "ul":
                home.children.append(Element("ul"))
            home = home.elements[-1]
            if _NUMBERED.fullmatch(marker) or marker in BOXES:
                element.children.insert(0, written(f"{marker} "))
            else:
                element.tag = "li"
        else:
            element.attributes = {} if ended.plain else {"bold": "1"}
            if ended.level >= 0 and home is self.root:
                element.attributes["level"] = str(ended.level)
        home.children.append(element)


def _is_box_beside_word(before: str, after: str) -> bool:
    return bool(before) and ((before in BOXES and after.isalnum()) or (after in BOXES and before.isalnum()))
