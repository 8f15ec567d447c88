"""The audit log: who searched or read which documents, when, from where and for what purpose. Lines are only appended.

A record is one line of JSON. It has the SHA-256 of the line before it, so a changed, removed or inserted line shows.
With a key it also has a seal (HMAC-SHA-256) over itself, so nobody without the key can rewrite the whole chain. The
number of the last record is also kept in a file beside the log (`.head`), in a counter elsewhere, and by a witness
(`audit_heads.py`). A service does not start on a log whose end is missing. When a file is full, the chain continues in
the next one (`audit.2.jsonl`).

A record is on the disk before its answer is sent. Records that arrive together share a write.
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

from auscult.errors import ConfigError
from auscult_service.audit_files import following, verify
from auscult_service.audit_heads import (
    Head,
    HeadFile,
    Witness,
    head_of,
    seal,
    sync_folder,
)

if TYPE_CHECKING:
    from auscult_service.settings import Settings

_LOG: Final = logging.getLogger("auscult.service")
_ROTATE: Final = 64_000_000
_END: Final = None


class AuditLog:
    """An opened audit log. Only one process may write it.

    Args:
        path: Its first file.
        key: Key for the seals and the hashes of queries; None to write neither.
        counter: A second file, elsewhere, with the number of the last record; None for none.
        witness: Receives the head at an interval; None for none.
        hash_queries: Record the keyed hash of a query instead of its words.
        rotate: Bytes after which the next file begins.

    Raises:
        ConfigError: Another process writes the log, it is damaged, or it cannot be written.
    """

    def __init__(
        self,
        path: Path,
        key: bytes | None = None,
        *,
        counter: Path | None = None,
        witness: Witness | None = None,
        hash_queries: bool = False,
        rotate: int = _ROTATE,
    ) -> None:
        if hash_queries and key is None:
            raise ConfigError("a key, to hash queries", "none", "name a file of one")
        self._trouble = ""
        self._path, self._key, self._hashes, self._rotate = path, key, hash_queries, rotate
        self._counter, self._witness = counter, witness
        self._is_open = False
        self.open()

    @property
    def troubles(self) -> list[str]:
        """Sentences for operators that say what cannot be written at the moment; empty where all is well."""
        witnessed = self._witness is None or not self._witness.trouble
        return [
            *(["the audit log cannot be written"] if self._trouble else []),
            *([] if witnessed else ["the audit log's witness cannot be reached"]),
        ]

    def open(self) -> None:
        """Open the log again after `close`. An open log stays as it is.

        Raises:
            ConfigError: As for the constructor.
        """
        if self._is_open:
            return
        locks: list[int] = []
        try:
            for place in (self._path, self._counter):
                if place is not None:
                    place.parent.mkdir(parents=True, exist_ok=True)
                    locks.append(lock_log(place))
            self._begin()
        except OSError as error:
            _close_all(locks)
            remedy = "name another file, or make room"
            raise ConfigError(f"an audit log at {self._path}", str(error.strerror), remedy) from error
        except ConfigError:
            _close_all(locks)
            raise
        self._locks = locks
        self._waiting: queue.SimpleQueue[tuple[dict[str, Any], Future[None]] | None] = queue.SimpleQueue()
        self._writer = threading.Thread(target=self._write_waiting, name="audit", daemon=True)
        self._writer.start()
        self._is_open = True
        if self._witness is not None:
            self._witness.start(lambda: self._head)

    def write(self, record: Mapping[str, Any]) -> Future[None]:
        """Add a record. The future is done when the record is on the disk, or has the OSError."""
        future: Future[None] = Future()
        self._waiting.put(({"at": now(), **record}, future))
        return future

    def query(self, query: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields that record a query: its words, or their keyed hash."""
        if self._hashes and self._key is not None:
            words = json.dumps(query, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")
            return {"query_hash": hmac.digest(self._key, b"query " + words, "sha256").hex()}
        return {"query": dict(query)}

    def close(self) -> None:
        """Write the waiting records, give the last head to the witness, and release the lock."""
        if not self._is_open:
            return
        self._is_open = False
        self._waiting.put(_END)
        self._writer.join()
        if self._witness is not None:
            self._witness.stop()
        for file in self._heads:
            file.close()
        _close_all([self._descriptor, *self._locks])

    def _begin(self) -> None:
        kept = [] if self._witness is None else self._witness.last_kept()
        check = verify(self._path, self._key, counter=self._counter, kept=kept, starting=True)
        if check.problem:
            witness = None if self._witness is None else self._witness.file
            remedy = (
                f"see what is wrong (auscult audit verify {self._path}) and put the right files back, or accept the "
                f"loss: auscult audit accept-loss {self._path}"
                + (f" --counter {self._counter}" if self._counter else "")
                + (" --key KEY" if self._key else "")
                + (f" --witness {witness}" if witness else "")
            )
            raise ConfigError(f"a whole audit log at {self._path}", check.problem, remedy)
        self._number, self._size = max(check.files, 1), check.end.size
        self._seq, self._hash = check.end.seq, check.end.hash
        file = following(self._path, self._number)
        self._descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        if check.end.torn:
            # Half a line: the machine stopped while it was written, and its request got no answer.
            os.ftruncate(self._descriptor, check.end.size)
        # Write a head at once, so that a log without a head is known to be damaged, not new.
        self._heads = [
            HeadFile(head_path) for head_path in (head_of(self._path), self._counter) if head_path is not None
        ]
        self._head = Head(self._seq, self._hash, now()).sealed(self._key)
        for head_file in self._heads:
            head_file.write(self._head, durably=True)
        for folder in {place.parent for place in (self._path, self._counter) if place is not None}:
            sync_folder(folder)

    def _write_waiting(self) -> None:
        ended = False
        while not ended:
            lot = [self._waiting.get()]
            while not self._waiting.empty():
                lot.append(self._waiting.get())
            ended = _END in lot
            self._write_lot([each for each in lot if each is not None])

    def _write_lot(self, lot: list[tuple[dict[str, Any], Future[None]]]) -> None:
        if not lot:
            return
        seq, before = self._seq, self._hash
        lines = []
        for record, _ in lot:
            seq += 1
            line = to_line({"seq": seq, **record, "previous": before}, self._key)
            before = hashlib.sha256(line).hexdigest()
            lines.append(line + b"\n")
        try:
            self._append(b"".join(lines), seq, before)
        except OSError as error:
            if not self._trouble:
                _LOG.error("the audit log cannot be written: %s", error.strerror)
            self._trouble = str(error.strerror)
            for _, future in lot:
                future.set_exception(error)
        else:
            self._trouble = ""
            for _, future in lot:
                future.set_result(None)

    def _append(self, content: bytes, seq: int, last: str) -> None:
        if self._size and self._size + len(content) > self._rotate:
            fresh = following(self._path, self._number + 1)
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_EXCL, 0o600)
            os.close(self._descriptor)
            self._descriptor, self._number, self._size = descriptor, self._number + 1, 0
            sync_folder(self._path.parent)
        try:
            written = 0
            while written < len(content):
                written += os.write(self._descriptor, content[written:])
            os.fsync(self._descriptor)
        except OSError:
            # Half of the content may be in the file; the next write must not follow it.
            os.ftruncate(self._descriptor, self._size)
            raise
        self._size += len(content)
        self._seq, self._hash = seq, last
        # The head is written after the log: it may be behind the log, but never ahead of it.
        self._head = Head(seq, last, now()).sealed(self._key)
        for each in self._heads:
            each.write(self._head)


