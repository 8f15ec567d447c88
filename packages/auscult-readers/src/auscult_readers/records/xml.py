"""Reader of XML, by its root element: JATS articles, MedQuAD, clinical documents of HL7, FHIR, and any other XML.

A file is parsed into a tree whose pieces of text have offsets in the source. ElementTree and lxml do not keep offsets,
so the tree is built from the events of Expat, the parser of the standard library. Nothing outside the file is read: a
file that declares entities is refused before one is expanded, document types are not loaded, and no handler opens
external entities.

In XML of an unknown vocabulary, elements with words are blocks, and those with the name of a heading are headings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from html.entities import html5
from typing import Final, NoReturn
from xml.parsers import expat

from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError, declares_entities
from auscult.readers.decoding import Decoded, decode_text
from auscult.readers.drafting import Facts, draft_of
from auscult.readers.flow import Flow
from auscult.readers.tree import Element, Piece, Role
from auscult.readers.typesetting import Typesetter
from auscult_readers.medquad import is_medquad, read_medquad
from auscult_readers.records.cda import is_cda, read_cda
from auscult_readers.records.fhir import read_resources
from auscult_readers.records.fhir_xml import is_fhir_xml, object_of
from auscult_readers.records.jats import articles_in, read_jats

_DECLARED: Final = re.compile(rb"\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([\w.-]+)", re.IGNORECASE)


def parse_xml(content: bytes) -> tuple[Element, str, str]:
    """Parse the bytes of a file.

    Returns:
        The root element, with names without namespace prefixes ("xmlns" stays an attribute); the decoded source, to
        which the offsets of pieces refer; its encoding.

    Raises:
        UnreadableError: The file is empty, not well-formed, or declares entities.
    """
    if not content.strip():
        raise UnreadableError("empty file", "an XML file", "no bytes but white space", "check how it was saved")
    source, encoding, _ = _decode(content)
    return _Builder(source).built(), source, encoding


def _decode(content: bytes) -> Decoded:
    declared = _DECLARED.match(content[:1000])
    return decode_text(content, declared[1].decode("ascii", "replace") if declared else "")


class _Builder:
    """Builds the tree from Expat's events. Converts Expat's offsets, in bytes of UTF-8, to characters."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._bytes = source.encode("utf-8", "replace")
        self._ascii = len(self._bytes) == len(source)
        self._byte = self._character = 0
        self._top = Element("")
        self._open = [self._top]
        self._from = self._to = 0
        self._in_cdata = False
        # The source is passed as UTF-8, whatever its declaration says.
        parser = expat.ParserCreate("utf-8")
        parser.UseForeignDTD(True)
        parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.StartCdataSectionHandler = self._start_cdata
        parser.EndCdataSectionHandler = self._end_cdata
        parser.SkippedEntityHandler = self._skipped
        parser.EntityDeclHandler = self._declared
        self._parser = parser

    def built(self) -> Element:
        try:
            self._parser.Parse(self._bytes, True)
        except expat.ExpatError as error:
            reason = expat.ErrorString(error.code)
            raise UnreadableError(
                "broken XML", "well-formed XML", f"{reason} in line {error.lineno}", "mend the file, or export it again"
            ) from error
        return self._top.elements[0]

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._flush()
        local = {key if key == "xmlns" else key.rpartition(":")[2]: value for key, value in attributes.items()}
        element = Element(name.rpartition(":")[2], local)
        self._open[-1].children.append(element)
        self._open.append(element)

    def _end(self, _: str) -> None:
        self._flush()
        self._open.pop()

    def _text(self, text: str) -> None:
        start = self._place()
        source = self._source
        if source.startswith("&", start) and not self._in_cdata:
            self._whole(text, start, source.index(";", start) + 1)
            return
        # Expat turns "\r\n" into "\n"; the piece has the characters of the source.
        end = start + (2 if text == "\n" and source.startswith("\r\n", start) else len(text))
        if start != self._to:
            self._flush()
            self._from = start
        self._to = end

    def _whole(self, text: str, start: int, end: int) -> None:
        self._flush()
        self._open[-1].children.append(Piece(text, start, end))

    def _flush(self) -> None:
        if self._to > self._from:
            self._open[-1].children.append(Piece(self._source[self._from : self._to], self._from, self._to))
        self._from = self._to

    def _skipped(self, name: str, is_parameter: bool) -> None:
        """Handle a reference to an entity of a document type that is not loaded; entities of HTML are resolved."""
        if not is_parameter:
            start = self._place()
            self._whole(html5.get(f"{name};", f"&{name};"), start, start + len(name) + 2)

    def _start_cdata(self) -> None:
        self._in_cdata = True

    def _end_cdata(self) -> None:
        self._in_cdata = False

    def _declared(self, *_: object) -> NoReturn:
        raise declares_entities()

    def _place(self) -> int:
        """Return the offset of the current event in characters."""
        at = self._parser.CurrentByteIndex
        if self._ascii:
            return at
        # Events come in order, so each byte is decoded only once.
        self._character += len(self._bytes[self._byte : at].decode("utf-8"))
        self._byte = at
        return self._character


