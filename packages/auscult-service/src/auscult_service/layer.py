"""What the layers around the routes have in common (middleware of the app)."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from auscult_service.errors import Refusal, refuse


class Layer:
    """Base of a layer. It sees requests only; what else a server tells an app passes.

    A subclass defines `handle`, which passes a request on, or raises a `Refusal` before an answer has begun.

    Args:
        app: The next inner layer.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request, or pass another message on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        try:
            await self.handle(scope, receive, send)
        except Refusal as refusal:
            await refuse(refusal, scope, receive, send)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its answer back."""
        await self.app(scope, receive, send)


def put_back(message: Message, receive: Receive) -> Receive:
    """Return a function that first gives a message again, then what follows it."""
    unread = [message]

    async def receive_again() -> Message:
        return unread.pop() if unread else await receive()

    return receive_again
