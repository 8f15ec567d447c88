"""The page of the HTTP API: its commands run, its Python runs, its addresses exist."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

from auscult.encoders import load_model
from auscult.ingest.building import build_index
from auscult_lab.corpora.opening import open_corpus
from auscult_lab.demo import LEAFLETS
from auscult_service.app import create_app
from auscult_service.settings import Settings
from places import ROOT
from served_index import running, wait_until

PAGE = (ROOT / "docs" / "reference" / "http-api.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8470"


def commands() -> list[str]:
    """What the page has people type, but for what makes an index and serves it."""
    blocks = "\n".join(re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL)).replace("\\\n", " ")
    typed = [line[2:] for line in blocks.splitlines() if line.startswith("$ ")]
    return [line for line in typed if not line.startswith(("auscult index", "auscult serve"))]


def test_the_pages_commands_and_python_run(tmp_path: Path) -> None:
    index = tmp_path / "my-index"
    build_index(open_corpus(str(LEAFLETS)).documents(), load_model("fast"), index, model_path="fast")
    assert len(commands()) > 9
    with running(index, "--no-page") as service:
        for command in commands():
            here = command.replace(ADDRESS, service.url)
            here = here.replace("auscult ", f"{sys.executable} -m auscult.cli.main ")
            done = subprocess.run(here, shell=True, cwd=tmp_path, capture_output=True, text=True, check=True)  # noqa: S602
            if command.startswith("curl"):
                response = json.loads(done.stdout)
                assert response, command
                assert "error" not in response or not response["error"], (command, done.stdout)
            if "-F files" in command:
                wait_until(lambda job=response["job_id"]: _standing(service.url, job) == "done")
        (snippet,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
        program = snippet.replace(ADDRESS, service.url)
        printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert len(printed.splitlines()) == 3
    assert printed.startswith("Gout Treatment 0.")


def _standing(url: str, job: str) -> str:
    with urllib.request.urlopen(f"{url}/api/v1/jobs/{job}") as answer:  # noqa: S310
        return str(json.load(answer)["standing"])


def test_the_pages_addresses_exist() -> None:
    paths = create_app(Settings(indexes={"x": Path("x")}, page=False)).openapi()["paths"]
    there = {
        (method.upper(), re.sub(r"\{page\}", "N", re.sub(r"\{\w+_id\}", "ID", path.removeprefix("/api/v1"))))
        for path, methods in paths.items()
        for method in methods
    }
    listed = "".join(line for line in PAGE.splitlines(keepends=True) if line.startswith("- `"))
    assert set(re.findall(r"`(GET|POST|DELETE) (/[\w/.]+)", listed)) == there


def test_every_route_is_described_with_its_errors() -> None:
    schema = create_app(Settings(indexes={"x": Path("x")}, page=False)).openapi()
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            assert operation["summary"], (path, method)
            assert operation["description"], (path, method)
            if path.rpartition("/")[2] not in ("health", "ready"):
                assert operation["responses"]["401"]["content"]["application/json"]["schema"]["$ref"].endswith("/Error")
    for name in ("SearchRequest", "ExplainRequest", "FeedbackRequest", "SpanRequest", "CoverageRequest"):
        assert schema["components"]["schemas"][name]["examples"], name
