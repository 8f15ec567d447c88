"""The pool of worker processes (`process`): start and restart them, send requests, keep all at one generation.

Everything else stays in the service's own process: keys, limits, turns, audit log, uploads, judgements. It also
computes answers itself while no worker is ready.

Why not `concurrent.futures.ProcessPoolExecutor`: when one of its processes ends, all its calls fail; a call cannot be
given to a certain process, nor be ended in the middle of a search; and calls of one process wait for each other, so a
new generation could not be opened while requests are answered. An executor for each process, with code for these gaps,
was measured: as many answers a second, as much memory, and hardly less code (434 lines instead of 500).
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

from starlette.types import ASGIApp, Receive, Scope, Send

from auscult_service.errors import Refusal
from auscult_service.layer import Layer, put_back
from auscult_service.requests import API, ElsewhereError
from auscult_service.settings import Settings
from auscult_service.state import State
from auscult_service.workers.frames import bytes_of, frame, read_frame, scope_to_json

_LOG: Final = logging.getLogger("auscult.service")
_API_PATHS: Final = ("/search", "/explain", "/spans", "/coverage")
_PAGES: Final = ("/", "/coverage", "/export.csv", "/export.json")
COMPUTED: Final = frozenset((*(API + path for path in _API_PATHS), *_PAGES))
"""Paths whose answers take much computing and change nothing."""
_OFTEN: Final = 0.1
_LONGEST_PAUSE: Final = 60.0
_LIVED: Final = 30.0
_PATIENCE: Final = 120.0
_ATTEMPTS: Final = 3
_MOST_DEATHS: Final = 2
AT_ONCE: Final = 2
"""Requests that a worker gets at once: the one that it computes, and the next, so that it is never idle."""
_BUFFER: Final = 1 << 20

_Answer = tuple[dict[str, Any], bytes]


class _DiedError(Exception):
    """The worker process has ended before it answered."""


class _Process:
    """A worker process.

    Attributes:
        pending: Number of requests that it has not answered.
        ended: Task that is done when the process has ended.
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, process: subprocess.Popen[bytes]
    ) -> None:
        self._reader, self._writer, self._process = reader, writer, process
        self._waiting: dict[int, asyncio.Future[_Answer]] = {}
        self._number = 0
        self.pending = 0
        self.ended = asyncio.create_task(self._read())

    @classmethod
    async def start(cls) -> _Process:
        """Start a process and connect to it."""
        own, its = socket.socketpair()
        # One thread for matrix products, as there is a process for each core.
        one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        command = [sys.executable, "-m", "auscult_service.workers.process", str(its.fileno())]
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

    async def ask(self, head: dict[str, Any], body: bytes = b"") -> _Answer:
        """Send a frame and return the answer.

        Raises:
            _DiedError: The process has ended before it answered.
        """
        if self.ended.done():
            raise _DiedError
        self._number += 1
        self.pending += 1
        answer: asyncio.Future[_Answer] = asyncio.get_running_loop().create_future()
        self._waiting[self._number] = answer
        self._writer.write(frame({**head, "number": self._number}, body))
        try:
            return await answer
        finally:
            self.pending -= 1

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
        # Killed, as it has no state to save and may be in the middle of a search.
        self._process.kill()
        return await asyncio.to_thread(self._process.wait)


