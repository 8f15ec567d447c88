"""Fields of a form, and text typed onto a page, as characters beside their labels.

A viewer draws fields after the page, all of them at once. Here each comes directly after the label at its left, or
before the label at its right, whichever is nearer, as if the page had been drawn line by line. Otherwise a column of
labels and a column of boxes would be read one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from auscult.readers.signs import EMPTY, TICKED
from auscult_readers.pdf.glyphs import SPACE, Glyph, is_within
from auscult_readers.pdf.marks import Marks

_LARGEST: Final = 12.0
_TYPED: Final = 14.0
"""Points: greatest height of a line that was typed onto a page."""
_OVERLAP: Final = 0.25
"""Share of a field's width by which a label may reach into it."""
_ROW: Final = 8.0
"""Points: height of the rows by which characters are looked up."""
Box = tuple[float, float, float, float]
"""Left, top, right and bottom on the visible page, in points."""


class _Field(NamedTuple):
    """Characters of a field. `is_box`: whether it is a check box or radio button."""

    box: Box
    glyphs: list[Glyph]
    is_box: bool


def with_fields(glyphs: list[Glyph], marks: Marks, place_on_page: Callable[..., Box]) -> list[Glyph]:
    """Return the characters of a page with those of its fields at their labels.

    Args:
        glyphs: Characters of the page. They include the values of fields that are drawn on the page.
        marks: Fields and annotations of the page.
        place_on_page: Returns the place of a box in PDF coordinates on the visible page.
    """
    if not (marks.ticks or marks.values or marks.typed):
        return glyphs
    rows = _Rows(glyphs)
    fields = [_ticked(rows, place_on_page(*box), ticked=ticked) for box, ticked in marks.ticks]
    fields += [_filled(rows, place_on_page(*box), value) for box, value in marks.values]
    fields += [_typed(rows, place_on_page(*box), text) for box, text in marks.typed]
    before: dict[int, list[Glyph]] = {}
    after: dict[int, list[Glyph]] = {}
    last: list[Glyph] = []
    for field in sorted(fields, key=lambda field: (field.box[1], field.box[0])):
        if not field.glyphs:
            continue
        marked = [glyph if glyph.text == " " else glyph._replace(in_field=True) for glyph in field.glyphs]
        field = field._replace(glyphs=marked)
        left, right = rows.labels(field.box)
        if left is not None and (right is None or rows.gap(left, field.box) <= rows.gap(right, field.box)):
            after.setdefault(left, []).extend([SPACE, *_labelled(field, followed=right is not None), SPACE])
        elif right is not None:
            before.setdefault(right, []).extend([SPACE, *field.glyphs, SPACE])
        else:
            last += [SPACE, *field.glyphs, SPACE]
    whole: list[Glyph] = []
    for place, glyph in enumerate(glyphs):
        whole += before.get(place, ())
        if place not in rows.taken:
            whole.append(glyph)
        whole += after.get(place, ())
    return whole + last


def _labelled(field: _Field, *, followed: bool) -> list[Glyph]:
    """Return the characters of a field behind its label. A box before a further label gets a semicolon."""
    if not (field.is_box and followed):
        return field.glyphs
    return [*field.glyphs[:-1], field.glyphs[-1]._replace(text=f"{field.glyphs[-1].text};")]


