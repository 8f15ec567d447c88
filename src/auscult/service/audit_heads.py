"""How far an audit log goes, as one line of JSON: the head beside the log, the counter elsewhere, the witness' copies.

A head holds a record's number and the SHA-256 of its line, and with it of all records before. With a key it has a seal.
The same line is kept in several places, so that somebody who changes one of them is told by the others.
"""

from __future__ import annotations

import hmac
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from auscult.errors import DataError
from auscult.files.json_text import parse_json

_BYTES: Final = 320
_LONGEST: Final = 4096
LARGEST: Final = 2**53
"""Numbers of records are below this: JSON holds them exactly."""
_HASH: Final = re.compile(r"[0-9a-f]{64}")
_NAMES: Final = frozenset({"seq", "hash", "at", "seal"})


class Head(NamedTuple):
    """The last record of a log at some time.

    Attributes:
        seq: Its number; 0 before the first.
        hash: SHA-256 of its line.
        at: When it was written (UTC).
        seal: HMAC-SHA-256 over the others; empty without a key.
    """

    seq: int
    hash: str
    at: str
    seal: str = ""

    def to_json(self) -> str:
        """Return it as one line."""
        return json.dumps({name: value for name, value in self._asdict().items() if value or name != "seal"})

    def sealed(self, key: bytes | None) -> Head:
        """Return it with the seal of a key; without one where there is no key."""
        return self._replace(seal="" if key is None else seal(self._asdict(), key))

    def has_seal_of(self, key: bytes) -> bool:
        """Check its seal."""
        return same_seal(self.seal, seal(self._asdict(), key))


class HeadFile:
    """A file of one head that is written in place, as long as a log is open.

    Args:
        path: Of the file; made where there is none.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)

    def write(self, head: Head, *, durably: bool = False) -> None:
        """Write a head over the one before; `durably` waits for the disk."""
        # One short write within a block, of one length always: it is there whole, or not at all.
        os.pwrite(self._descriptor, head.to_json().encode().ljust(_BYTES) + b"\n", 0)
        if durably:
            os.ftruncate(self._descriptor, _BYTES + 1)
            os.fsync(self._descriptor)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._descriptor)


def head_of(path: Path) -> Path:
    """Return the file beside a log that says how far it goes."""
    return path.with_name(f"{path.name}.head")


def parse_head(content: str | bytes, where: str) -> Head:
    """Read a head from its JSON.

    Args:
        content: One line of JSON.
        where: Names its place in an error.

    Raises:
        DataError: It is something else.
    """
    remedy = "put the right one back, or leave it out"
    expected = f'{where} to be {{"seq": NUMBER, "hash": SHA-256, "at": TIME}}'
    if len(content) > _LONGEST:
        raise DataError(expected, f"more than {_LONGEST:,} bytes", remedy)
    try:
        found = parse_json(content)
    except ValueError:
        raise DataError(expected, "no JSON", remedy) from None
    if not isinstance(found, dict):
        raise DataError(expected, f"JSON that is no object: {_short(found)}", remedy)
    if not set(found) <= _NAMES:
        raise DataError(expected, f"another field: {_short(min(set(found) - _NAMES))}", remedy)
    seq, digest, at, its_seal = (found.get("seq"), found.get("hash"), found.get("at"), found.get("seal", ""))
    if type(seq) is not int or not 0 <= seq < LARGEST:
        raise DataError(expected, f"another number: {_short(seq)}", remedy)
    if not isinstance(digest, str) or not _HASH.fullmatch(digest):
        raise DataError(expected, f"another SHA-256: {_short(digest)}", remedy)
    if not isinstance(its_seal, str) or not (its_seal == "" or _HASH.fullmatch(its_seal)):
        raise DataError(expected, f"another seal: {_short(its_seal)}", remedy)
    if not isinstance(at, str):
        raise DataError(expected, f"another time: {_short(at)}", remedy)
    return Head(seq, digest, at, its_seal)


def read_head(path: Path, where: str) -> Head:
    """Read a file of one head.

    Raises:
        DataError: It is not there, cannot be read, or holds something else.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_LONGEST + 1)
    except OSError as error:
        raise DataError(f"{where} at {path}", str(error.strerror), "put it back") from error
    return parse_head(content, where)


def seal(record: Mapping[str, Any], key: bytes) -> str:
    """Return the seal of a record or a head, over all but its seal."""
    bare = {name: value for name, value in record.items() if name != "seal"}
    return hmac.digest(key, json.dumps(bare, sort_keys=True).encode(), "sha256").hex()


def same_seal(one: str, other: str) -> bool:
    """Compare two seals in constant time, whatever characters they hold."""
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode("utf-8", "surrogatepass"))


def sync_folder(path: Path) -> None:
    """Wait until names of files made in a folder are on the disk."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _short(value: object) -> str:
    try:
        return ascii(value)[:40]
    except (ValueError, RecursionError):
        return type(value).__name__
