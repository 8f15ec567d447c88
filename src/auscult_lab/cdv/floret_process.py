"""Train a floret table in a process of its own. The only file that imports floret.

    python -m auscult_lab.cdv.floret_process TEXT SETTINGS TABLE

TEXT has a tokenised line a sentence, SETTINGS are the arguments of `floret.train_unsupervised` as JSON, and TABLE is
written.

floret handles no signals while it trains, which takes minutes. The process that waits for this one does, and ends it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from auscult.errors import DataError, MissingExtraError


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
    command = [sys.executable, "-m", __name__, str(text), json.dumps(settings), str(table)]
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


def main() -> None:
    """Train and write the table."""
    import floret

    text, settings, table = sys.argv[1:]
    floret.train_unsupervised(text, **json.loads(settings)).save_floret_vectors(table)


if __name__ == "__main__":
    main()
