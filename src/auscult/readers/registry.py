"""The readers, in the order in which they are asked whether they recognise a file.

Readers of other packages are entry points of the group `auscult.readers`. They are asked after the readers of formats
and before the reader of notes, which takes any text.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Final

from auscult.errors import ConfigError
from auscult.extensions import entries
from auscult.readers.contract import Reader, SourceFile, UnreadableError
from auscult.readers.others import problem_of
from auscult.readers.records.columns import Columns

_ROWS, _NOTE = "rows", "note"
_GROUP: Final = "auscult.readers"
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
        _NOTE: "auscult.readers.notes:NoteReader",
    }
)
"""Each reader's module and class, imported when the first file is to be read. Those that tell their files by what they
begin with stand before those that go by names."""
_KNOWN = "text, HTML, Markdown, XML, FHIR, PDF, DOCX, tables, JSON lines"


def known_readers() -> dict[str, str]:
    """Return module and class of every reader by name, those of other packages included.

    Raises:
        ConfigError: A package registers a reader under the name of a built-in one.
    """
    added = {name: entry.value for name, entry in entries(_GROUP).items()}
    if taken := sorted(added.keys() & READERS.keys()):
        got = f"'{added[taken[0]]}', called '{taken[0]}'"
        raise ConfigError(f"a reader of a name other than {', '.join(READERS)}", got, "rename or remove it")
    return {**{name: place for name, place in READERS.items() if name != _NOTE}, **added, _NOTE: READERS[_NOTE]}


class Registry:
    """The readers, each imported when it is first asked.

    Args:
        columns: What columns of tables and fields of JSON lines mean.
        readers: Module and class of each by name; by default all that are installed.
    """

    def __init__(self, columns: Columns | None = None, readers: Mapping[str, str] | None = None) -> None:
        self._columns = columns or Columns()
        self._places = known_readers() if readers is None else readers
        self._opened: dict[str, Reader] = {}

    def reader_of(self, file: SourceFile) -> Reader:
        """Return the first reader that recognises a file.

        A file of a kind that is not read is shown to the readers of other packages alone.

        Raises:
            UnreadableError: The file is empty, or no reader recognises it.
        """
        if not file.content.strip():
            raise UnreadableError("empty file", "a file with words", "an empty one", "leave it out, or fetch it again")
        problem = problem_of(file)
        for name in self._places:
            if (problem is None or name not in READERS) and (reader := self._reader(name)).recognises(file):
                return reader
        if problem is not None:
            raise problem
        got = "something else"
        raise UnreadableError("unknown kind", f"a file of a known kind ({_KNOWN})", got, "save it as one of them")

    def _reader(self, name: str) -> Reader:
        if name not in self._opened:
            module, _, attribute = self._places[name].partition(":")
            made = getattr(import_module(module), attribute)
            self._opened[name] = made(self._columns) if name == _ROWS else made()
        return self._opened[name]
