"""Words of notes, Markdown, rich text and HL7 messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from striprtf.striprtf import rtf_to_text

from auscult.readers.contract import DraftDocument
from auscult.readers.decoding import decoded
from auscult.readers.source_words.comparison import words_without
from auscult.readers.source_words.part import HIDDEN, STRUCK, PartWords

_MARKDOWN_ASIDE: Final = {
    "field of the file's head": re.compile(r"\A---\n.*?\n(?:---|\.\.\.)\n", re.DOTALL),
    "comment": re.compile(r"<!--.*?-->", re.DOTALL),
    "tag": re.compile(r"</?[a-zA-Z][^<>]*>"),
    "address or title of a link": re.compile(
        r"(?<=\])\([^()]*(?:\([^()]*\)[^()]*)*\)|^ {0,3}\[[^\]]+\]:.*$|<\w+:[^<>\s]*>", re.M
    ),
    "language of code": re.compile(r"^ {0,3}(?:```|~~~).*$", re.MULTILINE),
    STRUCK: re.compile(r"~~.+?~~"),
}


def words_of_text(content: bytes) -> Iterator[DraftDocument]:
    """Yield all words of a text."""
    words = PartWords()
    words.add(decoded(content)[0])
    yield words.draft("text")


def words_of_markdown(content: bytes) -> Iterator[DraftDocument]:
    """Yield the words of a text in Markdown, without marks inside of words ("**in**side")."""
    source = decoded(content)[0].replace("\r\n", "\n")
    words = PartWords()
    words.add(re.sub(r"\\(?=[!-/:-@\[-`{-~])|\*|`|(?<!\w)_|_(?!\w)", "", source))
    for reason, pattern in _MARKDOWN_ASIDE.items():
        words.excuse(" ".join(each.group() for each in pattern.finditer(source)), reason)
    yield words.draft("text")


def _converted(source: str) -> str:
    text: str = rtf_to_text(source, errors="replace")  # type: ignore[no-untyped-call]
    return text


# Control words after which the rest of a group is left out.
_RTF_UNSEEN: Final = {
    HIDDEN: re.compile(r"\\v(?![a-z0-9-])"),
    STRUCK: re.compile(r"\\(?:striked?1?|deleted)(?![a-z0-9-])"),
}
_RTF_MARKER: Final = re.compile(r"^\S{1,6}\t", re.MULTILINE)
_RTF_ASIDE: Final = r"\\*\\aside"


def words_of_rich_text(content: bytes) -> Iterator[DraftDocument]:
    """Yield the words of rich text by striprtf, which leaves out footnotes, headers and footers."""
    source = content.decode("cp1252", "replace")
    text = _converted(source)
    words = PartWords()
    words.add(text)
    words.excuse(" ".join(_RTF_MARKER.findall(text)), "mark of a list")
    for reason, pattern in _RTF_UNSEEN.items():
        if pattern.search(source):
            # The conversion leaves out groups with a destination that it does not know.
            shown = _converted(pattern.sub(_RTF_ASIDE, source))
            words.excuse(words_without(text, shown), reason)
    yield words.draft("text")


# Fields whose words must be kept, and fields that the documents give in other words.
_HL7_TEXTS: Final = (("OBX", 5), ("NTE", 3))
_HL7_BESIDE: Final = (("OBX", 3), ("OBX", 6), ("OBX", 7), ("OBR", 4))
_HL7_ENTRIES: Final = ("AL1", "DG1", "PR1", "RXA", "RXE", "RXO", "IAM", "PRB")
_HL7_ESCAPE: Final = re.compile(r"\\[^\\\r\n]{1,40}\\")
_TAKEN_BACK: Final = ("D", "W", "X")
_FILES: Final = ("ED", "RP")


def words_of_message(content: bytes) -> Iterator[DraftDocument]:
    """Yield the words of HL7 v2 messages. Those of results and notes must be kept."""
    words = PartWords()
    for line in re.split(r"[\r\n]+", decoded(content)[0]):
        fields = line.split("|")
        for number, field in enumerate(fields[1:], 1):
            words.add(_HL7_ESCAPE.sub(" ", field), _reason_in_message(fields, number))
            words.end_word()
    yield words.draft("message")


def _reason_in_message(fields: list[str], number: int) -> str:
    kind = fields[0].strip()
    if kind == "OBX" and len(fields) > 11 and fields[11].strip() in _TAKEN_BACK:
        return "result that was taken back"
    if kind == "OBX" and fields[2] in _FILES:
        return "attachment"
    if (kind, number) in _HL7_TEXTS:
        return ""
    if (kind, number) in _HL7_BESIDE:
        return "name, code, unit or range of a result"
    return "field of an entry" if kind in _HL7_ENTRIES else "field of the message's head"
