"""What every reader of a format keeps to: bytes of a file in, drafts of documents with offsets into the file out.

A reader is a class without state that names its format. It never opens a file, a network address or a process: it gets
bytes, and whatever it meets in them (an external entity, a link, an image's address) stays words. It runs in a process
of its own under limits of time and memory (`readers.process.worker`), because files come from anywhere.

A draft's text is what a person reads, and every section stands at an offset of it. `runs` or `words` say where in the
file each piece of that text is (`documents.original`), so that a highlight goes back to the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from auscult.documents.building import Section
from auscult.documents.original import RUN, WORD
from auscult.errors import DataError


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to be read.

    Attributes:
        name: Its path below what was named, with "/" ("wards/note-3.txt", "notes.zip/note-3.txt").
        content: Its bytes, unpacked.
    """

    name: str
    content: bytes

    @property
    def head(self) -> bytes:
        """The first bytes, which tell formats apart; no byte order mark among them."""
        return self.content[:4096].removeprefix(b"\xef\xbb\xbf")

    @property
    def suffix(self) -> str:
        """The ending of its name in lower case, with the dot; empty where it has none."""
        stem = self.name.rpartition("/")[2]
        return f".{stem.rpartition('.')[2].lower()}" if "." in stem.strip(".") else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftDocument:
    """One document of a file, before sentences are looked for.

    Attributes:
        text: What a person reads, untouched by whatever comes after; headings may stand in it.
        sections: In order, each with its `start` in the text; no two overlap.
        title: What it is about; empty where the file does not say.
        key: Tells several documents of one file apart; empty where a file is one document.
        heading_paths: Per section, the headings above its own, outermost first; empty where none has any.
        media_type: Of what was read.
        content: What was read, where that is a part of the file (an attachment, a member); None for the whole file.
        encoding: That characters were decoded by; empty for sources of pages.
        runs: Where the text's characters are in the decoded source, (runs,) of `documents.original.RUN`.
        words: Where they are on pages, (words,) of `documents.original.WORD`.
        pages: Widths and heights of the pages in points.
        source: The publisher, where the file names one.
        url: Where the original is, where the file says so; never fetched.
        entity_ids: Codes of what it is about ("ICD10:M10", "UMLS:C0018099").
        metadata: Further fields ("date", "author", "patient", "language", ...); dates as ISO 8601. `names` has the
            names of patients and authors, one a line, where a clinical record gives them.
        remarks: What a person should know of how it was read ("page 3 has no text layer").
        to_rewrite: The name of the file, or of the enclosed file in `content`, where another program has to rewrite it
            before it can be read, which the reading process may not run. Text and sections are empty then.
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
    """A file is of a format that a reader knows, and cannot be read.

    Args:
        kind: What is wrong in two or three words, what is counted ("scanned PDF", "broken PDF", "empty file").
        expected: What would have been right.
        got: What was found; whoever reports it adds the file's name.
        remedy: What to do about it.
    """

    def __init__(self, kind: str, expected: str, got: str, remedy: str) -> None:
        self.kind = kind
        super().__init__(expected, got, remedy)

    def __reduce__(self) -> tuple[type[UnreadableError], tuple[str, str, str, str]]:
        return UnreadableError, (self.kind, self.expected, self.got, self.remedy)


@runtime_checkable
class Reader(Protocol):
    """Reads one format.

    Attributes:
        name: Of the format, as people call it ("PDF").
        suffixes: Endings of files' names that it is known by, with the dot, in lower case.
    """

    name: str
    suffixes: tuple[str, ...]

    def recognises(self, file: SourceFile) -> bool:
        """Whether a file is of this format: by what it begins with, and by its name only where that tells nothing."""
        ...

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """The file's documents.

        Raises:
            UnreadableError: It cannot be read, or holds no words.
        """
        ...
