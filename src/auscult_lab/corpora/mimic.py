"""MIMIC-III's notes: `NOTEEVENTS.csv`, plain or gzip-compressed, as PhysioNet gives it (grundmann2021 section 4.1).

Columns ROW_ID, SUBJECT_ID, HADM_ID, CHARTDATE, CHARTTIME, STORETIME, CATEGORY, DESCRIPTION, CGID, ISERROR, TEXT; the
last four of version 1.4. Texts stand in quotes, over many lines. Notes that a physician marked as an error (ISERROR)
are left out. Sections are found by their headings; placeholders of the de-identification ("[**Hospital1 18**]") stay
as they are. A note's `patient` is its SUBJECT_ID.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from auscult.documents.note_headings import note_sections
from auscult.errors import CorpusMissingError
from auscult.files.records import BadRecords, Record, reject
from auscult.interfaces import SentenceSplitter
from auscult.sources.sectioned import Draft, SectionedCorpus
from auscult.sources.text_rows import read_rows

FILES = ("NOTEEVENTS.csv", "NOTEEVENTS.csv.gz")
COLUMNS = ("ROW_ID", "SUBJECT_ID", "HADM_ID", "CHARTDATE", "CATEGORY", "DESCRIPTION", "ISERROR", "TEXT")
DISCHARGE = "Discharge summary"


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
