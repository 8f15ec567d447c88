"""Reader of OpenDocument texts and slides (.odt, .odp, flat .fodt, .fodp): headings, lists, tables, notes, slides.

Offsets are in `content.xml`. Struck-out, hidden and deleted text is left out and counted, and so are comments, headers,
footers and tables of contents. `sheets` reads spreadsheets. Specification: OpenDocument 1.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from auscult.readers.contract import DraftDocument, SourceFile
from auscult.readers.dates import iso_date
from auscult.readers.drafting import Facts, draft_of
from auscult.readers.flow import Flow
from auscult.readers.tables import CELLS
from auscult.readers.tree import NEVER_SHOWN, Element, Role, descend, written
from auscult.readers.typesetting import Typesetter
from auscult_readers.header_rows import has_header_row
from auscult_readers.open_objects import insert_objects
from auscult_readers.package import Package, media_type_in
from auscult_readers.records.xml import parse_xml

_TYPES: Final = ("application/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.presentation")
_FLAT: Final = re.compile(rb"office:mimetype=[\"']([\w./-]+)")
_DROPPED: Final = frozenset({
    "change-info", "table-of-content-source", "alphabetical-index-source", "table-index-source",
    "illustration-index-source", "binary-data", "meta", "settings", "styles", "automatic-styles", "master-styles",
    "font-face-decls", "scripts", "note-citation", "ruby-text", "covered-table-cell", "page-thumbnail",
    "event-listeners",
})  # fmt: skip
# Elements that are left out, and the reason under which their words are counted.
_COUNTED: Final = {
    "tracked-changes": "tracked deletions", "annotation": "comments", "table-of-content": "table of contents",
    "alphabetical-index": "index", "table-index": "index", "illustration-index": "index",
    **dict.fromkeys(("header-decl", "footer-decl", "date-time-decl"), "headers and footers"),
}  # fmt: skip
_AROUND: Final = [f"{name}{pages}" for name in ("header", "footer") for pages in ("", "-left", "-first")]
# Who wrote a comment, and when.
_ABOUT_COMMENT: Final = ("creator", "date", "date-string", "sender-initials", "creator-initials")
_NAMES: Final = {"table-row": "tr", "table-cell": "td", "table-header-rows": "thead"}
_BLANKS: Final = frozenset({"s", "tab"})
_ROLES: Final = {
    "heading": Role.HEADING, "p": Role.BLOCK, "list": Role.LIST, "numbered": Role.NUMBERED, "list-item": Role.ITEM,
    "list-header": Role.BLOCK, "table": Role.TABLE, "tr": Role.BLOCK, "td": Role.BLOCK, "th": Role.BLOCK,
    "line-break": Role.BREAK, "page": Role.BLOCK, "title": Role.BLOCK, "desc": Role.BLOCK, "section": Role.BLOCK,
}  # fmt: skip
_WIDEST: Final = 40
# Level of the first headings of a text. Level 1 is for the title.
_HIGHEST: Final = 2
# Level of a slide's title, below that of its number.
_SLIDE_TITLE: Final = 3


class OpenDocumentReader:
    """Reads OpenDocument texts and slides."""

    name = "OpenDocument"
    suffixes: tuple[str, ...] = (".odt", ".ott", ".odp", ".otp", ".fodt", ".fodp")

    def recognises(self, file: SourceFile) -> bool:
        """Whether an archive or a single XML file declares the media type of an OpenDocument text or slides."""
        return bool(_media_type(file))

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """Yield the one document of the file.

        Raises:
            UnreadableError: The file is broken, encrypted or harmful, or has no words.
        """
        styles = meta = None
        package: Package | None = None
        if file.content.startswith(b"PK"):
            package = Package(file.content, "an OpenDocument file")
            if b"encryption-data" in package.read("META-INF/manifest.xml"):
                raise package.broken("one behind a password")
            if "content.xml" not in package:
                raise package.broken("one without content.xml")
            root, _, encoding = parse_xml(package.read("content.xml"))
            styles, meta = (
                parse_xml(part)[0] if (part := package.read(name)) else None for name in ("styles.xml", "meta.xml")
            )
            encoding = ""
        else:
            root, _, encoding = parse_xml(file.content)
            meta = root.child("meta")
        remarks = insert_objects(root, package.read if package else lambda _: b"")
        _Preparing(*filter(None, (styles, root))).prepare(root)
        flow = Flow()
        Typesetter(
            flow, lambda element: _ROLES.get(element.tag, Role.INLINE), lambda element: int(element.get("level"))
        ).set(root)
        facts = _facts(meta)
        slides = _media_type(file) == _TYPES[1]
        if slides and (slide := next((each.text for each in flow.headings if each.level == _SLIDE_TITLE), "")):
            # The first slide has precedence: the title in the properties is often that of a template.
            facts = replace(facts, title=slide)
        draft = draft_of(flow, facts, media_type=_media_type(file), encoding=encoding)
        yield replace(draft, remarks=(*draft.remarks, *dict.fromkeys(remarks)))


def _media_type(file: SourceFile) -> str:
    """Return the media type of a text or of slides; "" for other files."""
    if file.content.startswith(b"PK"):
        media_type = media_type_in(file.content)
    else:
        flat = _FLAT.search(file.head) if file.head.lstrip().startswith(b"<?xml") else None
        media_type = flat[1].decode() if flat else ""
    return media_type if media_type.startswith(_TYPES) else ""


def _facts(root: Element | None) -> Facts:
    def of(name: str) -> str:
        return found.words() if root and (found := root.first(name)) else ""

    said = {
        "author": of("initial-creator") or of("creator"),
        "created": iso_date(of("creation-date")),
        "date": iso_date(of("date")),
        "language": of("language"),
    }
    return Facts(title=of("title"), metadata={name: value for name, value in said.items() if value})


class _Preparing:
    """Renames elements for typesetting (`_ROLES`), and gives headings their levels.

    Args:
        roots: Trees with styles.
    """

    def __init__(self, *roots: Element) -> None:
        self._raised, self._titles, self._numbered = set[str](), {"Title"}, set[str]()
        self._bold = {"Table_20_Heading"}
        # Whether a style strikes its text out or hides it.
        self._struck, self._hidden = dict[str, bool](), dict[str, bool]()
        self._around = [
            part
            for root in roots
            for page in root.all("master-page")
            for part in page.all_children(*_AROUND)
            if part.get("display") != "false"
        ]
        for root in roots:
            for style in root.all("style", "list-style"):
                self._learn(style.get("name"), style)

    def _learn(self, name: str, style: Element) -> None:
        if style.get("parent-style-name") in self._titles and style.get("family") == "paragraph":
            self._titles.add(name)
        text = style.child("text-properties")
        # LibreOffice writes only the type of some lines.
        line = text.get("text-line-through-style") or text.get("text-line-through-type") if text else ""
        display = text.get("display") if text else ""
        above = style.get("parent-style-name")
        self._struck[name] = line != "none" if line else self._struck.get(above, False)
        self._hidden[name] = display == "none" if display else self._hidden.get(above, False)
        if style.get("parent-style-name") in self._bold or (text and text.get("font-weight") == "bold"):
            self._bold.add(name)
        if text and text.get("text-position").startswith(("super", "1", "2", "3", "4", "5")):
            self._raised.add(name)
        if (first := next(iter(style.elements), None)) and first.tag == "list-level-style-number":
            self._numbered.add(name)

    def prepare(self, root: Element) -> None:
        """Rename, drop and move the elements of a tree. Notes are moved to its end."""
        slides = 0
        self._leave_out(root)
        for node in [node for node in descend(root) if isinstance(node, Element)]:
            node.tag = _NAMES.get(node.tag, node.tag)
            if node.tag == "h":
                _head(node, int(node.get("outline-level")[:2] or 1) + _HIGHEST - 1)
            elif node.tag == "p" and node.get("style-name") in self._titles:
                _head(node, 1)
            elif node.tag == "list" and node.get("style-name") in self._numbered:
                node.tag = "numbered"
            elif node.tag == "span" and node.get("style-name") in self._raised:
                node.tag = "sup"
            elif node.tag in _BLANKS:
                node.children = [written(" ")]
            elif node.tag == "tr":
                node.children = [cell for element in node.elements for cell in [element] * _times(element)]
                for cell in node.elements if node.get("head") else ():
                    cell.tag = "th"
            elif node.tag in CELLS:
                node.attributes |= {f"{way[:3]}span": node.get(f"number-{way}s-spanned") for way in ("column", "row")}
            elif node.tag == "table" and (rows := [*node.all("table-row")]) and not node.child("table-header-rows"):
                if self._is_bold(rows[0]) or has_header_row([[cell.words() for cell in row.elements] for row in rows]):
                    rows[0].attributes["head"] = "1"
            elif node.tag == "page" and node.get("master-page-name"):
                slides += 1
                self._slide(node, slides)
        shown = [node for node in descend(root, lambda each: not each.dropped) if isinstance(node, Element)]
        headings = [node for node in shown if node.tag == "heading" and not node.dropped]
        levels = [int(element.get("level")) for element in headings]
        if not slides and 1 not in levels and levels.count(_HIGHEST) == 1 < len(levels):
            # The only heading of the highest level is the title if there are lower ones.
            highest = next(element for element in headings if element.get("level") == str(_HIGHEST))
            highest.attributes["level"] = "1"
        notes = list[Element]()
        for note in (node for node in shown if node.tag == "note" and not node.dropped):
            note.dropped = NEVER_SHOWN
            notes += note.all_children("note-body")
        if notes:
            title = Element("heading", {"level": "2"})
            title.children = [written("Footnotes")]
            root.children += [title, *notes]

    def _leave_out(self, root: Element) -> None:
        """Say for each element that is not read why. Headers and footers are added, to be counted."""
        for part in self._around:
            part.dropped = "headers and footers"
        root.children += self._around
        for node in [node for node in descend(root) if isinstance(node, Element)]:
            style = node.get("style-name")
            if node.tag in _DROPPED:
                node.dropped = NEVER_SHOWN
            elif node.tag in _COUNTED:
                node.dropped = _COUNTED[node.tag]
            elif self._hidden.get(style):
                node.dropped = "hidden"
            elif self._struck.get(style):
                node.dropped = "struck out"
            for about in node.all_children(*_ABOUT_COMMENT) if node.tag == "annotation" else ():
                about.dropped = NEVER_SHOWN

    def _is_bold(self, row: Element) -> bool:
        lines = [each for each in row.all("p", "span") if each.words()]
        bold = [each for each in lines if each.get("style-name") in self._bold]
        return len(row.elements) > 1 and sum(len(each.words()) for each in bold) >= sum(
            len(each.words()) for each in lines if each.tag == "p"
        )

    def _slide(self, page: Element, number: int) -> None:
        head = Element("heading", {"level": "2"})
        head.children = [written(f"Slide {number}")]
        titles = [child for child in page.elements if child.get("class") == "title"]
        for frame in titles:
            for paragraph in frame.all("p"):
                _head(paragraph, _SLIDE_TITLE)
        page.children = [head, *titles, *(child for child in page.children if child not in titles)]


def _head(element: Element, level: int) -> None:
    element.tag = "heading"
    element.attributes["level"] = str(level)


def _times(cell: Element) -> int:
    count = cell.get("number-columns-repeated")
    return min(int(count), _WIDEST) if count.isdecimal() and len(count) < 6 else 1
