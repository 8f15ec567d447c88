"""Standard input and output as in the SDK, but a line that is not a message is answered with an error.

The SDK drops a line that it cannot read (a lone surrogate, an infinite number, a wrong type), and the client waits
forever. Here the client gets a JSON-RPC error with the id of the line.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import TextIOWrapper
from typing import Any, Final

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import ErrorData, JSONRPCError, JSONRPCNotification, jsonrpc_message_adapter
from pydantic import ValidationError

from auscult.files.json_text import parse_json

_PARSE_ERROR: Final = -32700
_INVALID_REQUEST: Final = -32600
_LONGEST_ID: Final = 200
_UNREADABLE: Final = "expected JSON without lone surrogates, and with numbers and nesting within limits"
_NO_MESSAGE: Final = (
    'expected a message of JSON-RPC 2.0: an object with "jsonrpc", "id" (a number or text) and "method"'
)
_TOKENS: Final = re.compile(r'"(?:[^"\\]|\\.)*+"|[{}\[\]:,]|[^\s{}\[\]:,"]+', re.DOTALL)


@asynccontextmanager
async def answering_stdio() -> AsyncIterator[tuple[Any, Any]]:
    """Open standard input and output, and yield the streams that a server reads and writes."""
    # Keep standard input for messages, as the SDK does: all other code in this process reads an empty file instead.
    with os.fdopen(os.dup(sys.stdin.fileno()), "rb", closefd=False) as wire, open(os.devnull, "rb") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), sys.stdin.fileno())
        lines: Any = _Lines(TextIOWrapper(wire, encoding="utf-8", errors="replace"))
        async with stdio_server(stdin=lines) as (read, write):
            lines.write = write
            lines.is_ready.set()
            yield read, write


class _Lines:
    """Yields the lines that are messages, and answers the others with an error.

    Attributes:
        write: Stream for the errors.
        is_ready: Set when the stream is there; no line is read before.
    """

    def __init__(self, file: TextIOWrapper) -> None:
        self._file = anyio.wrap_file(file)
        self.write: Any = None
        self.is_ready = anyio.Event()

    def __aiter__(self) -> _Lines:
        return self

    async def __anext__(self) -> str:
        await self.is_ready.wait()
        while line := await self._file.readline():
            refusal = refusal_of(line)
            if refusal is None:
                return line
            await self.write.send(SessionMessage(refusal))
        raise StopAsyncIteration


def refusal_of(line: str) -> JSONRPCError | None:
    """Return the error for a line that is not a message; None for a message and for an empty line."""
    if not line.strip():
        return None
    try:
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    except ValidationError as error:
        is_json = error.errors(include_input=False)[0]["type"] != "json_invalid"
        return _make_error(_INVALID_REQUEST if is_json else _PARSE_ERROR, _NO_MESSAGE if is_json else _UNREADABLE, line)
    except ValueError:
        # A lone surrogate, which UTF-8 cannot encode.
        return _make_error(_PARSE_ERROR, _UNREADABLE, line)
    if isinstance(message, JSONRPCNotification) and _find_id_token(line):
        return _make_error(_INVALID_REQUEST, _NO_MESSAGE, line)
    return None


def _make_error(code: int, message: str, line: str) -> JSONRPCError:
    return JSONRPCError(
        jsonrpc="2.0",
        id=_parse_id(_find_id_token(line)),
        error=ErrorData(code=code, message=f"{message}; send it anew"),
    )


def _find_id_token(line: str) -> str:
    """Return the token of a message's id without parsing the message; empty where it has none."""
    depth, before = 0, ("", "")
    for match in _TOKENS.finditer(line):
        word = match[0]
        if depth == 1 and before == ('"id"', ":"):
            return word
        depth += (word in "{[") - (word in "}]")
        before = (before[1], word)
    return ""


def _parse_id(token: str) -> int | str | None:
    """Return an id that can be sent back; None for any other."""
    if len(token) > _LONGEST_ID:
        return None
    try:
        value = parse_json(token)
    except ValueError:
        return None
    usable = type(value) is int or (isinstance(value, str) and value.isprintable())
    return value if usable else None
