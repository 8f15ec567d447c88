"""Answer a language model's tools: it searches, and may only cite sentences that exist."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import auscult
from mcp import Client, StdioServerParameters, stdio_client

LEAFLETS = Path(__file__).with_name("leaflets")


async def converse(index: Path) -> None:
    """Do what a language model does with the tools of `auscult mcp`."""
    async with Client(stdio_client(StdioServerParameters(command="auscult", args=["mcp", str(index)]))) as model:

        async def call(tool: str, **arguments: Any) -> Any:
            return (await model.call_tool(tool, arguments)).structured_content

        found = await call("search", question="How is celiac disease treated?", k=1)
        sentence = found["passages"][0]["sentences"][0]
        print(f"{sentence['id']}\n  {sentence['text']}")
        cited = await call("cite", ids=[sentence["id"], "coeliac.md#0-40-beef"])
        for citation in cited["citations"]:
            print(f"{citation['id']}: {'exists' if citation['exists'] else 'does not exist'}")


with tempfile.TemporaryDirectory() as folder:
    asyncio.run(converse(auscult.build_index(LEAFLETS, out=f"{folder}/leaflets").folder))
