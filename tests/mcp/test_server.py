"""The server as clients meet it: a process of its own, the SDK's own client, both transports."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from auscult.ingest.building import build_index
from auscult.mcp.library import Library
from auscult.mcp.server import make_server
from command import Command, hashed_model
from encoders import HashedEncoder
from leaflets import leaflets
from mcp import Client, MCPError, StdioServerParameters, stdio_client
from small_general import save_general

NAMES = ["search", "read", "cite", "coverage", "indexes"]
Talk = Callable[[Client], Awaitable[None]]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One of a model that any process can open."""
    from auscult.encoders.general.persistence import load

    place = tmp_path_factory.mktemp("served")
    save_general(place / "model")
    build_index(leaflets(), load(place / "model"), place / "index", model_path=str(place / "model"))
    return place / "index"


def talk(to: Any, about: Talk) -> None:
    async def whole() -> None:
        async with Client(to) as client:
            await about(client)

    asyncio.run(whole())


async def ask(client: Client, tool: str, **arguments: object) -> dict[str, Any]:
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    assert answer.structured_content is not None
    return answer.structured_content


async def conversation(client: Client) -> None:
    listed = (await client.list_tools()).tools
    assert [tool.name for tool in listed] == NAMES
    for tool in listed:
        assert tool.description
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint
        assert tool.output_schema is not None
        assert all("description" in field for field in tool.input_schema["properties"].values())
    found = await ask(client, "search", entity="Gout", aspects=["treatment"], k=3)
    passage = found["passages"][0]
    assert passage["document"] == "leaflet-gout"
    real = passage["sentences"][0]["id"]
    cited = await ask(client, "cite", ids=[real, "leaflet-gout#0-10-abcd"])
    assert not cited["all_exist"]
    assert [citation["exists"] for citation in cited["citations"]] == [True, False]
    assert cited["citations"][0]["text"] == passage["sentences"][0]["text"]
    read = await ask(client, "read", sentence=real, before=1, behind=0)
    assert read["sections"][-1]["sentences"][-1]["id"] == real
    assert len((await ask(client, "coverage", entities=["Gout", "Asthma"]))["cells"]) == 4
    assert (await ask(client, "indexes"))["indexes"][0]["documents"] == 4


def test_server_talks_over_standard_input_and_output(index: Path, tmp_path: Path) -> None:
    process = StdioServerParameters(
        command=sys.executable, args=["-m", "auscult.cli.main", "mcp", f"leaflets={index}"], cwd=tmp_path
    )
    with (tmp_path / "log").open("w+") as log:
        talk(stdio_client(process, errlog=log), conversation)
        log.seek(0)
        assert log.read() == "", "nothing that was asked or found is logged"


@pytest.mark.slow
def test_over_http_on_this_machine(index: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "auscult.cli.main", "mcp", str(index), "--http", str(port)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        for _ in range(200):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        talk(f"http://127.0.0.1:{port}/mcp", conversation)
        headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
        for body in (b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}', b"[" * 100_000, b"\xff", b'{"id":NaN}', b"7"):
            answer = httpx.post(f"http://127.0.0.1:{port}/mcp", content=body, headers=headers, timeout=20)
            assert answer.status_code == 400, body[:20]
            assert answer.json()["error"]["code"] in (-32700, -32600, -32602)
        address = socket.gethostbyname(socket.gethostname())
        with socket.socket() as outside:
            assert address.startswith("127.") or outside.connect_ex((address, port)) != 0
    finally:
        process.terminate()
        told = process.communicate(timeout=20)[1]
    assert f"answering at http://127.0.0.1:{port}/mcp" in told


@pytest.fixture
def library(tmp_path: Path) -> Library:
    encoder = HashedEncoder(256)
    build_index(leaflets(), encoder, tmp_path / "index")
    return Library({"leaflets": tmp_path / "index"}, encoder=encoder)


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("search", {}, "expected an entity, an aspect, or a question, got an empty query"),
        ("search", {"question": 7, "k": "many"}, "question: Input should be a valid string; k: Input should be"),
        ("search", {"question": "gout", "index": "none"}, "expected the name of an index (leaflets), got 'none'"),
        ("read", {"document": "../secret"}, "expected the id of a document here, got '../secret'"),
        ("cite", {}, "ids: Field required"),
    ],
)
def test_mistakes_are_tool_errors_of_one_sentence(
    library: Library, tool: str, arguments: dict[str, Any], message: str
) -> None:
    async def wrong(client: Client) -> None:
        answer = await client.call_tool(tool, arguments)
        assert answer.is_error
        (content,) = answer.content
        assert content.type == "text"
        assert message in content.text
        assert "\n" not in content.text

    talk(make_server(library), wrong)


def test_internal_error_names_its_place_not_the_question(
    library: Library, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("about Mrs Canary")

    monkeypatch.setattr(Library, "find_sentence", broken)

    async def fail(client: Client) -> None:
        answer = await client.call_tool("cite", {"ids": ["Canary"]})
        assert answer.is_error
        (content,) = answer.content
        assert content.type == "text"
        assert "RuntimeError at test_server.py:" in content.text
        assert "Canary" not in content.text

    talk(make_server(library), fail)
    assert "RuntimeError" in caplog.text
    assert "Canary" not in caplog.text


def test_documents_are_resources(library: Library) -> None:
    async def look(client: Client) -> None:
        (template,) = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "auscult://{index}/{+document}"
        read = await client.read_resource("auscult://leaflets/leaflet-gout")
        (content,) = read.contents
        assert getattr(content, "text", "") == leaflets()[3].text
        for missing in (
            "auscult://leaflets/nothing",
            "auscult://leaflets/../../etc/passwd",
            "auscult://x/leaflet-gout",
        ):
            with pytest.raises(MCPError):
                await client.read_resource(missing)

    talk(make_server(library), look)


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capfd)


def test_what_cannot_be_opened_is_told_at_once(command: Command, tmp_path: Path) -> None:
    missing = command("mcp", str(tmp_path / "none"))
    assert missing.code == 2
    assert "build one with: auscult index" in missing.err
    model = hashed_model(tmp_path / "model")
    build_index(leaflets(), HashedEncoder(256), tmp_path / "index", model_path=str(model))
    twice = command("mcp", str(tmp_path / "index"), str(tmp_path / "index"))
    assert twice.code == 2
    assert "a name of its own for each index" in twice.err
    both = command("mcp", str(tmp_path / "index"), "--group", "ward", "--open-only")
    assert both.code == 2
    assert "expected --group, or --open-only, got both" in both.err
