"""Read the words of a source file by its media type, in the process that reads files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Final

from auscult.readers import markdown
from auscult.readers.contract import DraftDocument, SourceFile
from auscult_readers import rtf, sheets, slides
from auscult_readers.records import cda, hl7, jats, xml
from auscult_readers.source_words import markup, office, records, texts
from auscult_readers.word import reader as word

_ODF: Final = "application/vnd.oasis.opendocument."
# Types of whole files, of which an index keeps only the rows, resources or messages.
FHIR: Final = "application/fhir+json"
OBJECTS: Final = "application/json"
TABLE: Final = "text/csv"
MAIL: Final = "message/rfc822"
SHOWN_SHEETS: Final = "text/html; of=sheets"
"""A workbook that LibreOffice has saved as a page."""
_FAMILIES: Final[Mapping[str, Callable[[bytes], Iterator[DraftDocument]]]] = MappingProxyType(
    {
        "text/html": markup.words_of_page,
        cda.MEDIA_TYPE: markup.words_of_clinical_document,
        jats.MEDIA_TYPE: markup.words_of_article,
        xml.MEDIA_TYPE: markup.words_of_xml,
        word.MEDIA_TYPE: office.words_of_word,
        slides.MEDIA_TYPE: office.words_of_slides,
        sheets.MEDIA_TYPE: office.words_of_workbook,
        f"{_ODF}text": office.words_of_open_document,
        f"{_ODF}presentation": office.words_of_open_document,
        f"{_ODF}spreadsheet": office.words_of_open_document,
        rtf.MEDIA_TYPE: texts.words_of_rich_text,
        hl7.MEDIA_TYPE: records.words_of_message,
        FHIR: records.words_of_resources,
        OBJECTS: records.words_of_objects,
        TABLE: records.words_of_table,
        MAIL: records.words_of_mail,
        SHOWN_SHEETS: markup.words_of_sheets_as_shown,
        markdown.MEDIA_TYPE: texts.words_of_markdown,
        "text/plain": texts.words_of_text,
    }
)


_RESOURCE: Final = re.compile(rb'"resourceType"\s*:')
_RESOURCE_SPACE: Final = re.compile(rb"xmlns\s*=\s*[\"']http://hl7\.org/fhir[\"']")
_MAIL_HEAD: Final = re.compile(rb"(?:From \S[^\n]*\n)?(?:[A-Za-z][\w-]*:[^\n]*\n(?:[ \t][^\n]*\n)*){2,}", re.IGNORECASE)
_MAIL_FIELD: Final = re.compile(rb"^(?:From|Subject|MIME-Version|Message-ID|Received):", re.IGNORECASE | re.MULTILINE)
_HEAD: Final = 8192


def type_of(name: str, content: bytes, media_type: str) -> str:
    """Return the media type of a whole file, by what it holds and not by how it was read.

    Args:
        name: Name of the file.
        content: Its bytes.
        media_type: Media type of the document that was read from it.
    """
    suffix = PurePosixPath(name.lower().removesuffix(".gz")).suffix
    first, head = content.lstrip()[:1], content[:_HEAD].removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    if first in (b"{", b"[") and suffix in _JSON:
        return FHIR if _RESOURCE.search(content[:_HEAD]) else OBJECTS
    if suffix in _TABLES:
        return TABLE
    if first == b"<" and _RESOURCE_SPACE.search(content[:_HEAD]):
        return FHIR
    lines = _MAIL_HEAD.match(head)
    if lines is not None and (suffix in _MAILS or len(_MAIL_FIELD.findall(lines[0])) > 1):
        return MAIL
    return media_type


_TABLES: Final = (".csv", ".tsv")
_JSON: Final = (".json", ".jsonl", ".ndjson")
_MAILS: Final = (".eml", ".mbox")


class SourceWordsReader:
    """Reads the words of each part of a file as a draft. The name of a file is its media type."""

    name = "words of a source"
    suffixes: tuple[str, ...] = ()

    def recognises(self, file: SourceFile) -> bool:
        """Return whether the words of files with this media type can be read."""
        return file.name in _FAMILIES

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """Yield a draft for each part.

        Raises:
            UnreadableError: The file is broken or encrypted.
        """
        return _FAMILIES[file.name](file.content)
