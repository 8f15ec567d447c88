"""The files of an audit log: which there are, where they end, and whether they are whole."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from auscult.errors import DataError
from auscult.files.json_text import parse_json
from auscult.service.audit_heads import Kept, head_of, read_head, same_seal, seal

_LONGEST: Final = 1 << 26
_ABRUPT: Final = "half a record, as of a machine that stopped; nobody was answered for it"
GAP: Final = "gap"
"""The action of a log's first record, where an operator has accepted that records before it are lost."""


class Tail(NamedTuple):
    """Where a log ends.

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


class Found(NamedTuple):
    """The result of checking a log.

    Attributes:
        records: How many were checked and are whole.
        files: How many files the log has.
        problem: What is wrong first; empty where nothing is.
        sealed: Whether seals were checked.
        gap: What a log that follows a lost one says of it; empty for a log that has its beginning.
        agreeing: How many kept heads are of records in the log, and agree.
        before: How many kept heads are of records before the gap, which cannot be compared.
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
    """Return the files of a log that are there, in order, up to the first that is missing."""
    found: list[Path] = []
    while (file := following(path, len(found) + 1)).exists():
        found.append(file)
    return found


def all_files_of(path: Path) -> list[Path]:
    """Return the files of a log that are there, in order, beyond missing ones, too."""
    pattern = re.compile(rf"{re.escape(path.stem)}\.([1-9]\d{{0,8}}){re.escape(path.suffix)}")
    beside = path.parent.iterdir() if path.parent.is_dir() else ()
    later = sorted((int(match[1]), each) for each in beside if (match := pattern.fullmatch(each.name)))
    return [*([path] if path.exists() else []), *(each for number, each in later if number > 1)]


def records(path: Path) -> Iterator[dict[str, Any]]:
    """Return the records of a log, of all its files.

    Raises:
        DataError: There is none, or a line is no record.
    """
    files = files_of(path)
    if not files:
        raise DataError(f"an audit log at {path}", "no such file", "name the log's first file")
    for file in files:
        with file.open("rb") as lines:
            for number, line in enumerate(_lines(lines), 1):
                try:
                    yield _record(line)
                except ValueError as error:
                    remedy = f"see what is wrong: auscult audit verify {path}"
                    raise DataError(f"a record in line {number} of {file}", "something else", remedy) from error


def verify(
    path: Path,
    key: bytes | None = None,
    *,
    counter: Path | None = None,
    kept: Sequence[Kept] = (),
    starting: bool = False,
) -> Found:
    """Check a log against its head, its counter, and heads that were kept elsewhere.

    Args:
        path: Its first file.
        key: For seals; None to check without them.
        counter: The file of its counter; None to check without it.
        kept: Heads that were kept elsewhere.
        starting: Check as a service that starts: of long logs the last file, and how files before follow each other. No
            log is a new one, and half a record at the end is none.

    Raises:
        DataError: There is no log, though `starting` is not set.
    """
    places = [("its head", head_of(path)), *([("its counter", counter)] if counter else [])]
    heads: list[Kept] = []
    missing = ""
    # Heads first: a service may go on writing meanwhile, and a log may be ahead of its head.
    for where, place in places:
        if not place.exists():
            missing = missing or f"{where} ({place}) is missing, so that a missing end would not show"
            continue
        try:
            heads.append(Kept(where, read_head(place, where)))
        except DataError as error:
            return Found(0, 0, f"{where} ({place}) cannot be used: {error.got}", key is not None)
    files, present = files_of(path), all_files_of(path)
    if not present and not starting:
        raise DataError(f"an audit log at {path}", "no such file", "name the log's first file")
    if len(files) < len(present):
        return Found(
            0, len(files), f"{following(path, len(files) + 1).name}, a file of it, is missing", key is not None
        )
    walk = _Walk(files, key, heads, kept)
    try:
        problem = walk.run(starting)
    except OSError as error:
        problem = f"{error.filename} cannot be read: {error.strerror}"
    if not problem and missing and (walk.end.seq or any(each.head.seq for each in (*heads, *kept))):
        problem = missing
    return Found(walk.records, len(files), problem, key is not None, walk.gap, walk.agreeing, walk.before, walk.end)


