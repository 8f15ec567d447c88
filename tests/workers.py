"""Several processes run the tests that one has collected: `--workers 3`.

Collecting imports every library that a test uses, which takes longer than most rooms' tests. Processes that are forked
after it have all of that, and share its memory. A process begins with a stretch of its own of the tests' order, so that
tests of one file share their fixtures, and takes half of another's stretch when its own is done.
"""

from __future__ import annotations

import atexit
import gc
import multiprocessing
import pickle
import threading
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import pytest

_FORK: Any = multiprocessing.get_context("fork")
#: Seconds that a worker has for its last test.
_PATIENCE = 10


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--workers", type=int, default=1, metavar="N", help="processes that run what one has collected")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    number = min(session.config.option.workers, len(session.items))
    # Pytest's own loop lists tests, and says that some could not be collected.
    if number < 2 or session.config.option.collectonly or session.testsfailed:
        return None
    if threading.active_count() > 1:
        raise pytest.UsageError(f"a test file started a thread, which no fork survives: {threading.enumerate()}")
    _Workers(session, number).run()
    if session.shouldfail:
        raise session.Failed(session.shouldfail)
    if session.shouldstop:
        raise session.Interrupted(session.shouldstop)
    return True


class Stretches:
    """The tests that are left to each worker, for all processes to see.

    Args:
        files: The file of each test, in the order of tests.
        number: Of workers.
    """

    def __init__(self, files: Sequence[Path], number: int) -> None:
        self._files = files
        ends = [len(files) * worker // number for worker in range(number + 1)]
        self._bounds = _FORK.Array("i", [bound for pair in pairwise(ends) for bound in pair])

    def take(self, worker: int) -> int | None:
        """The number of a worker's next test; None when no worker has one left."""
        with self._bounds:
            mine = self._bounds[2 * worker : 2 * worker + 2]
            if mine[0] == mine[1]:
                mine = self._halve_the_longest()
            if mine[0] == mine[1]:
                return None
            self._bounds[2 * worker : 2 * worker + 2] = [mine[0] + 1, mine[1]]
            return int(mine[0])

    def empty(self) -> None:
        """Leave nothing to anybody."""
        with self._bounds:
            self._bounds[:] = [0] * len(self._bounds)

    def _halve_the_longest(self) -> list[int]:
        pairs = [self._bounds[at : at + 2] for at in range(0, len(self._bounds), 2)]
        longest = max(range(len(pairs)), key=lambda each: pairs[each][1] - pairs[each][0])
        begin, end = pairs[longest]
        middle = (begin + end) // 2
        # Where a file begins, if one does.
        starts = (at for at in range(middle + 1, end) if self._files[at] != self._files[at - 1])
        cut = next(starts, middle)
        self._bounds[2 * longest : 2 * longest + 2] = [begin, cut]
        return [cut, end]


@dataclass
class _Worker:
    number: int
    process: Any
    wire: Connection
    running: int | None = None
    following: int | None = None
    is_done: bool = False


class _Workers:
    """Starts the processes, passes on what they report, and replaces one that a test has killed."""

    def __init__(self, session: pytest.Session, number: int) -> None:
        self._session = session
        self._hook = session.config.hook
        self._stretches = Stretches([item.path for item in session.items], number)
        # Made before there are several processes, each of which has a folder in it.
        self._folder: Path = session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
        self._started = 0
        gc.collect()
        # What is there already is not looked through again, nor copied because a process counts references to it.
        gc.freeze()
        self._workers = [self._start(each) for each in range(number)]

    def run(self) -> None:
        try:
            while self._workers:
                # A child of a dead worker may hold the wire's other end, so that it does not close.
                wait([worker.wire for worker in self._workers], timeout=1)
                for worker in [*self._workers]:
                    is_alive = worker.process.is_alive()
                    if self._hear(worker) and is_alive:
                        continue
                    self._workers.remove(worker)
                    worker.process.join()
                    worker.wire.close()
                    if not worker.is_done:
                        self._report_the_end_of(worker)
                if self._session.shouldfail or self._session.shouldstop:
                    self._stretches.empty()
        finally:
            # Whoever ends the run early, by Ctrl-C, waits until fixtures have ended their servers.
            self._stretches.empty()
            for worker in self._workers:
                worker.process.join(_PATIENCE)
                worker.process.terminate()
                worker.process.join()

    def _start(self, number: int, first: int | None = None) -> _Worker:
        folder = self._folder / f"worker-{self._started}"
        self._started += 1
        ours, theirs = _FORK.Pipe(duplex=False)
        process = _FORK.Process(target=_work, args=(self._session, self._stretches, number, first, folder, theirs))
        process.start()
        theirs.close()
        return _Worker(number, process, ours)

    def _hear(self, worker: _Worker) -> bool:
        """Whether more may come."""
        try:
            while worker.wire.poll():
                kind, told = worker.wire.recv()
                getattr(self, f"_on_{kind}")(worker, told)
        except (EOFError, OSError, pickle.UnpicklingError):
            return False
        return True

    def _on_begun(self, worker: _Worker, told: tuple[int, int | None]) -> None:
        worker.running, worker.following = told

    def _on_ended(self, worker: _Worker, told: int) -> None:
        item = self._session.items[told]
        self._hook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)

    def _on_report(self, worker: _Worker, told: dict[str, Any]) -> None:
        report = self._hook.pytest_report_from_serializable(config=self._session.config, data=told)
        self._hook.pytest_runtest_logreport(report=report)

    def _on_warning(self, worker: _Worker, told: dict[str, Any]) -> None:
        self._hook.pytest_warning_recorded.call_historic(kwargs=told)

    def _on_done(self, worker: _Worker, told: None) -> None:
        worker.is_done = True

    def _report_the_end_of(self, worker: _Worker) -> None:
        ended = f"its process ended with {worker.process.exitcode}"
        if worker.running is None:
            self._session.shouldfail = f"a process that was to run tests did not: {ended}"
            return
        item = self._session.items[worker.running]
        report = pytest.TestReport(item.nodeid, item.location, {}, "failed", ended, "call")
        self._hook.pytest_runtest_logreport(report=report)
        self._on_ended(worker, worker.running)
        if not (self._session.shouldfail or self._session.shouldstop):
            self._workers.append(self._start(worker.number, worker.following))


