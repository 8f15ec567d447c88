"""Entries: the parts of a passage that are each about a subject of their own, such as the rows of a formulary.

Entries are recognised by how a passage is written, the first of these that it has twice or more:

    a title line     a short line without a full stop, above the lines about it
    a row            the cells of a table's row (`readers.tables`)
    a named line     "Digoxin: 62.5 micrograms", "Digoxin - 62.5 micrograms"
    a dosed line     "Digoxin 62.5 micrograms daily", where most lines begin so

The label of an entry is what stands before its details: the title line, the row's first cell with letters, the words
before the colon or the number. A line that is written otherwise goes on with the entry above it, except after a row or
an item of a list.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from auscult.documents.document import Sentence
from auscult.readers.tables import BETWEEN
from auscult.search.persons import says_who

_MOST_LABEL, _MOST_TITLE, _LONGEST_LABEL = 8, 8, 100
_DOSED: Final = 0.6
"""Share of lines that begin with a name and a number, from which on these are entries. Prose has a few such lines."""
_BULLET: Final = re.compile(r"\s*(?:[-*+•‣◦▪●○·–—]|\(?\d{1,3}[.)]|\(?[a-z][)])\s+")
# A name is what stands before the first of these. One expression for both would take quadratic time.
_AFTER_NAME: Final = re.compile(r":\s|:$|\s[-–—=→]+\s|\t|[.…]{3,}|—")
_NO_NAME: Final = re.compile(r"[:;|\n]")
_BEGINS_NAME: Final = re.compile(r"[^.]*?[^\W\d_]")
_DOSE: Final = re.compile(r"[^\W\d_][^\d:;|\n]*(?=\d)")
_STOP: Final = (".", "!", "?", ";", ",")
_CLAUSE: Final = re.compile(r"[.!?;]\s")


@dataclass(frozen=True, slots=True)
class Entry:
    """A part of a passage with a subject of its own.

    Attributes:
        label: What names it.
        sentences: Numbers of its sentences in the passage, in order.
        text: Its text, with the label.
    """

    label: str
    sentences: tuple[int, ...]
    text: str


@dataclass(slots=True)
class _Line:
    """A paragraph, a row of a table, or an item of a list."""

    first: int
    last: int
    text: str
    is_item: bool
    cell: str = ""
    name: str = ""
    dosed: str = field(default="")


def entries_of(sentences: Sequence[Sentence], text: str, start: int = 0) -> list[Entry]:
    """Return the entries of a passage in order; none where it has fewer than two.

    Args:
        sentences: All sentences of the passage.
        text: Text that they are in.
        start: Offset of that text in the document.
    """
    lines = _split_lines(sentences, text, start)
    if len(lines) < 2:
        return []
    # A title is short, no sentence, and above a line that is none.
    looks = [*map(_looks_like_title, lines), True]
    titles = [number for number in range(len(lines)) if looks[number] and not looks[number + 1]]
    if len(titles) > 1:
        return _collect_entries(
            lines, [line.text if number in titles else "" for number, line in enumerate(lines)], ends_alone=False
        )
    for labels, least, ends_alone in (
        ([line.cell for line in lines], 2, True),
        ([line.name for line in lines], 2, False),
        ([line.dosed for line in lines], max(2, _DOSED * len(lines)), False),
    ):
        if sum(map(bool, labels)) >= least:
            return _collect_entries(lines, labels, ends_alone=ends_alone)
    return []


def _collect_entries(lines: Sequence[_Line], labels: Sequence[str], *, ends_alone: bool) -> list[Entry]:
    """Return the entries that begin at the lines with a label."""
    entries: list[Entry] = []
    begun: list[_Line] = []
    label = ""

    def close() -> None:
        if begun:
            numbers = tuple(range(begun[0].first, begun[-1].last))
            entries.append(Entry(label, numbers, "\n".join(line.text for line in begun)))
            begun.clear()

    for line, own in zip(lines, labels, strict=True):
        if own:
            close()
            label = own
            begun.append(line)
        elif begun and (ends_alone or (begun[0].is_item and not line.is_item)):
            close()
        elif begun:
            begun.append(line)
    close()
    return entries if len(entries) > 1 else []


def _split_lines(sentences: Sequence[Sentence], text: str, start: int) -> list[_Line]:
    lines: list[_Line] = []
    for number, sentence in enumerate(sentences):
        if lines and not sentence.begins_paragraph:
            begin = sentences[lines[-1].first].start
            lines[-1].last, lines[-1].text = number + 1, text[begin - start : sentence.end - start]
        else:
            words = text[sentence.start - start : sentence.end - start]
            lines.append(_Line(number, number + 1, words, sentence.list_item))
    for line in lines:
        bullet = _BULLET.match(line.text)
        line.text = line.text[bullet.end() :] if bullet else line.text
        if BETWEEN in line.text:
            line.cell = _first_cell(line.text)
            continue
        opening = line.text[:_LONGEST_LABEL]
        name, dosed = _name_before_details(opening), _DOSE.match(opening)
        # "Patient: Mary Smith" and "MRN: 0816" are of one patient (`search.persons`).
        line.name = _short(name) if name and not says_who(opening) else ""
        line.dosed = _short(dosed[0].rstrip(" \t(")) if dosed else ""
    return lines


def _name_before_details(opening: str) -> str:
    """Return what stands before the first colon, dash or tab that has a name before it; empty if there is none."""
    for after in _AFTER_NAME.finditer(opening):
        name = opening[: after.start()]
        if _NO_NAME.search(name):
            break
        if _BEGINS_NAME.match(name):
            return name
    return ""


def _short(label: str) -> str:
    """Return a label; empty where it is longer than names are, or more than one clause."""
    label = label.strip()
    return label if len(label.split()) <= _MOST_LABEL and not _CLAUSE.search(label) else ""


def _first_cell(row: str) -> str:
    """Return the row's first cell with letters in its value, without the heading of its column."""
    cells = [cell.strip() for cell in row.split(BETWEEN)]
    values = [cell.partition(": ")[2] or cell for cell in cells]
    return next((value for value in values if re.search(r"[^\W\d_]{2}", value)), values[0])


def _looks_like_title(line: _Line) -> bool:
    words = line.text.rstrip(":").split()
    return (
        not line.is_item
        and BETWEEN not in line.text
        and line.last - line.first == 1
        and 0 < len(words) <= _MOST_TITLE
        and not line.text.endswith(_STOP)
        and words[0][0].isalpha()
        and not words[0][0].islower()
        and ": " not in line.text
    )
