"""The shape of rich text: which paragraphs are headings, and which rows are headers of tables.

Headings are paragraphs in styles of headings. In a text without such styles, they are short bold lines.
"""

from __future__ import annotations

from typing import Final

from auscult.readers.flow import has_words
from auscult.readers.tree import Element, Piece, written
from auscult_readers.header_rows import has_header_row

_LONGEST_BOLD: Final = 100


def shape_paragraphs(root: Element, notes: Element) -> None:
    """Give headings their final levels, add the footnotes at the end, and mark the headers of tables.

    Args:
        root: Paragraphs, lists and tables. Paragraphs may have a "level" of their style, and "bold".
        notes: Paragraphs of the footnotes.
    """
    body = root.elements
    levels = [int(each.get("level")) for each in body if each.get("level")]
    # The style of titles is level 0. The only heading of level 1 is a title, too, if there are lower ones.
    lower = 0 if levels and min(levels) == 1 == levels.count(1) < len(levels) else 1
    by_bold = not levels and not all(each.get("bold") for each in body)
    for paragraph in body:
        words = paragraph.words()
        bold = by_bold and paragraph.get("bold") and len(words) <= _LONGEST_BOLD and words[-1:] not in (".", ",", ";")
        if paragraph.get("level") or (bold and has_words(words)):
            paragraph.attributes["level"] = str(int(paragraph.get("level") or 1) + lower)
        last = paragraph.children[-1]
        if bold and isinstance(last, Piece) and last.text.rstrip().endswith(":"):
            shown = last.text.rstrip()[:-1]
            paragraph.children[-1] = Piece(shown, last.start, last.start + len(shown))
    if notes.children:
        title = Element("p", {"level": "2"})
        title.children.append(written("Footnotes"))
        root.children += [title, notes]
    for table in root.all("table"):
        rows = [row.elements for row in table.elements]
        first, *others = [[all(paragraph.get("bold") for paragraph in cell.elements) for cell in row] for row in rows]
        bold = all(first) and len(others) > 0 and not all(map(all, others))
        if table.elements[0].get("header") or bold or has_header_row([[cell.words() for cell in row] for row in rows]):
            for cell in table.elements[0].elements:
                cell.tag = "th"
