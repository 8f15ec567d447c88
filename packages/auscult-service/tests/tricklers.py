"""Clients that send a request a byte now and then: uploads whose end never comes, over sockets of their own."""

from __future__ import annotations

import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final
from urllib.parse import urlsplit

BEGIN: Final = b'--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\n'
"""Of a body."""
LENGTH: Final = "Content-Length: 1000000"
FRAMINGS: Final = (LENGTH, "Transfer-Encoding: chunked", f"{LENGTH}\r\nExpect: 100-continue")
"""How the bodies may be announced."""


def upload_head(key: str = "", framing: str = LENGTH, path: str = "/api/v1/documents") -> bytes:
    """Return the headers of an upload."""
    shown = f"Authorization: Bearer {key}\r\n" if key else ""
    kind = "Content-Type: multipart/form-data; boundary=x"
    return f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{shown}{kind}\r\n{framing}\r\n\r\n".encode()


class Tricklers:
    """Uploads that trickle, each begun again when it is refused.

    Args:
        url: Of the service.
        heads: Headers of each upload.
        pause: Seconds between two bytes.

    Attributes:
        statuses: How often each status was answered.
    """

    def __init__(self, url: str, heads: Sequence[bytes], pause: float) -> None:
        self._place = (urlsplit(url).hostname, urlsplit(url).port)
        self._pause = pause
        self._stop = threading.Event()
        self.statuses = Counter[int]()
        self._sending = Counter[int]()
        self._threads = [threading.Thread(target=self._run, args=each) for each in enumerate(heads)]
        for each in self._threads:
            each.start()

    @property
    def sending(self) -> int:
        """Uploads that are on their way and not refused."""
        return sum(self._sending.values())

    def stop(self) -> None:
        """End them all."""
        self._stop.set()
        for each in self._threads:
            each.join()

    def _run(self, number: int, head: bytes) -> None:
        while not self._stop.is_set():
            with suppress(OSError), socket.create_connection(self._place, timeout=10) as wire:
                self._trickle(wire, number, head)
            self._sending[number] = 0
            # Who is refused comes again at once, but not in a loop that would take a core of this machine.
            self._stop.wait(0.2)

    def _trickle(self, wire: socket.socket, number: int, head: bytes) -> None:
        is_chunked = b"chunked" in head
        wire.sendall(head if b"Expect" in head else head + _framed(BEGIN, is_chunked))
        wire.settimeout(self._pause)
        self._sending[number] = 1
        while not self._stop.is_set():
            try:
                answer = wire.recv(65_536)
            except TimeoutError:
                wire.sendall(_framed(b"x", is_chunked))
                continue
            if answer.startswith(b"HTTP/1.1 100"):
                continue
            if answer:
                self.statuses[int(answer.split()[1])] += 1
            return


def _framed(content: bytes, is_chunked: bool) -> bytes:
    return b"%x\r\n%s\r\n" % (len(content), content) if is_chunked else content


@contextmanager
def trickling(url: str, heads: Sequence[bytes], pause: float = 5.0) -> Iterator[Tricklers]:
    """Let uploads trickle; each has begun, or has been refused once, when this is entered."""
    tricklers = Tricklers(url, heads, pause)
    try:
        ends = time.monotonic() + 30
        while tricklers.sending + sum(tricklers.statuses.values()) < len(heads) and time.monotonic() < ends:
            time.sleep(0.05)
        yield tricklers
    finally:
        tricklers.stop()
