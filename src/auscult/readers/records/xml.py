"""XML by its root element: JATS articles, MedQuAD, clinical documents of HL7, and any other as its text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.medquad import is_medquad, read_medquad
from auscult.readers.records.cda import is_cda, read_cda
from auscult.readers.records.jats import articles_in, read_jats
from auscult.readers.records.plain_xml import read_plain
from auscult.readers.records.xml_parsing import parse_xml

_HTML: Final = re.compile(r"(?:\s|<\?.*?\?>|<!--.*?-->)*+<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL)
_FHIR: Final = "http://hl7.org/fhir"


class XmlReader:
    """Reads XML. Document types are not loaded, entities of a file's own are refused, nothing is fetched."""

    name = "XML"
    suffixes = (".xml", ".nxml", ".cda", ".ccda")

    def recognises(self, file: SourceFile) -> bool:
        """Whether it begins with an XML declaration, or is called as XML and begins with a tag; pages are HTML."""
        head = file.head
        encoding = "utf-16" if head.startswith((b"\xff\xfe", b"\xfe\xff")) else "latin-1"
        begin = head.decode(encoding, "replace").lstrip()
        if _HTML.match(begin):
            return False
        return begin.startswith("<?xml") or (file.suffix in self.suffixes and begin.startswith("<"))

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """The document, or the articles of a set.

        Raises:
            UnreadableError: It is not well-formed, declares entities, or has no words.
        """
        root, _, encoding = parse_xml(file.content)
        if root.get("xmlns") == _FHIR:
            raise UnreadableError("FHIR as XML", "FHIR as JSON", "FHIR as XML", "export it as JSON")
        if is_cda(root):
            yield from read_cda(root, encoding, file.name)
        elif is_medquad(root):
            yield read_medquad(root, encoding)
        elif articles := [each for each in articles_in(root) if each.child("front")]:
            for number, article in enumerate(articles, start=1):
                draft = read_jats(article, encoding)
                yield draft if len(articles) == 1 else _keyed(draft, number)
        else:
            yield read_plain(root, encoding)


def _keyed(draft: DraftDocument, number: int) -> DraftDocument:
    return replace(draft, key=draft.metadata.get("pmcid") or draft.metadata.get("doi") or str(number))


__all__ = ["XmlReader"]
