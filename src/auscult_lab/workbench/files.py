"""Files of a user's data: the role of each by its name, and its rows in any format.

Files have questions, passages, judgements, or all three joined. Formats are CSV, TSV and JSON lines, plain or
gzip-compressed. Column names are folded to lower case and underscores, so that "Question ID", "question-id" and
"question_id" are equal.
"""

from __future__ import annotations

import csv
import io
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from auscult.errors import CorpusMissingError, DataError
from auscult.files.reading import open_unpacked, read_cells, separator_of
from auscult_lab.workbench.userdata import Findings, Place

SUFFIXES = (".csv", ".tsv", ".jsonl")
"""Formats that are read; each may be followed by `.gz`."""
_SEPARATORS = ",;\t|"
# Passages may be whole pages; the csv module's default limit is 131,072 characters.
_LONGEST_CELL = 10_000_000
# A cell and its end. Quotes count where a cell begins and ends with them, as spreadsheets write cells with tabs, line
# breaks or quotes; other quotes are part of the text, as in BEIR's files.
_TABBED_CELL = re.compile(r'(?:"((?:[^"]++|"")*+)"|([^\t\r\n]*))(\t|\r\n?|\n|\Z)')


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table, or one object of JSON lines, with every value as text.

    Attributes:
        objects: Columns whose value is an object instead of text.
    """

    place: Place
    cells: Mapping[str, str]
    objects: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Table:
    """A file's rows.

    Attributes:
        place: The file.
        columns: Folded names of columns, in order; for JSON lines, of all objects.
        rows: In the file's order.
    """

    place: Place
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def format_of(path: Path) -> str:
    """Return the format from a file's name: one of `SUFFIXES`, or empty."""
    suffix = Path(path.name.removesuffix(".gz")).suffix.lower()
    return suffix if suffix in SUFFIXES else ""


def read_table(path: Path, root: Path, findings: Findings) -> Table:
    """Read a whole file; unreadable parts become faults.

    Args:
        path: The file.
        root: Folder to which names of places are relative.
        findings: Collects faults.
    """
    place = Place(str(path.relative_to(root)) if path.is_relative_to(root) else path.name)
    text = _read_text(path, place, findings)
    if text is None:
        return Table(place, (), ())
    rows = (
        _read_objects(text, place, findings) if format_of(path) == ".jsonl" else _read_rows(text, path, place, findings)
    )
    found = tuple(rows)
    if not found and not any(fault.place.file == place.file for fault in findings.faults):
        findings.fault(place, "empty file", "no rows", "fill it, or remove it")
    return Table(place, tuple(dict.fromkeys(name for row in found for name in row.cells)), found)


def fold_name(name: str) -> str:
    """Return a column's name in lower case, with underscores."""
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def _read_text(path: Path, place: Place, findings: Findings) -> str | None:
    try:
        with open_unpacked(path) as stream:
            raw = stream.read()
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


def _read_objects(text: str, place: Place, findings: Findings) -> Iterator[Row]:
    if text.lstrip().startswith("["):
        # Perhaps JSON over many lines, none of which is valid alone.
        findings.fault(place, "no JSON object", "an array", "write one JSON object a line")
        return
    for number, line in enumerate(text.split("\n"), start=1):
        here = Place(place.file, number)
        try:
            row = _read_object(line, here, findings) if line.strip() else None
        except RecursionError:
            findings.fault(here, "no JSON", "objects or lists in each other, too deep", "write values as text")
            continue
        if row is not None:
            yield row


def _read_object(line: str, here: Place, findings: Findings) -> Row | None:
    try:
        content = json.loads(line)
    except ValueError as error:
        findings.fault(here, "no JSON", str(error), "write one JSON object a line")
        return None
    if not isinstance(content, dict):
        findings.fault(here, "no JSON object", f"a {type(content).__name__}", "write one JSON object a line")
        return None
    if (half := _find_half_character(content)) is not None:
        found = f"\\u{ord(half):04x}, half of a character"
        findings.fault(here, "broken character", found, "write the character whole, or remove it")
        return None
    extra = content.pop("metadata", None)
    beside = extra if isinstance(extra, dict) else {}
    # Fields of the object itself take precedence.
    values = {fold_name(str(name)): value for own in (beside, content) for name, value in own.items()}
    objects = frozenset(name for name, value in values.items() if isinstance(value, dict))
    return Row(here, {name: _to_text(value) for name, value in values.items()}, objects)


