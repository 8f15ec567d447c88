"""Run a service: sockets, TLS, signals. The only file that imports the HTTP server.

One process receives all requests. Searches are computed by worker processes (`workers`), or by its own threads where
there are none.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

from auscult.engines import open_index
from auscult.errors import ConfigError
from auscult.index.reader import open_current
from auscult.telemetry import naming_extra
from auscult_service.settings import ServiceLimits, Settings

_BACKLOG = 256
_HARDLY_ANY = 16_384
"""Bytes of an answer that may stay unsent before the client's reading is timed."""


def serve(settings: Settings, tell: Callable[[str], None] = print) -> None:
    """Serve until a signal ends it; requests that have begun are answered first.

    Args:
        settings: What to serve, and where.
        tell: Called with a line that names the address to open, when connections are accepted.

    Raises:
        AuscultError: An index cannot be opened, the address is in use, or an extra is missing.
    """
    # Objects that are created before the first answer stay alive, and collecting garbage among them takes a quarter of
    # that time. The watcher of generations (`state`) turns collection on again.
    gc.disable()
    for index in settings.indexes.values():
        # Only check that it is an index: the server that its passages were published to may be down for now.
        (open_index(index).reader if isinstance(index, str) else open_current(index)).close()
    needed = ("fastapi", "httptools", "uvicorn", "starlette", "prometheus_client", "python_multipart", "jinja2", "jwt")
    with naming_extra("serve", *needed):
        # Without these imports, a missing parser would show only with the first request or upload, or never.
        import httptools  # noqa: F401
        import python_multipart  # noqa: F401
        import uvicorn

        from auscult_service.app import create_app

        app = create_app(settings)
    listening = _listen(settings)
    access = settings.access
    config = uvicorn.Config(
        app,
        http=_limit_protocol(settings.limits),
        ws="none",
        # No access log, as URLs contain people's questions.
        access_log=False,
        log_config=None,
        server_header=False,
        backlog=_BACKLOG,
        timeout_graceful_shutdown=max(1, round(settings.limits.seconds)),
        proxy_headers=bool(access.proxies),
        forwarded_allow_ips=list(access.proxies) or None,
        ssl_certfile=str(access.certificate) if access.certificate else None,
        ssl_keyfile=str(access.certificate_key) if access.certificate_key else None,
    )
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    tell(f"open {address(settings, listening)}")
    # After a clean end, uvicorn raises the signal again.
    with suppress(KeyboardInterrupt), listening:
        uvicorn.Server(config).run(sockets=[listening])


class _Counted:
    """A transport that counts the bytes written to it."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self.written = 0

    def write(self, data: bytes) -> None:
        """Write bytes."""
        self.written += len(data)
        self._transport.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


class _Deadlines:
    """Time limits of one connection: for the headers of a request, and for reading its answer.

    Args:
        transport: The connection, which is closed if no headers come, and aborted if its client reads too slowly.
        loop: The event loop.
        limits: The time limits.
    """

    def __init__(self, transport: _Counted, loop: asyncio.AbstractEventLoop, limits: ServiceLimits) -> None:
        self._transport: Any = transport
        self._loop = loop
        self._limits = limits
        self._headers: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None

    def expect_headers(self) -> None:
        """Start the time for the headers of the next request."""
        self.headers_came()
        self._headers = self._loop.call_later(self._limits.body_seconds, self._transport.close)

    def headers_came(self) -> None:
        """Stop the time for headers."""
        if self._headers is not None:
            self._headers.cancel()

    def watch_reader(self) -> None:
        """Start the time for reading what is unsent, unless it runs already."""
        unsent, limits = self._transport.get_write_buffer_size(), self._limits
        if unsent > _HARDLY_ANY and self._reading is None and limits.least_rate:
            wanted = min(unsent / 2, limits.least_rate * limits.patience)
            self._reading = self._loop.call_later(limits.patience, self._check_reader, self._sent() + wanted)

    def stop(self) -> None:
        """Stop all times, as the connection has ended."""
        self.headers_came()
        if self._reading is not None:
            self._reading.cancel()

    def _check_reader(self, wanted: float) -> None:
        """Abort the connection if fewer bytes were sent since its beginning than wanted."""
        self._reading = None
        if self._sent() < wanted:
            self._transport.abort()
        else:
            self.watch_reader()

    def _sent(self) -> int:
        sent: int = self._transport.written - self._transport.get_write_buffer_size()
        return sent


def _limit_protocol(limits: ServiceLimits) -> type[asyncio.Protocol]:
    """Return uvicorn's protocol with time limits for the headers of a request and for reading its answer."""
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

    class LimitedConnection(HttpToolsProtocol):
        """Closes connections that send no request, and those whose client reads the answer too slowly."""

        _deadlines: _Deadlines

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            counted = _Counted(transport)
            self._deadlines = _Deadlines(counted, self.loop, limits)
            super().connection_made(cast(asyncio.Transport, counted))
            self._deadlines.expect_headers()

        def on_headers_complete(self) -> None:
            self._deadlines.headers_came()
            super().on_headers_complete()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self.cycle.response_complete:
                # No further request has arrived. Uvicorn's own deadline ends with the first byte of the next one.
                self._deadlines.expect_headers()
            self._deadlines.watch_reader()

        def pause_writing(self) -> None:
            super().pause_writing()
            self._deadlines.watch_reader()

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._deadlines.stop()

    return LimitedConnection


def address(settings: Settings, listening: socket.socket) -> str:
    """Return the address to open in a browser."""
    host, port = settings.host, listening.getsockname()[1]
    host = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(host, host)  # noqa: S104
    scheme = "https" if settings.access.certificate else "http"
    page = "" if settings.page else "/openapi.json"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}{page}"


def _listen(settings: Settings) -> socket.socket:
    try:
        addresses = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, _, _, place = addresses[0]
        # Name the protocol: asyncio sets TCP_NODELAY only then, and without it every answer waits for 40 ms.
        listening = socket.socket(family, kind, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        listening.listen(_BACKLOG)
        return listening
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        where = f"{settings.host}, port {settings.port}"
        raise ConfigError("an address to listen at", f"{where} ({reason})", "name another --host or --port") from error
