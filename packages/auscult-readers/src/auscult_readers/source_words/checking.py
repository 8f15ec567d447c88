"""Compare documents with the file that they were read from, in any format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from auscult.documents import Document
from auscult.documents.original import Original
from auscult.readers.contract import DraftDocument
from auscult_readers.pdf import text_layer
from auscult_readers.source_words.comparison import LostWord, judged, lost_words

PDF: Final = "application/pdf"
CHECKERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "words": "auscult_readers.source_words.reader:SourceWordsReader",
        "pdf": "auscult_readers.source_words.pages:PageWordsReader",
    }
)
"""Readers of the words of sources, for a reading process; the first that recognises a file reads it. The name of a file
is its media type."""


def compare(
    original: Original, documents: Sequence[Document], parts: Sequence[DraftDocument], remarks: Sequence[str] = ()
) -> tuple[int, list[LostWord]]:
    """Compare all documents of a file with the words of its source.

    Args:
        original: The file.
        documents: All documents of the file; one for a PDF.
        parts: The drafts of one of `CHECKERS`.
        remarks: Remarks of the report on the file.

    Returns:
        The number of words of the source, and those that are in no passage, heading or title.
    """
    if original.media_type != PDF or len(documents) != 1:
        return lost_words(documents, parts, remarks)
    (document,) = documents
    headings = [document.title, *(name for each in document.passages for name in (each.heading, *each.above))]
    spans = [(each.start, each.end) for each in document.passages]
    pages = [part for part in parts if part.key.isdecimal()]
    total, lost = text_layer.lost_words(document.text, spans, headings, original.words, pages)
    found = [LostWord(each.word, f"page {each.page}", judged(each.reason, remarks)) for each in lost]
    others, beside = lost_words(documents, [part for part in parts if not part.key.isdecimal()], remarks)
    return total + others, [*beside, *found]
