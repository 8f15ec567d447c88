"""The files of an audit log: which there are, where they end, and whether their chain holds."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from auscult.errors import DataError
from auscult.files.json_text import parse_json


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
    """What a check of a log has found.

    Attributes:
        records: How many are whole.
        files: In how many files.
        problem: What is wrong first; empty where nothing is.
        sealed: Whether seals were checked.
    """

    records: int
    files: int
    problem: str
    sealed: bool


def head_of(path: Path) -> Path:
    """The file that says how far a log goes."""
    return path.with_name(f"{path.name}.head")


def following(path: Path, number: int) -> Path:
    """A log's file by its number, from 1."""
    return path if number == 1 else path.with_name(f"{path.stem}.{number}{path.suffix}")


def files_of(path: Path) -> list[Path]:
    """The files of a log that are there, in order, without a gap."""
    found: list[Path] = []
    while (file := following(path, len(found) + 1)).exists():
        found.append(file)
    return found


def last_of(path: Path) -> tuple[Path, int]:
    """The last file of a log and its number; the first where there is none yet.

    Raises:
        DataError: A file between is missing.
    """
    number = max(len(files_of(path)), 1)
    pattern = re.compile(rf"{re.escape(path.stem)}\.(\d+){re.escape(path.suffix)}")
    beside = path.parent.iterdir() if path.parent.is_dir() else ()
    highest = max((int(match[1]) for each in beside if (match := pattern.fullmatch(each.name))), default=1)
    if highest > number:
        raise DataError(f"all files of the audit log {path}", f"none of number {number + 1}", "put it back")
    return following(path, number), number


def read_tail(file: Path, before: Tail = FIRST) -> Tail:
    """Where a file ends; `before` where it holds nothing.

    Raises:
        ValueError, KeyError: Its last line is no record.
    """
    with file.open("rb") as opened:
        size = opened.seek(0, 2)
        # A record is far shorter; a longer one is found in a larger piece.
        piece = min(size, 1 << 16)
        while True:
            opened.seek(size - piece)
            content = opened.read(piece)
            whole = content[: content.rfind(b"\n") + 1]
            if whole.count(b"\n") > 1 or piece == size:
                break
            piece = min(size, 4 * piece)
    torn = len(whole) < len(content)
    if not whole:
        return before._replace(size=0, torn=torn)
    line = whole[:-1].rpartition(b"\n")[2]
    return Tail(
        int(parse_json(line)["seq"]), hashlib.sha256(line).hexdigest(), size - (len(content) - len(whole)), torn
    )


def seal(told: Mapping[str, Any], key: bytes) -> str:
    """Over a record or a head without its seal."""
    bare = {name: value for name, value in told.items() if name != "seal"}
    return hmac.digest(key, json.dumps(bare, sort_keys=True).encode(), "sha256").hex()


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a log, of all its files.

    Raises:
        DataError: There is none, or a line is no record.
    """
    files = files_of(path)
    if not files:
        raise DataError(f"an audit log at {path}", "no such file", "name the log's first file")
    for file in files:
        with file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                try:
                    found = parse_json(line)
                    found["seq"] + 0
                except (ValueError, KeyError, TypeError) as error:
                    remedy = f"see what is wrong: auscult audit verify {path}"
                    raise DataError(f"a record in line {number} of {file}", "something else", remedy) from error
                yield found


def verify(path: Path, key: bytes | None = None) -> Found:
    """Check a log from its first record to its head.

    Args:
        path: Of its first file.
        key: For seals; None to check the chain alone.

    Raises:
        DataError: There is no log.
    """
    last_of(path)
    files = files_of(path)
    if not files:
        raise DataError(f"an audit log at {path}", "no such file", "name the log's first file")
    seq, before = FIRST.seq, FIRST.hash
    for file in files:
        with file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                problem = _problem(line, seq + 1, before, key)
                if problem:
                    return Found(seq, len(files), f"{file.name}, line {number}: {problem}", key is not None)
                seq, before = seq + 1, hashlib.sha256(line[:-1]).hexdigest()
    return Found(seq, len(files), _problem_of_head(path, seq, before, key), key is not None)


def _problem(line: bytes, seq: int, before: str, key: bytes | None) -> str:
    if not line.endswith(b"\n"):
        return "half a record, as of a machine that stopped; nobody was answered for it"
    try:
        found = parse_json(line)
        told = (found["seq"], found["previous"], found.get("seal", ""))
    except (ValueError, KeyError, TypeError, AttributeError):
        return "no record"
    if told[0] != seq:
        return f"record {told[0]} where {seq} should be: lines were removed or put in"
    if told[1] != before:
        return "it does not follow the line before it: that one was changed"
    if key is not None and not hmac.compare_digest(str(told[2]), seal(found, key)):
        return "its seal is not of this key: it was changed, or written without the key"
    return ""


def _problem_of_head(path: Path, seq: int, last: str, key: bytes | None) -> str:
    try:
        head = parse_json(head_of(path).read_bytes())
        told, named = int(head["seq"]), str(head["hash"])
    except (OSError, ValueError, KeyError, TypeError):
        return f"{head_of(path).name}: no head, so that a missing end would not show"
    if told > seq or (told == seq and named != last):
        return f"{told} records were written, {seq} are there: the end is missing or was changed"
    if key is not None and not hmac.compare_digest(str(head.get("seal", "")), seal(head, key)):
        return f"{head_of(path).name}: its seal is not of this key"
    return ""