class WorkerPool:
    """The pool of worker processes. All methods but `prepare` must be called from one event loop.

    Args:
        state: State of the service. It switches to a new generation only when all workers have opened it.
    """

    def __init__(self, settings: Settings, state: State) -> None:
        self._number, self._state = settings.processes, state
        # What a process is told first.
        self._first = {
            "indexes": {name: str(index) for name, index in settings.indexes.items()},
            "data": str(settings.data_folder),
            "page": settings.page,
            "changes": settings.changes,
        }
        self._ready: list[_Process] = []
        self._changed = asyncio.Condition()
        self._starting = asyncio.Lock()
        self._keepers: list[asyncio.Task[None]] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def ready(self) -> int:
        """Number of processes that can take requests."""
        return len(self._ready)

    def start(self) -> None:
        """Start the processes in the background."""
        self._loop = asyncio.get_running_loop()
        self._keepers = [asyncio.create_task(self._keep()) for _ in range(self._number)]
        self._state.before_switch = self.prepare

    async def stop(self) -> None:
        """End the processes."""
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)

    async def _keep(self) -> None:
        """Start one process and restart it whenever it ends, until cancelled."""
        # Wait, so that the first questions do not share the processor with this.
        while not (self._state.is_ready and self._state.is_warm):
            await asyncio.sleep(_OFTEN)
        pause = 1.0
        while True:
            begun = time.monotonic()
            # Start one after the other, as the service computes answers itself meanwhile.
            async with self._starting:
                process = await _Process.start()
                try:
                    await process.ask(self._first)
                    self._ready.append(process)
                except _DiedError:
                    pass
                except asyncio.CancelledError:
                    await process.end()
                    raise
            try:
                await self._notify()
                await asyncio.shield(process.ended)
            finally:
                if process in self._ready:
                    self._ready.remove(process)
                await self._notify()
                status = await process.end()
            _LOG.error("a process that searches has ended by itself (%s); another one is started", status)
            pause = 1.0 if time.monotonic() - begun > _LIVED else min(2 * pause, _LONGEST_PAUSE)
            await asyncio.sleep(pause)

    async def _notify(self) -> None:
        async with self._changed:
            self._changed.notify_all()

    async def _find_free(self) -> _Process | None:
        """Wait until a process can take a request, and return the least busy one; None where no process is alive."""

        def least() -> _Process | None:
            alive = [process for process in self._ready if not process.ended.done()]
            return min(alive, key=lambda process: process.pending, default=None)

        async with self._changed:
            await self._changed.wait_for(lambda: (process := least()) is None or process.pending < AT_ONCE)
            return least()

    def prepare(self, name: str) -> None:
        """Let all processes open the published generation of an index, and wait. Called from another thread."""
        if self._loop is not None and self._ready:
            with suppress(RuntimeError, TimeoutError, CancelledError):
                asyncio.run_coroutine_threadsafe(self._prepare(name), self._loop).result(_PATIENCE)

    async def _prepare(self, name: str) -> None:
        # A process that ends meanwhile opens the published generation when it is restarted.
        await asyncio.gather(*(process.ask({"prepare": name}) for process in self._ready), return_exceptions=True)

    async def answer(self, scope: Scope, body: bytes) -> _Answer | None:
        """Return the answer to a request; None where the service must compute it itself.

        Raises:
            Refusal: Two processes, or the last one, have ended while computing it. The service's own process does not
                try it, as it might end, too.
        """
        died = 0
        for _ in range(_ATTEMPTS):
            process = await self._find_free() if self._state.is_ready and died < _MOST_DEATHS else None
            if process is None and died:
                message = "expected to answer, got the end of a process that tried to"
                remedy = "come again as Retry-After says, or ask for less at once"
                raise Refusal(503, "ended", message, remedy, {"Retry-After": "5"})
            if process is None:
                return None
            try:
                # Name the generations at the last moment, so that no later request gets an older one.
                head = {**scope_to_json(scope), "generations": self._state.generations()}
                answer, content = await process.ask(head, body)
            except _DiedError:
                died += 1
                continue
            finally:
                await self._notify()
            if "other" not in answer:
                return answer, content
            # The worker has opened a generation that was published after the service had checked.
            await asyncio.to_thread(self._state.refresh, answer["other"])
        return None


class Spread(Layer):
    """Passes requests that take much computing to the worker processes. It is the innermost middleware."""

    def __init__(self, app: ASGIApp, workers: WorkerPool) -> None:
        super().__init__(app)
        self._workers = workers

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to a worker process, or to the routes of this process."""
        if scope["path"] not in COMPUTED or not self._workers.ready:
            await self.app(scope, receive, send)
            return
        message = await receive()
        result = await self._workers.answer(scope, message.get("body", b""))
        if result is None:
            await self.app(scope, put_back(message, receive), send)
            return
        answer, content = result
        scope["state"].update(answer["state"])
        if answer["route"] is not None:
            scope["route"] = SimpleNamespace(path=answer["route"])
        if "fault" in answer:
            raise ElsewhereError(answer["fault"])
        await send({"type": "http.response.start", "status": answer["status"], "headers": bytes_of(answer["headers"])})
        await send({"type": "http.response.body", "body": content})
