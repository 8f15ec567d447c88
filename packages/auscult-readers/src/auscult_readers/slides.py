"""Reader of PowerPoint files (.pptx): title, text, tables, charts, diagrams and notes of each slide.

The number of a slide is the heading above its title. The title is read first, then all other parts from the bottom of
the stack to its top. Struck-out text is left out and counted, and so are header and footer of a slide; its date and its
number are left out. Specification: ECMA-376, DrawingML and PresentationML.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from typing import Final

from auscult.readers.archives import names_in
from auscult.readers.contract import DraftDocument, SourceFile
from auscult.readers.dates import iso_date
from auscult.readers.drafting import Facts, draft_of
from auscult.readers.flow import Flow
from auscult.readers.html.reader import role_of
from auscult.readers.tree import Element, written
from auscult.readers.typesetting import Typesetter
from auscult_readers.drawings import chart_of, diagram_of, line_of, paragraphs_of, runs_of, words_only
from auscult_readers.header_rows import has_header_row
from auscult_readers.package import Package
from auscult_readers.records.xml import parse_xml

MEDIA_TYPE: Final = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_MAIN: Final = "ppt/presentation.xml"
_TITLES: Final = ("title", "ctrTitle")
_AROUND: Final = ("dt", "ftr", "sldNum", "hdr", "sldImg")
_BULLETS: Final = ("body", "obj", "")
_NOTES: Final = "notesSlide"


class SlidesReader:
    """Reads PowerPoint files."""

    name = "PowerPoint"
    suffixes: tuple[str, ...] = (".pptx", ".pptm", ".ppsx", ".potx")

    def recognises(self, file: SourceFile) -> bool:
        """Whether the file is an archive with the main part of a presentation."""
        return _MAIN in names_in(file.content)

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """Yield the one document of the file.

        Raises:
            UnreadableError: The file is broken or harmful, or has no words.
        """
        package = Package(file.content, "a PowerPoint file")
        related = _related(package, _MAIN)
        slides = [
            related[reference.get("id")][1]
            for reference in _parsed(package, _MAIN).all("sldId")
            if reference.get("id") in related
        ]
        flow, titles = Flow(), list[str]()
        setter = Typesetter(flow, role_of, lambda element: int(element.tag[1]))
        for number, name in enumerate(slides, 1):
            page, head = Element(""), line_of("h2", f"Slide {number}")
            page.children = [*_shapes(_parsed(package, name))]
            titles += [text for each in page.elements if each.tag == "h3" and (text := _text(each, setter))][:1]
            for kind, target in sorted(_related(package, name).values(), key=lambda each: each[0] == _NOTES):
                if kind == "diagramData":
                    page.children += diagram_of(_parsed(package, target))
                elif kind == "chart":
                    page.children += chart_of(_parsed(package, target))
                elif kind == _NOTES:
                    notes = Element("")
                    notes.children = [*_shapes(_parsed(package, target))]
                    above = [line_of("h3", "Notes")] if _text(notes, setter) else []
                    page.children += [*above, notes]
            if _text(page, setter):
                page.children.insert(0, head)
            setter.set(page)
        yield draft_of(flow, _facts(package, titles), media_type=MEDIA_TYPE, encoding="")


def _parsed(package: Package, name: str) -> Element:
    """Return the root of a part; an empty element if the file has no such part.

    Its words have no offsets, since people do not see the XML.
    """
    if name not in package:
        return Element("")
    return words_only(parse_xml(package.read(name))[0])


def _related(package: Package, name: str) -> dict[str, tuple[str, str]]:
    """Return kind and name of the parts that a part refers to, by the ids of the references."""
    folder, stem = posixpath.split(name)
    relations = _parsed(package, f"{folder}/_rels/{stem}.rels").elements
    return {
        relation.get("Id"): (
            relation.get("Type").rpartition("/")[2],
            posixpath.normpath(posixpath.join("/", folder, relation.get("Target"))).lstrip("/"),
        )
        for relation in relations
        if relation.get("TargetMode") != "External"
    }


def _facts(package: Package, titles: list[str]) -> Facts:
    properties = {each.tag: each.words() for each in _parsed(package, "docProps/core.xml").elements}
    dates = {"created": iso_date(properties.get("created", "")), "date": iso_date(properties.get("modified", ""))}
    metadata = {"author": properties.get("creator", ""), **dates}
    # The first slide has precedence: the title in the properties is often that of a template.
    title = titles[0] if titles else properties.get("title", "")
    return Facts(title=title, metadata={name: value for name, value in metadata.items() if value})


def _shapes(root: Element) -> list[Element]:
    """Return the parts of a slide as elements of HTML, the title first."""
    titles, others = list[Element](), list[Element]()
    stack = [node for tree in root.all("spTree") for node in tree.elements][::-1]
    while stack:
        shape = stack.pop()
        if shape.tag in ("grpSp", "AlternateContent", "Choice"):
            stack += shape.elements[::-1]
        elif shape.tag == "graphicFrame":
            others += [_table(node) for node in shape.all("tbl")]
        elif shape.tag == "sp":
            place = shape.first("ph")
            kind = place.get("type") if place else "none"
            if kind in _TITLES:
                titles.append(_title(shape))
            elif kind in _AROUND:
                around = Element("div")
                around.children, around.dropped = [*paragraphs_of(shape, bullets=False)], "headers and footers"
                others.append(around)
            else:
                others += paragraphs_of(shape, bullets=kind in _BULLETS and root.tag != "notes")
    return titles + others


def _title(shape: Element) -> Element:
    """Return a title on one line."""
    title = Element("h3")
    for paragraph in shape.all("p"):
        runs = (written(" ") if isinstance(run, Element) and run.tag == "br" else run for run in runs_of(paragraph))
        title.children += [*runs, written(" ")]
    return title


def _text(element: Element, setter: Typesetter) -> str:
    """Return the words of an element that are read, on one line."""
    return " ".join("".join(piece.text for piece in setter.pieces(element, label=True)).split())


def _table(table: Element) -> Element:
    made = Element("table")
    properties = table.child("tblPr")
    rows = [[cell for cell in each.elements if cell.tag == "tc"] for each in table.elements if each.tag == "tr"]
    is_headed = properties is not None and properties.get("firstRow") in ("1", "true")
    is_headed = is_headed or bool(rows and has_header_row([[cell.words() for cell in row] for row in rows]))
    for number, row in enumerate(rows):
        line = Element("tr")
        for cell in row:
            if not (cell.get("hMerge") or cell.get("vMerge")):
                head = number == 0 and is_headed
                spans = {"colspan": cell.get("gridSpan"), "rowspan": cell.get("rowSpan")}
                line.children.append(Element("th" if head else "td", spans))
                line.elements[-1].children = [*paragraphs_of(cell, bullets=False)]
        made.children.append(line)
    return made