class _Telling:
    """Sends what pytest is told in a worker to the process that prints it."""

    def __init__(self, config: pytest.Config, wire: Connection) -> None:
        self._config = config
        self._wire = wire

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._wire.send(("report", self._config.hook.pytest_report_to_serializable(config=self._config, report=report)))

    def pytest_warning_recorded(self, warning_message: Any, when: str, nodeid: str, location: Any) -> None:
        told = {"warning_message": _plain(warning_message), "when": when, "nodeid": nodeid, "location": location}
        self._wire.send(("warning", told))


def _plain(warned: Any) -> warnings.WarningMessage:
    """A warning that can be sent, whatever it is about."""
    category = warned.category if warned.category.__module__ == "builtins" else UserWarning
    return warnings.WarningMessage(str(warned.message), category, warned.filename, warned.lineno)


def _work(
    session: pytest.Session, stretches: Stretches, number: int, first: int | None, folder: Path, wire: Connection
) -> None:
    """Run tests until none is left to anybody."""
    # What the collecting process does at its end is not for its children to do.
    atexit._clear()
    config = session.config
    config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(_Telling(config, wire))
    capture: Any = config.pluginmanager.getplugin("capturemanager")
    # What tests print is caught in a file, which would be that of all processes.
    capture.stop_global_capturing()
    capture.start_global_capturing()
    capture.suspend_global_capture()
    folder.mkdir(mode=0o700)
    config._tmp_path_factory._basetemp = folder  # type: ignore[attr-defined]
    running = stretches.take(number) if first is None else first
    try:
        while running is not None and not (session.shouldfail or session.shouldstop):
            following = stretches.take(number)
            wire.send(("begun", (running, following)))
            item, after = session.items[running], None if following is None else session.items[following]
            config.hook.pytest_runtest_protocol(item=item, nextitem=after)
            wire.send(("ended", running))
            running = following
    finally:
        # Fixtures are still there if tests ended early.
        session._setupstate.teardown_exact(None)
    wire.send(("done", None))
    atexit._run_exitfuncs()
