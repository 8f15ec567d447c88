"""Nothing is sent: no command looks up a name or connects beyond this machine, native code included."""

from __future__ import annotations

import ast
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from auscult.telemetry import OFF
from needs import Needs
from network_watch import LOOK_UPS, Watch, ask_service, ask_tools, commands, many_documents, prepare
from places import ROOT, SOURCES

SECONDS = 15
"""The runtime looks a name up nine seconds after it opened a model; `make security` asks for a minute."""
# Packages that report to their makers, or import one that does, unless they are told otherwise before their import.
REPORTING = ("onnxruntime", "huggingface_hub", "transformers", "onnxscript", "gliner", "ray")
_SWITCHES = ("switch_off", "naming_extra", "_runtime")


@pytest.fixture(scope="module")
def watch(needs: Needs, tmp_path_factory: pytest.TempPathFactory) -> Watch:
    needs.network_watch()
    made = Watch(tmp_path_factory.mktemp("watch"))
    prepare(made)
    return made


@pytest.fixture(scope="module")
def index(watch: Watch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("watched")
    (folder / "gout.txt").write_text("Gout\n\nGout is treated with colchicine.\n")
    done = watch.auscult("index", str(folder / "gout.txt"), "--out", str(folder / "index"))
    assert done.returncode == 0, done.stderr
    return folder / "index"


def check(watch: Watch) -> None:
    assert watch.calls == []
    assert watch.files == []


@pytest.mark.parametrize(
    ("program", "name", "target"),
    [
        ("ctypes.CDLL(None).getaddrinfo(b'events.example.org', None, None, ctypes.byref(ctypes.c_void_p()))",
         "getaddrinfo", "events.example.org"),
        ("ctypes.CDLL(None).gethostbyname(b'events.example.org')", "gethostbyname", "events.example.org"),
        ("socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(('192.0.2.1', 9))", "connect", "192.0.2.1 port 9"),
        ("socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).connect(('2001:db8::1', 9))",
         "connect", "2001:db8::1 port 9"),
        ("socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('192.0.2.1', 9))",
         "sendto", "192.0.2.1 port 9"),
        ("socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendmsg([b'x'], [], 0, ('192.0.2.1', 9))",
         "sendmsg", "192.0.2.1 port 9"),
        ("socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 53))",
         "sendto", "127.0.0.1 port 53"),
    ],
)  # fmt: skip
def test_the_watch_sees_each_call(program: str, name: str, target: str, needs: Needs, tmp_path: Path) -> None:
    needs.network_watch()
    seen = Watch(tmp_path)
    quiet = f"import ctypes, socket, contextlib\nwith contextlib.suppress(OSError):\n    {program}"
    seen.run(sys.executable, "-c", quiet)
    assert [(call.name, call.target) for call in seen.calls] == [(name, target)]
    # A child whose environment was emptied, as the process that reads files.
    started = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {quiet!r}], env={{}})"
    seen.run(sys.executable, "-c", started)
    assert [(call.name, call.target) for call in seen.calls] == [(name, target)] * 2


def test_the_watch_lets_loopback_pass(needs: Needs, tmp_path: Path) -> None:
    needs.network_watch()
    seen = Watch(tmp_path)
    program = (
        "import socket\nsocket.getaddrinfo('localhost', 80)\nserver = socket.create_server(('127.0.0.1', 0))\n"
        "socket.create_connection(server.getsockname()).sendall(b'x')"
    )
    assert seen.run(sys.executable, "-c", program).returncode == 0
    check(seen)


def test_indexing_and_a_search_send_and_leave_nothing(watch: Watch, index: Path) -> None:
    assert watch.auscult("search", str(index), "How is gout treated?").returncode == 0
    check(watch)


