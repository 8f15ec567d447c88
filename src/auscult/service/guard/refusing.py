"""Refusals from outside the app, in its one shape of errors."""

from __future__ import annotations

import math

from starlette.types import Receive, Scope, Send

from auscult.service.errors import Refusal, error_response


async def refuse(refusal: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request with a refusal."""
    request_id = str(scope.get("state", {}).get("request_id", ""))
    await error_response(refusal, request_id)(scope, receive, send)


def too_many(wait: float) -> Refusal:
    """That somebody asks too often."""
    headers = {"Retry-After": str(max(1, math.ceil(wait)))}
    message = "expected fewer requests, got more than the limit"
    return Refusal(429, "too_many", message, "wait as long as Retry-After says", headers)


def address_of(scope: Scope) -> str:
    """Where a request comes from; empty where that is not known."""
    client = scope.get("client")
    return str(client[0]) if client else ""


def asker_of(scope: Scope) -> str:
    """Who asks, for limits: the caller by name, else the address."""
    caller = scope.get("state", {}).get("caller")
    name = getattr(caller, "name", "")
    return f"caller {name}" if name else f"address {address_of(scope)}"
