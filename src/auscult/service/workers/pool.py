"""The processes that compute answers (`process`): started, asked, kept at one generation, started anew.

Everything else stays in the service's own process: keys, limits, turns, audit log, uploads, judgements. It also answers
by itself until the first of these processes is ready, and whenever none is.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import subprocess
import sys
import time
from concurrent.futures import CancelledError
from contextlib import suppress
from types import SimpleNamespace
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auscult.service.errors import Refusal, refuse
from auscult.service.requests import API, ElsewhereError
from auscult.service.settings import Settings
from auscult.service.state import State
from auscult.service.workers.frames import bytes_of, frame, read_frame, scope_to_json

_LOG: Final = logging.getLogger("auscult.service")
_API_PATHS: Final = ("/search", "/explain", "/spans", "/coverage")
_PAGES: Final = ("/", "/coverage", "/export.csv", "/export.json")
COMPUTED: Final = frozenset((*(API + path for path in _API_PATHS), *_PAGES))
"""Addresses whose answers take computing, and change nothing."""
_OFTEN: Final = 0.1
_LONGEST_PAUSE: Final = 60.0
_LIVED: Final = 30.0
_PATIENCE: Final = 120.0
_ATTEMPTS: Final = 3
_MOST_DEATHS: Final = 2
AT_ONCE: Final = 2
"""Requests that a process has: one that it computes, and the next, so that it never waits for one."""
_BUFFER: Final = 1 << 20


_Answer = tuple[dict[str, Any], bytes]


class _DiedError(Exception):
    """The process that was asked is no more."""


class _Process:
    """One of the processes.

    Attributes:
        asked: Requests that it has.
        ended: Is done when the process has ended.
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, process: subprocess.Popen[bytes]
    ) -> None:
        self._reader, self._writer, self._process = reader, writer, process
        self._waiting: dict[int, asyncio.Future[_Answer]] = {}
        self._number = 0
        self.asked = 0
        self.ended = asyncio.create_task(self._read())

    @classmethod
    async def start(cls) -> _Process:
        """Start one."""
        own, its = socket.socketpair()
        # What computes matrix products takes one core: there is a process for each.
        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        command = [sys.executable, "-m", "auscult.service.workers.process", str(its.fileno())]
        with its:
            process = subprocess.Popen(  # noqa: S603 - this interpreter, and a number
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[its.fileno()],
                env={**os.environ, **one},
            )
        reader, writer = await asyncio.open_connection(sock=own, limit=_BUFFER)
        return cls(reader, writer, process)

    async def ask(self, told: dict[str, Any], body: bytes = b"") -> _Answer:
        """Return the answer to a frame.

        Raises:
            _DiedError: The process has ended first.
        """
        if self.ended.done():
            raise _DiedError
        self._number += 1
        self.asked += 1
        answer: asyncio.Future[_Answer] = asyncio.get_running_loop().create_future()
        self._waiting[self._number] = answer
        self._writer.write(frame({**told, "number": self._number}, body))
        try:
            return await answer
        finally:
            self.asked -= 1

    async def _read(self) -> None:
        try:
            while True:
                head, body = await read_frame(self._reader)
                answer = self._waiting.pop(head.pop("number"))
                if not answer.done():
                    answer.set_result((head, body))
        except (asyncio.IncompleteReadError, OSError):
            self._writer.close()
            for answer in self._waiting.values():
                if not answer.done():
                    answer.set_exception(_DiedError())

    async def end(self) -> int:
        """End the process, and return its exit status."""
        self._writer.close()
        # It keeps nothing that would be lost, and may be at its start, or in the middle of a search.
        self._process.kill()
        return await asyncio.to_thread(self._process.wait)


