"""A folder of plain-text notes: every `*.txt` below it is one note, whose sections are found by their headings.

A note's id is its path below the folder, without ".txt" and with forward slashes; it is also its `patient`, by which
notes are split. Where each patient's notes lie in a folder of their own, `patient_folders` takes that folder's name.
What is no text file is left out and counted.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from auscult.documents.note_headings import note_sections
from auscult.errors import CorpusMissingError
from auscult.files.limits import TooLargeError, limits
from auscult.files.records import LEAVE_OUT, BadRecords, Record, RecordError, reject, settle, too_large
from auscult.interfaces import SentenceSplitter
from auscult.sources.sectioned import Draft, SectionedCorpus

_BOM = b"\xef\xbb\xbf"
_REMEDY = f"save the file as UTF-8, {LEAVE_OUT}"
SUFFIX = ".txt"


def text_files(folder: Path) -> list[Path]:
    """The text files below a folder, in the order of their paths; hidden files and folders are left out.

    Raises:
        CorpusMissingError: A folder cannot be read.
    """
    return [path for path in _files(folder) if path.suffix.lower() == SUFFIX]


def other_files(folder: Path) -> list[Path]:
    """The files below a folder that are no text files; see `text_files`."""
    return [path for path in _files(folder) if path.suffix.lower() != SUFFIX]


def _files(folder: Path) -> list[Path]:
    """All files below a folder, links to folders followed, but hidden ones."""

    def refuse(error: OSError) -> None:
        raise CorpusMissingError(
            f"a folder of notes at {error.filename}", error.strerror or str(error), "correct its permissions"
        ) from error

    found: list[Path] = []
    seen: set[tuple[int, int]] = set()
    for place, folders, files in os.walk(folder, onerror=refuse, followlinks=True):
        status = Path(place).stat()
        if (status.st_dev, status.st_ino) in seen:
            # A link to a folder above, or a second one to the same.
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [Path(place, name) for name in files if not name.startswith(".")]
    return sorted(found, key=lambda path: path.relative_to(folder).as_posix())


class TextFolderCorpus(SectionedCorpus):
    """A folder of plain-text notes in UTF-8.

    Args:
        folder: Read with all folders in it.
        name: The corpus' name; the folder's when not given.
        skip_bad: Leave files out that are not UTF-8 or hold no words, and count them in `bad`, instead of raising.
        splitter: Finds sentences; the default splitter when not given.
        patient_folders: The folder just below `folder` is the patient, for notes that lie in one.

    Raises:
        CorpusMissingError: There is no such folder, or no text file below it.
    """

    def __init__(
        self,
        folder: Path | str,
        *,
        name: str = "",
        skip_bad: bool = False,
        splitter: SentenceSplitter | None = None,
        patient_folders: bool = False,
    ) -> None:
        self.folder = Path(folder)
        if not self.folder.is_dir():
            found = "a file" if self.folder.exists() else "no such folder"
            raise CorpusMissingError(f"a folder of notes at {self.folder}", found, "correct the path")
        every = _files(self.folder)
        files = [path for path in every if path.suffix.lower() == SUFFIX]
        self._others = [path for path in every if path.suffix.lower() != SUFFIX]
        if not files:
            raise CorpusMissingError(
                f"notes in {self.folder}", f"no file *{SUFFIX} in it or below", "put one text file for each note there"
            )
        self._patient_folders = patient_folders
        super().__init__(*files, name=name or self.folder.resolve().name, skip_bad=skip_bad, splitter=splitter)

    def records(self, report: BadRecords) -> Iterator[Record]:
        """One record `{"text"}` a file."""
        for other in self._others:
            report.count(f"file that is not *{SUFFIX}", str(other))
        for path in self.paths:
            try:
                yield Record(path, 1, {"text": read_text(path)})
            except RecordError as error:
                settle(error, self._skip_bad, report)

    def draft(self, record: Record) -> Draft:
        """Read one note."""
        text = record.text("text")
        place = record.path.relative_to(self.folder)
        doc_id = place.as_posix()[: -len(SUFFIX)]
        patient = place.parts[0] if self._patient_folders and len(place.parts) > 1 else doc_id
        return Draft(
            doc_id=doc_id,
            title="",
            sections=note_sections(text, bare_headings=False),
            text=text,
            source=self.name,
            metadata={"patient": patient},
        )


def read_text(path: Path) -> str:
    """A file's text, byte for byte (line ends stay), except for a byte order mark.

    Raises:
        RecordError: It cannot be read, holds null bytes (as UTF-16 does), or is not UTF-8; names the file and the
            offset of the first bad byte.
    """
    try:
        if path.stat().st_size > limits().file:
            raise too_large(TooLargeError("file", "a file of", "bytes", str(path)))
        data = path.read_bytes()
    except OSError as error:
        reject("unreadable file", str(path), "a readable file", error.strerror or str(error))
    zero = data.find(b"\0")
    if zero >= 0:
        found = "a null byte, as in UTF-16 or a binary file"
        reject("binary file", f"{path}, byte {zero}", "text in UTF-8", found, _REMEDY)
    try:
        return data.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        offset = error.start + (len(_BOM) if data.startswith(_BOM) else 0)
        found = f"byte 0x{data[offset]:02x}"
        reject("invalid UTF-8", f"{path}, byte {offset}", "text in UTF-8", found, _REMEDY)
