"""Find what a PDF page shows beside its text layer: typed notes, comments, boxes with their labels, struck-out lines.

`PdfReader` has other rules for these. `auscult verify --sources` compares the two.
"""

from __future__ import annotations

from ctypes import c_float, c_ushort
from typing import Any, Final, NamedTuple

_MOST: Final = 5_000
_MOST_LETTERS: Final = 50_000
_HIDDEN: Final = 2
_THIN: Final = 2.0
_SHORTEST: Final = 8.0
# A line of text that crosses at least this share of the letters between its ends strikes them out.
_CROSSED: Final = 0.8
_FEWEST: Final = 3
# Where a line crosses a letter, by the height of its box. At the edges are underlines and borders.
_LOWEST: Final = 0.1
_HIGHEST: Final = 0.9


class TickBox(NamedTuple):
    """A check box or radio button, with the words left and right of it on its line."""

    ticked: bool
    left: str
    right: str


class Shown(NamedTuple):
    """The parts of a page that are not in its text layer.

    Attributes:
        typed: Text that was typed onto the page (free-text annotations).
        comments: Notes that a viewer shows on request.
        boxes: Check boxes and radio buttons.
        struck: Words that a drawn line or an annotation strikes out, one run each.
    """

    typed: list[str]
    comments: list[str]
    boxes: list[TickBox]
    struck: list[str]


def shown_on(raw: Any, page: Any, text: Any, forms: Any) -> Shown:
    """Return what a page shows beside its text layer.

    Args:
        raw: The `pypdfium2.raw` module.
        page: An open page.
        text: Its open text page.
        forms: The document's form environment; None if it has no forms.
    """
    shown = Shown([], [], [], [])
    places: list[tuple[tuple[float, float, float, float], bool]] = []
    for number in range(min(raw.FPDFPage_GetAnnotCount(page), _MOST)):
        mark = raw.FPDFPage_GetAnnot(page, number)
        if not mark:
            continue
        try:
            if raw.FPDFAnnot_GetFlags(mark) & _HIDDEN:
                continue
            kind = raw.FPDFAnnot_GetSubtype(mark)
            if kind == raw.FPDF_ANNOT_FREETEXT:
                shown.typed.append(_contents(raw, mark))
            elif kind == raw.FPDF_ANNOT_WIDGET and forms is not None and _is_box(raw, forms, mark):
                places.append((_box(raw, mark), bool(raw.FPDFAnnot_IsChecked(forms, mark))))
            elif kind == raw.FPDF_ANNOT_STRIKEOUT:
                left, bottom, right, top = _box(raw, mark)
                shown.struck.append(text.get_text_bounded(left, bottom, right, top))
            elif kind not in (raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_POPUP, raw.FPDF_ANNOT_LINK):
                shown.comments.append(_contents(raw, mark))
        finally:
            raw.FPDFPage_CloseAnnot(mark)
    width = page.get_width()
    for (left, bottom, right, top), ticked in places:
        level = [box for box, _ in places if box[1] < top and bottom < box[3]]
        before = max((box[2] for box in level if box[2] <= left), default=0.0)
        after = min((box[0] for box in level if box[0] >= right), default=width)
        words = [text.get_text_bounded(*place) for place in ((before, bottom, left, top), (right, bottom, after, top))]
        shown.boxes.append(TickBox(ticked, *(" ".join(each.split()) for each in words)))
    shown.struck.extend(_struck(raw, page, text))
    return shown


def _is_box(raw: Any, forms: Any, mark: Any) -> bool:
    kind = raw.FPDFAnnot_GetFormFieldType(forms, mark)
    return kind in (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON)


def _box(raw: Any, mark: Any) -> tuple[float, float, float, float]:
    rectangle = raw.FS_RECTF()
    raw.FPDFAnnot_GetRect(mark, rectangle)
    return rectangle.left, rectangle.bottom, rectangle.right, rectangle.top


def _contents(raw: Any, mark: Any) -> str:
    # Bytes of zero-terminated UTF-16.
    size = raw.FPDFAnnot_GetStringValue(mark, b"Contents", None, 0)
    buffer = (c_ushort * (size // 2 + 1))()
    raw.FPDFAnnot_GetStringValue(mark, b"Contents", buffer, size)
    return bytes(buffer)[:size].decode("utf-16-le", "ignore").rstrip("\0")


def _struck(raw: Any, page: Any, text: Any) -> list[str]:
    """Return the letters that each thin, level line crosses."""
    lines = _level_lines(raw, page)
    if not lines:
        return []
    letters = [(text.get_charbox(place), place) for place in range(min(text.count_chars(), _MOST_LETTERS))]
    struck = []
    for left, bottom, right, top in lines:
        height = (bottom + top) / 2
        here = [
            (box, place)
            for box, place in letters
            if left - 1 <= (box[0] + box[2]) / 2 <= right + 1 and box[1] - 2 < height < box[3] + 2 and box[3] > box[1]
        ]
        crossed = [place for box, place in here if _LOWEST <= (height - box[1]) / (box[3] - box[1]) <= _HIGHEST]
        if len(crossed) >= max(_FEWEST, _CROSSED * len(here)):
            struck.append(text.get_text_range(crossed[0], crossed[-1] - crossed[0] + 1))
    return struck


def _level_lines(raw: Any, page: Any) -> list[tuple[float, float, float, float]]:
    lines = []
    for place in range(min(raw.FPDFPage_CountObjects(page), 2 * _MOST)):
        drawn = raw.FPDFPage_GetObject(page, place)
        if raw.FPDFPageObj_GetType(drawn) != raw.FPDF_PAGEOBJ_PATH:
            continue
        left, bottom, right, top = (c_float() for _ in range(4))
        if raw.FPDFPageObj_GetBounds(drawn, left, bottom, right, top):
            box = (left.value, bottom.value, right.value, top.value)
            if box[3] - box[1] <= _THIN and box[2] - box[0] >= _SHORTEST:
                lines.append(box)
    return lines
