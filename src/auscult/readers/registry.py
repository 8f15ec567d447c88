"""The readers that there are, in the order in which they are asked whether a file is theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import MappingProxyType

from auscult.readers.contract import Reader, SourceFile, UnreadableError
from auscult.readers.others import problem_of
from auscult.readers.records.columns import Columns

_ROWS = "rows"
READERS: Mapping[str, str] = MappingProxyType(
    {
        "pdf": "auscult.readers.pdf.reader:PdfReader",
        "docx": "auscult.readers.word.reader:DocxReader",
        "fhir": "auscult.readers.records.fhir:FhirReader",
        "xml": "auscult.readers.records.xml:XmlReader",
        "html": "auscult.readers.html.reader:HtmlReader",
        _ROWS: "auscult.readers.records.rows:RowReader",
        "markdown": "auscult.readers.markdown:MarkdownReader",
        # Nearly everything is text: what no other reader recognises.
        "note": "auscult.readers.notes:NoteReader",
    }
)
"""Each reader's module and class, imported when the first file is to be read. Those that tell their files by what they
begin with stand before those that go by names."""
_KNOWN = "text, HTML, Markdown, XML, FHIR, PDF, DOCX, tables, JSON lines"


class Registry:
    """The readers, each opened when it is first asked.

    Args:
        columns: What columns of tables and fields of JSON lines mean.
        readers: Module and class of each, by name.
    """

    def __init__(self, columns: Columns | None = None, readers: Mapping[str, str] = READERS) -> None:
        self._columns = columns or Columns()
        self._places = readers
        self._opened: dict[str, Reader] = {}

    def reader_of(self, file: SourceFile) -> Reader:
        """The first reader that recognises a file.

        Raises:
            UnreadableError: It is empty, or no reader does.
        """
        if not file.content.strip():
            raise UnreadableError("empty file", "a file with words", "an empty one", "leave it out, or fetch it again")
        if (problem := problem_of(file)) is not None:
            raise problem
        for reader in self._readers():
            if reader.recognises(file):
                return reader
        got = "something else"
        raise UnreadableError("unknown kind", f"a file of a known kind ({_KNOWN})", got, "save it as one of them")

    def _readers(self) -> Iterator[Reader]:
        for name, place in self._places.items():
            if name not in self._opened:
                module, _, attribute = place.partition(":")
                made = getattr(import_module(module), attribute)
                self._opened[name] = made(self._columns) if name == _ROWS else made()
            yield self._opened[name]
