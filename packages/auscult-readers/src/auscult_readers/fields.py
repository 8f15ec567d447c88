r"""Fields of Word and RTF files whose text is only in their instruction: equations (EQ) and characters (SYMBOL).

`EQ \f(1;2)` is shown as a fraction, and `SYMBOL 179 \f "Symbol"` as "≥". Such fields have no result in the file, so
that without their instruction "Take ½ tablet" becomes "Take tablet". Specification: ECMA-376, part 1, 17.16.5.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from auscult.readers.signs import EMPTY, TICKED, is_sign_font, sign
from auscult_readers.word_equations import beside, enclosed, fraction, root

_SYMBOL: Final = re.compile(r"\s*SYMBOL\s+(0x[0-9a-f]{1,6}|\d{1,7}|\S)", re.IGNORECASE)
_FONT: Final = re.compile(r"\\f\s*(?:\"([^\"]*)\"|(\S+))", re.IGNORECASE)
_UNICODE: Final = re.compile(r"\\u\b", re.IGNORECASE)
_EQUATION: Final = re.compile(r"\s*EQ\b(.*)", re.IGNORECASE | re.DOTALL)
_SWITCH: Final = re.compile(r"\\([a-z]{1,2})\d*\s*", re.IGNORECASE)
# Options between a switch and its parts: "\bc\{", "\lc\(", "\co2", "\up8".
_CHARACTER: Final = re.compile(r"\\(bc|lc|rc|fc|vc)\s*\\?(.)\s*", re.IGNORECASE | re.DOTALL)
_SEPARATORS: Final = ",;"
_CLOSING: Final = {"(": ")", "[": "]", "{": "}", "<": ">"}
_OPERATORS: Final = {"su": "∑", "pr": "∏", "in": "∫"}
_DEEPEST: Final = 20


def field_text(instruction: str) -> str:
    """Return the text that a field shows according to its instruction; "" for fields of all other kinds."""
    if found := _SYMBOL.match(instruction):
        return _symbol(found[1], instruction)
    if found := _EQUATION.match(instruction):
        return " ".join(_Equation(found[1]).text().split())
    return ""


def _symbol(code: str, instruction: str) -> str:
    font = _FONT.search(instruction)
    if code[:2].lower() == "0x":
        number = int(code, 16)
    else:
        number = int(code) if code.isascii() and code.isdigit() else ord(code)
    name = (font[1] or font[2] or "") if font else "Symbol"
    if 127 < number < 256 and not is_sign_font(name) and not _UNICODE.search(instruction):
        # The codes of usual fonts are those of Windows by default.
        return bytes([number]).decode("cp1252", "replace")
    return sign(name, number) if number < 0x110000 else ""


_CHECK_BOX, _LIST = 1, 2
_UNDEFINED: Final = 25


@dataclass(slots=True)
class FormField:
    """A field of a form in rich text.

    Attributes:
        instruction: Instruction of the field.
        kind: 1 for a check box, 2 for a list, 0 for anything else.
        result: What the user chose: whether the box is ticked, or the number of the entry; 25 for nothing.
        default: The same for a form that is not filled in.
        entries: Entries of the list.
    """

    instruction: str = ""
    kind: int = 0
    result: int = _UNDEFINED
    default: int = 0
    entries: list[str] = field(default_factory=list)

    def text(self) -> str:
        """Return the box or the chosen entry; "" for other fields, whose text is in the file."""
        chosen = self.default if self.result == _UNDEFINED else self.result
        if self.kind == _CHECK_BOX:
            return TICKED if chosen else EMPTY
        return self.entries[chosen] if self.kind == _LIST and 0 <= chosen < len(self.entries) else ""


class _Equation:
    """Parses the instruction of an equation.

    Args:
        source: The instruction without its name.
    """

    def __init__(self, source: str) -> None:
        self._source, self._at = source, 0

    def text(self, depth: int = 0, *, part: bool = False) -> str:
        """Return the text up to the end, or up to the separator or bracket that ends a part."""
        text, open_brackets = "", 0
        while self._at < len(self._source):
            character = self._source[self._at]
            if part and not open_brackets and (character in _SEPARATORS or character == ")"):
                break
            if character == "\\":
                shown = self._switch(depth)
                text += (" " if beside(text, shown) else "") + shown
                continue
            open_brackets += (character == "(") - (character == ")")
            text += character
            self._at += 1
        return text.strip() if part else text

    def _switch(self, depth: int) -> str:
        """Return the text of a switch with its parts, or the character that a backslash quotes."""
        found = _SWITCH.match(self._source, self._at)
        if found is None:
            quoted = self._source[self._at + 1 : self._at + 2]
            self._at += 2
            return quoted
        self._at = found.end()
        name, operator, brackets = found[1].lower(), "∫", ["", ""]
        while self._source[self._at : self._at + 1] == "\\":
            if option := _CHARACTER.match(self._source, self._at):
                kind, character = option[1].lower(), option[2]
                if kind in ("fc", "vc"):
                    operator = character
                brackets[0] = character if kind in ("bc", "lc") else brackets[0]
                brackets[1] = (
                    _CLOSING.get(character, character) if kind == "bc" else character if kind == "rc" else brackets[1]
                )
            elif option := _SWITCH.match(self._source, self._at):
                operator = _OPERATORS.get(option[1].lower(), operator)
                # "\s\up8(2)" has its parts behind the option.
                name = option[1].lower() if option[1].lower() in ("up", "do") else name
            else:
                break
            self._at = option.end()
        return _written(name, self._parts(depth), operator, (brackets[0], brackets[1]))

    def _parts(self, depth: int) -> list[str]:
        """Return the parts in the brackets at the current place; none if there are no brackets."""
        if self._source[self._at : self._at + 1] != "(" or depth >= _DEEPEST:
            return []
        parts = list[str]()
        while self._at < len(self._source) and (self._source[self._at] != ")" or not parts):
            self._at += 1
            parts.append(self.text(depth + 1, part=True))
        self._at += 1
        return parts


def _written(name: str, parts: list[str], operator: str, brackets: tuple[str, str]) -> str:
    """Return a switch of an equation on one line."""
    last = parts[-1] if parts else ""
    match name:
        case "f" if len(parts) == 2:
            return fraction(*parts)
        case "r" if parts:
            return root(last, parts[0] if len(parts) > 1 else "")
        case "b":
            opening, closing = brackets if any(brackets) else ("(", ")")
            return opening + ", ".join(parts) + closing
        case "i":
            bounds = "".join(f"{mark}{enclosed(bound)}" for mark, bound in zip("_^", parts[:2], strict=False) if bound)
            return f"{operator}{bounds} {last}" if len(parts) > 2 else f"{operator} {last}"
        case "up" | "s" if parts:
            return f"^{enclosed(last)}" if len(parts) == 1 else "; ".join(parts)
        case "do" if parts:
            return f"_{enclosed(last)}"
        case "o":
            return "".join(parts)
    return ", ".join(filter(None, parts))
