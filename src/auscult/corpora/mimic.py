"""MIMIC-III's notes: `NOTEEVENTS.csv`, plain or gzip-compressed, as PhysioNet gives it (grundmann2021 section 4.1).

Columns ROW_ID, SUBJECT_ID, HADM_ID, CHARTDATE, CHARTTIME, STORETIME, CATEGORY, DESCRIPTION, CGID, ISERROR, TEXT; the
last four of version 1.4. Texts stand in quotes, over many lines. Notes that a physician marked as an error (ISERROR)
are left out. Sections are found by their headings; placeholders of the de-identification ("[**Hospital1 18**]") stay
as they are. A note's `patient` is its SUBJECT_ID.
"""

from __future__ import annotations

import csv
import gzip
import io
import sys
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from auscult.corpora.records import REMEDY, BadRecords, Record, RecordError, reject
from auscult.corpora.sectioned import Draft, SectionedCorpus
from auscult.documents.note_headings import note_sections
from auscult.errors import CorpusMissingError, DataError
from auscult.interfaces import SentenceSplitter

FILES = ("NOTEEVENTS.csv", "NOTEEVENTS.csv.gz")
COLUMNS = ("ROW_ID", "SUBJECT_ID", "HADM_ID", "CHARTDATE", "CATEGORY", "DESCRIPTION", "ISERROR", "TEXT")
DISCHARGE = "Discharge summary"
_GZIP = b"\x1f\x8b"


def note_events(path: Path) -> Path | None:
    """The file of notes that a path names or that lies in a folder; None where there is none."""
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
        found = note_events(Path(path))
        if found is None:
            raise CorpusMissingError(
                f"{' or '.join(FILES)} at {path}",
                "no such file",
                "correct the path, or get the file: auscult data show mimic-iii",
            )
        # Some categories of the file end with a blank ("Physician ").
        self._categories = frozenset(category.strip().lower() for category in categories)
        super().__init__(found, name=name, skip_bad=skip_bad, splitter=splitter)

    def records(self, report: BadRecords) -> Iterator[Record]:
        """Stream the rows of the chosen categories that are not marked as errors."""
        for record in read_rows(self.paths[0], skip_bad=self._skip_bad, report=report):
            chosen = not self._categories or record.text("CATEGORY").strip().lower() in self._categories
            if chosen and record.text("ISERROR").strip() != "1":
                yield record

    def draft(self, record: Record) -> Draft:
        """Read one note."""
        if not record.text("SUBJECT_ID").strip():
            reject("missing field", record.where, "a SUBJECT_ID", "an empty one")
        text = record.text("TEXT")
        return Draft(
            doc_id=record.text("ROW_ID").strip(),
            title="",
            sections=note_sections(text),
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


def read_rows(path: Path, *, skip_bad: bool, report: BadRecords) -> Iterator[Record]:
    """Stream the rows of a table of comma-separated values with named columns, one in memory at a time.

    Args:
        path: The table; gzip is told by content.
        skip_bad: Leave bad rows out instead of raising. Behind damage to the file itself nothing more is read.
        report: Where skipped rows are counted.

    Yields:
        Records of strings; their line is the row's last one.

    Raises:
        DataError: A column is missing.
        RecordError: A row has too few or too many, or the file is damaged or not UTF-8.
    """
    # A field may be as long as a note; a quote that is never closed must not be a note of 4 GB.
    csv.field_size_limit(min(sys.maxsize, 1 << 28))
    number = 0
    try:
        with _open(path) as stream:
            rows = csv.reader(stream, strict=True)
            names = _header(next(rows, []), path)
            number = rows.line_num
            for row in rows:
                number = rows.line_num
                if len(row) == len(names):
                    yield Record(path, number, dict(zip(names, row, strict=True)))
                elif row:
                    _settle(_wrong_width(row, names, path, number), skip_bad, report)
    except (EOFError, gzip.BadGzipFile, zlib.error, csv.Error, UnicodeDecodeError) as damage:
        expected = "comma-separated values in UTF-8"
        found = f"a damaged file: {damage} ({path}, behind line {number})"
        error = RecordError("damaged file", expected, found, "fetch the file again, or correct that line")
        _settle(error, skip_bad, report)


def _wrong_width(row: list[str], names: list[str], path: Path, number: int) -> RecordError:
    found = f"{len(row)} ({path}, line {number})"
    return RecordError("malformed row", f"{len(names)} columns", found, REMEDY)


def _settle(error: RecordError, skip_bad: bool, report: BadRecords) -> None:
    if not skip_bad:
        raise error
    report.add(error)


def _header(row: list[str], path: Path) -> list[str]:
    names = [name.strip().upper() for name in row]
    missing = [column for column in COLUMNS if column not in names]
    if missing:
        found = "an empty file" if not row else f"no {', '.join(missing)}"
        expected = f"columns {', '.join(COLUMNS)}"
        raise DataError(f"{expected} in {path}", found, "give MIMIC-III's NOTEEVENTS table as it is")
    return names


def _open(path: Path) -> TextIO:
    with path.open("rb") as probe:
        packed = probe.read(len(_GZIP)) == _GZIP
    stream = gzip.open(path, "rb") if packed else path.open("rb")  # noqa: SIM115 (the caller closes it)
    return io.TextIOWrapper(stream, encoding="utf-8-sig", newline="")


__all__ = ["COLUMNS", "DISCHARGE", "FILES", "MimicCorpus", "note_events", "read_rows"]
