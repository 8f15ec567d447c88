r"""Messages of HL7 v2 as segments, fields, repetitions and components, with offsets in the source.

The header names the separators, usually `|^~\&`. Escape sequences are resolved (`\.br\` ends a line, `\T\` is an
ampersand).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from auscult.readers.decoding import decode_text
from auscult.readers.tree import Piece, written

REST: Final = "rest"
"""Name of a line that is no segment and continues a field. HL7 forbids line ends in fields, but files have them."""
HEADER: Final = re.compile(r"[\x0b\s]*+(?:MSH|[FB]HS)([^\w\s])[^\w\s]{3,5}\1")
"""Beginning of a message or of a batch."""
_SEGMENT: Final = re.compile(r"[A-Z][A-Z0-9]{2}(?=[^\w\s]|\Z)")
_LINE: Final = re.compile(r"[^\r\n\x0b\x1c]+")
_SIGNS: Final = "^~\\&"
_WORDLIKE: Final = re.compile(r"[^\W\d_]{2}")
_LINE_BREAKS: Final = (".br", ".sp", ".ce")
# Components of a coded value with words: its name, the name of another system, and the original text.
_NAMES: Final = (2, 5, 9)


@dataclass(frozen=True, slots=True)
class Message:
    r"""The segments of a message, each as a list of fields with offsets in the source. The first is its name.

    Attributes:
        signs: Separators of components and repetitions, escape character, separator of subcomponents; usually `^~\&`.
    """

    signs: str
    segments: list[list[Piece]]

    def piece(self, segment: list[Piece] | str, number: int) -> Piece:
        """Return a field of a segment, or of the first segment with a name; an empty piece if there is none."""
        if isinstance(segment, str):
            segment = next((each for each in self.segments if each[0].text == segment), [])
        return segment[number] if number < len(segment) else Piece("", 0, 0)

    def field(self, segment: list[Piece] | str, number: int) -> str:
        """Return the text of a field; "" if there is none."""
        return self.piece(segment, number).text

    def repetitions(self, field: Piece) -> list[Piece]:
        """Return the values of a field: one, or several if it is repeated."""
        values = []
        at = field.start
        for value in field.text.split(self.signs[1]):
            values.append(Piece(value, at, at + len(value)))
            at += len(value) + 1
        return values

    def part(self, value: str, number: int) -> str:
        """Return a component of a field's first repetition as plain text. Components count from 1."""
        parts = value.partition(self.signs[1])[0].split(self.signs[0])
        return self.plain(parts[number - 1]) if number <= len(parts) else ""

    def plain(self, value: str) -> str:
        """Return a value on one line, its components separated by blanks."""
        said = "".join(piece.text if piece else " " for piece in self.pieces(Piece(value, 0, len(value))))
        return " ".join(said.replace(self.signs[0], " ").replace(self.signs[3], " ").split())

    def coded(self, value: str) -> str:
        """Return the words of a coded value; without words, its code if that has letters ("CREATININE")."""
        code = self.part(value, 1)
        words = next(filter(None, (self.part(value, number) for number in _NAMES)), "")
        return words or (code if _WORDLIKE.search(code) else "")

    def coded_part(self, value: str, number: int) -> str:
        """Return the words of a component that is itself coded, by subcomponents ("d&day"); else its code."""
        parts = value.partition(self.signs[1])[0].split(self.signs[0])
        inner = parts[number - 1].split(self.signs[3]) if number <= len(parts) else []
        return next(filter(None, (self.plain(each) for each in (*inner[1:2], *inner[:1]))), "")

    def person(self, value: str, family: int) -> str:
        """Return the name of a person. `family`: number of the component with the family name."""
        value = self.signs[0].join(part.partition(self.signs[3])[0] for part in value.split(self.signs[0]))
        return " ".join(filter(None, (self.part(value, family + number) for number in (1, 2, 0))))

    def pieces(self, field: Piece) -> Iterator[Piece | None]:
        """Yield the pieces of a text with escape sequences resolved; None for the end of a line."""
        at = 0
        escape, repetition = re.escape(self.signs[2]), re.escape(self.signs[1])
        for match in re.finditer(rf"{escape}([^{escape}\r\n]{{0,200}}){escape}|{repetition}", field.text):
            yield Piece(field.text[at : match.start()], field.start + at, field.start + match.start())
            at = match.end()
            text = self._said(match[1])
            yield None if text is None else Piece(text, field.start + match.start(), field.start + at)
        yield Piece(field.text[at:], field.start + at, field.end)

    def _said(self, code: str | None) -> str | None:
        """Return the text of an escape sequence; None for the end of a line, which repetitions also have."""
        if code is None or code.lower().startswith(_LINE_BREAKS) or code in ("X0D", "X0A", "X0D0A"):
            return None
        if re.fullmatch(r"X(?:[0-9A-Fa-f]{2})+", code):
            return decode_text(bytes.fromhex(code[1:])).text
        return {"F": "|", **dict(zip("SRET", self.signs, strict=False))}.get(code, "")


def messages_of(text: str) -> Iterator[Message]:
    """Yield the messages of a file. Headers of batches are left out.

    A line that is no segment is one named `REST`. Fields after it belong to the segment that it continues.
    """
    message: Message | None = None
    continued: list[Piece] = []
    separator = "|"
    for line in _LINE.finditer(text):
        begin = HEADER.match(line[0])
        if begin and "MSH" in begin[0]:
            if message:
                yield message
            separator, signs = begin[1], begin[0].partition(begin[1])[2][:-1]
            message = Message(signs[:4] + _SIGNS[len(signs) :], [])
        elif message is None or begin:
            continue
        at, fields = line.start(), []
        for field in line[0].split(separator):
            fields.append(Piece(field, at, at + len(field)))
            at += len(field) + 1
        if begin or (_SEGMENT.match(line[0]) and line[0][3:4] in ("", separator)):
            message.segments.append(fields)
            continued = fields
        else:
            message.segments.append([written(REST), fields[0]])
            continued += fields[1:]
    if message:
        yield message
