"""Tables of separated values, and JSON lines or lists: a document a row.

A mapping says what columns and fields mean, where they are not called as the public schema calls them:

    title=Name, text=History+Plan, date=Datum, id=note.number

stands for: the column `Name` is the title, the date of the metadata is `Datum`. Of several columns for the text each
is a section, headed by its column's name. A dot leads into an object of JSON. What is not named is left out. Files of
some names may have a mapping of their own.

Errors tell nothing of what stands in a file: what a table without a head has for names of columns may be a patient's.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import chain
from types import MappingProxyType
from typing import Any

import numpy as np

from auscult.documents import Section
from auscult.documents.note_headings import note_sections
from auscult.documents.original import RUN
from auscult.errors import ConfigError, DataError
from auscult.files.json_text import parse_json
from auscult.files.limits import limits
from auscult.files.reading import read_cells, separator_of
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.notes import decode

SCHEMA = ("id", "title", "text", "url", "source", "split", "entity_ids")
"""What the public schema (docs/reference/jsonl-format.md) gives a meaning; other names are fields of the metadata."""
_EXAMPLE = "title=Name,text=Body,date=Datum"


class ColumnMissingError(DataError):
    """A table or record lacks what the mapping names."""


@dataclass(frozen=True, slots=True)
class Columns:
    """A mapping; an empty one leaves names as they are.

    Attributes:
        told: For each field of a document the columns that it is read from.
        files: Mappings of files whose names fit a pattern ("labs/*.csv"); the first that fits counts.
    """

    told: tuple[tuple[str, tuple[str, ...]], ...] = ()
    files: tuple[tuple[str, Columns], ...] = ()

    @classmethod
    def parse(cls, given: str, files: Mapping[str, str] = MappingProxyType({})) -> Columns:
        """A mapping as it is typed.

        Args:
            given: For all files.
            files: By pattern, for files whose names fit it.

        Raises:
            ConfigError: It is none, names a field twice, or says not what the text is.
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
        return bool(self.told or self.files)

    def __str__(self) -> str:
        """As it is typed again, for all files."""
        return ",".join(f"{name}={'+'.join(columns)}" for name, columns in self.told)

    def to_json(self) -> str:
        """Return the mappings by pattern, as an index keeps them; that of all files has the empty one."""
        return json.dumps({pattern: str(each) for pattern, each in (("", self), *self.files)})

    @classmethod
    def from_json(cls, content: str) -> Columns:
        """Read what `to_json` wrote."""
        files: dict[str, str] = parse_json(content)
        return cls.parse(files.pop("", ""), files)

    def over(self, before: Columns) -> Columns:
        """Return these mappings, and of those before the ones that are not given again."""
        files = {pattern: str(each) for pattern, each in (*before.files, *self.files)}
        return Columns.parse(str(self) or str(before), files)

    def of(self, name: str) -> Columns:
        """Return the mapping of a file by its name, or by the end of it."""
        fitting = (each for pattern, each in self.files if any(fnmatchcase(name, p) for p in (pattern, f"*/{pattern}")))
        return next(fitting, Columns(self.told))

    def fits(self, fields: Mapping[str, Any]) -> bool:
        """Whether a row or object is to be mapped: not one that has no such text, and is in the public schema."""
        if not self.told:
            return False
        named = any(_value(fields, column) is not None for column in dict(self.told)["text"])
        return named or not {"text", "sections"} & {name.strip().lower() for name in fields}

    def record(self, fields: Mapping[str, Any], number: int) -> dict[str, Any]:
        """A row or object, mapped, in the public schema.

        Args:
            fields: By their names.
            number: Of the row or line, an id where none is mapped.

        Raises:
            ColumnMissingError: A column of the text or the id is not there.
        """
        record: dict[str, Any] = {"id": str(number)}
        metadata: dict[str, str] = {}
        for name, columns in self.told:
            values = {column: value for column in columns if (value := _value(fields, column)) is not None}
            if not values and name in ("id", "text"):
                raise ColumnMissingError(
                    f"a column {' or '.join(columns)}", f"{len(fields):,} others", "correct the mapping"
                )
            text = " ".join(filter(None, map(str.strip, map(_text, values.values()))))
            if name == "entity_ids":
                record[name] = text.replace(",", " ").split()
            elif name == "text" and len(columns) > 1:
                record["sections"] = [{"heading": column, "text": _text(value)} for column, value in values.items()]
            elif name == "text":
                record[name] = _text(next(iter(values.values())))
            elif name in SCHEMA and text:
                record[name] = text
            elif text:
                metadata[name] = text
        return {**record, "metadata": metadata}


