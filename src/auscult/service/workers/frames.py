"""Frames between the service and the processes that compute its answers: a head of JSON and a body, with lengths.

A head is a request that has passed all guards, or the answer to one. JSON, so that nothing in it is ever run.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any, Final

from starlette.types import Scope

from auscult.service.caller import ANYONE, Caller

_LENGTH: Final = 4
_TEXTS: Final = ("method", "path", "scheme", "root_path", "client", "server")
_NOTED: Final = ("audit", "searched")


async def read_frame(reader: asyncio.StreamReader) -> tuple[dict[str, Any], bytes]:
    """Read a head and a body.

    Raises:
        asyncio.IncompleteReadError: The other side has ended.
    """
    lengths = await reader.readexactly(2 * _LENGTH)
    head = await reader.readexactly(int.from_bytes(lengths[:_LENGTH], "little"))
    return json.loads(head), await reader.readexactly(int.from_bytes(lengths[_LENGTH:], "little"))


def frame(head: dict[str, Any], body: bytes = b"") -> bytes:
    """Return the bytes of a head and a body."""
    written = json.dumps(head).encode()
    return b"".join((*(len(each).to_bytes(_LENGTH, "little") for each in (written, body)), written, body))


def scope_to_json(scope: Scope) -> dict[str, Any]:
    """Return a request that has passed the guards."""
    caller: Caller = scope["state"].get("caller", ANYONE)
    names = [None if each is None else sorted(each) for each in (caller.indexes, caller.groups)]
    return {
        **{name: scope.get(name) for name in _TEXTS},
        "query": scope["query_string"].decode("latin-1"),
        "headers": texts_of(scope["headers"]),
        "caller": [caller.name, caller.role, *names],
        "request_id": scope["state"].get("request_id", ""),
    }


def scope_from_json(told: dict[str, Any]) -> Scope:
    """Return a request as an app takes it."""
    name, role, *sets = told["caller"]
    caller = Caller(name, role, *(None if each is None else frozenset(each) for each in sets))
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        **{each: told[each] for each in _TEXTS},
        "query_string": told["query"].encode("latin-1"),
        "headers": bytes_of(told["headers"]),
        "state": {"caller": caller, "request_id": told["request_id"]},
    }


def texts_of(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    """Return headers as a frame takes them."""
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]


def bytes_of(headers: list[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    """Return headers of a frame as a server takes them."""
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


def noted(scope: Scope) -> dict[str, Any]:
    """Return what the routes have left of a request for those who stand around them."""
    state = {name: scope["state"][name] for name in _NOTED if name in scope["state"]}
    return {"state": state, "route": getattr(scope.get("route"), "path", None)}
