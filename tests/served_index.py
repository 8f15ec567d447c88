"""A small index behind a service, in this process and in one of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from fastapi.testclient import TestClient

from auscult.concepts import Concept, KnowledgeBase
from auscult.documents import Document, Original, Section, build_document
from auscult.documents.original import RUN
from auscult.encoders import load_model
from auscult.ingest.building import build_index
from auscult_service.app import create_app
from auscult_service.settings import Settings
from encoders import HashedEncoder
from leaflets import leaflets

KNOWN = KnowledgeBase(
    [
        Concept("X:3", "gout", ("podagra", "gouty arthritis")),
        Concept("X:1", "migraine", ("sick headache",)),
        Concept("X:0", "IgA nephropathy", ("Berger disease",)),
    ]
)


def note() -> Document:
    """A document whose file is kept."""
    source = "<p>Scurvy</p><p>Vitamin C cures scurvy. Oranges have it.</p>"
    text = "Vitamin C cures scurvy. Oranges have it."
    begin = source.index("Vitamin")
    original = Original(
        name="notes/scurvy.html",
        media_type="text/html",
        content=source.encode(),
        encoding="utf-8",
        runs=np.array([(0, len(text), begin, begin + len(text))], RUN),
    )
    made = build_document(
        doc_id="notes/scurvy.html",
        title="Scurvy",
        sections=[Section("Treatment", text, "scurvy-1")],
        metadata={"date": "2024-05-31"},
    )
    return replace(made, original=original)


def built(folder: Path) -> Path:
    """An index of four leaflets and a note."""
    build_index([*leaflets(), note()], HashedEncoder(), folder, knowledge_base=KNOWN)
    return folder


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """An index that a test may change."""
    return built(tmp_path / "leaflets")


@contextmanager
def served(settings: Settings, encoder: HashedEncoder | None = None) -> Iterator[TestClient]:
    """An app that runs, without a listening port."""
    app = create_app(settings, encoder or HashedEncoder())
    address = {"base_url": "http://127.0.0.1/api/v1/", "client": ("127.0.0.1", 5)}
    with TestClient(app, raise_server_exceptions=False, **address) as client:
        wait_until(lambda: client.get("ready").status_code == 200)
        yield client


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Asks a service that no test changes."""
    folder = built(tmp_path_factory.mktemp("served") / "leaflets")
    with served(Settings(indexes={"leaflets": folder}, page=False)) as found:
        wait_until(lambda: found.get("entities?prefix=a").json()["complete"])
        yield found


def wait_until(holds: Callable[[], Any], seconds: float = 60.0) -> Any:
    """What a condition gives as soon as it holds."""
    until = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < until, "it never came"
        time.sleep(0.02)
    return found


def ended(client: Any, job: dict[str, Any]) -> dict[str, Any]:
    """A job when it has ended."""

    def look() -> dict[str, Any] | None:
        told: dict[str, Any] = client.get(f"jobs/{job['job_id']}").json()
        return told if told["standing"] not in ("waiting", "reading") else None

    found: dict[str, Any] = wait_until(look)
    return found


def check_shape(answer: Any, status: int, code: str) -> dict[str, str]:
    """That an error has the one shape."""
    assert answer.status_code == status, answer.text
    error: dict[str, str] = answer.json()["error"]
    assert answer.json().keys() == {"error"}
    assert error.keys() == {"code", "message", "remedy", "request_id"}
    assert error["code"] == code
    assert error["message"].startswith("expected ")
    assert error["remedy"]
    assert error["request_id"] == answer.headers["x-request-id"]
    return error


class Running(NamedTuple):
    """A service in a process of its own."""

    url: str
    process: subprocess.Popen[str]


@contextmanager
def running(folder: Path, *options: str) -> Iterator[Running]:
    """`auscult serve` of an index that `fast` made."""
    command = [sys.executable, "-m", "auscult.cli.main", "serve", str(folder), "--port", "0", *options]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith(("open http://", "open https://")), (
            line,
            process.stderr.read() if process.stderr else "",
        )
        yield Running(line.split()[1].removesuffix("/openapi.json"), process)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


@pytest.fixture(scope="session")
def fast_index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fast") / "leaflets"
    build_index(leaflets(), load_model("fast"), folder, knowledge_base=KNOWN, model_path="fast")
    return folder


def lines(path: Path) -> list[dict[str, Any]]:
    """Records of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
