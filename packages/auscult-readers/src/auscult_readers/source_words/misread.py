"""Find what documents say otherwise than their source, although all words are there.

A negation apart from what it negates, a heading above what it does not head, or letters of another encoding harm more
than a missing word. Each rule here compares the documents with the source's own structure, or with what no text has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from auscult.documents import Document
from auscult.documents.analysis import Analyzer
from auscult.readers.contract import DraftDocument
from auscult.readers.signs import EMPTY, TICKED
from auscult_readers.source_words.part import BOXES, FOLLOWED, HEADED, PLAIN, RUNNING
from auscult_readers.source_words.tokens import NEGATIONS, tokens_of


class Misread(NamedTuple):
    """Something that documents say otherwise than their source.

    Attributes:
        what: The kind, in a few words.
        where: Words of the document.
    """

    what: str
    where: str


def misread_in(documents: Sequence[Document], parts: Sequence[DraftDocument], remarks: Sequence[str]) -> list[Misread]:
    """Return what the documents of a file say otherwise than their source, the most harmful first.

    Args:
        documents: All documents of the file.
        parts: Parts of the source, of which those in `STRUCTURE` are used.
        remarks: Remarks of the report on the file.
    """
    found: list[Misread] = []
    for document in documents:
        found += [
            *_cut_sentences(document),
            *_other_letters(document, remarks),
            *(Misread("a fraction is a power", each[0]) for each in _POWER.finditer(document.text)),
            *_divided_words(document),
        ]
        if document.metadata.get("format") == "text":
            found += _unmarked_headings(document)
    rules = {
        HEADED: _wrong_headings,
        FOLLOWED: _strayed_remarks,
        PLAIN: _text_as_heading,
        BOXES: _strayed_boxes,
        RUNNING: _running_headings,
    }
    for part in parts:
        if part.key in rules:
            found += rules[part.key](documents, part)
    return list(dict.fromkeys(found))


_NO_END: Final = NEGATIONS | {
    "and", "or", "of", "to", "for", "the", "a", "an", "with", "by", "in", "on", "at", "has", "is", "was", "showed",
    "und", "oder", "der", "die", "das", "von", "mit", "bei", "et", "ou", "de", "avec",
}  # fmt: skip
_BEGINS_INSIDE: Final = re.compile(r"[a-zà-öø-ÿа-я]{2}|[a-z] ")
_DAY: Final = re.compile(r"\b\d{1,2}\.$")
_MONTH: Final = re.compile(r"(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)")


def _cut_sentences(document: Document) -> Iterator[Misread]:
    """Yield sentences that end inside of one: before a small letter of the same line, or after "no" or "and"."""
    for before, after in pairwise(document.sentences):
        between = document.text[before.end : after.start]
        if (after.list_item and after.begins_paragraph) or between.count("\n") > 1 or between.strip():
            continue
        first, second = document.slice(before), document.slice(after).lstrip()
        last = (tokens_of(first) or [""])[-1]
        if "\n" in between or "\n" in first[-1:]:
            cut = last in _NO_END and first.rstrip()[-1:].isalpha()
        else:
            dated = _DAY.search(first.rstrip()) is not None and _MONTH.match(second) is not None
            # A semicolon or colon may end what the splitter calls a sentence.
            cut = dated or (_BEGINS_INSIDE.match(second) is not None and first.rstrip()[-1:] not in ":;")
        if cut:
            yield Misread("a sentence is cut", f"{first.strip()[-40:]} | {second.strip()[:40]}")


# Bytes of UTF-8 that were read as Windows-1252: a first byte, and those that follow it.
_FOLLOWING: Final = "\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ"
_TWICE_ENCODED: Final = re.compile(rf"[\u00c2-\u00df][{_FOLLOWING}]|[\u00e0-\u00ef][{_FOLLOWING}]{{2}}")
_ACCENTED: Final = re.compile("[\u00c0-\u00ff]")
_SIGN_IN_WORD: Final = re.compile(r"[a-z][„‚ƒ†‡‰‹›•¶¿¡³¹²¼½¾¤¦§¨©¬®¯¥¢£\u0080-\u009f][a-z]")
_WORD: Final = re.compile(r"[^\W\d_]+")
_MOST_ACCENTS: Final = 0.6
_FEWEST_NONSENSE: Final = 2


def _other_letters(document: Document, remarks: Sequence[str]) -> Iterator[Misread]:
    """Yield letters that only a wrong encoding makes, and words that soft hyphens divide."""
    if any(re.search("encod|not valid", each) for each in remarks):
        return
    text = document.text
    wrong = [each[0] for each in _TWICE_ENCODED.finditer(text) if _is_utf8(each[0])]
    wrong += [each[0] for each in _SIGN_IN_WORD.finditer(text)]
    words = [each for each in _WORD.findall(text) if len(each) >= 3]
    odd = [each for each in words if len(_ACCENTED.findall(each)) >= _MOST_ACCENTS * len(each)]
    wrong += odd if len(odd) >= _FEWEST_NONSENSE else []
    wrong += ["\ufffd"] if "\ufffd" in text else []
    if wrong:
        yield Misread("letters of another encoding", " ".join(wrong[:10]))


def _is_utf8(text: str) -> bool:
    try:
        text.encode("cp1252", "strict").decode("utf-8")
    except UnicodeError:
        return False
    return True


_POWER: Final = re.compile(r"\d\^\d+\s*[/⁄]\s*\d+")


_SOFT: Final = re.compile("[^\\W\\d_]+(?:\u00ad[^\\W\\d_]+)+")
_analyse: Final = Analyzer(stop_words=True, stemming=True, normal_form=True)


def _divided_words(document: Document) -> Iterator[Misread]:
    """Yield words that a search does not find because of their soft hyphens."""
    for found in _SOFT.finditer(document.text):
        if list(_analyse(found[0])) != list(_analyse(found[0].replace("\u00ad", ""))):
            yield Misread("a word is not found for its soft hyphens", found[0].replace("\u00ad", "-"))


_HEADING_LINE: Final = re.compile(r"(?:^|\n\s*\n)[ \t]*([^\W\d_][^\n:.]{1,28}):[ \t]*\n(?=[ \t]*\S)")


def _unmarked_headings(document: Document) -> Iterator[Misread]:
    """Yield lines of a note that read like a heading and head no passage."""
    headings = {_plain(each) for passage in document.passages for each in (passage.heading, *passage.above)}
    for found in _HEADING_LINE.finditer(document.text):
        if _plain(found[1]) not in headings | {_plain(document.title)} and found[1][0].isupper():
            yield Misread("a heading is read as text", found[1])


def _plain(heading: str) -> str:
    return " ".join(tokens_of(heading))


def _wrong_headings(documents: Sequence[Document], part: DraftDocument) -> Iterator[Misread]:
    """Yield text that is under a heading of the source that does not head it."""
    known = {_plain(each) for section in part.sections for each in section.above}
    texts = [(f" {_plain(document.slice(each))} ", each) for document in documents for each in document.passages]
    for section in part.sections:
        sought = f" {_plain(section.text)} "
        right = {_plain(each) for each in section.above}
        places = [passage for text, passage in texts if sought in text]
        wrong = [
            heading
            for passage in places
            for heading in (passage.heading, *passage.above)
            if heading and _plain(heading) in known - right
        ]
        if len(places) == 1 and wrong and len(sought) > 2:
            yield Misread("text is under a heading that is not above it", f"{wrong[0]}: {section.text[:60]}")


def _strayed_remarks(documents: Sequence[Document], part: DraftDocument) -> Iterator[Misread]:
    """Yield remarks that the documents have behind something else than what they belong to."""
    names = {_plain(section.heading) for section in part.sections} - {""}
    for document in documents:
        text = f" {_plain(document.text)} "
        for section in part.sections:
            place = text.find(f" {_plain(section.text)} ") if section.text else -1
            before = {name: text.rfind(f" {name} ", 0, place + 1) for name in names}
            if place >= 0 and max(before, key=lambda name: before[name], default="") != _plain(section.heading):
                yield Misread("a comment is behind what it does not belong to", section.text[:80])


def _text_as_heading(documents: Sequence[Document], part: DraftDocument) -> Iterator[Misread]:
    """Yield paragraphs of text that are read as headings."""
    plain = {_plain(section.text) for section in part.sections}
    for document in documents:
        for passage in document.passages:
            for heading in (passage.heading, *passage.above):
                if heading and _plain(heading) in plain:
                    yield Misread("text is read as a heading", heading)


def _running_headings(documents: Sequence[Document], part: DraftDocument) -> Iterator[Misread]:
    """Yield lines that all pages repeat and that head passages."""
    lines = [f"{_plain(section.text)} " for section in part.sections]
    for document in documents:
        for heading in dict.fromkeys(passage.heading for passage in document.passages):
            if _plain(heading) and any(line.startswith(f"{_plain(heading)} ") for line in lines):
                yield Misread("a line that every page repeats is read as a heading", heading)


def _strayed_boxes(documents: Sequence[Document], part: DraftDocument) -> Iterator[Misread]:
    """Yield boxes that are not beside their labels."""
    tokens = [token for document in documents for token in tokens_of(document.text)]
    pairs = {*pairwise(tokens)}
    for section in part.sections:
        sign = TICKED if section.heading == TICKED else EMPTY
        labels = [tokens_of(each) for each in section.text.split("\n")]
        beside = {(label[-1], sign) for label in labels if label} | {(sign, label[0]) for label in labels if label}
        if beside and not beside & pairs:
            yield Misread("a box is not beside its label", f"{section.heading} {section.text.strip()}")
