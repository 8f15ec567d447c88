"""Accepts that an audit log is damaged: it is moved away whole, and one follows that begins with a record of it.

Nothing is deleted. Numbers go on beyond every number that is known, so that heads kept before are never taken for ones
of the new log.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from auscult.errors import DataError
from auscult.files.writing import put_file
from auscult.service.audit import locked, now, to_line
from auscult.service.audit_files import FIRST, GAP, Kept, all_files_of, read_tail, verify
from auscult.service.audit_heads import LARGEST, Head, HeadFile, head_of, read_head, sync_folder


def accept_loss(path: Path, key: bytes | None, counter: Path | None, kept: Sequence[Kept]) -> dict[str, Any]:
    """Move a damaged log away, and begin one that says so.

    Args:
        path: Its first file.
        key: Seals the new log; None for none.
        counter: The file of its counter; None for none.
        kept: Heads that a witness has.

    Returns:
        The record that the new log begins with.

    Raises:
        ConfigError: A service writes the log.
        DataError: Nothing is wrong with it, or files cannot be moved.
    """
    try:
        locks = [locked(each) for each in (path, counter) if each is not None and each.parent.is_dir()]
        try:
            return _moved_and_begun(path, key, counter, kept)
        finally:
            for each in locks:
                os.close(each)
    except OSError as error:
        raise DataError(f"room for a new log at {path}", str(error.strerror), "see who may write there") from error


def _moved_and_begun(path: Path, key: bytes | None, counter: Path | None, kept: Sequence[Kept]) -> dict[str, Any]:
    problem = verify(path, key, counter=counter, kept=kept[-1:], starting=True).problem
    if not problem:
        # A start looks at the end of a long log alone.
        problem = verify(path, key, counter=counter, kept=kept).problem
    if not problem:
        raise DataError(f"a damaged audit log at {path}", "one with nothing wrong", "go on with it")
    known = _known(path, counter, kept)
    last = max(known, key=lambda each: each.head.seq, default=Kept("", Head(0, FIRST.hash, "")))
    if last.head.seq + 2 >= LARGEST:
        # No head could hold the number of the new record, and no service could start on it.
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
        "files": {each.name: _digest(each) for each in files},
        "moved_to": "",
    }
    if files:
        away = path.with_name(f"{path.name}.lost-{datetime.now(UTC):%Y%m%dT%H%M%S%f}Z")
        away.mkdir(mode=0o700)
        record["moved_to"] = away.name
        for each in files:
            put_file(each, away / each.name)
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
            own = HeadFile(place)
            own.write(head, durably=True)
            own.close()
            sync_folder(place.parent)
    return record


def _known(path: Path, counter: Path | None, kept: Sequence[Kept]) -> list[Kept]:
    """Return all that is known of how far the log went, readable or not as the rest may be."""
    known = [] if not kept else [max(kept, key=lambda each: each.head.seq)]
    for where, place in (("its head", head_of(path)), ("its counter", counter)):
        if place is not None:
            with suppress(DataError):
                known.append(Kept(where, read_head(place, where)))
    for file in reversed(all_files_of(path)):
        with suppress(ValueError, OSError):
            tail = read_tail(file)
            if tail.seq:
                return [*known, Kept("its last record", Head(tail.seq, tail.hash, ""))]
    return known


def _digest(file: Path) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
