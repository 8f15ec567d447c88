"""Decode the bytes of a text file, and name the encoding.

`content.decode(encoding, "replace")` gives the same characters, so the name is all that is needed to show the source.
"""

from __future__ import annotations

import codecs
import re
from typing import Final

# The longest first: the mark of UTF-32 begins with that of UTF-16. These codecs remove the mark.
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Codecs that are no encodings of text ("rot13", "unicode_escape"). A file may not name these.
_TEXT: Final = re.compile(
    r"utf-?8|iso-?8859-?\d{1,2}|latin-?1|(us-)?ascii|windows-?\d{3,4}|cp\d{3,4}|koi8-[ru]|mac-?(intosh|roman)|"
    r"gbk|gb2312|gb18030|big5(-hkscs)?|euc-(jp|kr)|shift[-_]jis|iso-2022-(jp|kr)|tis-620"
)
# Browsers read the first encodings as the second ones, which are supersets with curved quotes and dashes.
_MEANT: Final = {"latin-1": "cp1252", "iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030"}
FALLBACK: Final = "cp1252"


def decoded(content: bytes, declared: str = "") -> tuple[str, str]:
    """Decode the bytes of a file.

    Args:
        content: Bytes of the file.
        declared: Encoding that the file declares, or "". It is ignored if it is unknown or does not fit the bytes.

    Returns:
        The characters, without a byte order mark, and the encoding: that of the mark, or else the declared one, UTF-8
        or Windows-1252, in this order. Invalid bytes become U+FFFD.
    """
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return content.decode(encoding, "replace"), encoding
    named = _named(declared)
    for encoding in dict.fromkeys(filter(None, (named, "utf-8"))):
        try:
            return content.decode(encoding), encoding
        except UnicodeDecodeError:
            continue
    encoding = FALLBACK if named in ("", "utf-8") else named
    return content.decode(encoding, "replace"), encoding


def _named(declared: str) -> str:
    name = declared.strip().lower()
    if not _TEXT.fullmatch(name):
        return ""
    try:
        known = codecs.lookup(name).name
    except LookupError:
        return ""
    return _MEANT.get(known, known)