def _value(fields: Mapping[str, Any], column: str) -> Any:
    """What stands under a name: exactly, in other letters (upper or lower), or along a path of dots."""
    if column in fields:
        return fields[column]
    folded = column.casefold()
    for name, value in fields.items():
        if name.strip().casefold() == folded:
            return value
    head, dot, rest = column.partition(".")
    inner = fields.get(head) if dot else None
    return _value(inner, rest) if isinstance(inner, dict) else None


def _text(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        return ", ".join(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_TABLES = (".csv", ".tsv")
_LINES = (".jsonl", ".ndjson", ".json")
_SEPARATORS = ",;\t"
_WORD = re.compile(r"\w")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_BETWEEN = "\n\n"
_HOW = "say what columns mean: --read map=text=COLUMN,title=COLUMN"


class RowReader:
    """Reads tables and JSON lines, in the public schema or by a mapping. A row's original is its text.

    Args:
        columns: The mapping; an empty one takes names as they are.
    """

    name = "table"
    suffixes = _TABLES + _LINES

    def __init__(self, columns: Columns | None = None) -> None:
        self._columns = columns or Columns()

    def recognises(self, file: SourceFile) -> bool:
        """Whether a file is named as a table, or named and begun as JSON."""
        if file.suffix in _LINES:
            return file.head.lstrip()[:1] in (b"{", b"[")
        return file.suffix in _TABLES

    def read(self, file: SourceFile) -> Iterator[DraftDocument]:
        """A document a row; rows without words are told in a remark."""
        text, _ = decode(file.content)
        columns = self._columns.of(file.name)
        rows = _objects(text) if file.suffix in _LINES else _cells(text)
        wordless: list[int] = []
        count = 0
        # A file's remarks stand with one of its documents: its last, when all is known.
        last: DraftDocument | None = None
        for number, fields in rows:
            draft = _draft(fields, number, columns)
            if draft is None:
                wordless.append(number)
                continue
            if last is not None:
                yield last
            last, count = draft, count + 1
        if last is None:
            raise UnreadableError("no words", "rows with words", "a file without any", "leave it out")
        yield _remarking(last, wordless)


def _draft(fields: dict[str, Any], number: int, columns: Columns) -> DraftDocument | None:
    try:
        record = columns.record(fields, number) if columns.fits(fields) else _as_named(fields, number)
    except ColumnMissingError as error:
        got = f"{error.got} (line {number})"
        raise UnreadableError("missing column", error.expected, got, error.remedy) from error
    text, sections = _sections(record)
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
    )


def _as_named(fields: dict[str, Any], number: int) -> dict[str, Any]:
    """A row whose columns are called as the public schema calls them."""
    folded = {name.strip().lower(): value for name, value in fields.items() if value not in (None, "")}
    if not ({"text", "sections"} & set(folded)):
        if {"text", "sections"} & {name.strip().lower() for name in fields}:
            folded["text"] = ""
        else:
            raise ColumnMissingError("a column or field 'text'", f"{len(fields):,} others", _HOW)
    metadata = folded.pop("metadata", {})
    extra = metadata if isinstance(metadata, dict) else {}
    extra |= {name: value for name, value in folded.items() if name not in (*SCHEMA, "sections")}
    entities = folded.get("entity_ids", [])
    return {
        **{name: str(folded[name]) for name in SCHEMA if name in folded and name != "entity_ids"},
        "id": str(folded.get("id", number)).strip(),
        "entity_ids": entities.split() if isinstance(entities, str) else [str(each) for each in entities],
        "metadata": {name: value for name, value in extra.items() if isinstance(value, str) and value.strip()}
        | _access(extra),
    } | ({"sections": folded["sections"]} if "sections" in folded else {})


def _access(told: dict[str, Any]) -> dict[str, str]:
    """Return the groups that may see a row, where they are no text: those of a list; else a comma, for no group."""
    value = next((value for name, value in told.items() if name.strip().casefold() == "access"), None)
    if value is None or isinstance(value, str):
        return {}
    named = value if isinstance(value, list) and all(isinstance(each, str) for each in value) else [""]
    return {"access": ", ".join(named) or ","} if named else {}


def _sections(record: dict[str, Any]) -> tuple[str, list[Section]]:
    """The text and its sections: as they are given, or found by headings."""
    if "sections" not in record:
        text = record["text"]
        return text, note_sections(text)
    sections, parts, at = [], [], 0
    for each in record["sections"] if isinstance(record["sections"], list) else []:
        told = each if isinstance(each, dict) else {}
        heading, part = str(told.get("heading") or ""), str(told.get("text") or "")
        # A heading without text is what the section says.
        part = part if _WORD.search(part) else heading
        if _WORD.search(part):
            sections.append(Section(heading, part, start=at))
            parts.append(part)
            at += len(part) + len(_BETWEEN)
    return _BETWEEN.join(parts), sections


def _cells(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    lines = iter(text.splitlines(keepends=True))
    first = next(lines, "")
    try:
        rows = read_cells(chain([first], lines), separator_of(first, _SEPARATORS), longest=limits().line)
        _, names = next(rows)
        for number, cells in rows:
            if len(cells) == len(names):
                yield number, dict(zip(names, cells, strict=True))
            elif cells:
                raise _broken("table", f"{len(names)} columns", f"{len(cells)} (line {number})")
    except csv.Error as error:
        raise _broken("table", "values between separators", str(error)) from error


def _objects(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    halves = _SURROGATE.search(text) is not None
    try:
        found = _whole(text)
        if found is None:
            found = ((number, json.loads(line)) for number, line in enumerate(text.split("\n"), 1) if line.strip())
        for number, each in found:
            if not isinstance(each, dict):
                raise _broken("JSON", "JSON objects", f"something else (line {number})")
            yield number, _without_halves(each) if halves else each
    except (ValueError, RecursionError) as error:
        where = (
            f"malformed JSON ({error.msg} in line {error.lineno})" if isinstance(error, json.JSONDecodeError) else ""
        )
        raise _broken("JSON", "one JSON object a line, or a list of them", where or "malformed JSON") from error


def _without_halves(value: dict[str, Any]) -> dict[str, Any]:
    """An object whose strings hold no half of a surrogate pair, which JSON can write and no file of text can hold."""
    written = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass")
    mended: dict[str, Any] = json.loads(written.decode("utf-16", "replace"))
    return mended


def _whole(text: str) -> Iterator[tuple[int, Any]] | None:
    """The objects of a file that is one value: a list of them, or one; None where it is lines."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        if text.lstrip().startswith("["):
            raise
        return None
    return iter(enumerate(value if isinstance(value, list) else [value], 1))


def _remarking(draft: DraftDocument, wordless: list[int]) -> DraftDocument:
    if not wordless:
        return draft
    return replace(draft, remarks=[f"{len(wordless)} rows without words, first: line {wordless[0]}"])


def _broken(kind: str, expected: str, got: str) -> UnreadableError:
    return UnreadableError(f"broken {kind}", expected, got, "correct the file")