class Workers:
    """All of the processes. Its methods belong to one event loop, but for `prepare`.

    Args:
        state: Of the service. Before it answers from another generation, the processes have that open, too.
    """

    def __init__(self, settings: Settings, state: State) -> None:
        self._settings, self._state = settings, state
        self._ready: list[_Process] = []
        self._changed = asyncio.Condition()
        self._starting = asyncio.Lock()
        self._keepers: list[asyncio.Task[None]] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def ready(self) -> int:
        """How many can be asked."""
        return len(self._ready)

    def start(self) -> None:
        """Start the processes in the background."""
        self._loop = asyncio.get_running_loop()
        self._keepers = [asyncio.create_task(self._keep()) for _ in range(self._settings.processes)]
        self._state.before_switch = self.prepare

    async def stop(self) -> None:
        """End the processes."""
        for each in self._keepers:
            each.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)

    async def _keep(self) -> None:
        """Have one process as long as the service runs."""
        # Nobody's first question shares the processor with what only later ones need.
        while not (self._state.is_ready and self._state.is_warm):
            await asyncio.sleep(_OFTEN)
        pause = 1.0
        while True:
            begun = time.monotonic()
            # One after the other, as long as the service searches by itself.
            async with self._starting:
                process = await self._started()
            try:
                await self._tell()
                await asyncio.shield(process.ended)
            finally:
                if process in self._ready:
                    self._ready.remove(process)
                await self._tell()
                status = await process.end()
            _LOG.error("a process that searches has ended by itself (%s); another one is started", status)
            pause = 1.0 if time.monotonic() - begun > _LIVED else min(2 * pause, _LONGEST_PAUSE)
            await asyncio.sleep(pause)

    async def _started(self) -> _Process:
        """Start a process, and wait until it is ready, or has ended."""
        process, settings = await _Process.start(), self._settings
        indexes = {name: str(index) for name, index in settings.indexes.items()}
        told = {"indexes": indexes, "data": str(settings.data_folder), "page": settings.page}
        try:
            await process.ask({**told, "changes": settings.changes})
            self._ready.append(process)
        except _DiedError:
            pass
        except asyncio.CancelledError:
            await process.end()
            raise
        return process

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def _free(self) -> _Process | None:
        """Wait for a process that has little to do, and return that with the least; None where there is none at all."""

        def least() -> _Process | None:
            alive = [each for each in self._ready if not each.ended.done()]
            return min(alive, key=lambda each: each.asked, default=None)

        async with self._changed:
            await self._changed.wait_for(lambda: (found := least()) is None or found.asked < AT_ONCE)
            return least()

    def prepare(self, name: str) -> None:
        """Have all processes open an index' published generation, and wait for them. From another thread."""
        if self._loop is not None and self._ready:
            with suppress(RuntimeError, TimeoutError, CancelledError):
                asyncio.run_coroutine_threadsafe(self._prepare(name), self._loop).result(_PATIENCE)

    async def _prepare(self, name: str) -> None:
        # Who has ended meanwhile opens what is published when it is started anew.
        await asyncio.gather(*(each.ask({"prepare": name}) for each in self._ready), return_exceptions=True)

    async def answer(self, scope: Scope, body: bytes) -> _Answer | None:
        """Return the answer to a request; None where the service has to give it itself.

        Raises:
            Refusal: Processes have ended over it: two, or the last one. What may have ended them is not tried here.
        """
        died = 0
        for _ in range(_ATTEMPTS):
            process = await self._free() if self._state.is_ready and died < _MOST_DEATHS else None
            if process is None and died:
                message = "expected to answer, got the end of a process that tried to"
                remedy = "come again as Retry-After says, or ask for less at once"
                raise Refusal(503, "ended", message, remedy, {"Retry-After": "5"})
            if process is None:
                return None
            try:
                # Which generations are asked is decided last: all later requests are asked of these, or newer ones.
                told = {**scope_to_json(scope), "generations": self._state.generations()}
                answer, content = await process.ask(told, body)
            except _DiedError:
                died += 1
                continue
            finally:
                await self._tell()
            if "other" not in answer:
                return answer, content
            # It has opened what was published after the service had a look.
            await asyncio.to_thread(self._state.refresh, answer["other"])
        return None


class Spread:
    """Has requests that take computing answered by the processes; it stands next to the routes, inside all guards."""

    def __init__(self, app: ASGIApp, workers: Workers) -> None:
        self.app = app
        self._workers = workers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on: to a process, or to the routes here."""
        if scope["type"] != "http" or scope["path"] not in COMPUTED or not self._workers.ready:
            await self.app(scope, receive, send)
            return
        message = await receive()
        try:
            found = await self._workers.answer(scope, message.get("body", b""))
        except Refusal as refusal:
            await refuse(refusal, scope, receive, send)
            return
        if found is None:
            given = [message]

            async def again() -> Message:
                return given.pop() if given else await receive()

            await self.app(scope, again, send)
            return
        answer, content = found
        scope["state"].update(answer["state"])
        if answer["route"] is not None:
            scope["route"] = SimpleNamespace(path=answer["route"])
        if "fault" in answer:
            raise ElsewhereError(answer["fault"])
        await send({"type": "http.response.start", "status": answer["status"], "headers": bytes_of(answer["headers"])})
        await send({"type": "http.response.body", "body": content})
