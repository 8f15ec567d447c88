"""Reader of plain text, such as clinical notes and leaflets. Sections are found by their headings.

The first line is the title if it reads like one: short, without a full stop at its end, and followed by an empty line
or by a line of "=" or "-". As in other formats, the section below a title does not repeat it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from auscult.documents.language import reading_language
from auscult.documents.note_headings import examine, note_sections
from auscult.documents.original import RUN
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.decoding import decode_plain, is_text
from auscult.readers.soft_hyphens import without_soft_hyphens

_PROBE = 4096
_WORD = re.compile(r"\w")
_LONGEST_TITLE = 80
_ENDS_NO_TITLE = (".", ",", ";", ":", "!")
# A list item is no title.
_TITLE = re.compile(r"(?!\(?\w{1,2}[.)] )\w.*[^\W\d_]{3}.*")
_UNDERLINE = re.compile(r"([=\-~*_#])\1{2,}")


class NoteReader:
    """Reads text in UTF-8, UTF-16, or another encoding, which is guessed (`guessing`).

    The text is the source without changes but for soft hyphens.
    """

    name = "text"
    suffixes = (".txt", ".text")

    def recognises(self, file: SourceFile) -> bool:
        """Whether the first 4,096 bytes of a file are text."""
        return is_text(file.content)

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """Yield the one document of the file.

        Raises:
            UnreadableError: The file is not text, or has no words.
        """
        yield with_title(untitled_draft(file.content))


def untitled_draft(content: bytes) -> DraftDocument:
    """Return the document of a text that has its title elsewhere, such as the body of a mail.

    Raises:
        UnreadableError: The content is not text, or has no words.
    """
    text, encoding, remarks = decode_plain(content)
    if not _WORD.search(text):
        raise UnreadableError("no words", "a file with words", "one without any", "leave it out")
    draft = DraftDocument(
        text=text,
        sections=(),
        media_type="text/plain",
        encoding=encoding,
        runs=np.array([(0, len(text), 0, len(text))], RUN),
        remarks=remarks,
    )
    # A heading may have soft hyphens, too.
    draft = without_soft_hyphens(draft)
    return replace(draft, sections=note_sections(draft.text, language=reading_language(draft.text)))


def with_title(draft: DraftDocument) -> DraftDocument:
    """Return a plain text with its first line as title, if that reads like one; else the draft.

    The number of sections does not change, so that numbered passages keep their ids.
    """
    first, *others = draft.sections
    line = _find_title(draft.text)
    if line is None:
        return draft
    if first.heading:
        # A heading in capital letters may be the title ("GOUT"), unless it is one of notes ("PLAN").
        words = examine(first.heading)
        if first.heading != line.title or words is None or words.known:
            return draft
    rest = draft.text[line.end : (first.start or 0) + len(first.text)]
    below = rest.lstrip()
    if any(map(str.isalnum, below)):
        section = replace(first, heading="", text=below, start=line.end + len(rest) - len(below))
    elif others:
        section = replace(first, heading="")
    else:
        return draft
    return replace(draft, title=line.title, sections=[section, *others])


class _TitleLine(NamedTuple):
    """A first line that reads like a title; `end` is the offset after the line, or after its underline."""

    title: str
    end: int


def _find_title(text: str) -> _TitleLine | None:
    at = len(text) - len(text.lstrip())
    line, below, *_ = [*text[at : at + _PROBE].splitlines(keepends=True), "", ""]
    title, under = line.strip(), below.strip()
    underlined = _UNDERLINE.fullmatch(under) is not None
    short = len(title) <= _LONGEST_TITLE and not title.endswith(_ENDS_NO_TITLE)
    if not short or not _TITLE.fullmatch(title) or (under and not underlined):
        return None
    return _TitleLine(title, at + len(line) + (len(below) if underlined else 0))
