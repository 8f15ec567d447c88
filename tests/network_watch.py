"""Runs commands of `auscult` and counts what they look up and connect to beyond this machine, native code included.

A small library (`data/network_watch.c`) is loaded before all others and notes calls of the C library. Each command has
a home, a cache and a temporary folder of its own, so that files of telemetry show as well.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import httpx

from auscult_lab.demo import LEAFLETS
from places import ROOT, SOURCES, TESTS
from small_experiment import CAUSES, ENTITIES, ONTOLOGY, SYMPTOMS, TREATMENT, settings
from small_medquad import write_data
from user_data import write_folder

LIBRARY = TESTS / "data" / "network_watch.c"
LOOK_UPS = ("getaddrinfo", "gethostbyname", "res_")
_AUSCULT = (sys.executable, "-m", "auscult.cli.main")
#: Seconds between questions: what is waited for is time that passes, and needs no processor.
_PAUSE = 0.3
#: Caches of what somebody asked for: matplotlib's list of fonts, what Ray needs to find its own processes, and the
#: taxonomies of this machine, compiled.
_CACHES = ("matplotlib", "fontconfig", ".ray/auth_token", "cache/auscult/knowledge-")


class Call(NamedTuple):
    """A call that left, or would have left, this machine.

    Attributes:
        process: Its id.
        program: Its name.
        name: Of the C library's function.
        target: The name or address.
    """

    process: str
    program: str
    name: str
    target: str


class Watch:
    """Watches processes.

    Args:
        folder: For the compiled library, the log and the homes.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        # Short: a name of a socket, of which Ray makes some there, has at most 107 bytes.
        self._temporary = Path(tempfile.mkdtemp(prefix="w"))
        weakref.finalize(self, shutil.rmtree, self._temporary, ignore_errors=True)
        self._library = folder / "network_watch.so"
        self._log = folder / "calls.tsv"
        command = ["gcc", "-O1", "-shared", "-fPIC", "-o", str(self._library), str(LIBRARY), "-ldl"]
        subprocess.run(command, check=True)

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a watched process."""
        homes = {"HOME": "home", "XDG_CACHE_HOME": "cache", "XDG_CONFIG_HOME": "config"}
        for name in homes.values():
            (self._folder / name).mkdir(exist_ok=True)
        source = os.pathsep.join(map(str, (*SOURCES, ROOT)))
        return {
            **{name: value for name, value in os.environ.items() if name not in _SETTLED},
            **{name: str(self._folder / place) for name, place in homes.items()},
            "TMPDIR": str(self._temporary),
            "LD_PRELOAD": str(self._library),
            "AUSCULT_WATCH": str(self._log),
            "AUSCULT_DATA": str(self._folder / "data"),
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": source,
            "PYTHONUNBUFFERED": "1",
        }

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program to its end."""
        return subprocess.run(arguments, env=self.environment, capture_output=True, text=True, check=False, timeout=280)

    def auscult(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command of `auscult` to its end."""
        return self.run(*_AUSCULT, *arguments)

    @property
    def calls(self) -> list[Call]:
        """All that was noted so far."""
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        return [Call(*line.split("\t", 3)) for line in lines]

    @property
    def files(self) -> list[str]:
        """Files that commands left in home, cache and temporary folders, but for caches of what was asked for."""
        places = (*(self._folder / name for name in ("home", "cache", "config")), self._temporary)
        left = [str(path) for place in places for path in place.rglob("*") if path.is_file()]
        return [path for path in left if not any(cache in path for cache in _CACHES) and "/ray/session" not in path]

    @contextmanager
    def serving(self, *arguments: str) -> Iterator[str]:
        """`auscult serve`; its address."""
        process = subprocess.Popen(
            [*_AUSCULT, "serve", *arguments, "--port", "0"], env=self.environment, stdout=subprocess.PIPE, text=True
        )
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("open http://"), line
            yield line.split()[1].rstrip("/").removesuffix("/openapi.json")
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)


#: Variables that would settle beforehand what a command has to see to itself.
# Under "CI" the runtime reports nothing by itself: no user's machine has that.
_SETTLED = (
    "CI", "ORT_DISABLE_TELEMETRY", "HF_HUB_DISABLE_TELEMETRY", "RAY_USAGE_STATS_ENABLED", "DO_NOT_TRACK",
    "OTEL_SDK_DISABLED", "RAY_ADDRESS", "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE",
)  # fmt: skip


class Asked(NamedTuple):
    """A command and how it ends.

    Attributes:
        arguments: Of `auscult`.
        code: Its exit status.
    """

    arguments: Sequence[str]
    code: int = 0


def commands(folder: Path) -> list[Asked]:
    """Every command on small input, in an order in which each finds what it needs.

    `serve` and `mcp` wait for somebody who asks: see `ask_service` and `ask_tools`. `data get` is there to download.

    Args:
        folder: For inputs and results.
    """
    folder.mkdir(exist_ok=True)
    index, kb, keys, log = (str(folder / name) for name in ("index", "kb.jsonl.gz", "keys.json", "audit.jsonl"))
    ontology, corpus, experiment, leaflet = (
        folder / name for name in ("small.obo", "leaflets.jsonl", "small.yaml", "leaflet.txt")
    )
    ontology.write_text(ONTOLOGY)
    corpus.write_text("".join(json.dumps(_document(name)) + "\n" for name in ENTITIES))
    experiment.write_text(json.dumps(settings(corpus, ontology)))
    leaflet.write_text("Gout\n\nAnn Weber (ann.weber@example.co.uk) takes colchicine.\n")
    mydata, work = str(write_folder(folder / "mine")), str(folder / "work")
    candidates = f"milvus:{folder / 'm.db'}#own" if importlib.util.find_spec("milvus_lite") else ""
    return [
        Asked(["--version"]),
        Asked(["index", str(LEAFLETS), "--out", index]),
        Asked(["add", index, str(leaflet)]),
        Asked(["remove", index, "leaflet.txt"]),
        Asked(["index", str(leaflet), "--out", str(folder / "hidden"), "--read", "deidentify=presidio"]),
        Asked(["search", index, "How is gout treated?"]),
        Asked(["explain", index, "--entity", "Gout", "--out", str(folder / "gout.svg")]),
        Asked(["info", index]),
        Asked(["verify", index]),
        Asked(["optimize", index]),
        Asked(["backup", index, str(folder / "backup")]),
        Asked(["publish", str(folder / "backup"), "postgresql://127.0.0.1:9/x", "--candidates", candidates], 2),
        Asked(["feedback", index], 2),
        Asked(["keys", "add", keys, "Ward 3"]),
        Asked(["keys", "list", keys]),
        Asked(["keys", "revoke", keys, "Ward 3"]),
        Asked(["audit", "verify", log], 2),
        Asked(["data", "list"]),
        Asked(["data", "show", "medquad"]),
        Asked(["concepts", "build", kb, str(ontology)]),
        Asked(["concepts", "show", "gout", "--kb", kb]),
        Asked(["concepts", "link", "asthma and gout", "--kb", kb]),
        Asked(["concepts", "complete", "gou", "--kb", kb]),
        Asked(["train", str(experiment), "--out", str(folder / "run"), "--no-progress"]),
        Asked(["evaluate", "medquad", "--model", "bm25", "--model", "fast"]),
        Asked(["try", mydata, "--out", work, "--models", "bm25,drmm-tks"]),
        Asked(["compare", f"{work}/experiments/drmm-tks.yaml", "--out", str(folder / "runs"), "--no-progress"]),
        Asked(["demo", "--leaflets", "--out", str(folder / "demo")]),
    ]


def prepare(watch: Watch) -> None:
    """Put a small data set where commands look for data."""
    data = Path(watch.environment["AUSCULT_DATA"])
    if not data.exists():
        write_data(data)


def _document(name: str) -> dict[str, object]:
    parts = (("Symptoms", SYMPTOMS), ("Causes", CAUSES), ("Treatment", TREATMENT))
    sections = [{"heading": heading, "text": text.format(name, name)} for heading, text in parts]
    return {"id": name.replace(" ", "-"), "title": name.capitalize(), "sections": sections}


def ask_service(url: str, seconds: float) -> int:
    """Search, read and upload every now and then for a time; how many requests were answered."""
    ends, answered = time.monotonic() + seconds, 0
    note = {"files": ("note.txt", b"Quillfever\n\nQuillfever begins with a rash.\n", "text/plain")}
    with httpx.Client(base_url=url, timeout=60) as client:
        assert client.post("/api/v1/documents", files=note).status_code == 202
        while answered < 3 or time.monotonic() < ends:
            found = client.post("/api/v1/search", json={"question": f"How is gout treated in week {answered}?"})
            assert found.status_code == 200, found.text
            doc_id = found.json()["hits"][0]["doc_id"]
            assert client.get(f"/api/v1/documents/{doc_id}").status_code == 200
            assert client.get("/", params={"q": "gout"}).status_code == 200
            answered += 3
            time.sleep(_PAUSE)
    return answered + 1


def ask_tools(watch: Watch, index: Path, seconds: float) -> int:
    """Ask `auscult mcp` over its standard input every now and then for a time; how many calls were answered."""
    process = subprocess.Popen(
        [*_AUSCULT, "mcp", str(index)], env=watch.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    about = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "watch", "version": "1"}}
    ends, answered = time.monotonic() + seconds, 0
    try:
        _send(process, {"id": 0, "method": "initialize", "params": about})
        process.stdout.readline()
        _send(process, {"method": "notifications/initialized"})
        while answered < 2 or time.monotonic() < ends:
            answered += 1
            asked = {"name": "search", "arguments": {"entity": "Gout", "aspects": [f"treatment {answered}"], "k": 3}}
            _send(process, {"id": answered, "method": "tools/call", "params": asked})
            answer = json.loads(process.stdout.readline())
            assert answer["id"] == answered, answer
            assert not answer["result"].get("isError"), answer
            time.sleep(_PAUSE)
    finally:
        process.terminate()
        with suppress(BrokenPipeError):
            process.communicate(timeout=60)
    return answered


def _send(process: subprocess.Popen[str], message: dict[str, object]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    process.stdin.flush()


def many_documents(path: Path, number: int) -> Path:
    """A corpus whose indexing takes a while."""
    with path.open("w") as file:
        for n in range(number):
            name = f"{ENTITIES[n % len(ENTITIES)]} {n}"
            file.write(json.dumps(_document(name)) + "\n")
    return path
