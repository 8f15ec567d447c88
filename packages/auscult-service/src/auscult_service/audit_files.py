"""The files of an audit log: list them, find their ends, and check that nothing was changed."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from auscult.errors import DataError
from auscult.files.json_text import parse_json
from auscult_service.audit_heads import KeptHead, head_of, read_head, same_seal, seal

_LONGEST: Final = 1 << 26
_ABRUPT: Final = "half a record, as of a machine that stopped; nobody was answered for it"
GAP: Final = "gap"
"""Action of the first record of a log that begins after a loss which an operator accepted."""


class Tail(NamedTuple):
    """The end of a log.

    Attributes:
        seq: Number of its last record; 0 before the first.
        hash: SHA-256 of its last line.
        size: Bytes of whole lines in its last file.
        torn: Whether half a line follows them.
    """

    seq: int
    hash: str
    size: int
    torn: bool


FIRST: Final = Tail(0, "0" * 64, 0, False)
"""Before the first record."""


class LogCheck(NamedTuple):
    """The result of checking a log.

    Attributes:
        records: Number of records that were checked and are intact.
        files: Number of files.
        problem: The first problem; empty where there is none.
        sealed: Whether seals were checked.
        gap: How a log that follows a lost one describes the loss; empty for a log with its beginning.
        agreeing: Number of kept heads that agree with a record of the log.
        before: Number of kept heads from before the gap, which cannot be compared.
        end: Where the log ends.
    """

    records: int
    files: int
    problem: str
    sealed: bool
    gap: str = ""
    agreeing: int = 0
    before: int = 0
    end: Tail = FIRST


def following(path: Path, number: int) -> Path:
    """Return a log's file by its number, from 1."""
    return path if number == 1 else path.with_name(f"{path.stem}.{number}{path.suffix}")


def files_of(path: Path) -> list[Path]:
    """Return the existing files of a log in order, up to the first that is missing."""
    files: list[Path] = []
    while (file := following(path, len(files) + 1)).exists():
        files.append(file)
    return files


def all_files_of(path: Path) -> list[Path]:
    """Return all existing files of a log in order, also those after a missing one."""
    pattern = re.compile(rf"{re.escape(path.stem)}\.([1-9]\d{{0,8}}){re.escape(path.suffix)}")
    beside = path.parent.iterdir() if path.parent.is_dir() else ()
    later = sorted((int(match[1]), each) for each in beside if (match := pattern.fullmatch(each.name)))
    return [*([path] if path.exists() else []), *(each for number, each in later if number > 1)]


