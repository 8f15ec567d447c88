"""Formats and tasks that another package adds: the readers of files beyond text, Markdown, HTML and tables.

A package registers its readers and tasks by entry points (`extensions`). The table of formats says which package reads
what is not read here. Without that package such a file is refused, and not read as plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, Literal, NamedTuple, NoReturn, Protocol

from auscult.extensions import entries, load, load_from
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError

PACKAGE: Final = "auscult-readers"
MISSING: Final = "auscult.readers.elsewhere:MissingReader"
"""Place of the reader of a format whose package is not installed."""
_TASKS: Final = "auscult.tasks"


class Format(NamedTuple):
    """A format that `PACKAGE` reads.

    Attributes:
        called: A file of it, with its article ("a PDF").
        suffixes: Suffixes of its files, with the dot, in lower case.
        begins: Pattern of the first bytes, for formats that would pass for plain text under another name.
    """

    called: str
    suffixes: tuple[str, ...]
    begins: bytes = b""


FORMATS: Final[Mapping[str, Format]] = MappingProxyType(
    {
        "pdf": Format("a PDF", (".pdf",), rb"%PDF-"),
        "image": Format("a picture of a page", (".png", ".jpg", ".jpeg", ".tif", ".tiff")),
        "docx": Format("a Word file", (".docx", ".docm", ".dotx")),
        "rtf": Format("an RTF file", (".rtf",), rb"\{\\rtf"),
        "slides": Format("a presentation", (".pptx", ".pptm", ".ppsx", ".potx")),
        "sheets": Format("a workbook", (".xlsx", ".xlsm", ".xltx", ".xlsb", ".xls", ".ods", ".ots")),
        "opendocument": Format("an OpenDocument file", (".odt", ".ott", ".odp", ".otp", ".fodt", ".fodp")),
        "epub": Format("a book", (".epub",)),
        "mail": Format("a mail", (".eml", ".mbox", ".mht", ".mhtml", ".msg"), rb"(?i)received: from |message-id: ?<"),
        "fhir": Format("a FHIR file", (".fhir",), rb'[\s\[]*\{[^{}\[\]]*"resourceType"\s*:'),
        "hl7": Format("an HL7 message", (".hl7",), rb"(?:MSH|FHS|BHS)\|"),
        "xml": Format("an XML file", (".xml", ".nxml", ".cda", ".ccda"), rb"\s*<\?xml(?!(?s:.){0,400}<html)"),
    }
)
"""Formats by the name of their reader, in the order in which the readers are tried. All are tried before those here."""
OLD_OFFICE: Final = "old-office"
"""Name of the reader of office files from before 2007, which is tried after those of all other packages."""
_OLD_OFFICE: Final = Format("an office file from before 2007", (".doc", ".ppt"))


def missing(called: str) -> UnreadableError:
    """Return the error for a file whose reader is not installed.

    Args:
        called: The file, with its article ("a PDF").
    """
    remedy = f"{called} is read by {PACKAGE}: pip install {PACKAGE}"
    return UnreadableError("reader not installed", "a file of a kind that is read here", called, remedy)


class MissingReader:
    """Refuses the files of a format whose reader is not installed.

    Args:
        named: Name of the reader in `FORMATS`.
    """

    name = "missing"

    def __init__(self, named: str) -> None:
        self._format = _OLD_OFFICE if named == OLD_OFFICE else FORMATS[named]
        self.suffixes = self._format.suffixes

    def recognises(self, file: SourceFile) -> bool:
        """Whether the file has a name or the first bytes of the format."""
        begins = self._format.begins
        return file.suffix in self.suffixes or (begins != b"" and re.match(begins, file.head) is not None)

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """Refuse the file.

        Raises:
            UnreadableError: Always; it names the package to install.
        """
        raise missing(self._format.called)


class PageRenderer(Protocol):
    """Draws pages of files."""

    def render(self, content: bytes, page: int, scale: float) -> bytes:
        """Return a page of a PDF or image file as PNG.

        Raises:
            DataError: The page does not exist, or cannot be drawn now.
            UnreadableError: The file cannot be drawn.
        """
        ...


class _NoRenderer:
    def render(self, content: bytes, page: int, scale: float) -> NoReturn:
        raise missing("a PDF")


def open_page_renderer() -> PageRenderer:
    """Return what draws pages; one that refuses every file if no package that draws is installed."""
    if "draw-pages" not in entries(_TASKS):
        return _NoRenderer()
    renderer: PageRenderer = load(_TASKS, "draw-pages")()
    return renderer


def load_task(name: Literal["check-sources", "rewrite"], done: str) -> Any:
    """Return the function that does a task.

    Args:
        name: The task.
        done: What it does, as a passive sentence without an agent ("sources are checked").

    Raises:
        ConfigError: No package with it is installed.
    """
    return load_from(PACKAGE, _TASKS, name, done)
