"""A web server on the loopback interface that serves given bytes, with or without ranges, and can break off."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class FileServer(ThreadingHTTPServer):
    """Serves `files` by path.

    Attributes:
        ranges: Whether Range requests are honoured.
        cuts: For each coming answer, how many bytes of its body are sent before the connection breaks.
        requests: (path, Range header or "") of each request that came.
    """

    daemon_threads = True

    def __init__(self, files: Mapping[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files = dict(files)
        self.ranges = True
        self.cuts: list[int] = []
        self.statuses: list[int] = []
        self.requests: list[tuple[str, str]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: FileServer

    def do_GET(self) -> None:
        wanted = self.headers.get("Range", "")
        self.server.requests.append((self.path, wanted))
        content = self.server.files.get(self.path)
        if self.server.statuses:
            self.send_error(self.server.statuses.pop(0))
            return
        if content is None:
            self.send_error(404)
            return
        match = re.fullmatch(r"bytes=(\d+)-", wanted) if self.server.ranges else None
        start = int(match[1]) if match else 0
        if match and start >= len(content):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(content)}")
            self.end_headers()
            return
        self.send_response(206 if match else 200)
        if match:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        cut = self.server.cuts.pop(0) if self.server.cuts else len(content)
        self.wfile.write(content[start : start + cut])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that http.server uses
        """Say nothing."""


@contextmanager
def serving(files: Mapping[str, bytes]) -> Iterator[FileServer]:
    """Serve `files` until the block ends."""
    server = FileServer(files)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
