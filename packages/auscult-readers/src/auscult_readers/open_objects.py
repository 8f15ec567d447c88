"""Charts and equations in OpenDocument texts and slides: parts of the archive, or content of the element itself.

Specification: OpenDocument 1.3, charts and formulas.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from auscult.readers.contract import UnreadableError
from auscult.readers.equations import write_mathml
from auscult.readers.tree import Element, descend, written
from auscult_readers.drawings import words_only
from auscult_readers.records.xml import parse_xml

_TITLES: Final = ("title", "subtitle", "footer")
UNREAD: Final = "a chart or another object is not read"


def insert_objects(root: Element, read_part: Callable[[str], bytes]) -> list[str]:
    """Put charts and equations where the text shows them.

    Args:
        root: The text or the slides.
        read_part: Returns the bytes of a part of the archive; empty if there is none.

    Returns:
        A remark for each object that is not read.
    """
    remarks, seen = list[str](), set[str]()
    for holder in [*root.all("object", "object-ole")]:
        name = holder.get("href").removeprefix("./").rstrip("/")
        holder.tag, held = "embedded", holder
        try:
            if name and name not in seen and (content := read_part(f"{name}/content.xml")):
                held = parse_xml(content)[0]
        except UnreadableError as error:
            remarks.append(f"{UNREAD}: {error.kind}")
        else:
            holder.children = [*_shown(words_only(held))]
            remarks += [] if holder.words() else [UNREAD]
        seen.add(name)
    return remarks


def _shown(held: Element) -> Iterator[Element]:
    """Yield the equation that an object is, or the titles and values of a chart."""
    # The styles of an object are its own, and so are their names.
    for node in descend(held):
        if isinstance(node, Element):
            node.attributes.pop("style-name", None)
            # An equation also holds its text for the program that wrote it.
            node.children = [
                each for each in node.children if not (isinstance(each, Element) and each.tag == "annotation")
            ]
    if equation := held if held.tag == "math" else held.child("math"):
        write_mathml(equation)
        # Beside a number, a fraction would become another number: "2½" is not "21/2".
        equation.children.insert(0, written(" "))
        yield equation
    for chart in held.all("chart"):
        if (table := chart.child("table")) is None:
            continue
        for title in chart.all(*_TITLES):
            yield from title.all("p")
        for cell in table.all("table-cell"):
            # The place of a value in the sheet from which it is.
            cell.children = [*cell.all_children("p")]
        yield table
