"""Your own documents, as JSON lines: the public schema (docs/jsonl-format.md).

One JSON object a line, in UTF-8, plain or gzip-compressed:

    {"id": "leaflet-7", "title": "Gout", "sections": [{"heading": "Symptoms", "text": "..."}, ...]}
    {"id": "note-12", "title": "", "text": "..."}

`id` and either `sections` or `text` are required. `title` (what the document is about) and a section's
`heading` may be missing or empty; a section may carry an `id` of its own. Optional: `url`, `source`, `split`
(default "train"), `entity_ids` (list of strings, "UMLS:C0018099"), `metadata` (object of strings). A `text` is read as
a clinical note: its sections are found by their headings. Its `patient`, by which notes are split, is that of
`metadata`, or else the record's id.
"""

from __future__ import annotations

from pathlib import Path

from auscult.documents import Section
from auscult.documents.note_headings import note_sections
from auscult.files.records import Record, reject
from auscult.interfaces import SentenceSplitter
from auscult.readers.records.rows import ColumnMissingError, Columns
from auscult.sources.sectioned import Draft, SectionedCorpus


class JsonlCorpus(SectionedCorpus):
    """Documents of JSON lines files in the public schema.

    Args:
        paths: The files; read in this order.
        name: The corpus' name; the first file's name without its endings when not given.
        skip_bad: Leave bad records out and count them in `bad`, instead of raising.
        splitter: Finds sentences; the default splitter when not given.
        columns: What fields mean, where they are not called as in the schema.

    Raises:
        CorpusMissingError: No file was named.
    """

    def __init__(
        self,
        *paths: Path | str,
        name: str = "",
        skip_bad: bool = False,
        splitter: SentenceSplitter | None = None,
        columns: Columns | None = None,
    ) -> None:
        self._columns = columns or Columns()
        given = name or (Path(paths[0]).name.removesuffix(".gz").removesuffix(".jsonl") if paths else "")
        super().__init__(*paths, name=given, skip_bad=skip_bad, splitter=splitter)

    def draft(self, record: Record) -> Draft:
        """Read one document."""
        if self._columns.fits(record.fields):
            record = mapped(record, self._columns)
        if "sections" in record.fields and "text" in record.fields:
            reject("ambiguous record", record.where, "either 'sections' or 'text'", "a record with both")
        text = record.text("text") if "text" in record.fields else None
        if text is not None:
            sections = note_sections(text)
        elif "sections" in record.fields:
            sections = [
                # A heading without text is what the section says.
                Section(heading, text if any(map(str.isalnum, text)) else heading, passage_id=s.text("id", ""))
                for s in record.records("sections")
                for heading, text in [(s.text("heading", ""), s.text("text"))]
            ]
        else:
            reject("missing field", record.where, "a field 'sections' or 'text'", "a record without either")
        metadata = record.fields.get("metadata") or {}
        if not isinstance(metadata, dict) or not all(isinstance(value, str) for value in metadata.values()):
            reject("wrong type", record.where, "an object of strings in 'metadata'", "something else")
        if text is not None:
            metadata = {"patient": record.text("id"), **metadata}
        return Draft(
            doc_id=record.text("id"),
            title=record.text("title", ""),
            sections=sections,
            text=text,
            split=record.text("split", "train"),
            source=record.text("source", self.name),
            url=record.text("url", ""),
            entity_ids=record.texts("entity_ids"),
            metadata=metadata,
        )


def mapped(record: Record, columns: Columns) -> Record:
    """A record in the public schema, by what a user says of its fields.

    Raises:
        RecordError: One of them is not there.
    """
    try:
        return Record(record.path, record.line, columns.record(record.fields, record.line))
    except ColumnMissingError as error:
        reject("missing field", record.where, error.expected, error.got)
