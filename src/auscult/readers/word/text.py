"""The words of a Word paragraph as Word prints it: insertions in, deletions, hidden text and field codes out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from auscult.readers.word.package import child, local, value
from auscult.readers.word.styles import is_on

_LEFT_OUT: Final = frozenset(
    {"del", "moveFrom", "instrText", "delText", "delInstrText", "rPr", "pPr", "sdtPr", "sdtEndPr", "Fallback", "rt",
     "tbl", "commentReference", "footnoteReference", "endnoteReference", "annotationRef", "footnoteRef", "endnoteRef"}
)  # fmt: skip
_DELETED: Final = ("del", "moveFrom")
_WRITTEN: Final = {"tab": " ", "cr": "\n", "noBreakHyphen": "-", "ptab": " "}
# The font "Symbol", whose signs have no letters of their own in the file.
_SYMBOLS: Final = dict(
    zip("abgdezhqiklmnxprstufcyw", "αβγδεζηθικλμνξπρστυφχψω", strict=True),
) | {"D": "Δ", "S": "Σ", "W": "Ω", "\xa3": "≤", "\xb3": "≥", "\xb1": "±", "\xb4": "×", "\xb8": "÷", "\xb0": "°",
     "\xae": "→", "\xac": "←", "\xad": "↑", "\xaf": "↓", "\xb7": "•", "\xb9": "≠", "\xbb": "≈"}  # fmt: skip


@dataclass(slots=True)
class ParagraphText:
    """What a paragraph holds.

    Attributes:
        text: Its words; a line break where the author set one.
        bold: Whether all of its words are set in bold.
        boxes: Text boxes that hang on it: the elements with their paragraphs.
        deleted: Whether deletions were left out.
    """

    text: str = ""
    bold: bool = False
    boxes: list[Any] = field(default_factory=list)
    deleted: bool = False


def paragraph_text(paragraph: Any, *, bold_style: bool = False) -> ParagraphText:
    """The words of a paragraph.

    Args:
        paragraph: Its element.
        bold_style: Whether its style is bold.
    """
    found = ParagraphText()
    parts: list[str] = []
    plain = bold = 0
    waiting = [(each, bold_style) for each in reversed(paragraph)]
    while waiting:
        element, heavy = waiting.pop()
        name = local(element)
        if name == "txbxContent":
            found.boxes.append(element)
        elif name in _LEFT_OUT or not name:
            found.deleted |= name in _DELETED
        elif name == "t":
            text = (element.text or "").translate(_NO_BREAKS)
            parts.append(text)
            plain, bold = (plain, bold + len(text.strip())) if heavy else (plain + len(text.strip()), bold)
        elif name == "sym":
            parts.append(_symbol(element))
        elif name == "br":
            parts.append(" " if value(element, "type") in ("page", "column") else "\n")
        elif name in _WRITTEN:
            parts.append(_WRITTEN[name])
        elif name != "r" or not _hidden(element):
            if name == "r":
                own = is_on(child(element, "rPr", "b"))
                heavy = heavy if own is None else own
            waiting += [(each, heavy) for each in reversed(element)]
    found.text = "".join(parts)
    found.bold = bold > 0 and not plain
    return found


_NO_BREAKS: Final = {
    0: None,
    ord("\r"): " ",
    ord("\n"): " ",
    0xAD: None,
    0x2028: " ",
    0x2029: " ",
    0x0B: " ",
    0x0C: " ",
}


def _hidden(run: Any) -> bool:
    return is_on(child(run, "rPr", "vanish")) is True


def _symbol(element: Any) -> str:
    told = value(element, "char")
    try:
        code = int(told, 16) & 0xFF if int(told, 16) >= 0xF000 else int(told, 16)
    except ValueError:
        return ""
    if value(element, "font").lower() == "symbol":
        return _SYMBOLS.get(chr(code), chr(code) if 32 <= code < 127 else "")
    return ""
