"""Read JSON lines as records; raise an error for invalid ones, or skip and count them."""

from __future__ import annotations

import codecs
import gzip
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

from auscult.errors import CorpusMissingError, DataError
from auscult.files.limits import TooLargeError
from auscult.files.reading import Unpacked, lines_within, open_unpacked

_PROBE = 4096
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
LEAVE_OUT = "or leave it out (--skip-bad; 'skip_bad: true' of a corpus in an experiment file)"
REMEDY = f"correct it, {LEAVE_OUT}"
# The first bytes of files of other kinds.
_OTHERS = {
    b"%PDF": "a PDF",
    b"PK\x03\x04": "a zip archive, as files of office programs are",
    b"\xd0\xcf\x11\xe0": "a file of an office program",
    b"{\\rtf": "rich text",
    b"<": "HTML or XML",
}
_ONE_A_LINE = "one JSON object a line, not an array or an object over several lines"


class RecordError(DataError):
    """A line of a file does not contain a usable record.

    Args:
        kind: The kind of error in two or three words; errors are counted by kind under `skip_bad`.
        expected: The expected content.
        got: The actual content, with file and line.
        remedy: What to do about it.
    """

    def __init__(self, kind: str, expected: str, got: str, remedy: str) -> None:
        self.kind = kind
        super().__init__(expected, got, remedy)


class _BinaryFileError(RecordError):
    """The whole file is of another kind."""


class _RepeatedNameError(Exception):
    """A JSON object has two fields of one name."""


@dataclass(slots=True)
class BadRecords:
    """Counts and examples of skipped records, by kind of error.

    Attributes:
        counts: Number of skipped records of each kind.
        examples: The first messages of each kind.
        keep: Maximum number of messages of each kind.
    """

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)
    keep: int = 3

    @property
    def total(self) -> int:
        """Return the number of skipped records."""
        return self.counts.total()

    def add(self, error: RecordError) -> None:
        """Count one bad record."""
        self.count(error.kind, error.got)

    def count(self, kind: str, which: str) -> None:
        """Count a skipped item by its kind; `which` describes it and its place."""
        self.counts[kind] += 1
        examples = self.examples.setdefault(kind, [])
        if len(examples) < self.keep:
            examples.append(which)

    def lines(self) -> list[str]:
        """Return one readable line for each kind: the count, the kind and the first place."""
        return [f"{n} x {kind}, first: {self.examples[kind][0]}" for kind, n in self.counts.most_common()]


def left_out(corpus: object) -> list[str]:
    """Return one line for each kind of records that a corpus has skipped so far; none if it does not count them."""
    bad = getattr(corpus, "bad", None)
    return bad.lines() if isinstance(bad, BadRecords) else []


def reject(kind: str, where: str, expected: str, got: str, remedy: str = REMEDY) -> NoReturn:
    """Raise a `RecordError` in the words that all readers share.

    Args:
        kind: Kind of error, for the count under `skip_bad`.
        where: File and line.
        expected: The expected content, as a noun phrase.
        got: The actual content, as a noun phrase.
        remedy: What to do about it; by default, to correct the record or leave it out.

    Raises:
        RecordError: Always.
    """
    raise RecordError(kind, expected, f"{got} ({where})", remedy)


def check_id(identifier: str, where: str) -> str:
    """Return an id if other files, terminals and databases can represent it.

    Raises:
        RecordError: It contains a control character.
    """
    if _CONTROL.search(identifier):
        reject("unusable id", where, "an id without control characters", repr(identifier))
    return identifier


@dataclass(frozen=True, slots=True)
class Record:
    """A JSON object of a file, with its place.

    Attributes:
        line: Line number, from 1.
    """

    path: Path
    line: int
    fields: Mapping[str, Any]

    @property
    def where(self) -> str:
        """File and line, for messages."""
        return f"{self.path}, line {self.line}"

    def text(self, name: str, default: str | None = None) -> str:
        """Return a string field; numbers are not strings.

        Args:
            name: The field.
            default: Value if the field is absent or null; without a default the field is required.

        Returns:
            The string.

        Raises:
            RecordError: The field is missing, or not a string.
        """
        value = self.fields.get(name)
        if value is None and default is not None:
            return default
        if value is None:
            reject("missing field", self.where, f"a field '{name}'", "a record without it")
        if not isinstance(value, str):
            reject("wrong type", self.where, f"a string in '{name}'", f"a {type(value).__name__}")
        return value

    def records(self, name: str) -> list[Record]:
        """Return a required field with a list of objects.

        Raises:
            RecordError: The field is missing, not a list, or contains anything but objects.
        """
        value = self.fields.get(name)
        if value is None:
            reject("missing field", self.where, f"a field '{name}'", "a record without it")
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            reject("wrong type", self.where, f"a list of objects in '{name}'", "something else")
        return [type(self)(self.path, self.line, item) for item in value]

    def texts(self, name: str) -> tuple[str, ...]:
        """Return an optional field with a list of strings; empty if it is absent or null.

        Raises:
            RecordError: The field is not a list of strings.
        """
        value = self.fields.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            reject("wrong type", self.where, f"a list of strings in '{name}'", "something else")
        return tuple(value)


