"""Text, diagrams and charts of DrawingML, as elements of HTML. Word, PowerPoint and Excel files have them alike.

Specification: ECMA-376, DrawingML.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from auscult.readers.tree import Element, Piece, descend, written
from auscult_readers.number_formats import shown_number

_NUMBERING: Final = ("slidenum", "datetime")
_DEEPEST: Final = 9


def words_only(root: Element) -> Element:
    """Return a part with words that have no offsets, since people do not see its XML."""
    for node in [root, *(each for each in descend(root) if isinstance(each, Element))]:
        node.children = [written(each.text) if isinstance(each, Piece) else each for each in node.children]
        if node.tag == "br":
            # Titles become one line, so that a break is a blank.
            node.children = [written(" ")]
    return root


def line_of(tag: str, text: str) -> Element:
    """Return an element with a text that is not in the source."""
    made = Element(tag)
    made.children = [written(text)]
    return made


def paragraphs_of(shape: Element, *, bullets: bool) -> list[Element]:
    """Return the paragraphs of a shape. Adjacent list items are in one list.

    Args:
        shape: The shape, or the cell of a table.
        bullets: Whether a paragraph is a list item by default, as in the main text of a slide.

    Struck-out runs are in elements "s", so that they are counted and not read.
    """
    paragraphs = list[Element]()
    for paragraph in shape.all("p"):
        properties = paragraph.child("pPr") or Element("")
        kinds = {each.tag for each in properties.elements}
        is_item = "buNone" not in kinds and (bullets or bool(kinds & {"buChar", "buAutoNum", "buBlip"}))
        element = Element("p")
        element.children = [*runs_of(paragraph)]
        if not element.words():
            continue
        if is_item:
            element.tag = "li"
            kind = "ol" if "buAutoNum" in kinds else "ul"
            for _ in range(min(int(properties.get("lvl") or 0), _DEEPEST) if properties.get("lvl").isdecimal() else 0):
                inner, element = element, Element("ul")
                element.children = [inner]
            if not paragraphs or paragraphs[-1].tag != kind:
                paragraphs.append(Element(kind))
            paragraphs[-1].children.append(element)
        else:
            paragraphs.append(element)
    return paragraphs


def runs_of(paragraph: Element) -> Iterator[Element | Piece]:
    """Yield the runs of a paragraph and its line breaks, without the number of the slide and the date."""
    for run in paragraph.elements:
        properties = run.child("rPr") or Element("")
        if run.tag == "br":
            yield Element("br")
        elif run.get("type").startswith(_NUMBERING):
            continue
        elif run.tag in ("r", "fld", "m"):
            raised = properties.get("baseline") not in ("", "0") and not properties.get("baseline").startswith("-")
            struck = properties.get("strike") not in ("", "noStrike")
            element = Element("s" if struck else "sup" if raised else "span")
            element.children = [piece for text in run.all("t") for piece in text.children]
            yield element


def chart_of(root: Element) -> list[Element]:
    """Return the title of a chart, and its values as a table with a row per category and a column per series."""
    titles = [line_of("p", words) for each in root.all("title") if (words := each.words())]
    columns = list[dict[str, str]]()
    names = dict[str, str]()
    for series in root.all("ser"):
        parts = {tag: series.child(tag) or Element("") for tag in ("tx", "cat", "xVal", "val", "yVal")}
        values = {tag: _values(part) for tag, part in parts.items()}
        names |= {**values["xVal"], **values["cat"]}
        columns.append({"": " ".join(values["tx"].values()), **values["yVal"], **values["val"]})
    table = Element("table")
    for place in ["", *(names or dict.fromkeys(key for column in columns for key in column if key))]:
        row = Element("tr")
        tag = "td" if place else "th"
        row.children = [
            line_of(tag, names.get(place, "")),
            *(line_of(tag, column.get(place, "")) for column in columns),
        ]
        table.children.append(row)
    return [*titles, table] if columns else titles


def _values(part: Element) -> dict[str, str]:
    """Return the values of a series by their places, as their number format shows them."""
    format_code = part.first("formatCode")
    usual = format_code.words() if format_code else ""
    values = dict[str, str]()
    for point in part.all("pt"):
        text, code = point.words(), point.get("formatCode") or usual
        with suppress(ValueError):
            text = shown_number(float(text), code) if code else text
        values[point.get("idx")] = text
    return values


def diagram_of(root: Element) -> list[Element]:
    """Return the texts of a diagram (SmartArt) as a list, in the order in which it shows them."""
    points = dict[str, Element]()
    for number, point in enumerate(root.all("pt")):
        name = point.get("modelId")
        points[name if name and name not in points else f"#{number}"] = point
    below = defaultdict[str, list[tuple[int, str]]](list)
    inner = set[str]()
    for connection in root.all("cxn"):
        source, target, order = (connection.get(name) for name in ("srcId", "destId", "srcOrd"))
        if connection.get("type") in ("", "parOf") and source in points and target in points:
            below[source].append((int(order) if order.isdecimal() else 0, target))
            inner.add(target)
    texts = Element("ul")
    seen = set[str]()
    # The root of a diagram has no text. Points that nothing connects follow in the order of the file.
    waiting = [(name, 0) for name in reversed([*points]) if name not in inner]
    waiting = [*((name, -1) for name in points if name in inner), *waiting]
    while waiting:
        name, depth = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for each in paragraphs_of(points[name], bullets=True):
            items = each.elements if each.tag in ("ul", "ol") else [each]
            texts.children += [_nested(item, depth) for item in items]
        rooted = points[name].get("type") == "doc"
        waiting += [(each, depth + (not rooted)) for _, each in sorted(below[name], reverse=True)]
    return [texts] if texts.children else []


def _nested(element: Element, depth: int) -> Element:
    for _ in range(min(depth, _DEEPEST)):
        inner, element = element, Element("ul")
        element.children = [inner]
    return element