def _find_half_character(content: dict[str, Any]) -> str | None:
    """Return a lone surrogate, which JSON can escape but no UTF-8 file can contain."""
    try:
        json.dumps(content, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        return str(error.object[error.start])
    return None


def _to_text(value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, list):
        return "; ".join(_to_text(each) for each in value)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value).strip()


def _read_rows(text: str, path: Path, place: Place, findings: Findings) -> Iterator[Row]:
    records = _split_tabs(text) if format_of(path) == ".tsv" else _split_delimited(text, place, findings)
    header: list[str] = []
    for line, cells in records:
        here = Place(place.file, line)
        if not any(cell.strip() for cell in cells):
            continue
        if not header:
            header = [fold_name(cell) for cell in cells]
            for name in dict.fromkeys(header):
                if name and header.count(name) > 1:
                    findings.fault(here, "repeated column", f"'{name}' twice", "give each column a name of its own")
        elif len(cells) != len(header):
            found = f"{len(cells)} cells where the header has {len(header)}"
            findings.fault(here, "broken row", found, "put cells that hold commas or line breaks in quotes")
        else:
            yield Row(here, {name: cell.strip() for name, cell in zip(header, cells, strict=True) if name})


def _split_tabs(text: str) -> Iterator[tuple[int, list[str]]]:
    """Return the cells of each row of a TSV, with the row's first line."""
    cells: list[str] = []
    begins = line = 1
    for match in _TABBED_CELL.finditer(text):
        quoted, plain, end = match.groups()
        cells.append(plain if quoted is None else quoted.replace('""', '"'))
        line += match[0].count("\n")
        if end != "\t":
            yield begins, cells
            begins, cells = line, []


def _split_delimited(text: str, place: Place, findings: Findings) -> Iterator[tuple[int, list[str]]]:
    """Return the cells of each row of a CSV, with the row's first line, up to the first unreadable row."""
    separator = separator_of(text.partition("\n")[0], _SEPARATORS)
    begins = 1
    try:
        for ends, cells in read_cells(io.StringIO(text, newline=""), separator, longest=_LONGEST_CELL):
            yield begins, cells
            begins = ends + 1
    except csv.Error as error:
        here = Place(place.file, begins)
        if "field limit" in str(error):
            remedy = "divide the passage, or look for a quote that is never closed"
            findings.fault(here, "cell too long", f"more than {_LONGEST_CELL:,} characters", remedy)
        else:
            findings.fault(here, "broken quotes", str(error), 'write a quote inside a cell as ""')


_NAMES = {
    "passages": "corpus|passages?|documents?|docs|collection|paragraphs?|answers|sections",
    "questions": "queries|query|questions?|topics",
    "judgements": "qrels?|judgements?|judgments?|relevance|labels?|ratings",
}
_SPLIT_NAMES = {
    "train": "train", "training": "train",
    "dev": "dev", "valid": "dev", "val": "dev", "validation": "dev", "development": "dev",
    "test": "test", "testing": "test", "eval": "test",
}  # fmt: skip
_EXPECTED = f"questions, passages and judgements as {', '.join(SUFFIXES)}"

_NAMED = 5


@dataclass(frozen=True, slots=True)
class Layout:
    """Files by role; files of questions, judgements or joined rows with the split of their name.

    Files that are not read are `unnamed`, where their names give no role, or of `other_formats`.
    """

    root: Path
    passages: list[Path] = field(default_factory=list)
    questions: list[tuple[Path, str]] = field(default_factory=list)
    judgements: list[tuple[Path, str]] = field(default_factory=list)
    joined: list[tuple[Path, str]] = field(default_factory=list)
    unnamed: list[Path] = field(default_factory=list)
    other_formats: list[Path] = field(default_factory=list)

    @property
    def files(self) -> list[Path]:
        """All files that are read."""
        return [*self.passages, *(path for path, _ in (*self.questions, *self.judgements, *self.joined))]


