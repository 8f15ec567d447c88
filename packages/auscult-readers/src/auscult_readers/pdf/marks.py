"""Form fields and annotations of a PDF page, which its text layer does not contain.

Fields, strike-outs and text typed onto the page are read. Comments, which viewers show in a window of their own, and
stamps without text are only counted.
"""

from __future__ import annotations

import ctypes
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

Box = tuple[float, float, float, float]
"""Left, bottom, right and top in PDF coordinates (points, y upwards)."""

_MOST: Final = 5_000
_HIDDEN: Final = 2
_PASSWORD: Final = 1 << 13


@dataclass(slots=True)
class Marks:
    """Form fields and annotations of a page.

    Attributes:
        ticks: Check boxes and radio buttons, and whether each is ticked.
        values: Text fields and choice fields, and the value of each.
        struck: Areas that a strike-out annotation covers.
        typed: Texts that an annotation shows on the page ("typewriter"), and the box of each.
        drawn: Whether an annotation has a drawing of its own, which may contain text.
        unread: Number of comments and stamps that are not read, by kind.
    """

    ticks: list[tuple[Box, bool]] = field(default_factory=list)
    values: list[tuple[Box, str]] = field(default_factory=list)
    struck: list[Box] = field(default_factory=list)
    typed: list[tuple[Box, str]] = field(default_factory=list)
    drawn: bool = False
    unread: Counter[str] = field(default_factory=Counter)

    def collect(self, raw: Any, page: Any, forms: Any) -> None:
        """Add the fields and strike-outs of a page.

        Args:
            raw: The `pypdfium2.raw` module.
            page: An open page.
            forms: The document's form environment; None if it has no forms.
        """
        for place in range(min(raw.FPDFPage_GetAnnotCount(page), _MOST)):
            mark = raw.FPDFPage_GetAnnot(page, place)
            if not mark:
                continue
            try:
                if not raw.FPDFAnnot_GetFlags(mark) & _HIDDEN:
                    self._add(raw, mark, forms)
            finally:
                raw.FPDFPage_CloseAnnot(mark)

    def _add(self, raw: Any, mark: Any, forms: Any) -> None:
        subtype = raw.FPDFAnnot_GetSubtype(mark)
        if subtype == raw.FPDF_ANNOT_WIDGET:
            if forms is not None:
                self._add_field(raw, mark, forms)
        elif subtype == raw.FPDF_ANNOT_FREETEXT:
            self._add_typed(raw, mark)
        elif subtype == raw.FPDF_ANNOT_STAMP:
            self.drawn = True
            self.unread["stamp"] += not _is_drawn(raw, mark)
        elif subtype not in (raw.FPDF_ANNOT_LINK, raw.FPDF_ANNOT_POPUP):
            if subtype == raw.FPDF_ANNOT_STRIKEOUT:
                self._add_struck(raw, mark)
            self.unread["comment"] += bool(_text(raw.FPDFAnnot_GetStringValue, mark, b"Contents").strip())

    def _add_struck(self, raw: Any, mark: Any) -> None:
        corners = raw.FS_QUADPOINTSF()
        for quad in range(min(raw.FPDFAnnot_CountAttachmentPoints(mark), _MOST)):
            if raw.FPDFAnnot_GetAttachmentPoints(mark, quad, corners):
                across = (corners.x1, corners.x2, corners.x3, corners.x4)
                up = (corners.y1, corners.y2, corners.y3, corners.y4)
                self.struck.append((min(across), min(up), max(across), max(up)))

    def _add_typed(self, raw: Any, mark: Any) -> None:
        text = _text(raw.FPDFAnnot_GetStringValue, mark, b"Contents")
        drawn = _is_drawn(raw, mark)
        self.drawn |= drawn
        if text.strip() and (box := _box(raw, mark)):
            self.typed.append((box, text))
        elif not drawn:
            self.unread["comment"] += 1

    def _add_field(self, raw: Any, mark: Any, forms: Any) -> None:
        box = _box(raw, mark)
        if box is None:
            return
        kind = raw.FPDFAnnot_GetFormFieldType(forms, mark)
        if kind in (raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON):
            self.ticks.append((box, bool(raw.FPDFAnnot_IsChecked(forms, mark))))
        is_value = kind in (raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX)
        if is_value and not raw.FPDFAnnot_GetFormFieldFlags(forms, mark) & _PASSWORD:
            self.values.append((box, _value(raw, forms, mark)))


def _box(raw: Any, mark: Any) -> Box | None:
    rectangle = raw.FS_RECTF()
    if not raw.FPDFAnnot_GetRect(mark, rectangle):
        return None
    return rectangle.left, rectangle.bottom, rectangle.right, rectangle.top


def _is_drawn(raw: Any, mark: Any) -> bool:
    """Return whether an annotation has a drawing of its own: more than the end of a string."""
    return bool(raw.FPDFAnnot_GetAP(mark, raw.FPDF_ANNOT_APPEARANCEMODE_NORMAL, None, 0) > 2)


def _value(raw: Any, forms: Any, mark: Any) -> str:
    """Return the value of a field: the labels of the selected options, or the text."""
    chosen = [
        _text(raw.FPDFAnnot_GetOptionLabel, forms, mark, option)
        for option in range(min(raw.FPDFAnnot_GetOptionCount(forms, mark), _MOST))
        if raw.FPDFAnnot_IsOptionSelected(forms, mark, option)
    ]
    return "; ".join(chosen) or _text(raw.FPDFAnnot_GetFormFieldValue, forms, mark)


def _text(get: Any, *of: Any) -> str:
    """Call a PDFium function that writes zero-terminated UTF-16 into a buffer; return the text."""
    size = get(*of, None, 0)
    if size < 2:
        return ""
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    get(*of, buffer, size)
    return bytes(buffer)[:size].decode("utf-16-le", "ignore").rstrip("\0")
