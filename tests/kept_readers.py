"""Processes that read files, kept from one test to the next: starting one takes longer than most tests' files."""

from __future__ import annotations

import os
import subprocess
from typing import Any

import pytest

from auscult.readers.process import worker
from auscult.readers.process.reading import Reading
from auscult.readers.process.worker import ReadingProcess

_start = ReadingProcess._start
# Processes that wait, by the settings they were started with.
_idle: dict[Any, list[subprocess.Popen[bytes]]] = {}
# The settings that each process was started with, by its number.
_settings: dict[int, Any] = {}


def keep_readers(patched: pytest.MonkeyPatch) -> None:
    """Let a process that has read all files of a test wait for those of the next one, as within one command."""
    patched.setattr(ReadingProcess, "_start", _start_or_keep)
    patched.setattr(Reading, "close", _close)


def end_readers() -> None:
    for process in [each for waiting in _idle.values() for each in waiting]:
        process.kill()
        process.communicate()
    _idle.clear()


def _start_or_keep(self: ReadingProcess) -> subprocess.Popen[bytes]:
    if self._process is not None:
        return self._process
    settings = (os.getpid(), repr(self._columns), repr(self._readers), worker.limits(), repr(worker._environment()))
    waiting = _idle.get(settings, [])
    while waiting and self._process is None:
        process = waiting.pop()
        self._process = process if process.poll() is None else None
    process = _start(self)
    _settings[process.pid] = settings
    return process


def _close(self: Reading) -> None:
    for each in self._all:
        process = each._process
        # One that was stopped amid a file would answer of that one.
        if process is None or self._stopped or process.poll() is not None or process.pid not in _settings:
            each.close()
            continue
        _idle.setdefault(_settings[process.pid], []).append(process)
        each._process, each._read = None, 0
