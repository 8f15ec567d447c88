"""How often somebody may ask."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from auscult.service.guard.buckets import Buckets
from auscult.service.guard.refusing import asker_of, refuse, too_many


class Rates:
    """Refuses callers who ask more often than they may, each by themselves: others do not feel it."""

    def __init__(self, app: ASGIApp, per_minute: int) -> None:
        self.app = app
        self._buckets = Buckets(per_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it with 429."""
        wait = self._buckets.take(asker_of(scope)) if scope["type"] == "http" else 0.0
        if wait:
            await refuse(too_many(wait), scope, receive, send)
        else:
            await self.app(scope, receive, send)
