"""Where a request comes from: another site's page can make a browser ask, and must not gain by it.

- A service for this machine answers to this machine's names alone: a page whose name was led to 127.0.0.1 (DNS
  rebinding) is refused by its Host.
- What changes something, and every call of the API, has to come from this service's own pages, from a program, or with
  a key in its header, which another site's page cannot add.
- Headers beyond a size are refused before anything looks at them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from auscult.service.errors import Refusal
from auscult.service.guard.refusing import refuse
from auscult.service.settings import LOOPBACK

_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_LONGEST: Final = 32_768
_OWN: Final = frozenset({"same-origin", "none"})
_ELSEWHERE: Final = Refusal(
    403,
    "other_site",
    "expected a request from a page of this service, got one from another site's",
    "open the page of this service itself; programs send a key in the header Authorization",
)
_OTHER_HOST: Final = Refusal(
    421, "other_host", "expected a name of this machine as host, got another", "ask 127.0.0.1 or localhost"
)
_TOO_LONG: Final = Refusal(
    431, "headers_too_large", "expected headers of 32 KB at most, got more", "send fewer or shorter headers"
)


class Origins:
    """Refuses what another site has sent a browser for.

    Args:
        app: Behind it.
        local: Whether the service is for this machine alone.
        allowed: Origins whose scripts may ask the API.
    """

    def __init__(self, app: ASGIApp, local: bool, allowed: Collection[str] = ()) -> None:
        self.app = app
        self._local = local
        self._allowed = allowed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        if refusal is not None:
            await refuse(refusal, scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def _refusal(self, scope: Scope) -> Refusal | None:
        if sum(len(name) + len(value) for name, value in scope["headers"]) + len(scope["query_string"]) > _LONGEST:
            return _TOO_LONG
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if self._local and not _is_here(host, scope):
            return _OTHER_HOST
        guarded = scope["method"] not in _SAFE or scope["path"].startswith("/api/")
        if not guarded or "authorization" in headers:
            return None
        origin = headers.get("origin")
        if origin in self._allowed:
            return None
        site = headers.get("sec-fetch-site")
        if site is not None:
            return None if site in _OWN else _ELSEWHERE
        return None if origin is None or _place(origin) == host.lower() else _ELSEWHERE


def _is_here(host: str, scope: Scope) -> bool:
    server = scope.get("server")
    name = urlsplit(f"//{host}").hostname if _is_parsable(host) else None
    return name is not None and (name in LOOPBACK or bool(server and name == str(server[0]).lower()))


def _is_parsable(host: str) -> bool:
    try:
        return urlsplit(f"//{host}").hostname is not None
    except ValueError:
        return False


def _place(origin: str) -> str:
    """Host and port of an origin."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""
