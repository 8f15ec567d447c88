"""The interface of readers: bytes of a file in, drafts of documents with offsets into the file out.

A reader is a class without state that names its format. It never opens a file, a network connection or a process. It
gets bytes, and references in them (external entities, links, addresses of images) are only text. Since files come from
anywhere, readers run in a separate process with limits on time and memory (`readers.process.worker`).

The text of a draft is what a person reads, and each section has an offset in it. `runs` or `words` map the text to
positions in the file (`documents.original`), so that a passage can be highlighted in the original.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from auscult.documents.document import Section
from auscult.documents.original import RUN, WORD
from auscult.errors import DataError


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to read.

    Attributes:
        name: Path below what the user named, with "/" ("wards/note-3.txt", "notes.zip/note-3.txt").
        content: Uncompressed bytes of the file.
    """

    name: str
    content: bytes

    @property
    def head(self) -> bytes:
        """The first bytes, from which formats are recognised, without a byte order mark."""
        return self.content[:4096].removeprefix(b"\xef\xbb\xbf")

    @property
    def suffix(self) -> str:
        """The suffix of its name in lower case, with the dot; "" if it has none."""
        stem = self.name.rpartition("/")[2]
        return f".{stem.rpartition('.')[2].lower()}" if "." in stem.strip(".") else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftDocument:
    """One document of a file, before it is divided into sentences.

    Attributes:
        text: Text that a person reads. It may contain the headings.
        sections: Sections in order, each with its `start` in the text. They do not overlap.
        title: Title of the document; "" if the file has none.
        key: Identifies one of several documents of a file; "" if the file is one document.
        heading_paths: Per section, the headings above its own, outermost first; empty if no section has any.
        media_type: Media type of the original.
        content: The original, if it is a part of the file (an attachment, a member); None for the whole file.
        encoding: Encoding of the original; "" for originals that have pages.
        runs: Positions of the text in the decoded original, (runs,) of `documents.original.RUN`.
        words: Positions of the text on pages, (words,) of `documents.original.WORD`.
        pages: Widths and heights of the pages, in points.
        source: Publisher; "" if the file names none.
        url: Address of the original according to the file; it is never fetched.
        entity_ids: Codes of what the document is about ("ICD10:M10", "UMLS:C0018099").
        metadata: Further fields ("date", "author", "patient", "language", ...); dates are in ISO 8601. `names` has the
            names of patients and authors in a clinical record, one per line.
        remarks: Notes for the user on how it was read ("page 3 has no text layer").
        to_rewrite: Name of the file, or of the enclosed file in `content`, if another program must rewrite it first.
            The reading process may not run that program; text and sections are then empty.
    """

    text: str
    sections: Sequence[Section]
    title: str = ""
    key: str = ""
    heading_paths: Sequence[Sequence[str]] = ()
    media_type: str
    content: bytes | None = None
    encoding: str = ""
    runs: npt.NDArray[Any] = field(default_factory=lambda: np.zeros(0, RUN))
    words: npt.NDArray[Any] = field(default_factory=lambda: np.zeros(0, WORD))
    pages: Sequence[tuple[float, float]] = ()
    source: str = ""
    url: str = ""
    entity_ids: Sequence[str] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)
    remarks: Sequence[str] = ()
    to_rewrite: str = ""


class UnreadableError(DataError):
    """Error for a file of a known format that cannot be read.

    Args:
        kind: The problem in two or three words, by which errors are counted ("scanned PDF", "empty file").
        expected: What the reader expected.
        got: What the file has instead, without the file's name.
        remedy: What the user can do.
    """

    def __init__(self, kind: str, expected: str, got: str, remedy: str) -> None:
        self.kind = kind
        super().__init__(expected, got, remedy)

    def __reduce__(self) -> tuple[type[UnreadableError], tuple[str, str, str, str]]:
        return UnreadableError, (self.kind, self.expected, self.got, self.remedy)


def declares_entities() -> UnreadableError:
    """Return the error for XML that declares entities."""
    return UnreadableError(
        "declared entities",
        "XML without entities of its own",
        "an entity declaration, which can blow up memory or point at other files",
        "export the file with entities resolved",
    )


@runtime_checkable
class Reader(Protocol):
    """Reads one format.

    Attributes:
        name: Usual name of the format ("PDF").
        suffixes: Suffixes of its files, with the dot, in lower case.
    """

    name: str
    suffixes: tuple[str, ...]

    def recognises(self, file: SourceFile) -> bool:
        """Whether a file has this format. The first bytes decide; the name is used only if they are no evidence."""
        ...

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """Yield the documents of a file.

        Raises:
            UnreadableError: The file cannot be read or has no words.
        """
        ...
