"""Plain text: notes and whatever else a person reads as it is. Its sections are found by their headings."""

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
# What no text has: control characters but white space, form feed and the escape of old printers.
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_WORD = re.compile(r"\w")


class NoteReader:
    """Reads text in UTF-8, UTF-16, or the Latin letters of Windows (cp1252). The text is the source: one run."""

    name = "text"
    suffixes = (".txt", ".text")

    def recognises(self, file: SourceFile) -> bool:
        """Whether a file is text, which its first characters tell."""
        return bool(encoding_of(file.content[:_PROBE]))

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """The one document."""
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
    """The text of a file, and the name of its encoding; line ends stay as they are.

    Raises:
        UnreadableError: It is no text.
    """
    encoding = encoding_of(content, whole=True)
    if not encoding:
        raise UnreadableError("binary file", "text", "bytes that are none", "save its text as UTF-8")
    return content.decode(encoding), encoding


def encoding_of(content: bytes, *, whole: bool = False) -> str:
    """The encoding that bytes are text in; empty for what is none.

    Args:
        content: The bytes.
        whole: They are all that there are; else they may end inside a character.
    """
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return encoding if _is_text(content, encoding, whole) else ""
    # Without a mark UTF-16 is told by its zeros, which stand at every second place of Latin text.
    if b"\0" in content[:_PROBE]:
        zeros = [content[start:_PROBE:2].count(b"\0") for start in (0, 1)]
        encoding = "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"
        lopsided = max(zeros) > 0.4 * len(content[:_PROBE]) / 2 and min(zeros) == 0
        return encoding if lopsided and _is_text(content, encoding, whole) else ""
    # Windows gives five bytes no letter; the last of these gives every byte one.
    return next((each for each in ("utf-8", "cp1252", "latin-1") if _is_text(content, each, whole)), "")


def _is_text(content: bytes, encoding: str, whole: bool) -> bool:
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(content, whole)
    except UnicodeDecodeError:
        return False
    return not _CONTROL.search(text[:_PROBE])