def open_audit(settings: Settings) -> AuditLog | None:
    """Open the audit log that the settings name; None where they name none.

    Raises:
        ConfigError: The log cannot be opened.
    """
    access = settings.access
    if settings.audit is None:
        if access.witness:
            raise ConfigError("an audit log whose head the witness gets", "none", "name one: --audit FILE")
        return None
    place = access.audit_key or (
        settings.audit.with_name(f"{settings.audit.name}.key") if access.hash_queries else None
    )
    key = None if place is None else audit_key(place, make=access.audit_key is None)
    return AuditLog(
        settings.audit,
        key,
        counter=settings.audit_counter,
        witness=Witness(access.witness, access.witness_seconds) if access.witness else None,
        hash_queries=access.hash_queries,
    )


def audit_key(path: Path, *, make: bool = False) -> bytes:
    """Read the key for seals and hashes, of at least 32 bytes.

    Args:
        path: The file of the key.
        make: Create a key where the file does not exist.

    Raises:
        ConfigError: The file does not exist, or its key is too short.
    """
    if make and not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(secrets.token_hex(32).encode())
    try:
        key = path.read_bytes().strip()
    except OSError as error:
        raise ConfigError(f"a key of the audit log at {path}", str(error.strerror), "correct the path") from error
    if len(key) < 32:
        raise ConfigError(f"a key of 32 bytes or more at {path}", f"{len(key)} bytes", "make one: openssl rand -hex 32")
    return key


def now() -> str:
    """Return the current time in UTC, as ISO 8601 to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def to_line(record: Mapping[str, Any], key: bytes | None) -> bytes:
    """Return a record's line, with its seal where there is a key."""
    sealed = dict(record) if key is None else {**record, "seal": seal(record, key)}
    return json.dumps(sealed, ensure_ascii=True, separators=(",", ":")).encode()


def lock_log(path: Path) -> int:
    """Lock a log, and return the descriptor that holds the lock until it is closed.

    Raises:
        ConfigError: Another process has the lock.
    """
    descriptor = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        remedy = "end that one, or name another log"
        raise ConfigError(f"an audit log at {path} of its own", "one that another process writes", remedy) from error
    return descriptor


def _close_all(descriptors: list[int]) -> None:
    for each in descriptors:
        os.close(each)