class _Walk:
    """Goes along a log and compares it with heads.

    Args:
        key: For seals; None to check without them.
        own: Heads that the service itself keeps up to date.
        kept: Others, which may be of records before a gap.
    """

    def __init__(self, files: Sequence[Path], key: bytes | None, own: Sequence[Kept], kept: Sequence[Kept]) -> None:
        self._files, self._key, self._own = files, key, own
        self._kept = [*own, *kept]
        self._wanted: defaultdict[int, list[Kept]] = defaultdict(list)
        for each in self._kept:
            self._wanted[each.head.seq].append(each)
        self.end = FIRST
        self.gap = ""
        self._head_holds_to = 0
        self.records = self.agreeing = self.before = 0

    def run(self, starting: bool) -> str:
        """Return what is wrong; empty where nothing is."""
        if problem := self._problem_of_seals(starting):
            return problem
        if starting:
            # A sealed head holds for all records before it, whose chain leads to it.
            self._head_holds_to = max((each.head.seq for each in self._own), default=0)
        begin = self._beginning()
        started = begin.seq
        first = self._first_file(begin.seq) if starting else 0
        if problem := self._problem_between_files(begin, first):
            return problem
        if first:
            begin = read_tail(self._files[first - 1], begin)
        self.end = begin._replace(size=0, torn=False)
        if problem := self._compare(begin.seq, begin.hash):
            return problem
        for file in self._files[first:]:
            if problem := self._problem_in(file, may_be_torn=starting and file == self._files[-1]):
                return problem
        for seq in sorted(self._wanted):
            if seq > self.end.seq:
                where = self._wanted[seq][0].where
                return f"{where} knows {seq} records, {self.end.seq} are there: the end is missing or was changed"
            self.before += len(self._wanted[seq])
        stale = next((each for each in self._own if each.head.seq < started), None)
        return "" if stale is None else f"{stale.where} is of records before the gap"

    def _problem_of_seals(self, starting: bool) -> str:
        for where, head in self._kept:
            if self._key is not None and not head.has_seal_of(self._key):
                return f"{where} has no seal of this key"
            if self._key is None and head.seal and starting:
                return f"{where} has a seal, and no key is named that would go on with it"
        return ""

    def _beginning(self) -> Tail:
        """Return what the first record follows: nothing, or a gap, which is noted."""
        if not self._files:
            return FIRST
        with self._files[0].open("rb") as lines:
            line = lines.readline(_LONGEST)
        try:
            record = _record(line)
        except ValueError:
            return FIRST
        if record.get("action") != GAP:
            return FIRST
        self.gap = f"it begins with record {record['seq']}, where a loss was accepted: {record.get('reason', '')}"
        # Its number is two beyond the last that was known, so that no kept head is of this log.
        return Tail(record["seq"] - 1, FIRST.hash, 0, False)

    def _first_file(self, begin: int) -> int:
        """Return the last file before which no head lies."""
        earliest = min((each.head.seq for each in self._kept if each.head.seq >= begin), default=begin)
        first = max(len(self._files) - 1, 0)
        while first:
            try:
                with self._files[first].open("rb") as lines:
                    if int(_record(lines.readline(_LONGEST))["seq"]) - 1 <= earliest:
                        break
            except ValueError:
                # Empty, or no record: what comes before tells.
                pass
            first -= 1
        return first

    def _problem_between_files(self, begin: Tail, first: int) -> str:
        before = begin
        for file in self._files[:first]:
            with file.open("rb") as lines:
                line = lines.readline(_LONGEST)
            try:
                if line and (problem := _problem(line, before.seq + 1, before.hash, self._key)):
                    return f"{file.name}, line 1: {problem}"
                before = read_tail(file, before)
            except ValueError:
                return f"{file.name}, its last line: no record"
            if before.torn:
                return f"{file.name}, its last line: {_ABRUPT}"
        return ""

    def _problem_in(self, file: Path, *, may_be_torn: bool) -> str:
        size = 0
        with file.open("rb") as lines:
            for number, line in enumerate(_lines(lines), 1):
                if may_be_torn and not line.endswith(b"\n") and len(line) <= _LONGEST:
                    self.end = self.end._replace(size=size, torn=True)
                    return ""
                key = self._key if self.end.seq >= self._head_holds_to else None
                problem = _problem(line, self.end.seq + 1, self.end.hash, key)
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
    """Return where a file ends; `before` where it holds nothing.

    Raises:
        ValueError: Its last line is no record.
    """
    with file.open("rb") as opened:
        size = opened.seek(0, 2)
        # A record is far shorter; a longer one is found in a larger piece.
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
    return Tail(int(_record(line)["seq"]), hashlib.sha256(line).hexdigest(), ends, torn)


def _lines(file: Any) -> Iterable[bytes]:
    """Return lines; one that is longer than any record in pieces, which are none."""
    return iter(lambda: file.readline(_LONGEST + 1), b"")


def _record(line: bytes) -> dict[str, Any]:
    found = parse_json(line)
    if not isinstance(found, dict) or type(found.get("seq")) is not int:
        raise ValueError("no record")
    return found


def _problem(line: bytes, seq: int, before: str, key: bytes | None) -> str:
    if len(line) > _LONGEST:
        return "longer than a record may be"
    if not line.endswith(b"\n"):
        return _ABRUPT
    try:
        found = _record(line)
    except ValueError:
        return "no record"
    if found["seq"] != seq:
        return f"another record where {seq} should be: lines were removed or put in"
    if found.get("previous") != before:
        return "it does not follow the line before it: that one was changed"
    if key is not None:
        its_own = seal(found, key)
        if not same_seal(str(found.get("seal", "")), its_own):
            return "its seal is not of this key: it was changed, or written without the key"
    return ""
