"""Every line on standard input is answered: with a result, or with an error that has its id."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from auscult.ingest.building import build_index
from auscult.mcp.stdio import refusal_of
from leaflets import leaflets
from small_general import save_general

PARSE, INVALID, PARAMS, METHOD = -32700, -32600, -32602, -32601
OPENING = (
    b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
    b'"clientInfo":{"name":"test","version":"1"}}}'
)
SEARCHES: dict[str, tuple[bytes, int | str]] = {
    "a lone surrogate": (b'{"question":"\\ud800 gout"}', PARSE),
    "one in a key": (b'{"question":"gout","where":{"\\udfff":"x"}}', PARSE),
    "a surrogate in UTF-8": (b'{"question":"gout \xed\xa0\x80"}', "result"),
    "no UTF-8": (b'{"question":"gout \xff\xfe"}', "result"),
    "a zero": (b'{"question":"gout \\u0000"}', "result"),
    "a large number": (b'{"question":"gout","k":1' + b"0" * 300 + b"}", "error"),
    "a huge number": (b'{"question":"gout","k":1' + b"0" * 9000 + b"}", PARSE),
    "1e400": (b'{"question":"gout","k":1e400}', "error"),
    "NaN": (b'{"question":"gout","k":NaN}', "error"),
    "Infinity": (b'{"question":"gout","k":-Infinity}', "error"),
    "nested": (b'{"where":' + b"[" * 3000 + b"]" * 3000 + b"}", PARSE),
    "nested far": (b'{"where":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}", PARSE),
    "a number as question": (b'{"question":7}', "error"),
    "null as question": (b'{"question":null}', "error"),
    "a list of arguments": (b"[]", PARAMS),
    "a long question": (b'{"question":"' + b"x" * 1_000_000 + b'"}', "error"),
}
LINES: dict[str, tuple[bytes, int]] = {
    "half a message": (b'{"id": 7', PARSE),
    "another version": (b'{"jsonrpc":"1.0","id":7,"method":"ping"}', INVALID),
    "a number as method": (b'{"jsonrpc":"2.0","id":7,"method":5}', INVALID),
    "a number as params": (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":7}', INVALID),
    "no such method": (b'{"jsonrpc":"2.0","id":7,"method":"none/such"}', METHOD),
    "another tool": (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":7}}', PARAMS),
    "id behind what is nested": (b'{"params":' + b"[" * 5000 + b"]" * 5000 + b',"id":7}', PARSE),
    "id in a text, too": (b'{"params":"\\"id\\":8,{\\ud800","x":{"id":9},"id":7}', PARSE),
    "a resource": (b'{"jsonrpc":"2.0","id":7,"method":"resources/read","params":{"uri":"auscult://x/\\ud800"}}', PARSE),
}
#: Where no answer can have their id.
UNNAMED: dict[str, tuple[bytes, int]] = {
    **{text: (text.encode(), INVALID) for text in ("[]", "7", "null", "{}", "true", '"x"')},
    "text": (b"hello", PARSE),
    "a batch": (b'[{"jsonrpc":"2.0","id":7,"method":"ping"}]', INVALID),
    **{
        f"id {text[:9]!r}": (b'{"jsonrpc":"2.0","id":' + text + b',"method":"ping"}', code)
        for text, code in (
            (b'"\\ud800"', PARSE), (b"1" + b"0" * 5000, PARSE), (b"NaN", INVALID), (b"1.5", INVALID), (b"[1]", INVALID),
            (b"null", INVALID), (b"true", INVALID),
        )
    },
}  # fmt: skip


class Talking:
    """A server in a process of its own."""

    def __init__(self, index: Path) -> None:
        command = [sys.executable, "-m", "auscult.cli.main", "mcp", str(index)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self._answers: queue.Queue[bytes] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._answers.put(line)

    def send(self, line: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()

    def ask(self, line: bytes) -> dict[str, Any]:
        self.send(line)
        answer: dict[str, Any] = json.loads(self._answers.get(timeout=60))
        assert self._answers.empty()
        return answer

    def end(self) -> bytes:
        """Close its standard input; return what it has said on standard error."""
        try:
            _, said = self._process.communicate(timeout=30)
        finally:
            self._process.kill()
        assert self._process.returncode == 0
        return said


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talking]:
    from auscult.encoders.general.persistence import load

    place = tmp_path_factory.mktemp("served")
    save_general(place / "model")
    build_index(leaflets(), load(place / "model"), place / "index", model_path=str(place / "model"))
    talking = Talking(place / "index")
    assert "result" in talking.ask(OPENING)
    talking.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    yield talking
    assert talking.ask(b'{"jsonrpc":"2.0","id":"last","method":"ping"}') == {
        "jsonrpc": "2.0",
        "id": "last",
        "result": {},
    }
    assert talking.end() == b"", "nothing that was asked is logged"


def test_every_line_is_answered_under_its_id(server: Talking) -> None:
    begin = b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"search","arguments":'
    for name, (arguments, expected) in SEARCHES.items():
        answer = server.ask(begin + arguments + b"}}")
        assert answer["id"] == 7, name
        if isinstance(expected, int):
            assert answer["error"]["code"] == expected, name
        else:
            assert answer["result"].get("isError", False) is (expected == "error"), name
    for lines, its_id in ((LINES, 7), (UNNAMED, None)):
        for name, (line, code) in lines.items():
            answer = server.ask(line)
            assert (answer["id"], answer["error"]["code"]) == (its_id, code), name
            assert "\n" not in answer["error"]["message"]


def test_what_is_a_message_is_passed_on() -> None:
    for line in (
        OPENING,
        b'{"jsonrpc":"2.0","method":"notifications/x","params":{"id":3}}',
        b'{"jsonrpc":"2.0","id":1,"result":{}}',
    ):
        assert refusal_of(line.decode()) is None
    assert refusal_of("\n") is None