def records(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the records of all files of a log.

    Raises:
        DataError: There is no log, or a line is not a record.
    """
    files = files_of(path)
    if not files:
        raise DataError(f"an audit log at {path}", "no such file", "name the log's first file")
    for file in files:
        with file.open("rb") as lines:
            for number, line in enumerate(_read_lines(lines), 1):
                try:
                    yield _parse_record(line)
                except ValueError as error:
                    remedy = f"see what is wrong: auscult audit verify {path}"
                    raise DataError(f"a record in line {number} of {file}", "something else", remedy) from error


def verify(
    path: Path,
    key: bytes | None = None,
    *,
    counter: Path | None = None,
    kept: Sequence[KeptHead] = (),
    starting: bool = False,
) -> LogCheck:
    """Check a log against its head, its counter, and heads that were kept elsewhere.

    Args:
        path: Its first file.
        key: Key of the seals; None to check without them.
        counter: The file of its counter; None to check without it.
        kept: Heads that were kept elsewhere.
        starting: Check as a service does when it starts. Of a long log, only the last file and the links between files
            are checked. A log that does not exist is a new one, and half a record at the end is ignored.

    Raises:
        DataError: There is no log, though `starting` is not set.
    """
    places = [("its head", head_of(path)), *([("its counter", counter)] if counter else [])]
    heads: list[KeptHead] = []
    missing = ""
    # Read the heads first: a service may be writing meanwhile, and a log may be ahead of its head.
    for where, place in places:
        if not place.exists():
            missing = missing or f"{where} ({place}) is missing, so that a missing end would not show"
            continue
        try:
            heads.append(KeptHead(where, read_head(place, where)))
        except DataError as error:
            return LogCheck(0, 0, f"{where} ({place}) cannot be used: {error.got}", key is not None)
    files, present = files_of(path), all_files_of(path)
    if not present and not starting:
        raise DataError(f"an audit log at {path}", "no such file", "name the log's first file")
    if len(files) < len(present):
        return LogCheck(
            0, len(files), f"{following(path, len(files) + 1).name}, a file of it, is missing", key is not None
        )
    walk = _Walk(files, key, heads, kept)
    try:
        problem = walk.run(starting)
    except OSError as error:
        problem = f"{error.filename} cannot be read: {error.strerror}"
    if not problem and missing and (walk.end.seq or any(each.head.seq for each in (*heads, *kept))):
        problem = missing
    return LogCheck(walk.records, len(files), problem, key is not None, walk.gap, walk.agreeing, walk.before, walk.end)


class _Walk:
    """Reads a log from its beginning and compares it with heads.

    Args:
        key: Key of the seals; None to check without them.
        own: Heads that the service itself keeps up to date.
        kept: Other heads, which may be from before a gap.
    """

    def __init__(
        self, files: Sequence[Path], key: bytes | None, own: Sequence[KeptHead], kept: Sequence[KeptHead]
    ) -> None:
        self._files, self._key, self._own = files, key, own
        self._kept = [*own, *kept]
        self._wanted: defaultdict[int, list[KeptHead]] = defaultdict(list)
        for entry in self._kept:
            self._wanted[entry.head.seq].append(entry)
        self.end = FIRST
        self.gap = ""
        self._head_holds_to = 0
        self.records = self.agreeing = self.before = 0

    def run(self, starting: bool) -> str:
        """Return the first problem; empty where there is none."""
        for where, head in self._kept:
            if self._key is not None and not head.has_seal_of(self._key):
                return f"{where} has no seal of this key"
            if self._key is None and head.seal and starting:
                return f"{where} has a seal, and no key is named that would go on with it"
        if starting:
            # A sealed head vouches for all records before it, as their chain leads to it.
            self._head_holds_to = max((entry.head.seq for entry in self._own), default=0)
        begin = self._find_beginning()
        started = begin.seq
        first = self._find_first_file(begin.seq) if starting else 0
        if problem := self._check_links(begin, first):
            return problem
        if first:
            begin = read_tail(self._files[first - 1], begin)
        self.end = begin._replace(size=0, torn=False)
        if problem := self._compare(begin.seq, begin.hash):
            return problem
        for file in self._files[first:]:
            if problem := self._check_file(file, may_be_torn=starting and file == self._files[-1]):
                return problem
        for seq in sorted(self._wanted):
            if seq > self.end.seq:
                where = self._wanted[seq][0].where
                return f"{where} knows {seq} records, {self.end.seq} are there: the end is missing or was changed"
            self.before += len(self._wanted[seq])
        stale = next((entry for entry in self._own if entry.head.seq < started), None)
        return "" if stale is None else f"{stale.where} is of records before the gap"

    def _find_beginning(self) -> Tail:
        """Return the tail that the first record follows: an empty one, or that of a gap, which is noted in `gap`."""
        if not self._files:
            return FIRST
        with self._files[0].open("rb") as lines:
            line = lines.readline(_LONGEST)
        try:
            record = _parse_record(line)
        except ValueError:
            return FIRST
        if record.get("action") != GAP:
            return FIRST
        self.gap = f"it begins with record {record['seq']}, where a loss was accepted: {record.get('reason', '')}"
        # Its number is two beyond the last known one, so that no kept head can match a record of this log.
        return Tail(record["seq"] - 1, FIRST.hash, 0, False)

    def _find_first_file(self, begin: int) -> int:
        """Return the number of the last file that begins before all heads."""
        earliest = min((each.head.seq for each in self._kept if each.head.seq >= begin), default=begin)
        first = max(len(self._files) - 1, 0)
        while first:
            try:
                with self._files[first].open("rb") as lines:
                    if int(_parse_record(lines.readline(_LONGEST))["seq"]) - 1 <= earliest:
                        break
            except ValueError:
                # The file is empty or its first line is not a record: try the file before.
                pass
            first -= 1
        return first

    def _check_links(self, begin: Tail, first: int) -> str:
        before = begin
        for file in self._files[:first]:
            with file.open("rb") as lines:
                line = lines.readline(_LONGEST)
            try:
                if line and (problem := _check_line(line, before.seq + 1, before.hash, self._key)):
                    return f"{file.name}, line 1: {problem}"
                before = read_tail(file, before)
            except ValueError:
                return f"{file.name}, its last line: no record"
            if before.torn:
                return f"{file.name}, its last line: {_ABRUPT}"
        return ""

    def _check_file(self, file: Path, *, may_be_torn: bool) -> str:
        size = 0
        with file.open("rb") as lines:
            for number, line in enumerate(_read_lines(lines), 1):
                if may_be_torn and not line.endswith(b"\n") and len(line) <= _LONGEST:
                    self.end = self.end._replace(size=size, torn=True)
                    return ""
                key = self._key if self.end.seq >= self._head_holds_to else None
                problem = _check_line(line, self.end.seq + 1, self.end.hash, key)
                if problem:
                    return f"{file.name}, line {number}: {problem}"
                size += len(line)
                self.end = Tail(self.end.seq + 1, hashlib.sha256(line[:-1]).hexdigest(), size, False)
                self.records += 1
                if problem := self._compare(self.end.seq, self.end.hash):
                    return problem
        if not size:
            self.end = self.end._replace(size=0)
        return ""

    def _compare(self, seq: int, digest: str) -> str:
        for where, head in self._wanted.pop(seq, ()):
            if head.hash != digest:
                return f"{where} knows another record {seq}: the log was written anew, or put back and gone on with"
            self.agreeing += (where, head) not in self._own
        return ""


def read_tail(file: Path, before: Tail = FIRST) -> Tail:
    """Return where a file ends; `before` where the file is empty.

    Raises:
        ValueError: Its last line is not a record.
    """
    with file.open("rb") as opened:
        size = opened.seek(0, 2)
        # Nearly all records are far shorter; a longer one is read in a larger piece.
        piece = min(size, 1 << 16)
        while True:
            opened.seek(size - piece)
            content = opened.read(piece)
            whole = content[: content.rfind(b"\n") + 1]
            if whole.count(b"\n") > 1 or piece == size or piece > _LONGEST:
                break
            piece = min(size, 4 * piece)
    torn = len(whole) < len(content)
    if not whole:
        return before._replace(size=0, torn=torn)
    line = whole[:-1].rpartition(b"\n")[2]
    ends = size - (len(content) - len(whole))
    return Tail(int(_parse_record(line)["seq"]), hashlib.sha256(line).hexdigest(), ends, torn)


def _read_lines(file: Any) -> Iterable[bytes]:
    """Return the lines of a file. A line longer than any record comes in pieces, none of which is a record."""
    return iter(lambda: file.readline(_LONGEST + 1), b"")


def _parse_record(line: bytes) -> dict[str, Any]:
    record = parse_json(line)
    if not isinstance(record, dict) or type(record.get("seq")) is not int:
        raise ValueError("no record")
    return record


def _check_line(line: bytes, seq: int, before: str, key: bytes | None) -> str:
    if len(line) > _LONGEST:
        return "longer than a record may be"
    if not line.endswith(b"\n"):
        return _ABRUPT
    try:
        record = _parse_record(line)
    except ValueError:
        return "no record"
    if record["seq"] != seq:
        return f"another record where {seq} should be: lines were removed or put in"
    if record.get("previous") != before:
        return "it does not follow the line before it: that one was changed"
    if key is not None:
        its_own = seal(record, key)
        if not same_seal(str(record.get("seal", "")), its_own):
            return "its seal is not of this key: it was changed, or written without the key"
    return ""
