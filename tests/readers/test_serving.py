"""The process that reads ends itself when a file takes too long, and not when its answers are taken slowly."""

from __future__ import annotations

import json
import time

import pytest

from auscult.readers.contract import SourceFile
from auscult.readers.process.worker import ReadingProcess


@pytest.mark.slow
def test_waiting_for_the_consumer_costs_no_reading_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUSCULT_LIMITS", "seconds=1")
    # More than a pipe holds, so that the process waits within the file.
    content = "".join(json.dumps({"id": str(number), "text": "Gout. " * 2_000}) + "\n" for number in range(60))
    with ReadingProcess() as process:
        taken = process.read(SourceFile("rows.jsonl", content.encode()))
        next(taken)
        time.sleep(7)
        assert len(list(taken)) == 59
