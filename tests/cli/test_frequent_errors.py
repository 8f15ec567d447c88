"""What users do wrong most often: one sentence with what was expected, what came and what to do; exit code 2."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from auscult.index.manifest import FORMAT_VERSION
from auscult.index.store import Store, _sum
from command import Command, hashed_model
from places import ROOT
from snapshots import check_snapshot

KEPT = Path(__file__).parent / "snapshots" / "errors"


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    """Runs in a folder with `gout.jsonl`, an index `my-index` of it, and an `empty` folder."""
    monkeypatch.setenv("AUSCULT_DATA", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    hashed_model(tmp_path / "model")
    (tmp_path / "empty").mkdir()
    (tmp_path / "gout.jsonl").write_text(json.dumps({"id": "gout", "text": "Gout is treated by rest."}) + "\n")
    run = Command(monkeypatch, capfd)
    assert run("index", "gout.jsonl", "--model", "model", "--no-knowledge", "--out", "my-index").code == 0
    return run


def check(command: Command, name: str, *arguments: str, changed: Callable[[str], str] = str) -> None:
    """Run a command that fails, and compare what it prints with what is kept."""
    done = command(*arguments)
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1
    check_snapshot(f"$ auscult {' '.join(arguments)}\n{changed(done.err)}", KEPT / f"{name}.txt")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("missing-path", "index leaflet.pdf --out new"),
        ("unknown-model", "index gout.jsonl --model fats --out new"),
        ("empty-folder", "index empty --out new"),
        ("existing-index", "index gout.jsonl --out my-index"),
        ("missing-index", "search elsewhere gout"),
        ("wrong-option-value", "search my-index gout -k 0"),
        ("missing-document", "show my-index leaflet"),
    ],
)
def test_an_error_is_one_sentence(name: str, arguments: str, command: Command) -> None:
    check(command, name, *arguments.split())


def test_an_index_of_a_later_format(command: Command, tmp_path: Path) -> None:
    store = Store(tmp_path / "my-index" / "store-000001" / "index.sqlite", "rw")
    manifest = json.loads(store.manifest().to_json())
    manifest["format_version"], manifest["auscult_version"] = FORMAT_VERSION + 1, "99.0"
    later = json.dumps(manifest)
    store._write("INSERT OR REPLACE INTO state VALUES (1, ?, ?)", (_sum(1, later), later))
    store._write("COMMIT")
    store.close()
    check(command, "later-format", "info", "my-index")


def test_a_missing_extra(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "presidio_analyzer", None)
    arguments = ("index", "gout.jsonl", "--read", "deidentify=presidio", "--out", "new")
    check(command, "missing-extra", *arguments, changed=lambda said: said.replace(str(ROOT), "CHECKOUT"))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("malformed-yaml", "name: mine\n  seed: 1\n"),
        ("wrong-fields", "name: mine\ntrak: adapted\nseed: many\n"),
    ],
)
def test_a_wrong_experiment_file(name: str, text: str, command: Command, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(text)
    check(command, name, "train", "mine.yaml")


def test_a_port_in_use(command: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = command("serve", "my-index", "--port", port)
    assert (done.code, done.out) == (2, "")
    check_snapshot(done.err.replace(port, "PORT"), KEPT / "port-in-use.txt")
