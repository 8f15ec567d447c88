"""A line to a local server that a test cuts, lets go silent, and mends."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Wire:
    """Passes on what comes in at `port` of this machine.

    Args:
        target: The path of the server's own socket.
    """

    def __init__(self, target: str) -> None:
        self._target = target
        self._open: list[socket.socket] = []
        self._hearing = threading.Event()
        self.port = 0
        self._listening = self._listen()

    @contextmanager
    def cut(self) -> Iterator[None]:
        """Nobody is there: connections end, and others are refused."""
        # A thread that accepts wakes up.
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._end()
        try:
            yield
        finally:
            self._listening = self._listen()

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Whatever is said, nothing comes back."""
        self._hearing.clear()
        try:
            yield
        finally:
            self._hearing.set()

    def close(self) -> None:
        """End all."""
        with self.cut():
            pass
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _listen(self) -> socket.socket:
        listening = socket.create_server(("127.0.0.1", self.port))
        self.port = listening.getsockname()[1]
        self._hearing.set()
        threading.Thread(target=self._accept, args=[listening], daemon=True).start()
        return listening

    def _accept(self, listening: socket.socket) -> None:
        with suppress(OSError):
            while True:
                near, _ = listening.accept()
                far = socket.socket(socket.AF_UNIX)
                far.connect(self._target)
                self._open += [near, far]
                threading.Thread(target=self._pass, args=[near, far, None], daemon=True).start()
                threading.Thread(target=self._pass, args=[far, near, self._hearing], daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, hearing: threading.Event | None) -> None:
        with suppress(OSError):
            while content := source.recv(65_536):
                if hearing is not None:
                    hearing.wait()
                sink.sendall(content)
        for each in (source, sink):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _end(self) -> None:
        for each in self._open:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._open.clear()
