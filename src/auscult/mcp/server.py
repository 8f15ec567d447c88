"""The tools of `tools.py` as an MCP server, with version 2 of the SDK."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.server.mcpserver.resources import ResourceSecurity
from mcp.types import ToolAnnotations
from pydantic import ValidationError

from auscult.errors import AuscultError
from auscult.mcp.library import Library
from auscult.mcp.stdio import answering_stdio
from auscult.mcp.tools import Tools
from auscult.version import __version__

_LOG: Final = logging.getLogger("auscult.mcp")
_READS_ONLY: Final = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
DOCUMENTS: Final = "auscult://{index}/{+document}"
INSTRUCTIONS: Final = """Health documents of this user, searched by passages. Every sentence has an id.
Answer from what these tools return and from nothing else. Behind each statement, cite the ids of the sentences that say
it, copied as they are. Before you answer, pass all ids to `cite`: it returns the exact sentences, or says which do not
exist; leave those out. Where a search says `nothing_here`, tell the user what it says, and do not answer from memory.
Where it says `language_note`, tell the user that too. Where it says `not_searched`, tell the user that first, and never
that nothing answers. Where a passage has a `note`, it is about something similar, and not about what was asked."""


class AnswerServer(MCPServer[None]):
    """A server whose errors are one sentence each, and whose log has no questions and no text of documents."""

    async def run_stdio_async(self) -> None:
        """Serve on standard input and output. A line that is not a message gets an error."""
        async with answering_stdio() as (read, write):
            await self._lowlevel_server.run(read, write, self._lowlevel_server.create_initialization_options())

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Run a tool. An error about arguments names them, and what they should be."""
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            wrong = error.__cause__
            if not isinstance(wrong, ValidationError):
                raise
            problems = (
                f"{'.'.join(map(str, problem['loc'])) or 'arguments'}: {problem['msg']}" for problem in wrong.errors()
            )
            raise ToolError(f"expected other arguments; {'; '.join(problems)}") from None


def make_server(library: Library) -> AnswerServer:
    """Create a server for some indexes."""
    server = AnswerServer("auscult", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING")
    tools = Tools(library)
    for tool in (tools.search, tools.read, tools.cite, tools.coverage, tools.indexes):
        server.add_tool(_explain_errors(tool), annotations=_READS_ONLY)

    # The id of a document is not a path, so it needs no check for one.
    @server.resource(DOCUMENTS, security=ResourceSecurity(exempt_params={"document"}))
    def document(index: str, document: str) -> str:
        """The text of a document."""
        try:
            return tools.text_of(index, document)
        except AuscultError as error:
            raise ResourceNotFoundError(f"{error}.") from None

    return server


def serve(library: Library, port: int | None = None) -> None:
    """Serve until the client disconnects: on standard input and output, or over HTTP at a port of this machine only."""
    server = make_server(library)
    if port is None:
        server.run("stdio")
    else:
        server.run("streamable-http", host="127.0.0.1", port=port)


def _explain_errors(tool: Callable[..., Any]) -> Callable[..., Any]:
    """Return a tool whose errors are one sentence. Of an unexpected exception, only its place is logged."""

    @wraps(tool)
    def call(*arguments: Any, **named: Any) -> Any:
        try:
            return tool(*arguments, **named)
        except AuscultError as error:
            raise ToolError(f"{error}.") from None
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno}"
            _LOG.error("a tool failed: %s at %s", type(error).__name__, place)
            raise ToolError(
                f"something went wrong here ({type(error).__name__} at {place}); it is a fault of ours."
            ) from None

    return call
