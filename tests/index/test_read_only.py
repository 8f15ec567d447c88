"""An index on a read-only disk, which was never opened there."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from auscult.encoders import load_model
from auscult.ingest.building import build_index
from leaflets import leaflets
from needs import Needs

_COMMANDS = {
    "search": ["search", "INDEX", "How is gout treated?"],
    "info": ["info", "INDEX"],
    "verify": ["verify", "INDEX"],
    "explain": ["explain", "INDEX", "--entity", "Gout", "--document", "leaflet-gout"],
    "backup": ["backup", "INDEX", "COPY"],
    "remove": ["remove", "INDEX", "leaflet-gout"],
    "optimize": ["optimize", "INDEX"],
    "serve": ["serve", "INDEX", "--port", "0"],
    "mcp": ["mcp", "INDEX"],
}
_WRITING = ("remove", "optimize")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built") / "index"
    build_index(leaflets(), load_model("fast"), folder, model_path="fast")
    return folder


def read_only(folder: Path, *commands: list[str]) -> list[tuple[int, str]]:
    """Run commands where a folder is mounted read-only; exit statuses and all that was printed."""
    program = (
        "import subprocess, sys, json\n"
        f"folder, commands = {str(folder)!r}, {list(commands)!r}\n"
        "subprocess.run(['mount', '--bind', folder, folder], check=True)\n"
        "subprocess.run(['mount', '-o', 'remount,ro,bind', folder], check=True)\n"
        "found = []\n"
        "for command in commands:\n"
        "    run = [sys.executable, '-m', 'auscult.cli.main', *command]\n"
        "    process = subprocess.Popen(run, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,"
        " stderr=subprocess.STDOUT, text=True)\n"
        "    if command[0] == 'serve':\n"
        "        line = process.stdout.readline()\n"
        "        process.terminate()\n"
        "        found.append((0 if line.startswith('open http') else 1, line + process.communicate()[0]))\n"
        "    else:\n"
        "        said = process.communicate(timeout=120)[0]\n"
        "        found.append((process.returncode, said))\n"
        "print(json.dumps(found))\n"
    )
    command = ["unshare", "-m", sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [(code, said) for code, said in json.loads(done.stdout)]


def filled(names: tuple[str, ...], index: Path, copy: Path) -> list[list[str]]:
    places = {"INDEX": str(index), "COPY": str(copy)}
    return [[places.get(word, word) for word in _COMMANDS[name]] for name in names]


def check(names: tuple[str, ...], index: Path, copy: Path) -> None:
    for name, (code, said) in zip(names, read_only(index.parent, *filled(names, index, copy)), strict=True):
        assert "Traceback" not in said, (name, said)
        assert code == (2 if name in _WRITING else 0), (name, said)
        assert name not in _WRITING or "Read-only file system" in said


def test_info_on_a_read_only_disk(built: Path, needs: Needs, tmp_path: Path) -> None:
    needs.read_only_mounts()
    shutil.copytree(built, tmp_path / "disk" / "index")
    check(("info",), tmp_path / "disk" / "index", tmp_path / "copy")


@pytest.mark.slow
@pytest.mark.parametrize("log", ["none", "empty"])
def test_every_command_on_a_read_only_disk(log: str, built: Path, needs: Needs, tmp_path: Path) -> None:
    needs.read_only_mounts()
    index = tmp_path / "disk" / "index"
    shutil.copytree(built, index)
    (database,) = index.glob("store-*/index.sqlite")
    if log == "empty":
        database.with_name("index.sqlite-wal").touch()
    check(tuple(_COMMANDS), index, tmp_path / "copy")


def test_a_log_with_commits_is_never_left_out(built: Path, needs: Needs, tmp_path: Path) -> None:
    needs.read_only_mounts()
    index = tmp_path / "disk" / "index"
    shutil.copytree(built, index)
    (database,) = index.glob("store-*/index.sqlite")
    _leave_commits_in_the_log(database)
    ((code, said),) = read_only(index.parent, ["info", str(index)])
    assert code == 2
    assert "commits in index.sqlite-wal" in " ".join(said.split())
    assert "Traceback" not in said


def _leave_commits_in_the_log(database: Path) -> None:
    with sqlite3.connect(database) as writer:
        writer.execute("CREATE TABLE later (a)")
        writer.commit()
        log = database.with_name("index.sqlite-wal").read_bytes()
        before = database.read_bytes()
    writer.close()
    assert log
    database.write_bytes(before)
    database.with_name("index.sqlite-wal").write_bytes(log)
    database.with_name("index.sqlite-shm").unlink(missing_ok=True)