MEDIA_TYPE: Final = "application/xml"
_HEADINGS: Final = frozenset({"title", "head", "heading", "name"})


def read_plain(root: Element, encoding: str) -> DraftDocument:
    """Read XML of an unknown vocabulary as one document, without attributes. Elements among words are inline.

    Args:
        root: The root element.
        encoding: Encoding of the file.

    Raises:
        UnreadableError: The file has no words.
    """
    flow = Flow()
    top = Element("")
    top.children.append(root)
    _prepare(root)
    Typesetter(flow, _role_of, lambda element: int(element.get("level"))).set(top)
    return draft_of(flow, Facts(), media_type=MEDIA_TYPE, encoding=encoding)


def _prepare(root: Element) -> None:
    """Set the role of each element and the level of each heading."""
    stack = [(root, 0, False)]
    while stack:
        element, depth, among_words = stack.pop()
        leaf = not element.elements
        mixed = any(isinstance(child, Piece) and child.text.strip() for child in element.children)
        if among_words:
            part = "inline"
        elif element.tag.lower() in _HEADINGS and (leaf or mixed):
            part = "heading"
        else:
            part = "block"
        element.attributes = {"part": part, "level": str(min(depth, 99))}
        stack.extend((child, depth + 1, among_words or mixed) for child in element.elements)


def _role_of(element: Element) -> Role:
    return {"inline": Role.INLINE, "heading": Role.HEADING}.get(element.get("part"), Role.BLOCK)


_HTML: Final = re.compile(r"(?:\s|<\?.*?\?>|<!--.*?-->)*+<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL)


class XmlReader:
    """Reads XML. Files that declare entities are refused; document types are not loaded, and nothing is fetched."""

    name = "XML"
    suffixes = (".xml", ".nxml", ".cda", ".ccda")

    def recognises(self, file: SourceFile) -> bool:
        """Whether the file begins with an XML declaration, or has an XML suffix and begins with a tag; not for HTML."""
        head = file.head
        encoding = "utf-16" if head.startswith((b"\xff\xfe", b"\xfe\xff")) else "latin-1"
        begin = head.decode(encoding, "replace").lstrip()
        if _HTML.match(begin):
            return False
        return begin.startswith("<?xml") or (file.suffix in self.suffixes and begin.startswith("<"))

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """Yield the document, or each article of a set.

        Raises:
            UnreadableError: The file is not well-formed, declares entities, or has no words.
        """
        remarks = _decode(file.content).remarks if file.content.strip() else ()
        for number, draft in enumerate(self._drafts(file)):
            yield draft if number or not remarks else replace(draft, remarks=(*remarks, *draft.remarks))

    def _drafts(self, file: SourceFile) -> Iterator[DraftDocument]:
        root, _, encoding = parse_xml(file.content)
        if is_fhir_xml(root):
            yield from read_resources([("the file", object_of(root))], file.name, [])
        elif is_cda(root):
            yield from read_cda(root, encoding, file.name)
        elif is_medquad(root):
            yield read_medquad(root, encoding)
        elif articles := [each for each in articles_in(root) if each.child("front")]:
            for number, article in enumerate(articles, start=1):
                draft = read_jats(article, encoding)
                key = draft.metadata.get("pmcid") or draft.metadata.get("doi") or str(number)
                yield draft if len(articles) == 1 else replace(draft, key=key)
        else:
            yield read_plain(root, encoding)
