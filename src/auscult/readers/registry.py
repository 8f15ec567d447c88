"""The readers, in the order in which they are tried.

Readers of other packages are entry points of the group `auscult.readers`. Those of the formats in `elsewhere.FORMATS`
are tried first. All others come after the built-in readers of formats and before the reader of notes, which accepts any
text.

For files of unsupported kinds, the error names the kind and says how to make their words readable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Final, NamedTuple

from auscult.errors import ConfigError
from auscult.extensions import entries
from auscult.readers.archives import OLE, names_in, streams_in
from auscult.readers.contract import DraftDocument, Reader, SourceFile, UnreadableError
from auscult.readers.elsewhere import FORMATS, MISSING, OLD_OFFICE, MissingReader, missing
from auscult.readers.rows import Columns

_READ: Final = (
    "PDF, Word, PowerPoint, Excel, OpenDocument, RTF, EPUB, mail, HTML, Markdown, XML, FHIR, HL7 v2, tables, "
    "JSON lines, text, scanned pages"
)
_SAVE_DOCX: Final = "install LibreOffice, or save it as .docx"
_SAVE_PPTX: Final = "install LibreOffice, or save it as .pptx"
_SAVE_PNG: Final = "save it as PNG, JPEG or TIFF where it shows a page"
_LEAVE: Final = "leave it out"


class _Kind(NamedTuple):
    kind: str
    got: str
    remedy: str


# Streams of office files from before 2007, and of other files in such containers.
_STREAMS: Final = (
    ("EncryptedPackage", _Kind("encrypted Office file", "one that needs a password", "save a copy without a password")),
    ("WordDocument", _Kind("old Word file", "an old Word file (.doc)", _SAVE_DOCX)),
    ("PowerPoint Document", _Kind("presentation", "an old PowerPoint file (.ppt)", _SAVE_PPTX)),
)
_READ_STREAMS: Final = frozenset({"Workbook", "Book", "__properties_version1.0"})
_OLD_OFFICE: Final = _Kind("old Office file", "a file of an office program of before 2007", "save it in a newer form")
_IMAGE: Final = _Kind("image", "a picture of another kind", _SAVE_PNG)
_MEDIA: Final = _Kind("sound or film", "sound or film", _LEAVE)
_PROGRAM: Final = _Kind("program", "a program", _LEAVE)
_PACKED: Final = _Kind("packed file", "an archive that is not unpacked here", "unpack it, or pack it as .zip")
_BEGINNINGS: Final = (
    (b"GIF8", _IMAGE),
    (b"\x00\x00\x00\x0cjP  ", _IMAGE),
    (b"7z\xbc\xaf\x27\x1c", _PACKED),
    (b"Rar!\x1a\x07", _PACKED),
    (b"\xfd7zXZ\x00", _PACKED),
    (b"BZh9", _PACKED),
    (b"\x28\xb5\x2f\xfd", _PACKED),
    (b"\x7fELF", _PROGRAM),
    (b"MZ\x90\x00", _PROGRAM),
    (b"SQLite format 3\x00", _Kind("database", "a database", "export its tables as .csv")),
    (b"ID3", _MEDIA),
    (b"OggS", _MEDIA),
    (b"fLaC", _MEDIA),
)


def problem_of(file: SourceFile) -> UnreadableError | None:
    """Return the error for a file whose content is of an unsupported kind; None for any other file."""
    kind = _kind_of(file.content)
    return (
        None
        if kind is None
        else UnreadableError(kind.kind, f"a file of a kind that is read ({_READ})", kind.got, kind.remedy)
    )


def _kind_of(content: bytes) -> _Kind | None:
    for beginning, kind in _BEGINNINGS:
        if content.startswith(beginning):
            return kind
    if content.startswith(OLE):
        streams = streams_in(content)
        known = None if streams & _READ_STREAMS else _OLD_OFFICE
        return next((kind for name, kind in _STREAMS if name in streams), known)
    if content[128:132] == b"DICM":
        return _Kind("image", "a medical picture (DICOM)", _LEAVE)
    if content.startswith(b"RIFF") and len(content) > 12:
        return _IMAGE if content[8:12] == b"WEBP" else _MEDIA
    if content[4:8] == b"ftyp":
        return _IMAGE if content[8:11] in (b"hei", b"mif", b"avi") else _MEDIA
    # With only the two letters, texts that begin with them would count as pictures.
    return _IMAGE if content.startswith(b"BM") and content[6:10] == bytes(4) else None


_ROWS, _NOTE = "rows", "note"
_GROUP: Final = "auscult.readers"
READERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "html": "auscult.readers.html.reader:HtmlReader",
        _ROWS: "auscult.readers.rows:RowReader",
        "markdown": "auscult.readers.markdown:MarkdownReader",
        # The reader of notes comes last: it accepts nearly everything.
        _NOTE: "auscult.readers.notes:NoteReader",
    }
)
"""Module and class of each built-in reader, imported when the first file is read. Readers that recognise files by their
first bytes come before those that use names."""
_ORDERED: Final = (*FORMATS, *(name for name in READERS if name != _NOTE))


def known_readers() -> dict[str, str]:
    """Return the module and class of every reader by name, in the order in which they are tried.

    Raises:
        ConfigError: A package registers a reader under the name of a built-in one.
    """
    added = {name: entry.value for name, entry in entries(_GROUP).items()}
    if taken := sorted(added.keys() & READERS.keys()):
        got = f"'{added[taken[0]]}', called '{taken[0]}'"
        raise ConfigError(f"a reader of a name other than {', '.join(READERS)}", got, "rename or remove it")
    places = dict.fromkeys((*FORMATS, OLD_OFFICE), MISSING) | dict(READERS) | added
    others = (name for name in added if name not in FORMATS and name != OLD_OFFICE)
    return {name: places[name] for name in (*_ORDERED, *others, OLD_OFFICE, _NOTE)}


class Registry:
    """The readers. Each is imported when it is first tried.

    Args:
        columns: Mapping of the columns of tables and fields of JSON lines.
        readers: Module and class of each reader, by name. Default: all installed readers.
    """

    def __init__(self, columns: Columns | None = None, readers: Mapping[str, str] | None = None) -> None:
        self._columns = columns or Columns()
        self._places = known_readers() if readers is None else readers
        self._opened: dict[str, Reader] = {}

    def reader_of(self, file: SourceFile) -> Reader:
        """Return the first reader that recognises a file.

        For a file of an unsupported kind, or whose reader is not installed, only the further readers of other packages
        are tried.

        Raises:
            UnreadableError: The file is empty, or no reader recognises it.
        """
        if not file.content.strip():
            raise UnreadableError("empty file", "a file with words", "an empty one", "leave it out, or fetch it again")
        problem = problem_of(file)
        missing_reader: Reader | None = None
        for name in self._places:
            is_refused = problem is not None or missing_reader is not None
            if is_refused and (name in FORMATS or name in READERS):
                continue
            reader = self.reader(name)
            if reader.recognises(file):
                if not isinstance(reader, MissingReader):
                    return reader
                missing_reader = missing_reader or reader
        if missing_reader is not None:
            return missing_reader
        if problem is not None:
            raise problem
        if file.content.startswith(b"PK\x03\x04") and not names_in(file.content):
            expected = "a whole archive, office file or book"
            raise UnreadableError("broken archive", expected, "a damaged one", "fetch it again, or save it again")
        got = "something else"
        raise UnreadableError("unknown kind", f"a file of a known kind ({_READ})", got, "save it as one of them")

    def read(self, file: SourceFile) -> Iterator[tuple[str, DraftDocument]]:
        """Yield the documents of a file, each with the name of its format.

        Raises:
            UnreadableError: The file is empty, or no reader recognises or can read it.
        """
        reader = self.reader_of(file)
        try:
            for draft in reader.read(file):
                yield reader.name, draft
        except ModuleNotFoundError as error:
            # The reader is here, and a package that it needs is not.
            named = next(name for name, each in self._opened.items() if each is reader)
            if named not in FORMATS:
                raise
            raise missing(FORMATS[named].called) from error

    def reader(self, name: str) -> Reader:
        """Return a reader by its name; one that refuses files of its format if it is not installed."""
        if name not in self._opened:
            module, _, attribute = self._places[name].partition(":")
            try:
                made = getattr(import_module(module), attribute)
            except ModuleNotFoundError:
                if name not in FORMATS:
                    raise
                made = MissingReader
            if made is MissingReader:
                self._opened[name] = MissingReader(name)
            else:
                self._opened[name] = made(self._columns) if name == _ROWS else made()
        return self._opened[name]
