"""The user's clinical notes: a folder of plain-text files, or MIMIC-III's table. Headings divide them into sections.

A folder: every `*.txt` below it is one note. A note's id is its path below the folder, without ".txt" and with forward
slashes. It is also its `patient`, by which notes are split. Where each patient's notes lie in a folder of their own,
`patient_folders` takes that folder's name. What is no text file is left out and counted.

MIMIC-III: `NOTEEVENTS.csv`, plain or gzip-compressed, as PhysioNet gives it (grundmann2021 section 4.1). Columns
ROW_ID, SUBJECT_ID, HADM_ID, CHARTDATE, CHARTTIME, STORETIME, CATEGORY, DESCRIPTION, CGID, ISERROR, TEXT; the last
four of version 1.4. Texts stand in quotes, over many lines. Notes that a physician marked as an error are left out.
Placeholders of the de-identification ("[**Hospital1 18**]") stay as they are. A note's `patient` is its SUBJECT_ID.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from auscult.documents.note_headings import note_sections
from auscult.documents.splitting import SentenceSplitter
from auscult.errors import CorpusMissingError
from auscult.files.limits import TooLargeError, limits
from auscult.files.records import LEAVE_OUT, BadRecords, Record, RecordError, reject, settle, too_large
from auscult.ingest.rows import read_rows
from auscult.ingest.sectioned import Draft, SectionedCorpus

_BOM = b"\xef\xbb\xbf"
_REMEDY = f"save the file as UTF-8, {LEAVE_OUT}"
SUFFIX = ".txt"


def holds_only_notes(folder: Path) -> bool:
    """Check whether a folder holds text files and, hidden files apart, no others.

    Raises:
        CorpusMissingError: A folder cannot be read.
    """
    files = _files(folder)
    return bool(files) and all(path.suffix.lower() == SUFFIX for path in files)


def _files(folder: Path) -> list[Path]:
    """Return all files below a folder but hidden ones, links to folders followed, in the order of their paths."""

    def refuse(error: OSError) -> None:
        raise CorpusMissingError(
            f"a folder of notes at {error.filename}", error.strerror or str(error), "correct its permissions"
        ) from error

    paths: list[Path] = []
    seen: set[tuple[int, int]] = set()
    for place, folders, files in os.walk(folder, onerror=refuse, followlinks=True):
        status = Path(place).stat()
        if (status.st_dev, status.st_ino) in seen:
            # A link to a folder above, or a second link to the same folder.
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths += [Path(place, name) for name in files if not name.startswith(".")]
    return sorted(paths, key=lambda path: path.relative_to(folder).as_posix())


class TextFolderCorpus(SectionedCorpus):
    """A folder of plain-text notes in UTF-8.

    Args:
        folder: Folder of notes; its subfolders are read, too.
        name: The corpus' name; the folder's when not given.
        skip_bad: Leave files out that are not UTF-8 or hold no words, and count them in `bad`, instead of raising.
        splitter: Finds sentences; the default splitter when not given.
        patient_folders: Take the name of the subfolder directly below `folder` as the patient.

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
        """Stream one record `{"text"}` a file."""
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
    """Return a file's text, byte for byte (line ends stay), except for a byte order mark.

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
        reason = "a null byte, as in UTF-16 or a binary file"
        reject("binary file", f"{path}, byte {zero}", "text in UTF-8", reason, _REMEDY)
    try:
        return data.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        offset = error.start + (len(_BOM) if data.startswith(_BOM) else 0)
        reason = f"byte 0x{data[offset]:02x}"
        reject("invalid UTF-8", f"{path}, byte {offset}", "text in UTF-8", reason, _REMEDY)


FILES = ("NOTEEVENTS.csv", "NOTEEVENTS.csv.gz")
COLUMNS = ("ROW_ID", "SUBJECT_ID", "HADM_ID", "CHARTDATE", "CATEGORY", "DESCRIPTION", "ISERROR", "TEXT")
DISCHARGE = "Discharge summary"


def note_events(path: Path) -> Path | None:
    """Return the table of notes at a path, or in a folder; None where there is none."""
    if path.is_dir():
        return next((path / name for name in FILES if (path / name).is_file()), None)
    return path if path.name.upper().startswith("NOTEEVENTS.CSV") and path.is_file() else None


class MimicCorpus(SectionedCorpus):
    """The notes of MIMIC-III.

    Args:
        path: `NOTEEVENTS.csv`, `NOTEEVENTS.csv.gz`, or the folder of one.
        name: The corpus' name.
        skip_bad: Leave bad rows out and count them in `bad`, instead of raising.
        splitter: Finds sentences; the default splitter when not given.
        categories: Which CATEGORY to read, in any case; nothing for all.

    Raises:
        CorpusMissingError: There is no such file.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        name: str = "mimic-iii",
        skip_bad: bool = False,
        splitter: SentenceSplitter | None = None,
        categories: Iterable[str] = (DISCHARGE,),
    ) -> None:
        file = note_events(Path(path))
        if file is None:
            raise CorpusMissingError(
                f"{' or '.join(FILES)} at {path}",
                "no such file",
                "correct the path, or get the file: auscult data show mimic-iii",
            )
        # Some categories of the file end with a blank ("Physician ").
        self._categories = frozenset(category.strip().lower() for category in categories)
        super().__init__(file, name=name, skip_bad=skip_bad, splitter=splitter)

    def records(self, report: BadRecords) -> Iterator[Record]:
        """Stream the rows of the chosen categories that are not marked as errors; the others are counted."""
        remedy = "give MIMIC-III's NOTEEVENTS table as it is"
        rows = read_rows(self.paths[0], COLUMNS, skip_bad=self._skip_bad, report=report, fold=str.upper, remedy=remedy)
        for record in rows:
            category = record.text("CATEGORY").strip()
            if self._categories and category.lower() not in self._categories:
                report.count("note of another category", f"{category} ({record.where})")
            elif record.text("ISERROR").strip() == "1":
                report.count("note marked as an error", record.where)
            else:
                yield record

    def draft(self, record: Record) -> Draft:
        """Read one note."""
        if not record.text("SUBJECT_ID").strip():
            reject("missing field", record.where, "a SUBJECT_ID", "an empty one")
        text = record.text("TEXT")
        return Draft(
            doc_id=record.text("ROW_ID").strip(),
            title="",
            sections=note_sections(text, bare_headings=False),
            text=text,
            source="MIMIC-III",
            metadata={
                "patient": record.text("SUBJECT_ID").strip(),
                "admission": record.text("HADM_ID").strip(),
                "date": record.text("CHARTDATE").strip(),
                "category": record.text("CATEGORY").strip(),
                "description": record.text("DESCRIPTION").strip(),
            },
        )
