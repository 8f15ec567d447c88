"""Bytes of a text file to characters, and the name of what they were decoded by.

`content.decode(encoding, "replace")` gives the same characters again: whoever shows the source needs no more than the
name.
"""

from __future__ import annotations

import codecs
import re
from typing import Final

# The longest first: UTF-32's begins as UTF-16's does. These codecs leave the mark out.
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Python has codecs that decode no text ("rot13") or more than text ("unicode_escape"): a file may not name these.
_TEXT: Final = re.compile(
    r"utf-?8|iso-?8859-?\d{1,2}|latin-?1|(us-)?ascii|windows-?\d{3,4}|cp\d{3,4}|koi8-[ru]|mac-?(intosh|roman)|"
    r"gbk|gb2312|gb18030|big5(-hkscs)?|euc-(jp|kr)|shift[-_]jis|iso-2022-(jp|kr)|tis-620"
)
# What says it is one of the first is read as the second, by every browser: a superset with curved quotes and dashes.
_MEANT: Final = {"latin-1": "cp1252", "iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030"}
FALLBACK: Final = "cp1252"


def decoded(content: bytes, declared: str = "") -> tuple[str, str]:
    """The characters of a file.

    Args:
        content: Its bytes.
        declared: The encoding that the file says it has; empty where it says none. One that is no encoding of text,
            or that the bytes are not in, is not believed.

    Returns:
        The characters, without a byte order mark, and what they were decoded by: what the mark says, else what was
        declared, else UTF-8, else Windows-1252. Bytes that are no character are U+FFFD.
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