@pytest.mark.slow
def test_runtime_reports_unless_telemetry_is_switched_off(needs: Needs, tmp_path: Path) -> None:
    """Shows that the watch sees the fault that was there: with a version of the runtime that reports."""
    needs.network_watch()
    seen = Watch(tmp_path)
    model = ROOT / "src" / "auscult" / "encoders" / "pretrained" / "fast" / "model.onnx"
    program = f"import time, onnxruntime as o; o.InferenceSession({str(model)!r}); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", program], env=seen.environment) as process:
        ends = time.monotonic() + 60
        while not (seen.calls and seen.files) and time.monotonic() < ends:
            time.sleep(0.1)
        process.kill()
    import onnxruntime

    version = tuple(map(int, onnxruntime.__version__.split(".")[:2]))
    found = {call.name for call in seen.calls}
    assert (found == {"getaddrinfo"} and any("onnxruntime" in file for file in seen.files)) or version < (1, 32)


@pytest.mark.slow
def test_service_and_tools_send_and_leave_nothing(watch: Watch, index: Path) -> None:
    with watch.serving(str(index)) as url, ThreadPoolExecutor(1) as beside:
        tools = beside.submit(ask_tools, watch, index, SECONDS)
        assert ask_service(url, SECONDS) > 10
        assert tools.result() > 10
    check(watch)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_no_command_sends_or_leaves_anything(watch: Watch, tmp_path: Path) -> None:
    for asked in commands(tmp_path / "all"):
        done = watch.auscult(*asked.arguments)
        assert done.returncode == asked.code, (asked.arguments, done.stdout, done.stderr)
        assert (asked.arguments, watch.calls, watch.files) == (asked.arguments, [], [])


@pytest.mark.parametrize(
    "executor", [pytest.param("processes", marks=pytest.mark.slow), pytest.param("ray", marks=pytest.mark.ray)]
)
def test_indexing_by_workers_sends_and_leaves_nothing(
    executor: str, needs: Needs, watch: Watch, tmp_path: Path
) -> None:
    """That this takes long is not needed: a runtime that will report leaves files as soon as it opens a model."""
    if executor == "ray":
        needs.package("ray")
    corpus = many_documents(tmp_path / "many.jsonl", 100)
    told = ["--executor", executor, "--workers", "1"]
    done = watch.auscult("index", str(corpus), "--out", str(tmp_path / "i"), *told)
    assert done.returncode == 0, done.stderr
    check(watch)


def test_imports_of_reporting_packages_follow_the_switch() -> None:
    seen = set()
    for file in sorted(path for source in SOURCES for path in source.rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if not any(f"import {name}" in text or f"from {name}" in text for name in REPORTING):
            continue
        tree = ast.parse(text)
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
        for name, line in _imports(tree):
            around = [each for each in functions if each.lineno <= line <= (each.end_lineno or 0)]
            called = {getattr(call.func, "attr", getattr(call.func, "id", "")): call.lineno
                      for each in around for call in ast.walk(each) if isinstance(call, ast.Call)}  # fmt: skip
            before = [switch for switch in _SWITCHES if called.get(switch, line) < line]
            assert before, f"{file}, line {line}: {name} is imported before telemetry.switch_off()"
            seen.add(name)
    assert seen == set(REPORTING)


def _imports(tree: ast.AST) -> list[tuple[str, int]]:
    imported = [
        (name.split(".")[0], node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names])
    ]
    return [(name, line) for name, line in imported if name in REPORTING]


def test_only_opening_a_model_changes_the_environment() -> None:
    program = (
        "import os\nfrom auscult.encoders import onnx_runtime\nfrom auscult.telemetry import OFF\n"
        "assert not OFF.keys() & os.environ.keys()\n"
        "try: onnx_runtime.open_session('none')\nexcept Exception: pass\n"
        "print({name: os.environ[name] for name in OFF} == OFF)"
    )
    bare = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=bare, check=True)
    assert done.stdout == "True\n"
    assert "ORT_DISABLE_TELEMETRY" in OFF
    assert LOOK_UPS
