"""Begin an audit log again after a loss that an operator accepts: its first record says what was lost."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from auscult.errors import DataError
from auscult.files.reading import digest_of_file
from auscult.files.writing import put_file
from auscult_service.audit import lock_log, now, to_line
from auscult_service.audit_files import FIRST, GAP, all_files_of, read_tail, verify
from auscult_service.audit_heads import LARGEST, Head, HeadFile, KeptHead, head_of, read_head, sync_folder


def accept_loss(path: Path, key: bytes | None, counter: Path | None, kept: Sequence[KeptHead]) -> dict[str, Any]:
    """Move a damaged log away, and begin a new one whose first record says so.

    Args:
        path: The first file of the log.
        key: Key for the seals of the new log; None to write none.
        counter: The file of its counter; None for none.
        kept: Heads that a witness has.

    Returns:
        The first record of the new log.

    Raises:
        ConfigError: A service is writing the log.
        DataError: The log is not damaged, or its files cannot be moved.
    """
    try:
        locks = [lock_log(place) for place in (path, counter) if place is not None and place.parent.is_dir()]
        try:
            return _move_and_begin(path, key, counter, kept)
        finally:
            for lock in locks:
                os.close(lock)
    except OSError as error:
        raise DataError(f"room for a new log at {path}", str(error.strerror), "see who may write there") from error


def _move_and_begin(path: Path, key: bytes | None, counter: Path | None, kept: Sequence[KeptHead]) -> dict[str, Any]:
    problem = verify(path, key, counter=counter, kept=kept[-1:], starting=True).problem
    if not problem:
        # With `starting`, only the end of a long log is checked.
        problem = verify(path, key, counter=counter, kept=kept).problem
    if not problem:
        raise DataError(f"a damaged audit log at {path}", "one with nothing wrong", "go on with it")
    known = _find_known_heads(path, counter, kept)
    last = max(known, key=lambda entry: entry.head.seq, default=KeptHead("", Head(0, FIRST.hash, "")))
    if last.head.seq + 2 >= LARGEST:
        # The number of the new record would not fit into a head, and no service could start on the log.
        raise DataError(
            f"numbers of records below {LARGEST:,}",
            f"{last.head.seq:,} in {last.where}",
            "move that file away if somebody has changed it, or begin a log with another name",
        )
    files = [*all_files_of(path), *([head_of(path)] if head_of(path).exists() else [])]
    record: dict[str, Any] = {
        "seq": last.head.seq + 2,
        "at": now(),
        "action": GAP,
        "reason": problem,
        "known": {where: {"seq": head.seq, "hash": head.hash} for where, head in known},
        "files": {damaged.name: digest_of_file(damaged) for damaged in files},
        "moved_to": "",
    }
    if files:
        away = path.with_name(f"{path.name}.lost-{datetime.now(UTC):%Y%m%dT%H%M%S%f}Z")
        away.mkdir(mode=0o700)
        record["moved_to"] = away.name
        for damaged in files:
            put_file(damaged, away / damaged.name)
        sync_folder(away)
    record["previous"] = FIRST.hash
    line = to_line(record, key)
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(line + b"\n")
        file.flush()
        os.fsync(file.fileno())
    head = Head(record["seq"], hashlib.sha256(line).hexdigest(), now()).sealed(key)
    for place in (head_of(path), counter):
        if place is not None:
            head_file = HeadFile(place)
            head_file.write(head, durably=True)
            head_file.close()
            sync_folder(place.parent)
    return record


def _find_known_heads(path: Path, counter: Path | None, kept: Sequence[KeptHead]) -> list[KeptHead]:
    """Return the last known heads of the log, from each place that can still be read."""
    known = [] if not kept else [max(kept, key=lambda each: each.head.seq)]
    for where, place in (("its head", head_of(path)), ("its counter", counter)):
        if place is not None:
            with suppress(DataError):
                known.append(KeptHead(where, read_head(place, where)))
    for file in reversed(all_files_of(path)):
        with suppress(ValueError, OSError):
            tail = read_tail(file)
            if tail.seq:
                return [*known, KeptHead("its last record", Head(tail.seq, tail.hash, ""))]
    return known
