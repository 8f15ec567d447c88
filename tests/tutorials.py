"""Follow a tutorial as its reader does: write its files, type its commands, and look for what it says they print."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from places import ROOT

_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"# ([\w.-]+\.\w+)\n")
_ADDRESS = re.compile(r"http://\S+")
_SERVER = "auscult serve "
#: Shown, not run: what a command printed once, and settings of another program.
_SHOWN = {"text", "json"}


@dataclass(frozen=True, slots=True)
class Step:
    """A command of a tutorial.

    Attributes:
        command: As the reader types it.
        prints: Lines that it says are printed; numbers and blanks may differ.
    """

    command: str
    prints: tuple[str, ...]


def follow(page: Path, folder: Path) -> None:
    """Do everything that a tutorial says, in `folder/out/NAME`, with the examples of the repository beside `out`.

    Raises:
        AssertionError: A command fails, or does not print what the tutorial says.
    """
    (folder / "examples").symlink_to(ROOT / "examples")
    place = folder / "out" / page.stem
    place.mkdir(parents=True)
    for language, body in _FENCE.findall(page.read_text(encoding="utf-8")):
        if language == "console":
            for step in _steps(body):
                _check(step, place)
        elif language not in _SHOWN:
            named = _NAMED.match(body)
            assert named, f"the first line of a block of {page.name} names no file: {body[:60]}"
            (place / named[1]).write_text(body, encoding="utf-8")


def _steps(block: str) -> Iterator[Step]:
    for part in block.removeprefix("$ ").split("\n$ "):
        command, *prints = part.splitlines()
        yield Step(command, tuple(prints))


def _check(step: Step, place: Path) -> None:
    printed = _serve(step.command, place) if step.command.startswith(_SERVER) else _run(step.command, place)
    missing = [line for line in step.prints if _plain(line) not in _plain(printed)]
    assert not missing, (step.command, missing, printed)


def _run(command: str, place: Path) -> str:
    done = subprocess.run(["sh", "-c", command], cwd=place, env=_environment(place), capture_output=True, check=False)
    printed = (done.stdout + done.stderr).decode()
    assert done.returncode == 0, (command, printed)
    return printed


def _serve(command: str, place: Path) -> str:
    """Serve at a free port until the page has been opened. Return the line with the address."""
    server = subprocess.Popen(
        ["sh", "-c", f"exec {command} --port 0"], cwd=place, env=_environment(place), stdout=subprocess.PIPE, text=True
    )
    with server:
        assert server.stdout is not None
        line = server.stdout.readline()
        address = _ADDRESS.search(line)
        assert address, line
        with urlopen(address[0]) as answer:  # noqa: S310
            assert b"<html" in answer.read()
        server.send_signal(signal.SIGTERM)
        assert server.wait() == 0
    return line


def _environment(place: Path) -> dict[str, str]:
    """The reader's: Auscult is in the path, and no data set is on the machine."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "AUSCULT_DATA": str(place / "data"), "HF_HUB_OFFLINE": "1"}


def _plain(text: str) -> str:
    return re.sub(r"\d+", "0", " ".join(text.split()))
