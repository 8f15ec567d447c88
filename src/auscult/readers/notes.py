"""Reader of plain text, such as clinical notes. Sections are found by their headings."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

import numpy as np

from auscult.documents.note_headings import note_sections
from auscult.documents.original import RUN
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_PROBE = 4096
# Control characters that no text has. White space, form feed and the escape character of old printers are allowed.
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_WORD = re.compile(r"\w")


class NoteReader:
    """Reads text in UTF-8, UTF-16, or the Latin letters of Windows (cp1252).

    The text is the source without changes: one run.
    """

    name = "text"
    suffixes = (".txt", ".text")

    def recognises(self, file: SourceFile) -> bool:
        """Whether the first 4,096 bytes of a file are text."""
        return bool(encoding_of(file.content[:_PROBE]))

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """Yield the one document of the file.

        Raises:
            UnreadableError: The file is not text, or has no words.
        """
        text, encoding = decode(file.content)
        if not _WORD.search(text):
            raise UnreadableError("no words", "a file with words", "one without any", "leave it out")
        yield DraftDocument(
            text=text,
            sections=note_sections(text),
            media_type="text/plain",
            encoding=encoding,
            runs=np.array([(0, len(text), 0, len(text))], RUN),
        )


def decode(content: bytes) -> tuple[str, str]:
    """Return the text of a file and the name of its encoding. Line ends do not change.

    Raises:
        UnreadableError: The file is not text.
    """
    encoding = encoding_of(content, whole=True)
    if not encoding:
        raise UnreadableError("binary file", "text", "bytes that are none", "save its text as UTF-8")
    return content.decode(encoding), encoding


def encoding_of(content: bytes, *, whole: bool = False) -> str:
    """Return the encoding of a text; "" for bytes that are not text.

    Args:
        content: The bytes.
        whole: Whether these are all bytes of the text. Otherwise they may end inside a character.
    """
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return encoding if _is_text(content, encoding, whole) else ""
    # UTF-16 without a byte order mark: in Latin text every second byte is zero.
    if b"\0" in content[:_PROBE]:
        zeros = [content[start:_PROBE:2].count(b"\0") for start in (0, 1)]
        encoding = "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"
        lopsided = max(zeros) > 0.4 * len(content[:_PROBE]) / 2 and min(zeros) == 0
        return encoding if lopsided and _is_text(content, encoding, whole) else ""
    # Five bytes have no letter in cp1252. In latin-1 every byte has one.
    return next((each for each in ("utf-8", "cp1252", "latin-1") if _is_text(content, each, whole)), "")


def _is_text(content: bytes, encoding: str, whole: bool) -> bool:
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(content, whole)
    except UnicodeDecodeError:
        return False
    return not _CONTROL.search(text[:_PROBE])
