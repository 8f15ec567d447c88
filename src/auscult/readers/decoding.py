"""Decode the bytes of a text file, and name the encoding.

`content.decode(encoding, "replace")` gives the same characters, so the name is all that is needed to show the source.
"""

from __future__ import annotations

import codecs
import re
from typing import Final, NamedTuple

from auscult.readers.contract import UnreadableError
from auscult.readers.guessing import USUAL, guess_encoding

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
    r"utf-?[78]|iso-?8859-?\d{1,2}|latin-?1|(us-)?ascii|windows-?\d{3,4}|cp\d{3,4}|koi8-[ru]|mac-?(intosh|roman)|"
    r"gbk|gb2312|gb18030|big5(-hkscs)?|euc-(jp|kr)|shift[-_]jis|iso-2022-(jp|kr)|tis-620"
)
# Browsers read the first encodings as the second ones, which are supersets with curved quotes and dashes.
_MEANT: Final = {"latin-1": "cp1252", "iso8859-1": "cp1252", "ascii": "cp1252", "gb2312": "gb18030", "gbk": "gb18030"}
# In these, a short text may be UTF-8 by chance, or ASCII.
_SEVERAL_BYTES: Final = re.compile(r"utf-7|gb|big5|euc|shift_jis|cp932|cp949|iso20")
_PROBE: Final = 4096
# Control characters that no text has. White space, form feed and the escape character of old printers are allowed.
_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_LEAST_ZEROS: Final = 0.4
_REMEDY: Final = "save the file as UTF-8 if words look wrong"


class Decoded(NamedTuple):
    """The characters of a file.

    Attributes:
        text: Characters, without a byte order mark. Invalid bytes are U+FFFD.
        encoding: Name of the codec.
        remarks: What the user should know: a guessed encoding, and invalid bytes.
    """

    text: str
    encoding: str
    remarks: tuple[str, ...] = ()


def decode_text(content: bytes, declared: str = "") -> Decoded:
    """Decode the bytes of a file.

    The encoding is, in this order: that of the byte order mark; UTF-8 if the bytes are valid UTF-8; the declared one if
    they fit it; UTF-8 if only a few bytes are invalid; the likeliest one (`guessing`). A declared encoding of several
    bytes per character comes before UTF-8.

    Args:
        content: Bytes of the file.
        declared: Encoding that the file declares, or "". It is ignored if it is unknown.
    """
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return _decode_replacing(content, encoding)
    if encoding := utf16_of(content[:_PROBE]):
        return _decode_replacing(content, encoding)
    named = _codec_of(declared)
    first = (named, "utf-8") if _SEVERAL_BYTES.match(named) else ("utf-8", named)
    for encoding in filter(None, first):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        # Bytes of ASCII only are as declared, too.
        if named in ("", encoding) or content.isascii():
            return Decoded(text, named or encoding)
        return Decoded(text, encoding, (f"declared as {declared.strip()}, but valid {encoding}: read as {encoding}",))
    # In a text of another encoding fewer characters beyond ASCII are valid UTF-8 by chance than are not: at most 0.6
    # times as many, in short Chinese and Korean notes. In damaged UTF-8 at least as many are.
    damaged = content.decode("utf-8", "replace")
    if sum(not character.isascii() for character in damaged) >= 2 * damaged.count("\ufffd"):
        return _decode_replacing(content, "utf-8")
    if named not in ("", "utf-8"):
        return _decode_replacing(content, named)
    guess = guess_encoding(content)
    decoded_text = _decode_replacing(content, guess.encoding)
    if guess.encoding == USUAL and not guess.doubtful:
        return decoded_text
    certainty = "a guess that is not certain" if guess.doubtful else "a guess"
    remark = f"the encoding is not declared and not UTF-8: read as {guess.encoding}, {certainty}; {_REMEDY}"
    return decoded_text._replace(remarks=(remark, *decoded_text.remarks))


def utf16_of(content: bytes) -> str:
    """Return the encoding of text in UTF-16; "" for any other content."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    # Without a byte order mark: in Latin text every second byte is zero.
    zeros = [content[start::2].count(b"\0") for start in (0, 1)]
    if min(zeros) > 0 or max(zeros) <= _LEAST_ZEROS * len(content) / 2:
        return ""
    return "utf-16-be" if zeros[0] else "utf-16-le"


def _decode_replacing(content: bytes, encoding: str) -> Decoded:
    """Decode with U+FFFD for invalid bytes, and say how many there are."""
    try:
        return Decoded(content.decode(encoding), encoding)
    except UnicodeDecodeError as error:
        text = content.decode(encoding, "replace")
        # U+FFFD may also be a character of the file.
        count = text.count("\ufffd")
        place = content.count(b"\n", 0, error.start) + 1
        signs = "1 character is" if count == 1 else f"{count:,} characters are"
        return Decoded(text, encoding, (f"{signs} not valid {encoding}, first in line {place}: shown as \ufffd",))


def _codec_of(declared: str) -> str:
    """Return the codec for a declared encoding of text; "" if there is none."""
    name = declared.strip().lower()
    if not _TEXT.fullmatch(name):
        return ""
    try:
        known = codecs.lookup(name).name
    except LookupError:
        return ""
    return _MEANT.get(known, known)


def decode_plain(content: bytes) -> Decoded:
    """Decode the bytes of a plain text. Line ends do not change.

    Raises:
        UnreadableError: The file is not text.
    """
    if not is_text(content):
        raise UnreadableError("binary file", "text", "bytes that are none", "save its text as UTF-8")
    return decode_text(content)


def is_text(content: bytes) -> bool:
    """Whether the first 4,096 bytes are text. They may end inside a character."""
    probe = content[:_PROBE]
    encoding = utf16_of(probe)
    if not encoding:
        return not _CONTROL.search(probe.decode("latin-1"))
    try:
        return not _CONTROL.search(codecs.getincrementaldecoder(encoding)().decode(probe))
    except UnicodeDecodeError:
        return False