class _Rows:
    """Looks up the characters of a page by their height.

    Attributes:
        glyphs: All characters.
        taken: Indexes of characters that belong to fields.
    """

    def __init__(self, glyphs: Sequence[Glyph]) -> None:
        self.glyphs = glyphs
        self.taken: set[int] = set()
        self._rows: dict[int, list[int]] = {}
        for place, glyph in enumerate(glyphs):
            if glyph.text != " " and glyph.turn == 0:
                self._rows.setdefault(int((glyph.top + glyph.bottom) / 2 / _ROW), []).append(place)

    def inside(self, box: Box) -> list[int]:
        """Return the indexes of the characters in a box, in drawing order; no field gets them afterwards."""
        found = [place for place in self.near(box) if is_within(self.glyphs[place], *box)]
        self.taken.update(found)
        return found

    def labels(self, box: Box) -> tuple[int | None, int | None]:
        """Return the indexes of the last character at the left of a box and of the first at its right."""
        overlap = _OVERLAP * (box[2] - box[0])
        beside = [
            place
            for place in self.near(box)
            if place not in self.taken and box[1] <= (self.glyphs[place].top + self.glyphs[place].bottom) / 2 <= box[3]
        ]
        left = [place for place in beside if self.glyphs[place].right <= box[0] + overlap]
        right = [place for place in beside if self.glyphs[place].left >= box[2] - overlap]
        return (
            self._end_of_word(max(left, key=lambda place: self.glyphs[place].right), 1) if left else None,
            self._end_of_word(min(right, key=lambda place: self.glyphs[place].left), -1) if right else None,
        )

    def _end_of_word(self, place: int, step: int) -> int:
        """Return the index of the last character of a word, or of the first with a step of -1."""
        while 0 <= place + step < len(self.glyphs) and self.glyphs[place + step].text != " ":
            place += step
        return place

    def gap(self, place: int, box: Box) -> float:
        """Return the distance between a character and a box beside it, in points."""
        glyph = self.glyphs[place]
        return max(box[0] - glyph.right, glyph.left - box[2])

    def near(self, box: Box) -> list[int]:
        """Return the indexes of the characters at the height of a box that belong to no field, in drawing order."""
        found = [
            place for row in range(int(box[1] / _ROW), int(box[3] / _ROW) + 1) for place in self._rows.get(row, ())
        ]
        return sorted(place for place in found if place not in self.taken)


def _ticked(rows: _Rows, box: Box, *, ticked: bool) -> _Field:
    rows.inside(box)
    left, top, right, bottom = box
    size = max(min(bottom - top, _LARGEST), 1.0)
    sign = Glyph(TICKED if ticked else EMPTY, left, top, right, bottom, size, False, 0, bottom)
    return _Field(box, [sign], is_box=True)


def _filled(rows: _Rows, box: Box, value: str) -> _Field:
    """Return the value of a field: the characters drawn in its box, or else the value in the file."""
    if drawn := rows.inside(box):
        return _Field(box, _with_blanks(rows.glyphs, drawn), is_box=False)
    return _Field(box, _lettered(box, value), is_box=False)


def _typed(rows: _Rows, box: Box, text: str) -> _Field:
    """Return a text typed onto the page. It may be drawn in its box already, over other text."""
    drawn = "".join(rows.glyphs[place].text for place in rows.near(box))
    if "".join(text.split()) in drawn:
        return _Field(box, _with_blanks(rows.glyphs, rows.inside(box)), is_box=False)
    # The text is at the top of its box, which may be larger.
    high = min(box[3] - box[1], _TYPED * len([*filter(str.strip, text.splitlines())]))
    top = (box[0], box[1], box[2], box[1] + high)
    return _Field(top, _lettered(top, text), is_box=False)


def _with_blanks(glyphs: Sequence[Glyph], places: Sequence[int]) -> list[Glyph]:
    """Return some characters, with a blank where others are between them."""
    whole: list[Glyph] = []
    before: int | None = None
    for place in places:
        if before is not None and place != before + 1:
            between = glyphs[before + 1 : place]
            whole += between if all(glyph.text == " " for glyph in between) else [SPACE]
        whole.append(glyphs[place])
        before = place
    return whole


def _lettered(box: Box, text: str) -> list[Glyph]:
    """Return the characters of a text, line by line, within a box."""
    left, top, right, bottom = box
    lines = [line for line in text.splitlines() if line.strip()]
    high = (bottom - top) / max(len(lines), 1)
    size = max(min(0.8 * high, _LARGEST), 1.0)
    glyphs: list[Glyph] = []
    for number, line in enumerate(lines):
        wide = min((right - left) / len(line), 0.5 * size)
        low = top + (number + 0.5) * high + 0.5 * size
        glyphs.append(SPACE)
        for place, letter in enumerate(line):
            at = left + place * wide
            visible = letter.isprintable() and not letter.isspace()
            drawn = Glyph(letter, at, low - size, at + wide, low, size, False, 0, low)
            glyphs.append(drawn if visible else SPACE)
    return glyphs