def read_records(path: Path | str, *, skip_bad: bool = False, report: BadRecords | None = None) -> Iterator[Record]:
    """Yield the objects of a JSON lines file, plain or gzip-compressed (recognised by content, not by name).

    Only one line is in memory at a time. Empty lines and a byte order mark are ignored.

    Args:
        path: The file.
        skip_bad: Whether to skip invalid lines instead of raising. Nothing is read after damage to the file itself
            (binary content, a truncated gzip stream) or after a line that is too large.
        report: Counter of skipped lines.

    Yields:
        Records in file order.

    Raises:
        CorpusMissingError: There is no such file.
        RecordError: A line is not UTF-8, not JSON or not an object, or is too large (`files.limits`), or the file is
            damaged; names file and line.
    """
    path = Path(path)
    number = 0
    try:
        with _open(path) as lines:
            for number, line in enumerate(lines_within(lines, path), start=1):
                try:
                    fields = _parse(
                        line.removeprefix(codecs.BOM_UTF8) if number == 1 else line, f"{path}, line {number}"
                    )
                except RecordError as bad:
                    settle(bad, skip_bad, report)
                    continue
                if fields is not None:
                    yield Record(path, number, fields)
    except (EOFError, gzip.BadGzipFile, zlib.error) as damage:
        got = f"a damaged one: {damage} ({path}, line {number + 1})"
        error = RecordError("damaged file", "a whole gzip stream", got, "fetch the file again")
        settle(error, skip_bad, report)
    except _BinaryFileError as binary:
        settle(binary, skip_bad, report)
    except TooLargeError as error:
        settle(too_large(error), skip_bad, report)


def too_large(error: TooLargeError) -> RecordError:
    """Return an error for a record that is too large, which can be skipped."""
    return RecordError(f"{error.name} too large", error.expected, error.got, f"{error.remedy}, {LEAVE_OUT}")


def settle(error: RecordError, skip_bad: bool, report: BadRecords | None) -> None:
    """Raise an error, or count it if invalid records are skipped."""
    if not skip_bad:
        raise error
    if report is not None:
        report.add(error)


def _open(path: Path) -> Unpacked:
    if not path.is_file():
        got = "a folder" if path.is_dir() else "no such file"
        raise CorpusMissingError(f"a JSON lines file at {path}", got, "correct the path")
    try:
        stream = open_unpacked(path)
    except PermissionError as error:
        raise DataError(f"a readable file at {path}", str(error.strerror), "correct its permissions") from error
    head = stream.peek(_PROBE)[:_PROBE]
    begin = head.removeprefix(codecs.BOM_UTF8).lstrip()
    if kind := next((kind for begins, kind in _OTHERS.items() if begin.startswith(begins)), ""):
        stream.close()
        remedy = "write its text into a text file (*.txt), and name the folder of such files"
        raise _BinaryFileError("file of another kind", "JSON lines in UTF-8", f"{kind} ({path}, line 1)", remedy)
    if b"\x00" in head:
        # An image or UTF-16: one error about the file instead of one for each of its thousand "lines".
        stream.close()
        got = f"binary content ({path}, line 1)"
        raise _BinaryFileError("binary file", "JSON lines in UTF-8", got, "unpack or convert the file")
    return stream


def _refuse_repeats(fields: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make an object of fields with distinct names; otherwise a value would be lost silently."""
    record = dict(fields)
    if len(record) != len(fields):
        names = [name for name, _ in fields]
        raise _RepeatedNameError(max(names, key=names.count))
    return record


def _parse(line: bytes, where: str) -> dict[str, Any] | None:
    """Parse one line as an object; None for an empty line."""
    if not line.strip():
        return None
    try:
        value = json.loads(line.decode("utf-8"), object_pairs_hook=_refuse_repeats)
        if rb"\ud" in line or rb"\uD" in line:
            # JSON allows unpaired surrogates, but they cannot be written as UTF-8.
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as error:
        reject("invalid UTF-8", where, "text in UTF-8", f"byte 0x{line[error.start]:02x} at position {error.start}")
    except UnicodeEncodeError:
        reject("invalid Unicode", where, "whole Unicode characters", "half a surrogate pair")
    except _RepeatedNameError as error:
        reject("repeated field", where, "an object whose fields have different names", f"two called {str(error)!r}")
    except RecursionError:
        reject("malformed JSON", where, "a JSON object", "brackets nested too deeply")
    except json.JSONDecodeError as error:
        # A line that is valid up to its end is the beginning of something longer.
        begun = error.pos >= len(error.doc.rstrip()) and error.doc.lstrip().startswith(("[", "{"))
        expected = _ONE_A_LINE if begun else "a JSON object"
        reject("malformed JSON", where, expected, f"malformed JSON: {error}")
    except ValueError as error:
        reject("malformed JSON", where, "a JSON object", f"malformed JSON: {error}")
    if not isinstance(value, dict):
        expected = _ONE_A_LINE if isinstance(value, list) else "a JSON object"
        reject("not an object", where, expected, f"a JSON {type(value).__name__}")
    return value


def read_many(paths: Iterable[Path], *, skip_bad: bool = False, report: BadRecords | None = None) -> Iterator[Record]:
    """Yield the records of several files, one file after the other; see `read_records`."""
    for path in paths:
        yield from read_records(path, skip_bad=skip_bad, report=report)
