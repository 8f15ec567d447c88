"""A lock of one process: others are refused, and it ends with the process that has it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from auscult.errors import DataError
from auscult.files.locking import FileLock

HOLDER = """
import sys, time
from pathlib import Path
from auscult.errors import DataError
from auscult.files.locking import FileLock
lock = FileLock(Path(sys.argv[1]), lambda holder: DataError("none", holder, "wait"))
print("locked", flush=True)
time.sleep(60)
"""


def lock(path: Path) -> FileLock:
    return FileLock(path, lambda holder: DataError("no other", holder, "wait"))


def test_second_lock_names_who_has_the_first(tmp_path: Path) -> None:
    first = lock(tmp_path / "a.lock")
    with pytest.raises(DataError, match=f"pid {os.getpid()} on host .* since 2"):
        lock(tmp_path / "a.lock")
    first.release()
    first.release()
    assert not first.held
    assert not list(tmp_path.iterdir())


def test_killed_process_leaves_nothing_locked(tmp_path: Path) -> None:
    path = tmp_path / "a.lock"
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"locked\n"
        with pytest.raises(DataError, match=f"pid {holder.pid} "):
            lock(path)
        holder.kill()
    assert path.exists()
    lock(path).release()
