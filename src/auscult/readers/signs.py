"""Characters of fonts that show signs in place of letters: ticked and empty boxes, arrows, Greek letters.

A file has the code of a letter and the name of its font. "þ" in Wingdings is a ticked box. The codes are those of the
Unicode Consortium's mapping of these fonts.
"""

from __future__ import annotations

import re
from typing import Final

TICKED: Final = "\u2612"
EMPTY: Final = "\u2610"
_LONGEST_SIGNS: Final = 8
BOXES: Final = "\u2610\u2611\u2612"

_FILE_NAME: Final = re.compile(
    r"[^\s/]*\.(?:bmp|emf|gif|jpe?g|png|svg|tiff?|webp|wmf)|(?:https?:)?//\S*", re.IGNORECASE
)


def _table(codes: str, shown: str) -> dict[str, str]:
    return dict(zip(codes, shown, strict=True))


_SIGNS: Final = {
    "symbol": _table(
        "abgdezhqiklmnxprstufcywDSWFGLPQY\xa3\xb3\xb1\xb4\xb8\xb0\xae\xac\xad\xaf\xab\xb7\xb9\xbb\xa5\xd6\xe5\xa2\xb2\xd7\xbc\xa6\xd2\xd3\xd4",
        "αβγδεζηθικλμνξπρστυφχψωΔΣΩΦΓΛΠΘΨ≤≥±×÷°→←↑↓↔•≠≈∞√∑′″·…ƒ®©™",
    ),
    "wingdings": _table(
        "opqr\xa8x\xfd\xfe\xfb\xfc\xa1\xa4ln\xa7JKL\xdf\xe0\xe1\xe2\xe7\xe8\xe9\xea\xef\xf0\xf1\xf2\xd8v(*",
        "☐☐☐☐☐☒☒☑✗✓○◉●■▪☺😐☹←→↑↓←→↑↓⇦⇨⇧⇩➢❖☎✉",
    ),
    "wingdings 2": _table(
        "POQRST\xa3\x97\x98",
        "✓✗☒☑☒☒☐●●",
    ),
    "wingdings 3": _table(
        "fghipqtu",
        "←→↑↓▲▼◀▶",
    ),
    "webdings": _table(
        "arcgn<=",
        "✓✗☐■●■■",
    ),
}


def is_file_name(text: str) -> bool:
    """Whether the description of a picture is only the name of its file."""
    return _FILE_NAME.fullmatch(text.strip()) is not None


def is_sign_font(font: str) -> bool:
    """Whether a font has signs in place of letters."""
    return font.strip().lower() in _SIGNS


def sign(font: str, code: int) -> str:
    """Return the character that a font shows for a code.

    Args:
        font: Name of the font, in any case.
        code: The code in the file. Fonts of signs often use private codes from U+F000.

    Returns:
        The sign; in a usual font, the character with this code. "" for an ornament, and for a private code in a usual
        font.
    """
    signs = _SIGNS.get(font.strip().lower())
    private = 0xF000 <= code <= 0xF0FF
    if signs is None:
        return chr(code) if 32 <= code < 0xD800 or 0xF900 <= code < 0x110000 else ""
    character = chr(code & 0xFF) if private else chr(code)
    if character in signs:
        return signs[character]
    # Of these fonts, only "Symbol" shows digits and punctuation as they are.
    usual = font.strip().lower() == "symbol" and 32 <= ord(character) < 127
    return character if usual or (not private and code > 0xFF) else ""


def shown(font: str, text: str) -> str:
    """Return a text as a font shows it. Longer ASCII words in a font of signs are a mistake and stay as they are."""
    if not is_sign_font(font) or (len(text.strip()) > _LONGEST_SIGNS and text.isascii()):
        return text
    return "".join(each if each.isspace() else sign(font, ord(each)) for each in text)
