"""The audit log: who asked what of which documents, when, from where, and to what purpose; lines are only ever added.

A record is one line of JSON. It holds the SHA-256 of the line before it, so that a changed, removed or inserted line
shows; with a key also a seal (HMAC-SHA-256) over itself, so that nobody without the key can write the whole chain anew.
How far the log goes stands in a file beside it (`.head`), so that a cut-off end shows. A full file is followed by one
(`audit.2.jsonl`), whose chain goes on.

A record is on the disk before its answer goes out; those that come at one time share a write.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import logging
import os
import queue
import secrets
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from auscult.errors import ConfigError, DataError
from auscult.files.json_text import parse_json
from auscult.service.audit_files import FIRST, Tail, following, head_of, last_of, read_tail, seal

if TYPE_CHECKING:
    from auscult.service.settings import Settings

_LOG: Final = logging.getLogger("auscult.service")
_ROTATE: Final = 64_000_000
_END: Final = None


class AuditLog:
    """An opened audit log; one process writes it.

    Args:
        path: Of its first file.
        key: For seals, and hashes of queries; None for neither.
        hash_queries: Keep a query's keyed hash in place of its words.
        rotate: Bytes after which another file follows.

    Raises:
        ConfigError: Another process writes it, its end is missing, or it cannot be written.
    """

    def __init__(
        self, path: Path, key: bytes | None = None, *, hash_queries: bool = False, rotate: int = _ROTATE
    ) -> None:
        if hash_queries and key is None:
            raise ConfigError("a key, to hash queries", "none", "name a file of one")
        self.trouble = ""
        self._path, self._key, self._hashes, self._rotate = path, key, hash_queries, rotate
        self._is_open = False
        self.open()

    def open(self) -> None:
        """Take it up again after `close`; harmless where it is open.

        Raises:
            ConfigError: As when it is made.
        """
        if self._is_open:
            return
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(self._path)
            self._begin()
        except OSError as error:
            remedy = "name another file, or make room"
            raise ConfigError(f"an audit log at {self._path}", str(error.strerror), remedy) from error
        self._waiting: queue.SimpleQueue[tuple[dict[str, Any], Future[None]] | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._work, name="audit", daemon=True)
        self._writer.start()
        self._is_open = True

    def write(self, record: Mapping[str, Any]) -> Future[None]:
        """Add a record; done when it is on the disk, with the OSError where it cannot be."""
        done: Future[None] = Future()
        self._waiting.put(({"at": now(), **record}, done))
        return done

    def query(self, said: Mapping[str, Any]) -> dict[str, Any]:
        """How a query is recorded: its words, or their keyed hash."""
        if self._hashes and self._key is not None:
            words = json.dumps(said, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")
            return {"query_hash": hmac.digest(self._key, b"query " + words, "sha256").hex()}
        return {"query": dict(said)}

    def close(self) -> None:
        """Write what waits, and let another process write; harmless where it is closed."""
        if not self._is_open:
            return
        self._is_open = False
        self._waiting.put(_END)
        self._writer.join()
        os.close(self._descriptor)
        os.close(self._lock)

    def _begin(self) -> None:
        self._file, tail, self._number = _last_whole(self._path, self._key)
        self._hash, self._seq = tail.hash, tail.seq
        self._descriptor = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        if tail.torn:
            # Half a line that nobody was answered for: the machine stopped while it was written.
            os.ftruncate(self._descriptor, tail.size)
        self._size = tail.size

    def _work(self) -> None:
        ended = False
        while not ended:
            lot = [self._waiting.get()]
            while not self._waiting.empty():
                lot.append(self._waiting.get())
            ended = _END in lot
            self._put([each for each in lot if each is not None])

    def _put(self, lot: list[tuple[dict[str, Any], Future[None]]]) -> None:
        if not lot:
            return
        seq, before = self._seq, self._hash
        lines = []
        for record, _ in lot:
            seq += 1
            line = _line({"seq": seq, **record, "previous": before}, self._key)
            before = hashlib.sha256(line).hexdigest()
            lines.append(line + b"\n")
        try:
            self._append(b"".join(lines), seq, before)
        except OSError as error:
            if not self.trouble:
                _LOG.error("the audit log cannot be written: %s", error.strerror)
            self.trouble = str(error.strerror)
            for _, done in lot:
                done.set_exception(error)
        else:
            self.trouble = ""
            for _, done in lot:
                done.set_result(None)

    def _append(self, content: bytes, seq: int, last: str) -> None:
        if self._size and self._size + len(content) > self._rotate:
            fresh = following(self._path, self._number + 1)
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_EXCL, 0o600)
            os.close(self._descriptor)
            self._descriptor, self._file, self._number, self._size = descriptor, fresh, self._number + 1, 0
        try:
            written = 0
            while written < len(content):
                written += os.write(self._descriptor, content[written:])
            os.fsync(self._descriptor)
        except OSError:
            # Half of it may stand there, and a next try must not follow it.
            os.ftruncate(self._descriptor, self._size)
            raise
        self._size += len(content)
        self._seq, self._hash = seq, last
        # Behind the log at most, never before it: what it says was there, was.
        _write_head(self._path, seq, last, self._key)


def opened_audit(settings: Settings) -> AuditLog | None:
    """The audit log that a service is told to keep; None for none.

    Raises:
        ConfigError: It cannot be kept.
    """
    if settings.audit is None:
        return None
    access = settings.access
    place = access.audit_key or (
        settings.audit.with_name(f"{settings.audit.name}.key") if access.hash_queries else None
    )
    key = None if place is None else audit_key(place, make=access.audit_key is None)
    return AuditLog(settings.audit, key, hash_queries=access.hash_queries)


def audit_key(path: Path, *, make: bool = False) -> bytes:
    """A key for seals and hashes, of at least 32 bytes.

    Args:
        path: Of its file.
        make: Make one where there is none.

    Raises:
        ConfigError: It is not there, or too short.
    """
    if make and not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_hex(32).encode())
    try:
        found = path.read_bytes().strip()
    except OSError as error:
        raise ConfigError(f"a key of the audit log at {path}", str(error.strerror), "correct the path") from error
    if len(found) < 32:
        raise ConfigError(
            f"a key of 32 bytes or more at {path}", f"{len(found)} bytes", "make one: openssl rand -hex 32"
        )
    return found


def now() -> str:
    """UTC, ISO 8601, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _line(record: Mapping[str, Any], key: bytes | None) -> bytes:
    told = dict(record)
    if key is not None:
        told["seal"] = seal(told, key)
    return json.dumps(told, ensure_ascii=True, separators=(",", ":")).encode()


