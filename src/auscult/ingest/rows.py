"""The user's documents as JSON lines in the public schema (docs/reference/jsonl-format.md) or as a table of notes.

One JSON object a line, in UTF-8, plain or gzip-compressed:

    {"id": "leaflet-7", "title": "Gout", "sections": [{"heading": "Symptoms", "text": "..."}, ...]}
    {"id": "note-12", "title": "", "text": "..."}

`id` and either `sections` or `text` are required. `title` (what the document is about) and the `heading` of a section
may be missing or empty. A section may have an `id`, and the headings above its own (`above`). Optional: `url`,
`source`, `split` (default "train"), `entity_ids` (list of strings, "UMLS:C0018099"), `metadata` (object of strings). A
`text` is read as a clinical note, whose sections are found by their headings. Its `patient`, by which notes are split,
is that in `metadata`, or by default the record's id.

A table is like an export of a hospital's systems: a row is a note, and a text of several lines is in double quotes.
The first line names the columns, in any case and order. `id` and `text` are required. `title`, `url`, `source` and
`split` are as in JSON lines. All others are metadata of the note, of which `patient` keeps the notes of one patient
together when notes are split. Values are separated by commas, semicolons or tabs.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import zlib
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from auscult.documents import Section
from auscult.documents.language import reading_language
from auscult.documents.note_headings import note_sections
from auscult.documents.splitting import SentenceSplitter
from auscult.errors import CorpusMissingError, DataError
from auscult.files.limits import TooLargeError, limits
from auscult.files.reading import (
    NotUtf8Error,
    Unpacked,
    decode_lines,
    limited_lines,
    lines_within,
    open_unpacked,
    read_cells,
    read_lines,
    separator_of,
)
from auscult.files.records import REMEDY, BadRecords, Record, RecordError, reject, settle, too_large
from auscult.ingest.sectioned import Draft, SectionedCorpus
from auscult.readers.archives import plain
from auscult.readers.guessing import guess_encoding
from auscult.readers.rows import ColumnMissingError, Columns, check_columns

#: Bytes of lines by which the encoding of a table is guessed.
_EXAMINED = 50_000


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the non-empty lines of a UTF-8 file of a corpus; see `read_lines`.

    Yields:
        (number from 1, line without its end).

    Raises:
        CorpusMissingError: There is no such file.
        DataError: The file cannot be read.
        RecordError: A line is not UTF-8; the error names file and line.
    """
    if not path.is_file():
        raise CorpusMissingError(f"a text file at {path}", "no such file", "correct the path")
    try:
        yield from ((number, line) for number, line in read_lines(path) if line.strip())
    except NotUtf8Error as error:
        raise _not_utf8(error, path) from error


def read_rows(
    path: Path,
    columns: Sequence[str],
    *,
    skip_bad: bool,
    report: BadRecords,
    fold: Callable[[str], str],
    separators: str = ",",
    remedy: str,
    check: Callable[[Sequence[str]], None] = lambda names: None,
) -> Iterator[Record]:
    """Yield the rows of a table, with one row in memory at a time.

    Args:
        path: The table; gzip is recognised by content.
        columns: Required columns.
        skip_bad: Skip bad rows instead of raising an error. After damage to the file itself nothing more is read.
        report: Counts skipped rows.
        fold: Applied to the names of columns.
        separators: Possible separators; the most frequent one in the first line is used.
        remedy: What to do if a column is missing.
        check: Called with the names of the columns; raises a `DataError` if the table cannot be read.

    Yields:
        Records of strings; their line is the last line of the row.

    Raises:
        DataError: A column is missing, or the file cannot be read.
        RecordError: A row has too few or too many values, or the file is damaged or not UTF-8.
    """
    number = 0
    try:
        with _open_table(path) as stream:
            # Split again, as some systems end lines with carriage returns only.
            lines = (each for line in _decode_lines(stream, path) for each in io.StringIO(line, newline=""))
            first = next(lines, "")
            rows = read_cells(chain([first], lines), separator_of(first, separators), longest=limits().line)
            number, header = next(rows, (0, []))
            names = [fold(name.strip()) for name in header]
            missing = [column for column in columns if column not in names]
            if missing:
                got = "an empty file" if not header else f"no {', '.join(missing)}"
                raise DataError(f"columns {', '.join(columns)} in {path}", got, remedy)
            check(names)
            for number, row in rows:
                if len(row) == len(names):
                    yield Record(path, number, dict(zip(names, row, strict=True)))
                elif row:
                    got = f"{len(row)} ({path}, line {number})"
                    settle(RecordError("malformed row", f"{len(names)} columns", got, REMEDY), skip_bad, report)
    except NotUtf8Error as error:
        settle(_not_utf8(error, path), skip_bad, report)
    except TooLargeError as error:
        settle(too_large(error), skip_bad, report)
    except (EOFError, gzip.BadGzipFile, zlib.error, csv.Error) as damage:
        got = f"a damaged file: {damage} ({path}, behind line {number})"
        advice = "fetch the file again, or correct that line"
        settle(RecordError("damaged file", "values between separators", got, advice), skip_bad, report)


