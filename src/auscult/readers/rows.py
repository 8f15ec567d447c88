"""Reader of tables (CSV, TSV), JSON lines and JSON lists: one document per row or object.

A mapping assigns columns to fields of a document if their names differ from the public schema:

    title=Name, text=History+Plan, date=Datum, id=note.number

Here the column `Name` is the title, and `Datum` is the date in the metadata. If the text has several columns, each is a
section with the column's name as its heading. A dot leads into a JSON object. Columns that are not named are left out.
Files whose names match a pattern may have a mapping of their own.

Errors contain nothing from a file: in a table without a header, the names of columns may be data of a patient.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import chain
from types import MappingProxyType
from typing import Any

import numpy as np

from auscult.documents.document import Section
from auscult.documents.language import reading_language
from auscult.documents.note_headings import note_sections
from auscult.documents.original import RUN
from auscult.errors import ConfigError, DataError
from auscult.files.json_text import parse_json
from auscult.files.limits import limits
from auscult.files.reading import read_cells, separator_of
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.decoding import decode_plain
from auscult.readers.json_words import WrittenNumber, sections_of, words_of
from auscult.readers.tables import readable_lines

SCHEMA = ("id", "title", "text", "url", "source", "split", "entity_ids")
"""Names of the public schema (docs/reference/jsonl-format.md). Other names become fields of the metadata."""
_EXAMPLE = "title=Name,text=Body,date=Datum"


class ColumnMissingError(DataError):
    """Error for a table or record without a column that the mapping names."""


class RepeatedColumnError(DataError):
    """Error for a table of which two columns that are read have one name."""


@dataclass(frozen=True, slots=True)
class Columns:
    """A mapping of columns to fields. An empty mapping leaves names unchanged.

    Attributes:
        columns: For each field of a document, the columns that it is read from.
        files: Mappings by pattern of file names ("labs/*.csv"). The first pattern that matches is used.
    """

    columns: tuple[tuple[str, tuple[str, ...]], ...] = ()
    files: tuple[tuple[str, Columns], ...] = ()

    @classmethod
    def parse(cls, given: str, files: Mapping[str, str] = MappingProxyType({})) -> Columns:
        """Parse a mapping as users type it.

        Args:
            given: The mapping of all files.
            files: Mappings by pattern, for files whose names match it.

        Raises:
            ConfigError: The mapping is malformed, has a field twice, or does not name the text.
        """
        mapping: dict[str, tuple[str, ...]] = {}
        for part in filter(str.strip, given.split(",")):
            name, equals, columns = part.partition("=")
            sources = tuple(filter(None, map(str.strip, columns.split("+"))))
            if not (equals and name.strip() and sources):
                raise ConfigError(f"a mapping such as {_EXAMPLE}", repr(part.strip()), "write FIELD=COLUMN")
            if name.strip() in mapping:
                raise ConfigError("every field once in a mapping", f"'{name.strip()}' twice", "join columns by '+'")
            mapping[name.strip()] = sources
        if mapping and "text" not in mapping:
            raise ConfigError(f"a mapping such as {_EXAMPLE}", "one without a text", "say which column holds it: text=")
        return cls(tuple(mapping.items()), tuple((pattern, cls.parse(each)) for pattern, each in files.items()))

    def __bool__(self) -> bool:
        return bool(self.columns or self.files)

    def __str__(self) -> str:
        """Return the mapping of all files as users type it."""
        return ",".join(f"{name}={'+'.join(columns)}" for name, columns in self.columns)

    def to_json(self) -> str:
        """Return the mappings by pattern as JSON, for an index. The pattern of all files is ""."""
        return json.dumps({pattern: str(each) for pattern, each in (("", self), *self.files)})

    @classmethod
    def from_json(cls, content: str) -> Columns:
        """Parse the result of `to_json`."""
        files: dict[str, str] = parse_json(content)
        return cls.parse(files.pop("", ""), files)

    def over(self, before: Columns) -> Columns:
        """Return these mappings, and those of `before` that these do not replace."""
        files = {pattern: str(each) for pattern, each in (*before.files, *self.files)}
        return Columns.parse(str(self) or str(before), files)

    def of(self, name: str) -> Columns:
        """Return the mapping of a file whose name, or the end of it, matches a pattern."""
        fitting = (each for pattern, each in self.files if any(fnmatchcase(name, p) for p in (pattern, f"*/{pattern}")))
        return next(fitting, Columns(self.columns))

    def fits(self, fields: Mapping[str, Any]) -> bool:
        """Whether to map a row or object. One in the public schema without the mapped text columns is not mapped."""
        if not self.columns:
            return False
        named = any(_find_value(fields, column) is not None for column in dict(self.columns)["text"])
        return named or not {"text", "sections"} & {name.strip().lower() for name in fields}

    def record(self, fields: Mapping[str, Any], row_id: str) -> dict[str, Any]:
        """Return a row or object in the public schema.

        Args:
            fields: Values by name.
            row_id: The id if the mapping has none.

        Raises:
            ColumnMissingError: A column of the text or the id is missing.
        """
        record: dict[str, Any] = {"id": row_id}
        metadata: dict[str, str] = {}
        for name, columns in self.columns:
            values = {column: value for column in columns if (value := _find_value(fields, column)) is not None}
            if not values and name in ("id", "text"):
                raise ColumnMissingError(
                    f"a column {' or '.join(columns)}", f"{len(fields):,} others", "correct the mapping"
                )
            text = " ".join(filter(None, map(str.strip, map(_text_of, values.values()))))
            if name == "entity_ids":
                record[name] = text.replace(",", " ").split()
            elif name == "text" and len(columns) > 1:
                record["sections"] = [{column: _text_of(value) for column, value in values.items()}]
            elif name == "text":
                record[name] = _text_of(next(iter(values.values())))
            elif name in SCHEMA and text:
                record[name] = text
            elif text:
                metadata[name] = text
        return {**record, "metadata": metadata}


def check_columns(names: Sequence[str], columns: Columns, place: str = "") -> None:
    """Check that every column that is read has a name of its own. Otherwise only the last one would be read.

    Args:
        names: Names of a table's columns.
        columns: The mapping. Without one, all columns that have a name are read.
        place: Where the table is, for the error.

    Raises:
        RepeatedColumnError: Two columns have one name.
    """
    told = [name.strip() if columns.columns else name.strip().lower() for name in names]
    read = {column.casefold() for _, mapped in columns.columns for column in mapped} or {*filter(None, told)}
    for number, name in enumerate(told):
        first = told.index(name)
        if first != number and name.casefold() in read:
            got = f"one name for columns {first + 1} and {number + 1}{place}"
            raise RepeatedColumnError("a name of its own for each column", got, "rename one of them")


def _find_value(fields: Mapping[str, Any], column: str) -> Any:
    """Return the value of a column: by its exact name, by its name in other case, or by a path with dots."""
    if column in fields:
        return fields[column]
    folded = column.casefold()
    for name, value in fields.items():
        if name.strip().casefold() == folded:
            return value
    head, dot, rest = column.partition(".")
    inner = fields.get(head) if dot else None
    return _find_value(inner, rest) if isinstance(inner, dict) else None


def _text_of(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return value if isinstance(value, str) else words_of(value)


_TABLES = (".csv", ".tsv")
_LINES = (".jsonl", ".ndjson", ".json")
_SEPARATORS = ",;\t"
_WORD = re.compile(r"\w")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_BETWEEN = "\n\n"
_HOW = "say what columns mean: --read map=text=COLUMN,title=COLUMN"


class RowReader:
    """Reads tables and JSON lines, in the public schema or by a mapping. The original of a row is its text.

    Args:
        columns: The mapping. None leaves names unchanged.
    """

    name = "table"
    suffixes = _TABLES + _LINES

    def __init__(self, columns: Columns | None = None) -> None:
        self._columns = columns or Columns()

    def recognises(self, file: SourceFile) -> bool:
        """Whether a file has the suffix of a table, or the suffix and beginning of JSON."""
        if file.suffix in _LINES:
            return file.head.lstrip()[:1] in (b"{", b"[")
        return file.suffix in _TABLES

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """Yield one document per row. A remark counts rows without words.

        A table whose columns nobody has mapped, and of which none is called "text" or "sections", is one document: a
        line for each row, with the names of the columns. A remark says so.
        """
        text, _, remarks = decode_plain(file.content)
        columns = self._columns.of(file.name)
        if file.suffix in _TABLES and (sheet := _read_sheet(text, columns)) is not None:
            yield replace(sheet, remarks=[*remarks, *sheet.remarks])
            return
        rows = _read_objects(text) if file.suffix in _LINES else _read_table(text, columns)
        wordless: list[int] = []
        count = 0
        # The remarks of a file belong to its last document, when they are complete.
        last: DraftDocument | None = None
        for number, fields in rows:
            draft = _draft_row(fields, number, columns)
            if draft is None:
                wordless.append(number)
                continue
            if last is not None:
                yield last
            last, count = draft, count + 1
        if last is None:
            raise UnreadableError("no words", "rows with words", "a file without any", "leave it out")
        without = [f"{len(wordless)} rows without words, first: line {wordless[0]}"] if wordless else []
        yield replace(last, remarks=[*remarks, *last.remarks, *without])


def _draft_row(fields: dict[str, Any], number: int, columns: Columns) -> DraftDocument | None:
    try:
        record = columns.record(fields, str(number)) if columns.fits(fields) else _record_as_named(fields, number)
    except ColumnMissingError as error:
        got = f"{error.got} (line {number})"
        raise UnreadableError("missing column", error.expected, got, error.remedy) from error
    text, sections, unread = _join_sections(record)
    if not _WORD.search(text):
        return None
    return DraftDocument(
        text=text,
        sections=sections,
        title=record.get("title", ""),
        key=record["id"],
        media_type="text/plain",
        content=text.encode("utf-8"),
        encoding="utf-8",
        runs=np.array([(0, len(text), 0, len(text))], RUN),
        source=record.get("source", ""),
        url=record.get("url", ""),
        entity_ids=record.get("entity_ids", ()),
        metadata=record["metadata"],
        heading_paths=[section.above for section in sections] if any(section.above for section in sections) else (),
        remarks=[f"{unread:,} fields of sections are not read: they are beside a text"] if unread else (),
    )


def _record_as_named(fields: dict[str, Any], number: int) -> dict[str, Any]:
    """Return a row whose columns have the names of the public schema as a record of that schema."""
    folded = {name.strip().lower(): value for name, value in fields.items() if value not in (None, "")}
    if not ({"text", "sections"} & set(folded)):
        if {"text", "sections"} & {name.strip().lower() for name in fields}:
            folded["text"] = ""
        else:
            raise ColumnMissingError("a column or field 'text'", f"{len(fields):,} others", _HOW)
    metadata = folded.pop("metadata", {})
    extra = {**metadata} if isinstance(metadata, dict) else {"metadata": metadata}
    extra |= {name: value for name, value in folded.items() if name not in (*SCHEMA, "sections")}
    groups = _groups_of(extra)
    extra = {name: value for name, value in extra.items() if isinstance(value, str) or not _is_access(name)}
    listed = {name: value for name, value in extra.items() if isinstance(value, (dict, list))}
    entities = folded.get("entity_ids", [])
    text = folded.get("text", "")
    return {
        **{name: words_of(folded[name]) for name in SCHEMA if name in folded and name != "entity_ids"},
        "id": str(folded.get("id", number)).strip(),
        "entity_ids": entities.split() if isinstance(entities, str) else [str(each) for each in entities],
        "metadata": {
            name: words for name, value in extra.items() if name not in listed and (words := words_of(value)).strip()
        }
        | groups,
        "text": text if isinstance(text, str) else "",
        "sections": [
            text if isinstance(text, (dict, list)) else None,
            folded.get("sections"),
            [{"heading": name, "text": value} for name, value in listed.items()],
        ],
    }


def _is_access(name: str) -> bool:
    return name.strip().casefold() == "access"


def _groups_of(extra: dict[str, Any]) -> dict[str, str]:
    """Return the groups that may see a row if they are not given as a text.

    A list is joined with commas. Any other value becomes ",", which means no group.
    """
    value = next((value for name, value in extra.items() if _is_access(name)), None)
    if value is None or isinstance(value, str):
        return {}
    named = value if isinstance(value, list) and all(isinstance(each, str) for each in value) else [""]
    return {"access": ", ".join(named) or ","} if named else {}


def _join_sections(record: dict[str, Any]) -> tuple[str, list[Section], int]:
    """Return the text of a record, its sections, and the number of fields of sections that are not read.

    The sections are those that headings in its text begin, and those of its lists and objects.
    """
    text = record.get("text", "")
    sections = note_sections(text, language=reading_language(text)) if _WORD.search(text) else []
    parts = [text] if sections else []
    at = len(text) + len(_BETWEEN) if sections else 0
    unread = 0
    for above, heading, words, left in chain.from_iterable(map(sections_of, filter(None, record.get("sections", ())))):
        unread += left
        # The heading of a section without text becomes its text.
        part = words if _WORD.search(words) else heading
        if _WORD.search(part):
            sections.append(Section(heading, part, start=at, above=above))
            parts.append(part)
            at += len(part) + len(_BETWEEN)
    return _BETWEEN.join(parts), sections, unread


def _read_table(text: str, columns: Columns) -> Iterator[tuple[int, dict[str, Any]]]:
    lines = iter(text.splitlines(keepends=True))
    first = next(lines, "")
    try:
        rows = read_cells(chain([first], lines), separator_of(first, _SEPARATORS), longest=limits().line)
        _, names = next(rows)
        check_columns(names, columns)
        for number, cells in rows:
            if len(cells) == len(names):
                yield number, dict(zip(names, cells, strict=True))
            elif cells:
                raise _broken("table", f"{len(names)} columns", f"{len(cells)} (line {number})")
    except RepeatedColumnError as error:
        raise UnreadableError("repeated column", error.expected, error.got, error.remedy) from error
    except csv.Error as error:
        raise _broken("table", "values between separators", str(error)) from error


def _read_sheet(text: str, columns: Columns) -> DraftDocument | None:
    """Return a table that has no texts as one document; None for a table of texts."""
    lines = text.splitlines(keepends=True)
    first = lines[0] if lines else ""
    try:
        rows = read_cells(iter(lines), separator_of(first, _SEPARATORS), longest=limits().line)
        _, names = next(rows, (1, list[str]()))
        if columns or {"text", "sections"} & {name.strip().lower() for name in names}:
            return None
        written = readable_lines(names, [cells for _, cells in rows if cells])
    except csv.Error as error:
        raise _broken("table", "values between separators", str(error)) from error
    told = "\n".join(written)
    if not _WORD.search(told):
        raise UnreadableError("no words", "rows with words", "a file without any", "leave it out")
    return DraftDocument(
        text=told,
        sections=[Section("", told, start=0)],
        media_type="text/plain",
        content=told.encode("utf-8"),
        encoding="utf-8",
        runs=np.array([(0, len(told), 0, len(told))], RUN),
        remarks=[f"read as one table of {len(written):,} rows, as no column is called text; {_HOW}"],
    )


def _read_objects(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    halves = _SURROGATE.search(text) is not None
    try:
        found = _parse_whole(text)
        if found is None:
            found = ((number, _parse_json(line)) for number, line in enumerate(text.split("\n"), 1) if line.strip())
        for number, each in found:
            if not isinstance(each, dict):
                raise _broken("JSON", "JSON objects", f"something else (line {number})")
            yield number, _remove_half_surrogates(each) if halves else each
    except (ValueError, RecursionError) as error:
        where = (
            f"malformed JSON ({error.msg} in line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        )
        raise _broken("JSON", "one JSON object a line, or a list of them", where or "malformed JSON") from error


def _parse_json(text: str) -> Any:
    return json.loads(text, parse_float=WrittenNumber)


def _remove_half_surrogates(value: dict[str, Any]) -> dict[str, Any]:
    """Return an object without unpaired surrogates in its strings. JSON can escape them; UTF-8 cannot encode them."""
    written = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass")
    cleaned: dict[str, Any] = _parse_json(written.decode("utf-16", "replace"))
    return cleaned


def _parse_whole(text: str) -> Iterator[tuple[int, Any]] | None:
    """Return the objects of a file that is one JSON value, a list or an object; None for JSON lines."""
    try:
        value = _parse_json(text)
    except json.JSONDecodeError:
        if text.lstrip().startswith("["):
            raise
        return None
    return iter(enumerate(value if isinstance(value, list) else [value], 1))


def _broken(kind: str, expected: str, got: str) -> UnreadableError:
    return UnreadableError(f"broken {kind}", expected, got, "correct the file")
