"""How often somebody may ask. Probes may always: whoever restarts a service has to hear that it lives."""

from __future__ import annotations

from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from auscult.service.guard.buckets import Buckets
from auscult.service.guard.refusing import asker_of, refuse, too_many

PROBES: Final = frozenset({"/api/v1/health", "/api/v1/ready"})
"""Addresses that are answered whoever asks, and however often. They cost neither a thread nor a look at a key."""


class Rates:
    """Refuses callers who ask more often than they may, each by themselves: others do not feel it."""

    def __init__(self, app: ASGIApp, per_minute: int) -> None:
        self.app = app
        self._buckets = Buckets(per_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with 429."""
        is_counted = scope["type"] == "http" and not is_probe(scope)
        wait = self._buckets.take(asker_of(scope)) if is_counted else 0.0
        if wait:
            await refuse(too_many(wait), scope, receive, send)
        else:
            await self.app(scope, receive, send)


def is_probe(scope: Scope) -> bool:
    """Whether a request only asks how the service is."""
    return scope["method"] == "GET" and scope["path"] in PROBES