def _decode_lines(stream: Unpacked, path: Path) -> Iterator[str]:
    """Yield the lines of a table in UTF-8, in UTF-16 with a mark, or in the likeliest other encoding.

    The encoding is guessed if no non-ASCII line is valid UTF-8. If one is, an invalid byte elsewhere is damage.
    """
    with _open_table(path) as probe:
        if probe.peek(2)[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            yield from _decode_as(stream, "utf-16", path)
            return
        is_utf8 = None
        examined = bytearray()
        for line in lines_within(probe, path):
            if not line.isascii():
                try:
                    line.decode("utf-8")
                except UnicodeDecodeError:
                    is_utf8 = False
                    examined += line[: _EXAMINED - len(examined)]
                else:
                    is_utf8 = True
                    break
    if is_utf8 is False:
        yield from _decode_as(stream, guess_encoding(bytes(examined)).encoding, path)
    else:
        yield from (line for _, line in decode_lines(stream, path))


def _not_utf8(error: NotUtf8Error, path: Path) -> RecordError:
    got = f"byte 0x{error.byte:02x} at position {error.position} ({path}, line {error.line})"
    return RecordError("invalid UTF-8", "text in UTF-8", got, "save the file as UTF-8")


def _open_table(path: Path) -> Unpacked:
    try:
        return open_unpacked(path)
    except OSError as error:
        raise DataError(f"a readable file at {path}", str(error.strerror), "correct its permissions") from error


class JsonlCorpus(SectionedCorpus):
    """Documents of JSON lines files in the public schema.

    Args:
        paths: The files, in order.
        name: Name of the corpus; by default the first file's name without extensions.
        skip_bad: Skip bad records and count them in `bad`, instead of raising an error.
        splitter: Splits sentences; by default the default splitter.
        columns: Meaning of fields with other names than in the schema.
        stem: Beginning of the ids of records without one; by default the name of their file.

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
        stem: str | None = None,
    ) -> None:
        self._columns, self.stem = columns or Columns(), stem
        given = name or (Path(paths[0]).name.removesuffix(".gz").removesuffix(".jsonl") if paths else "")
        super().__init__(*paths, name=given, skip_bad=skip_bad, splitter=splitter)

    def draft(self, record: Record) -> Draft:
        """Read one document."""
        if self._columns.fits(record.fields):
            record = mapped(record, self._columns, self.stem)
        if "sections" in record.fields and "text" in record.fields:
            reject("ambiguous record", record.where, "either 'sections' or 'text'", "a record with both")
        text = record.text("text") if "text" in record.fields else None
        if text is not None:
            sections = note_sections(text, language=reading_language(text))
        elif "sections" in record.fields:
            sections = [
                # The heading is the text of a section without text.
                Section(
                    heading,
                    text if any(map(str.isalnum, text)) else heading,
                    passage_id=s.text("id", ""),
                    above=s.texts("above"),
                )
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


def mapped(record: Record, columns: Columns, stem: str | None = None) -> Record:
    """Return a record in the public schema, by the user's mapping of its fields.

    Args:
        record: The record.
        columns: The mapping.
        stem: Beginning of the id if the mapping has none; by default the name of the file. The rest is the number of
            the line. Without any, rows of two tables would have the same ids.

    Raises:
        RecordError: A mapped field is missing.
    """
    begins = plain(record.path.name) if stem is None else stem
    row_id = f"{begins}#{record.line}" if begins else str(record.line)
    try:
        return Record(record.path, record.line, columns.record(record.fields, row_id))
    except ColumnMissingError as error:
        reject("missing field", record.where, error.expected, error.got)


SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
_FIELDS = ("id", "text", "title", "url", "source", "split")


class CsvCorpus(SectionedCorpus):
    """Notes of one table.

    Args:
        path: The table.
        name: Name of the corpus; by default the file's name without extensions.
        skip_bad: Skip bad rows and count them in `bad`, instead of raising an error.
        splitter: Splits sentences; by default the default splitter.
        columns: Meaning of columns with other names; columns that it does not name are left out.
        stem: Beginning of the ids of rows without one; by default the file's name.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        name: str = "",
        skip_bad: bool = False,
        splitter: SentenceSplitter | None = None,
        columns: Columns | None = None,
        stem: str | None = None,
    ) -> None:
        self.path = Path(path)
        self._columns, self.stem = columns or Columns(), stem
        given = name or self.path.name.removesuffix(".gz").rpartition(".")[0]
        super().__init__(self.path, name=given, skip_bad=skip_bad, splitter=splitter)

    def records(self, report: BadRecords) -> Iterator[Record]:
        """Yield the rows."""
        return read_rows(
            self.path,
            () if self._columns else ("id", "text"),
            skip_bad=self._skip_bad,
            report=report,
            fold=str if self._columns else str.lower,
            separators=",;\t",
            remedy="name the columns of a note's id and of its text so in the first line",
            check=lambda names: check_columns(names, self._columns, f" of {self.path}"),
        )

    def draft(self, record: Record) -> Draft:
        """Read one note."""
        if self._columns:
            return JsonlCorpus(self.path, name=self.name).draft(mapped(record, self._columns, self.stem))
        text = record.text("text")
        doc_id = record.text("id").strip()
        metadata = {name: value for name, value in record.fields.items() if name not in _FIELDS and value.strip()}
        return Draft(
            doc_id=doc_id,
            title=record.text("title", ""),
            sections=note_sections(text, language=reading_language(text)),
            text=text,
            split=record.text("split", "") or "train",
            source=record.text("source", "") or self.name,
            url=record.text("url", ""),
            metadata={"patient": doc_id, **metadata},
        )


def _decode_as(stream: Unpacked, encoding: str, path: Path) -> Iterator[str]:
    return limited_lines(io.TextIOWrapper(stream, encoding, "replace", newline="").readline, path, "characters")
