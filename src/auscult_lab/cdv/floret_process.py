"""Train a floret table in a process of its own. The only file of the packages that imports floret.

    python -m auscult_lab.cdv.floret_process TEXT SETTINGS TABLE WAITING

TEXT has a tokenised line a sentence, SETTINGS are the arguments of `floret.train_unsupervised` as JSON, TABLE is
written, and WAITING is the id of the process that waits.

floret handles no signals while it trains, which takes minutes. The process that waits for this one does, and ends it.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from auscult.errors import DataError, MissingExtraError
from auscult.files.json_text import parse_json

_SIGNAL_AT_PARENTS_DEATH: Final = 1
"""An operation of `prctl` (Linux)."""


def train_table(text: Path, table: Path, settings: Mapping[str, object]) -> None:
    """Train a table in another process, which ends with this call even if that is interrupted.

    Args:
        text: One tokenised line a sentence.
        table: File to write.
        settings: Arguments of `floret.train_unsupervised`.

    Raises:
        DataError: The process failed.
        MissingExtraError: floret is not installed.
    """
    if find_spec("floret") is None:
        raise MissingExtraError("floret", "lab")
    command = [sys.executable, "-m", __name__, str(text), json.dumps(settings), str(table), str(os.getpid())]
    process = subprocess.Popen(  # noqa: S603 - a command of ours
        command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace"
    )
    try:
        _, errors = process.communicate()
    finally:
        process.kill()
        process.wait()
    if process.returncode:
        got = f"exit status {process.returncode}, {errors.strip().rpartition(chr(10))[2] or 'and no message'}"
        raise DataError("floret to train word vectors", got, "look for memory or disk that ran out")


def _end_with(waiting: int) -> None:
    """End this process when the one that waits for it is killed (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SIGNAL_AT_PARENTS_DEATH, signal.SIGKILL)
        # It may have been killed before.
        if os.getppid() != waiting:
            sys.exit(f"process {waiting} has ended")


def main() -> None:
    """Train and write the table."""
    text, settings, table, waiting = sys.argv[1:]
    _end_with(int(waiting))
    import floret

    floret.train_unsupervised(text, **parse_json(settings)).save_floret_vectors(table)


if __name__ == "__main__":
    main()
