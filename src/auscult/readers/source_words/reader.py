"""Read the words of a source file by its media type, in the process that reads files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from auscult.readers import markdown, rtf, sheets, slides
from auscult.readers.contract import DraftDocument, SourceFile
from auscult.readers.records import cda, hl7, jats, xml
from auscult.readers.source_words import markup, office, texts
from auscult.readers.word import reader as word

_ODF: Final = "application/vnd.oasis.opendocument."
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
        hl7.MEDIA_TYPE: texts.words_of_message,
        markdown.MEDIA_TYPE: texts.words_of_markdown,
        "text/plain": texts.words_of_text,
    }
)


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
