"""Words of notes, Markdown, rich text and HL7 messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from striprtf.striprtf import rtf_to_text

from auscult.readers.contract import DraftDocument
from auscult.readers.decoding import decode_text
from auscult.readers.signs import sign
from auscult_readers.source_words.part import (
    BESIDE,
    HIDDEN,
    PLAIN,
    SHOWN_OTHERWISE,
    STRUCK,
    TECHNICAL,
    PartWords,
    Piece,
    structure_part,
)
from auscult_readers.source_words.tokens import words_without

_MARKDOWN_ASIDE: Final = {
    # Fields of the metadata.
    SHOWN_OTHERWISE: re.compile(r"\A---\n.*?\n(?:---|\.\.\.)\n", re.DOTALL),
    HIDDEN: re.compile(r"<!--.*?-->", re.DOTALL),
    TECHNICAL: re.compile(r"</?[a-zA-Z][^<>]*>"),
    BESIDE: re.compile(r"(?<=\])\([^()]*(?:\([^()]*\)[^()]*)*\)|^ {0,3}\[[^\]]+\]:.*$|<\w+:[^<>\s]*>", re.M),
    "language of code": re.compile(r"^ {0,3}(?:```|~~~).*$", re.MULTILINE),
    STRUCK: re.compile(r"~~.+?~~"),
}


_QUOTED: Final = re.compile(r"^(?: {0,3}> ?)+", re.MULTILINE)


def words_of_text(content: bytes) -> Iterator[DraftDocument]:
    """Yield all words of a text. One broken byte does not change the encoding of the rest."""
    words = PartWords()
    words.add(_text_of(content))
    yield words.draft("note")


_IN_UTF8: Final = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_NOT_ASCII: Final = re.compile(rb"[\x80-\xff]")


def _text_of(content: bytes) -> str:
    """Return a text as UTF-8 if most of its bytes beyond ASCII are that, and else as the readers decode it."""
    within = sum(len(each) for each in _IN_UTF8.findall(content))
    beyond = len(_NOT_ASCII.findall(content))
    if within and 2 * within > beyond:
        return content.decode("utf-8-sig", "replace")
    return decode_text(content).text


def words_of_markdown(content: bytes) -> Iterator[DraftDocument]:
    """Yield the words of a text in Markdown, without marks inside of words ("**in**side")."""
    source = _QUOTED.sub("", decode_text(content).text.replace("\r\n", "\n"))
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


_RTF_SIGN_FONT: Final = re.compile(r"\\f(\d+)[^;{}]*?\s(Symbol|Wingdings(?: [23])?|Webdings)\s*;", re.IGNORECASE)
_RTF_FONT_GROUP: Final = re.compile(r"\{\\f(\d+)\s?((?:[^{}\\]|\\'[0-9a-fA-F]{2})*)\}")
_RTF_CODE: Final = re.compile(r"\\'([0-9a-fA-F]{2})|(.)", re.DOTALL)
_RTF_AROUND: Final = {
    "comment": re.compile(r"\\annotation(?![a-z])"),
    "header, footer, date or number": re.compile(r"\\(?:header|footer)[lrf]?(?![a-z])"),
    "": re.compile(r"\\footnote(?![a-z])"),
}
_RTF_HEADED: Final = re.compile(r"\\b(?![a-z0-9])|\\(?:outlinelevel|s[1-9]|fs[3-9]\d|ul(?!none)|caps|qc)|\\intbl")
_RTF_PARAGRAPH: Final = re.compile(r"\\par(?![a-z])")


def words_of_rich_text(content: bytes) -> Iterator[DraftDocument]:
    """Yield the words of rich text by striprtf, those of headers, comments and footnotes, and its plain paragraphs."""
    source = _with_signs(content.decode("cp1252", "replace"))
    text = _converted(source)
    words = PartWords()
    words.add(text)
    words.excuse(" ".join(_RTF_MARKER.findall(text)), BESIDE)
    for reason, pattern in _RTF_UNSEEN.items():
        if pattern.search(source):
            # The conversion leaves out groups with a destination that it does not know.
            shown = _converted(pattern.sub(_RTF_ASIDE, source))
            words.excuse(words_without(text, shown), reason)
    for reason, pattern in _RTF_AROUND.items():
        for found in pattern.finditer(source):
            words.end_word()
            words.add(_converted(f"{{\\rtf1\\ansi {_rest_of_group(source, found.end())}}}"), reason)
    yield words.draft("text")
    yield structure_part(PLAIN, _plain_paragraphs(source))


def _with_signs(source: str) -> str:
    """Return rich text whose groups in a font of signs have the signs as Unicode characters."""
    fonts = dict(_RTF_SIGN_FONT.findall(source))

    def shown(group: re.Match[str]) -> str:
        if group[1] not in fonts:
            return group[0]
        codes = [int(code, 16) if code else ord(letter) for code, letter in _RTF_CODE.findall(group[2])]
        return "".join(f"\\u{ord(each)}?" for code in codes for each in sign(fonts[group[1]], code))

    return _RTF_FONT_GROUP.sub(shown, source)


def _rest_of_group(source: str, start: int) -> str:
    """Return the source from a place inside of a group to the end of the group."""
    depth = 0
    for place in range(start, len(source)):
        if source[place - 1] != "\\":
            depth += {"{": 1, "}": -1}.get(source[place], 0)
        if depth < 0:
            return source[start:place]
    return source[start:]


def _plain_paragraphs(source: str) -> Iterator[Piece]:
    """Yield the paragraphs that have no look of a heading, with their struck-out words and without."""
    for paragraph in _RTF_PARAGRAPH.split(source)[1:]:
        if not _RTF_HEADED.search(paragraph):
            for each in {paragraph, _RTF_UNSEEN[STRUCK].sub(_RTF_ASIDE, paragraph)}:
                opened = "{\\rtf1\\ansi " + "{" * max(0, each.count("}") - each.count("{"))
                yield Piece(_converted(f"{opened}{each}}}").strip())
