"""A process that computes answers for the service that started it: searches, curves, spans, coverage, and their pages.

Python runs one thread at a time in a process, and a search holds that lock for three quarters of its time. So that a
service uses all cores, several processes have the app's routes over the same indexes, of which the system keeps the
pages once. They know no keys, limits or audit log: whoever asks has been let in, and what is to be noted of an answer
goes back with it.

The process ends with its socket, and so with the service, however that ends.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio.to_thread
from starlette.types import Message

from auscult.engines import is_address
from auscult.errors import AuscultError
from auscult.service.app import answering_app
from auscult.service.requests import described
from auscult.service.settings import Settings
from auscult.service.state import State, settle
from auscult.service.workers.frames import frame, noted, read_frame, scope_from_json, texts_of


class _Answers:
    """The app's routes over all indexes, each at the generation that is asked for."""

    def __init__(self, told: dict[str, Any]) -> None:
        named = told["indexes"].items()
        indexes = {name: index if is_address(index) else Path(index) for name, index in named}
        settings = Settings(indexes=indexes, data=Path(told["data"]), page=told["page"], changes=told["changes"])
        self._state = State(settings, completes=False)
        self._app = answering_app(settings, self._state)

    def open(self) -> None:
        """Open all indexes, and read what the first request would wait for."""
        for name, served in self._state.indexes.items():
            self._state.refresh(name)
            if served.is_open:
                searcher = served.opened.searcher
                searcher.warm_up()
                # A model that reads no question in words answers it with an error.
                with suppress(AuscultError):
                    searcher.search("what is gout", 1)
        settle()
        gc.enable()

    async def answer(self, told: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        """Do what a frame asks for: prepare another generation, or answer a request."""
        if "prepare" in told:
            await asyncio.to_thread(self._state.indexes[told["prepare"]].prepare)
            return {}, b""
        for name, identity in told["generations"].items():
            served, wanted = self._state.indexes[name], tuple(identity)
            if not served.switch(wanted):
                await asyncio.to_thread(served.refresh)
                if not served.switch(wanted):
                    return {"other": name}, b""
        scope, parts = scope_from_json(told), []
        sent: list[Message] = [{"type": "http.request", "body": body}]
        start: Message = {}

        async def receive() -> Message:
            return sent.pop() if sent else {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            nonlocal start
            if message["type"] == "http.response.start":
                start = message
            else:
                parts.append(message.get("body", b""))

        try:
            await self._app(scope, receive, send)
        except Exception as error:
            return {"fault": described(error), **noted(scope)}, b""
        return {"status": start["status"], "headers": texts_of(start["headers"]), **noted(scope)}, b"".join(parts)


async def _work(connection: socket.socket) -> None:
    # One request is computed at a time: others would wait for the lock.
    anyio.to_thread.current_default_thread_limiter().total_tokens = 1
    reader, writer = await asyncio.open_connection(sock=connection)
    doing = set()

    async def answered(told: dict[str, Any], body: bytes) -> None:
        try:
            head, content = await answers.answer(told, body)
        except Exception as error:
            head, content = {"fault": described(error), "state": {}, "route": None}, b""
        writer.write(frame({**head, "number": told["number"]}, content))

    with suppress(asyncio.IncompleteReadError, ConnectionError):
        told, _ = await read_frame(reader)
        answers = _Answers(told)
        await asyncio.to_thread(answers.open)
        writer.write(frame({"number": told["number"]}))
        while True:
            task = asyncio.create_task(answered(*await read_frame(reader)))
            doing.add(task)
            task.add_done_callback(doing.discard)
    # Nobody waits any more for what is being computed.
    os._exit(0)


def main() -> None:
    """Answer until the socket ends, whose number is the only argument."""
    # Not while it reads what stays.
    gc.disable()
    # These reach all processes of a group: the service answers first what it has begun, and then ends this one.
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    asyncio.run(_work(socket.socket(fileno=int(sys.argv[1]))))


if __name__ == "__main__":
    main()
