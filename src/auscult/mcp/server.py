"""The tools of `tools.py` as an MCP server, with version 2 of the SDK."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypeVar

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceNotFoundError, ToolError
from mcp.server.mcpserver.resources import ResourceSecurity
from mcp.types import ToolAnnotations
from pydantic import Field, ValidationError

from auscult.errors import AuscultError
from auscult.mcp import tools
from auscult.mcp.answers import Citations, CoverageTable, Found, Indexes, Reading
from auscult.mcp.stdio import answering_stdio
from auscult.mcp.tools import Library
from auscult.schema import Assertion
from auscult.version import __version__

Answer = TypeVar("Answer")
_LOG: Final = logging.getLogger("auscult.mcp")
_READS_ONLY: Final = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
DOCUMENTS: Final = "auscult://{index}/{+document}"
INSTRUCTIONS: Final = """Health documents of this user, searched by passages. Every sentence has an id.
Answer from what these tools return and from nothing else. Behind each statement, cite the ids of the sentences that say
it, copied as they are. Before you answer, pass all ids to `cite`: it returns the exact sentences, or says which do not
exist; leave those out. Where a search says `nothing_here`, tell the user what it says, and do not answer from memory.
Where it says `not_searched`, tell the user that first, and never that nothing answers. Where a passage has
a `note`, it is about something similar, and not about what was asked."""

Index = Annotated[str, Field(description="An index by its name (see `indexes`); empty for all of them.")]
Filters = Annotated[
    dict[str, str | list[str]] | None,
    Field(
        description="Only documents whose fields have these values: a value, a list of which one suffices, or a "
        'range such as "2019..2021-06". `indexes` names fields and values.'
    ),
]
Words = Annotated[list[str] | None, Field(description="Such as symptoms, treatment, causes, side effects.")]


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


@dataclass(frozen=True, slots=True)
class _Tools:
    """The tools of a library. A language model sees their signatures and docstrings."""

    library: Library

    def search(
        self,
        question: Annotated[str, Field(description='In words: "How is gout treated?"')] = "",
        entity: Annotated[str, Field(description="In place of a question: a disease, symptom or medicine.")] = "",
        aspects: Words = None,
        index: Index = "",
        k: Annotated[int, Field(description=f"How many passages, 1 to {tools.MOST_HITS}.")] = 5,
        where: Filters = None,
        conversation: Annotated[
            list[str] | None,
            Field(description="Earlier questions, the first one first: what the question lacks is taken from them."),
        ] = None,
        assertions: Annotated[
            list[Assertion] | None,
            Field(
                description="Leave out passages that mention the entity and say none of these of it; ['affirmed'] for "
                "what a patient has, and neither what is denied nor what a relative had."
            ),
        ] = None,
    ) -> Found:
        """Find the passages that answer a question, or aspects of an entity. Each sentence has an id to cite."""
        return _answered(
            lambda: tools.search(
                self.library,
                question,
                entity,
                aspects or (),
                index,
                k,
                where or {},
                conversation=conversation or (),
                assertions=assertions or (),
            )
        )

    def read(
        self,
        sentence: Annotated[str, Field(description="The id of a sentence, to read around it.")] = "",
        document: Annotated[str, Field(description="Or the id of a document, to read it.")] = "",
        index: Index = "",
        before: Annotated[int, Field(description="Sentences before the one named.")] = 5,
        behind: Annotated[int, Field(description="Sentences behind it.")] = 5,
        first: Annotated[int, Field(description="Of a document: the sentence to begin with, from 0.")] = 0,
    ) -> Reading:
        """Read on: the sentences around one, or a document, up to 120 sentences at once."""
        return _answered(lambda: tools.read(self.library, sentence, document, index, before, behind, first))

    def cite(self, ids: Annotated[list[str], Field(description="Ids of sentences, copied from answers.")]) -> Citations:
        """Check citations: the exact sentence of each id with its source, or that it does not exist."""
        return _answered(lambda: tools.cite(self.library, ids))

    def coverage(
        self,
        entities: Annotated[list[str], Field(description="Diseases, symptoms, medicines.")],
        aspects: Words = None,
        index: Annotated[str, Field(description="An index by its name; empty for the first.")] = "",
        where: Filters = None,
    ) -> CoverageTable:
        """Which aspects of these entities the documents answer. Without aspects: those that headings name."""
        return _answered(lambda: tools.coverage(self.library, entities, aspects or (), index, where or {}))

    def indexes(self) -> Indexes:
        """What can be asked: the indexes, how much they hold, and the fields to filter by."""
        return _answered(lambda: tools.indexes(self.library))


def make_server(library: Library) -> AnswerServer:
    """Create a server for some indexes."""
    server = AnswerServer("auscult", instructions=INSTRUCTIONS, version=__version__, log_level="WARNING")
    offered = _Tools(library)
    for tool in (offered.search, offered.read, offered.cite, offered.coverage, offered.indexes):
        server.add_tool(tool, annotations=_READS_ONLY)

    # The id of a document is not a path, so it needs no check for one.
    @server.resource(DOCUMENTS, security=ResourceSecurity(exempt_params={"document"}))
    def document(index: str, document: str) -> str:
        """The text of a document."""
        try:
            return tools.text_of(library, index, document)
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


def _answered(ask: Callable[[], Answer]) -> Answer:
    """Return an answer, or raise an error of one sentence. For an unexpected exception, only its place is logged."""
    try:
        return ask()
    except AuscultError as error:
        raise ToolError(f"{error}.") from None
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno}"
        _LOG.error("a tool failed: %s at %s", type(error).__name__, place)
        raise ToolError(
            f"something went wrong here ({type(error).__name__} at {place}); it is a fault of ours."
        ) from None
