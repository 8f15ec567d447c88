"""Frames between the service and its worker processes: two lengths, a head of JSON, and a body.

A head is a request that has passed all checks, or the answer to one. It is JSON, so that nothing in it is executed.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any, Final

from starlette.types import Scope

from auscult_service.caller import ANYONE, Caller

_LENGTH: Final = 4
_TEXTS: Final = ("method", "path", "scheme", "root_path", "client", "server")
_NOTED: Final = ("audit", "searched")


async def read_frame(reader: asyncio.StreamReader) -> tuple[dict[str, Any], bytes]:
    """Read a head and a body.

    Raises:
        asyncio.IncompleteReadError: The other side has closed the connection.
    """
    lengths = await reader.readexactly(2 * _LENGTH)
    head = await reader.readexactly(int.from_bytes(lengths[:_LENGTH], "little"))
    return json.loads(head), await reader.readexactly(int.from_bytes(lengths[_LENGTH:], "little"))


def frame(head: dict[str, Any], body: bytes = b"") -> bytes:
    """Return the bytes of a frame."""
    written = json.dumps(head).encode()
    return b"".join((*(len(part).to_bytes(_LENGTH, "little") for part in (written, body)), written, body))


def scope_to_json(scope: Scope) -> dict[str, Any]:
    """Convert a request to the head of a frame."""
    caller: Caller = scope["state"].get("caller", ANYONE)
    names = [
        None if names_or_none is None else sorted(names_or_none) for names_or_none in (caller.indexes, caller.groups)
    ]
    return {
        **{name: scope.get(name) for name in _TEXTS},
        "query": scope["query_string"].decode("latin-1"),
        "headers": texts_of(scope["headers"]),
        "caller": [caller.name, caller.role, *names],
        "request_id": scope["state"].get("request_id", ""),
    }


def scope_from_json(head: dict[str, Any]) -> Scope:
    """Convert the head of a frame to a request for an app."""
    name, role, *sets = head["caller"]
    caller = Caller(name, role, *(None if listed is None else frozenset(listed) for listed in sets))
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        **{field: head[field] for field in _TEXTS},
        "query_string": head["query"].encode("latin-1"),
        "headers": bytes_of(head["headers"]),
        "state": {"caller": caller, "request_id": head["request_id"]},
    }


def texts_of(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    """Convert headers to text, for a frame."""
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]


def bytes_of(headers: list[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    """Convert headers of a frame to bytes, for a server."""
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


def collect_noted(scope: Scope) -> dict[str, Any]:
    """Return what the routes have noted in a request for the middleware: audit details, searches, route."""
    state = {name: scope["state"][name] for name in _NOTED if name in scope["state"]}
    return {"state": state, "route": getattr(scope.get("route"), "path", None)}
