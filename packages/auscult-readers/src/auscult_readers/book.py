"""Reader of electronic books (.epub): one document per chapter, in reading order. Chapters are read as web pages.

Pictures and the table of contents are left out. What style sheets of the book hide or strike out is left out and
counted. Specification: EPUB 3.3, Open Packaging Format 2.0.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final
from urllib.parse import unquote

from auscult.readers.archives import names_in
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.dates import iso_date
from auscult.readers.decoding import decode_text
from auscult.readers.html.cleaning import Care
from auscult.readers.html.reader import read_page
from auscult.readers.html.stylesheet import insert_imports
from auscult.readers.tree import Element
from auscult_readers.package import Package
from auscult_readers.records.xml import parse_xml

_CONTAINER: Final = "META-INF/container.xml"
_MOST_IMPORTS: Final = 10
_PAGES: Final = ("application/xhtml+xml", "text/html", "text/x-oeb1-document")


class BookReader:
    """Reads electronic books."""

    name = "EPUB"
    suffixes: tuple[str, ...] = (".epub",)

    def recognises(self, file: SourceFile) -> bool:
        """Whether the file is an archive with the member that names the package document of a book."""
        return _CONTAINER in names_in(file.content)

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """Yield the chapters of the book.

        Raises:
            UnreadableError: The book is broken, encrypted or malicious, or it has no words.
        """
        package = Package(file.content, "an electronic book")
        place = _part(package, _CONTAINER).first("rootfile")
        root = _part(package, place.get("full-path") if place else "")
        folder = posixpath.dirname(place.get("full-path")) if place else ""
        values = {
            name: [element.words() for element in root.all(name)] for name in ("title", "creator", "date", "language")
        }
        described = {
            "book": values["title"][0] if values["title"] else "",
            "author": "; ".join(values["creator"]),
            "date": next(filter(None, map(iso_date, values["date"])), ""),
            "language": values["language"][0] if values["language"] else "",
        }
        metadata = {name: value for name, value in described.items() if value}
        items = {element.get("id"): element for element in root.all("item")}
        locked = {unquote(element.get("URI")) for element in _encrypted(package)}
        sheets = _StyleSheets(package, locked)
        read = 0
        for reference in root.all("itemref"):
            item = items.get(reference.get("idref"))
            if item is None or item.get("media-type") not in _PAGES or "nav" in item.get("properties").split():
                continue
            name = posixpath.normpath(posixpath.join(folder, unquote(item.get("href"))))
            if name in locked:
                raise _encrypted_book()
            content = package.read(name)
            try:
                draft = read_page(content, Care.INVISIBLE, partial(sheets.read, name))
            except UnreadableError as error:
                # A cover has no words.
                if error.kind == "empty file":
                    continue
                raise
            read += 1
            yield replace(
                draft,
                key=name,
                content=content,
                title=draft.title or metadata.get("book", ""),
                metadata={**metadata, **draft.metadata},
            )
        if not read:
            raise UnreadableError("no words", "a book with words", "one without any", "leave it out")


@dataclass(frozen=True, slots=True)
class _StyleSheets:
    """The style sheets of a book.

    Attributes:
        package: The book.
        locked: Names of its encrypted parts.
        known: Style sheets that were read before, by name.
        opened: Names of those that are being read. One that imports itself gets nothing.
    """

    package: Package
    locked: set[str]
    known: dict[str, str] = field(default_factory=dict)
    opened: set[str] = field(default_factory=set)

    def read(self, base: str, address: str) -> str:
        """Return the style sheet at an address, with those that it imports; "" if the book has none there.

        Args:
            base: Name of the part with the address.
            address: The address, relative to that part.

        Raises:
            UnreadableError: The style sheet is encrypted, broken or too large.
        """
        name = posixpath.normpath(posixpath.join(posixpath.dirname(base), unquote(re.split("[?#]", address)[0])))
        if name in self.opened:
            return ""
        if name not in self.known:
            if name in self.locked:
                raise _encrypted_book()
            if len(self.opened) >= _MOST_IMPORTS:
                expected = f"at most {_MOST_IMPORTS} style sheets in each other"
                raise UnreadableError("nested too deeply", expected, "more", "save it again with one style sheet")
            sheet = decode_text(self.package.read(name)).text
            self.opened.add(name)
            try:
                self.known[name] = insert_imports(sheet, partial(self.read, name))
            finally:
                self.opened.discard(name)
        return self.known[name]


def _encrypted_book() -> UnreadableError:
    return UnreadableError("encrypted", "a book without copy protection", "one with", "ask for one without")


def _part(package: Package, name: str) -> Element:
    if name not in package:
        raise package.broken(f"one without {name or 'a list of its parts'}")
    return parse_xml(package.read(name))[0]


def _encrypted(package: Package) -> Iterator[Element]:
    name = "META-INF/encryption.xml"
    return _part(package, name).all("CipherReference") if name in package else iter(())
