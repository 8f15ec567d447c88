"""Rows of a user's file, whatever its format: CSV, TSV or JSON lines, plain or gzip-compressed.

Column names are folded to lower case and underscores, so that "Question ID", "question-id" and "question_id" are one.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from auscult.workbench.faults import Findings, Place

SUFFIXES = (".csv", ".tsv", ".jsonl")
"""Formats that are read; each may be followed by `.gz`."""
_DELIMITERS = ",;\t|"
# Passages may be whole pages; the library's own limit is 131,072 characters.
_LONGEST_CELL = 10_000_000


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table, or one object of JSON lines, with every value as text."""

    place: Place
    cells: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Table:
    """A file's rows.

    Attributes:
        place: The file.
        columns: Their folded names, in order; for JSON lines, of all objects.
        rows: In the file's order.
    """

    place: Place
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def format_of(path: Path) -> str:
    """The format by a file's name: one of `SUFFIXES`, or empty."""
    suffix = Path(path.name.removesuffix(".gz")).suffix.lower()
    return suffix if suffix in SUFFIXES else ""


def read_table(path: Path, root: Path, findings: Findings) -> Table:
    """Read a file whole; what cannot be read becomes faults.

    Args:
        path: The file.
        root: What places are named relative to.
        findings: Where faults go.
    """
    place = Place(str(path.relative_to(root)) if path.is_relative_to(root) else path.name)
    text = _text(path, place, findings)
    if text is None:
        return Table(place, (), ())
    rows = _objects(text, place, findings) if format_of(path) == ".jsonl" else _cells(text, path, place, findings)
    found = tuple(rows)
    if not found and not any(fault.place.file == place.file for fault in findings.faults):
        findings.fault(place, "empty file", "no rows", "fill it, or remove it")
    return Table(place, tuple(dict.fromkeys(name for row in found for name in row.cells)), found)


def folded(name: str) -> str:
    """A column's name in lower case, with underscores."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def _text(path: Path, place: Place, findings: Findings) -> str | None:
    try:
        raw = path.read_bytes()
        if raw.startswith(b"\x1f\x8b"):
            raw = gzip.decompress(raw)
    except (OSError, EOFError, zlib.error) as error:
        findings.fault(place, "unreadable file", str(error), "check its permissions, or copy it again")
        return None
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        found = "UTF-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else f"the byte 0x{raw[error.start]:02x}"
        findings.fault(Place(place.file, line), "wrong encoding", f"{found}, not UTF-8", "save the file as UTF-8")
        return None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        findings.fault(Place(place.file, line), "no text file", "a zero byte", "export the data as CSV or JSON lines")
        return None
    return text


def _objects(text: str, place: Place, findings: Findings) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        here = Place(place.file, number)
        try:
            content = json.loads(line)
        except ValueError as error:
            findings.fault(here, "no JSON", str(error), "write one JSON object a line")
            continue
        if not isinstance(content, dict):
            findings.fault(here, "no JSON object", f"a {type(content).__name__}", "write one JSON object a line")
            continue
        if (half := _half_character(content)) is not None:
            found = f"\\u{ord(half):04x}, half of a character"
            findings.fault(here, "broken character", found, "write the character whole, or remove it")
            continue
        extra = content.pop("metadata", None)
        own = {folded(str(name)): _said(value) for name, value in content.items()}
        beside = {folded(str(name)): _said(value) for name, value in extra.items()} if isinstance(extra, dict) else {}
        yield Row(here, beside | own)


def _half_character(content: dict[str, Any]) -> str | None:
    """A surrogate without its other half, which JSON can escape and no file can hold."""
    try:
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        return str(error.object[error.start])
    return None


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, list):
        return "; ".join(_said(each) for each in value)
    return "" if value is None or isinstance(value, dict) else str(value).strip()


def _cells(text: str, path: Path, place: Place, findings: Findings) -> Iterator[Row]:
    csv.field_size_limit(_LONGEST_CELL)
    first = text.partition("\n")[0]
    if format_of(path) == ".tsv":
        reader = csv.reader(io.StringIO(text, newline=""), delimiter="\t", quoting=csv.QUOTE_NONE)
    else:
        best = max(_DELIMITERS, key=first.count)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=best, strict=True)
    header: list[str] = []
    begins = 1
    try:
        for cells in reader:
            here, begins = Place(place.file, begins), reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            if not header:
                header = [folded(cell) for cell in cells]
                _check_header(header, here, findings)
            elif len(cells) != len(header):
                found = f"{len(cells)} cells where the header has {len(header)}"
                findings.fault(here, "broken row", found, "put cells that hold commas or line breaks in quotes")
            else:
                yield Row(here, {name: cell.strip() for name, cell in zip(header, cells, strict=True) if name})
    except csv.Error as error:
        findings.fault(Place(place.file, begins), "broken quotes", str(error), 'write a quote inside a cell as ""')


def _check_header(header: list[str], here: Place, findings: Findings) -> None:
    for name in dict.fromkeys(header):
        if name and header.count(name) > 1:
            findings.fault(here, "repeated column", f"'{name}' twice", "give each column a name of its own")


__all__ = ["SUFFIXES", "Row", "Table", "folded", "format_of", "read_table"]
