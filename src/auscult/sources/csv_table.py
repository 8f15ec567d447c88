"""A table of notes, as a hospital's systems export it: a row is one note.

The first line names the columns, in any case and order: `id` and `text` are required; `title`, `url`, `source` and
`split` mean what they mean in JSON lines (docs/jsonl-format.md); all others are the note's metadata, of which `patient`
keeps the notes of one patient together when notes are split. Values are separated by commas, semicolons or tabs, and a
text of several lines stands in double quotes. UTF-8, plain or gzip-compressed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from auscult.documents.note_headings import note_sections
from auscult.files.records import BadRecords, Record
from auscult.interfaces import SentenceSplitter
from auscult.readers.records.rows import Columns
from auscult.sources.jsonl import JsonlCorpus, mapped
from auscult.sources.sectioned import Draft, SectionedCorpus
from auscult.sources.text_rows import read_rows

SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
_FIELDS = ("id", "text", "title", "url", "source", "split")


class CsvCorpus(SectionedCorpus):
    """Notes of one table.

    Args:
        path: The table.
        name: The corpus' name; the file's without its endings when not given.
        skip_bad: Leave bad rows out and count them in `bad`, instead of raising.
        splitter: Finds sentences; the default splitter when not given.
        columns: What columns mean, where they are not called as above; those that it does not name are left out.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        name: str = "",
        skip_bad: bool = False,
        splitter: SentenceSplitter | None = None,
        columns: Columns | None = None,
    ) -> None:
        self.path = Path(path)
        self._columns = columns or Columns()
        given = name or self.path.name.removesuffix(".gz").rpartition(".")[0]
        super().__init__(self.path, name=given, skip_bad=skip_bad, splitter=splitter)

    def records(self, report: BadRecords) -> Iterator[Record]:
        """Stream the rows."""
        return read_rows(
            self.path,
            () if self._columns else ("id", "text"),
            skip_bad=self._skip_bad,
            report=report,
            fold=str if self._columns else str.lower,
            separators=",;\t",
            remedy="name the columns of a note's id and of its text so in the first line",
        )

    def draft(self, record: Record) -> Draft:
        """Read one note."""
        if self._columns:
            return JsonlCorpus(self.path, name=self.name).draft(mapped(record, self._columns))
        text = record.text("text")
        doc_id = record.text("id").strip()
        told = {name: value for name, value in record.fields.items() if name not in _FIELDS and value.strip()}
        return Draft(
            doc_id=doc_id,
            title=record.text("title", ""),
            sections=note_sections(text),
            text=text,
            split=record.text("split", "") or "train",
            source=record.text("source", "") or self.name,
            url=record.text("url", ""),
            metadata={"patient": doc_id, **told},
        )
