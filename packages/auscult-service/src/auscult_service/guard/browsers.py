"""Refuse requests that another site's page makes a browser send, and set security headers on answers.

- A service for this machine answers only requests that name this machine as Host. This stops DNS rebinding, where
  another site's name resolves to 127.0.0.1.
- Requests that change something, and all requests to the API, must come from this service's own pages, from a program,
  or with a key in the header. Another site's page cannot add that header.
- Headers that are too long are refused before they are parsed.
- Answers may be about patients, so browsers are told not to store them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auscult_service.errors import Refusal
from auscult_service.layer import Layer
from auscult_service.settings import LOOPBACK

_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_LONGEST: Final = 32_768
_OWN: Final = frozenset({"same-origin", "none"})


class Origins(Layer):
    """Refuses requests that come from another site's page.

    Args:
        local: Whether the service is for this machine only.
        allowed: Origins whose scripts may use the API.
    """

    def __init__(self, app: ASGIApp, local: bool, allowed: Collection[str]) -> None:
        super().__init__(app)
        self._local = local
        self._allowed = allowed

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        self._check(scope)
        await self.app(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        if sum(len(name) + len(value) for name, value in scope["headers"]) + len(scope["query_string"]) > _LONGEST:
            raise Refusal(
                431, "headers_too_large", "expected headers of 32 KB at most, got more", "send fewer or shorter headers"
            )
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        name = _parse_url(f"//{host}").hostname
        server = scope.get("server")
        is_here = name is not None and (name in LOOPBACK or bool(server and name == str(server[0]).lower()))
        if self._local and not is_here:
            message = "expected a name of this machine as host, got another"
            raise Refusal(421, "other_host", message, "ask 127.0.0.1 or localhost")
        guarded = scope["method"] not in _SAFE or scope["path"].startswith("/api/")
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if not guarded or "authorization" in headers or origin in self._allowed:
            return
        if site is not None:
            is_own = site in _OWN
        else:
            is_own = origin is None or _parse_url(origin).netloc.lower() == host.lower()
        if not is_own:
            raise Refusal(
                403,
                "other_site",
                "expected a request from a page of this service, got one from another site's",
                "open the page of this service itself; programs send a key in the header Authorization",
            )


def _parse_url(address: str) -> SplitResult:
    """Return the parts of a URL; empty parts for an invalid one."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


POLICY: Final = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)
"""Content-Security-Policy: no inline script or style, and nothing from other sites."""
_SAFE_HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_A_YEAR: Final = "max-age=31536000"
_OWN_FILES: Final = "/static/"


class SafeHeaders(Layer):
    """Adds security headers that an answer lacks. Browsers may store only the page's own static files."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _SAFE_HEADERS.items():
                    headers.setdefault(name, value)
                if not scope["path"].startswith(_OWN_FILES):
                    headers["Cache-Control"] = "no-store"
                if scope.get("scheme") == "https":
                    headers["Strict-Transport-Security"] = _A_YEAR
            await send(message)

        await self.app(scope, receive, sending)