def _write_head(path: Path, seq: int, last: str, key: bytes | None) -> None:
    told: dict[str, Any] = {"seq": seq, "hash": last}
    if key is not None:
        told["seal"] = seal(told, key)
    # One short write in place: a torn one is told as such, and the chain itself is whole.
    descriptor = os.open(head_of(path), os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        os.pwrite(descriptor, json.dumps(told).encode().ljust(256) + b"\n", 0)
    finally:
        os.close(descriptor)


def _locked(path: Path) -> int:
    descriptor = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        remedy = "end that one, or name another log"
        raise ConfigError(f"an audit log at {path} of its own", "one that another process writes", remedy) from error
    return descriptor


def _last_whole(path: Path, key: bytes | None) -> tuple[Path, Tail, int]:
    """The file to go on in, where its chain ends, and its number."""
    remedy = f"look into it (auscult audit verify {path}), keep it, and begin another log"
    try:
        file, number = last_of(path)
        before = read_tail(following(path, number - 1)) if number > 1 else FIRST
        tail = read_tail(file, before) if file.exists() else before._replace(size=0, torn=False)
        head = parse_json(head_of(path).read_bytes()) if head_of(path).exists() else {"seq": 0}
    except (ValueError, KeyError, TypeError, DataError) as error:
        raise ConfigError(f"a whole audit log at {path}", "a damaged one", remedy) from error
    if int(head["seq"]) > tail.seq:
        raise ConfigError(f"{head['seq']} records in {path}", f"{tail.seq}: its end is missing", remedy)
    return file, tail, number