def find_layout(path: Path) -> Layout:
    """Return the layout of a folder by its file names, or of a single joined file.

    Args:
        path: A folder (BEIR's, or files of those names), or one joined file.

    Raises:
        CorpusMissingError: There is no file, no readable file, or a part is missing.
        DataError: The folder cannot be listed.
    """
    try:
        return _sort_files(path)
    except OSError as error:
        found = f"{error.filename or path} ({error.strerror})"
        raise DataError("a folder that may be read", found, "correct its permissions") from error


def _sort_files(path: Path) -> Layout:
    if not path.exists():
        raise CorpusMissingError(f"{_EXPECTED} at {path}", "no such file or folder", "correct the path")
    if path.is_file():
        if not format_of(path):
            raise CorpusMissingError(_EXPECTED, str(path), "export it as CSV or JSON lines")
        return Layout(path.parent, joined=[(path, "")])
    files = _list_files(path)
    readable = [file for file in files if format_of(file)]
    layout = Layout(path, other_formats=[file for file in files if not format_of(file)])
    for file in readable:
        role, split = _find_role(file)
        if role == "passages":
            layout.passages.append(file)
        elif role:
            getattr(layout, role).append((file, split))
        else:
            layout.unnamed.append(file)
    if not (layout.passages or layout.questions or layout.judgements):
        return _find_joined(path, readable, layout.other_formats)
    missing = [name for name in _NAMES if not getattr(layout, name)]
    if missing:
        have = ", ".join(file.name for file in layout.files)
        remedy = f"add a file named {' and one named '.join(missing)} (.csv or .jsonl), or give one joined file"
        raise CorpusMissingError(f"files of passages, questions and judgements in {path}", f"only {have}", remedy)
    return layout


def split_name(said: str) -> str:
    """Return "train", "dev" or "test" for any of their usual names; empty for other words."""
    return _SPLIT_NAMES.get(said.strip().lower(), "")


def _list_files(folder: Path) -> list[Path]:
    """Return the files in a folder and in its folders of judgements, without hidden ones."""
    inner = [sub for sub in sorted(folder.iterdir()) if sub.is_dir() and re.fullmatch(_NAMES["judgements"], sub.name)]
    found = (file for place in (folder, *inner) for file in sorted(place.iterdir()))
    return [file for file in found if file.is_file() and not file.name.startswith(".")]


def _find_role(file: Path) -> tuple[str, str]:
    """Return the role of a file ("passages", "questions", "judgements" or none) and its split."""
    stem = file.name.removesuffix(".gz").rsplit(".", 1)[0].lower()
    if re.fullmatch(_NAMES["judgements"], file.parent.name):
        return "judgements", split_name(stem)
    words = [word for word in re.split(r"[^a-z]+", stem) if word]
    split = next((split_name(word) for word in words if split_name(word)), "")
    for role, names in _NAMES.items():
        if any(re.fullmatch(names, word) for word in words):
            return role, split
    return "", split


def _find_joined(folder: Path, readable: list[Path], other_formats: list[Path]) -> Layout:
    files = [(file, _find_role(file)[1]) for file in readable]
    if not files:
        names = ", ".join(file.name for file in other_formats[:_NAMED])
        more = f" and {len(other_formats) - _NAMED:,} more" if len(other_formats) > _NAMED else ""
        found = f"only {names}{more}" if other_formats else "none"
        raise CorpusMissingError(f"{_EXPECTED} in {folder}", found, "export them as CSV or JSON lines")
    if len(files) > 1 and not all(split for _, split in files):
        names = ", ".join(file.name for file, _ in files)
        remedy = "name them passages, questions and judgements, or keep one joined file"
        raise CorpusMissingError("files whose names say what they hold", names, remedy)
    return Layout(folder, joined=files, other_formats=other_formats)
