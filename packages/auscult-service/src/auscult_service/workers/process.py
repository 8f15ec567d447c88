"""A worker process. It computes answers for the service: searches, curves, spans, coverage, and their pages.

Python runs one thread at a time in a process, and a search has that lock for three quarters of its time. To use all
cores, several processes run the app's routes over the same indexes, whose memory pages they share. They have no keys,
limits or audit log: the service has already admitted the caller, and details for the audit log go back with the
answer.

The process ends when its socket is closed, and so always ends with the service.
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
from auscult_service.app import answering_app
from auscult_service.requests import describe_error
from auscult_service.settings import Settings
from auscult_service.state import State, settle
from auscult_service.workers.frames import collect_noted, frame, read_frame, scope_from_json, texts_of


class _Answers:
    """The app's routes over all indexes, each at the requested generation."""

    def __init__(self, request: dict[str, Any]) -> None:
        named = request["indexes"].items()
        indexes = {name: index if is_address(index) else Path(index) for name, index in named}
        settings = Settings(
            indexes=indexes, data=Path(request["data"]), page=request["page"], changes=request["changes"]
        )
        self._state = State(settings, completes=False)
        self._app = answering_app(settings, self._state)

    def open(self) -> None:
        """Open all indexes, and load what the first request would wait for."""
        for name, served in self._state.indexes.items():
            self._state.refresh(name)
            if served.is_open:
                searcher = served.opened.searcher
                searcher.warm_up()
                # A model that cannot encode a question in words raises an error.
                with suppress(AuscultError):
                    searcher.search("what is gout", 1)
        settle()
        gc.enable()

    async def answer(self, request: dict[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
        """Handle a frame: prepare another generation, or answer a request."""
        if "prepare" in request:
            await asyncio.to_thread(self._state.indexes[request["prepare"]].prepare)
            return {}, b""
        for name, identity in request["generations"].items():
            served, wanted = self._state.indexes[name], tuple(identity)
            if not served.switch(wanted):
                await asyncio.to_thread(served.refresh)
                if not served.switch(wanted):
                    return {"other": name}, b""
        scope, parts = scope_from_json(request), []
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
            return {"fault": describe_error(error), **collect_noted(scope)}, b""
        head = {"status": start["status"], "headers": texts_of(start["headers"]), **collect_noted(scope)}
        return head, b"".join(parts)


async def _work(connection: socket.socket) -> None:
    # Compute one request at a time; others would only wait for the interpreter lock.
    anyio.to_thread.current_default_thread_limiter().total_tokens = 1
    reader, writer = await asyncio.open_connection(sock=connection)
    doing = set()

    async def answered(request: dict[str, Any], body: bytes) -> None:
        try:
            head, content = await answers.answer(request, body)
        except Exception as error:
            head, content = {"fault": describe_error(error), "state": {}, "route": None}, b""
        writer.write(frame({**head, "number": request["number"]}, content))

    with suppress(asyncio.IncompleteReadError, ConnectionError):
        request, _ = await read_frame(reader)
        answers = _Answers(request)
        await asyncio.to_thread(answers.open)
        writer.write(frame({"number": request["number"]}))
        while True:
            task = asyncio.create_task(answered(*await read_frame(reader)))
            doing.add(task)
            task.add_done_callback(doing.discard)
    # The service is gone, so nobody waits for running requests.
    os._exit(0)


def main() -> None:
    """Answer requests until the socket is closed; its file descriptor is the only argument."""
    # No collection while long-lived objects are loaded; `_Answers.open` turns it on again.
    gc.disable()
    # These signals go to the whole process group. The service first answers running requests, then ends this process.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    asyncio.run(_work(socket.socket(fileno=int(sys.argv[1]))))


if __name__ == "__main__":
    main()
