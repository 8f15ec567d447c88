"""`--workers` runs each test once, reports as pytest does alone, and survives the death of a process."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from places import TESTS
from workers import Stretches

ORDINARY = """
import os, time, warnings
from pathlib import Path
import pytest

@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    yield tmp_path_factory.mktemp("kept")
    Path("torn-down").open("a").write("x")

@pytest.mark.parametrize("number", [*range(4), pytest.param(4, marks=pytest.mark.xfail(strict=True)), *range(5, 12)])
def test_number(number, folder):
    print("printed by", number)
    with Path("ran").open("a") as file:
        file.write(f"{number} {os.getpid()}\\n")
    time.sleep(0.05)
    if number == 3:
        warnings.warn("warned")
    assert number not in (4, 7)
"""
DEADLY = """
import os, signal
from pathlib import Path
import pytest

@pytest.mark.parametrize("number", range(8))
def test_number(number):
    Path("ran").open("a").write(f"{number} 0\\n")
    if number == 5:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def run(folder: Path, tests: str, *options: str) -> str:
    (folder / "test_them.py").write_text(tests)
    # A run in the usual folder of temporary files closes that folder to all other users: PostgreSQL runs as one.
    alone = ["-c", "/dev/null", "-p", "no:cacheprovider", "-p", "workers", "--basetemp", str(folder / "temporary")]
    command = [sys.executable, "-m", "pytest", "-q", *alone, *options, "."]
    done = subprocess.run(command, cwd=folder, env={"PYTHONPATH": str(TESTS)}, capture_output=True, text=True)
    return f"{done.stdout}{done.stderr}\ncode {done.returncode}"


def ran(folder: Path) -> list[int]:
    return sorted(int(line.split()[0]) for line in (folder / "ran").read_text().splitlines())


def test_each_test_runs_once_and_is_reported(tmp_path: Path) -> None:
    told = run(tmp_path, ORDINARY, "--workers", "3")
    assert re.search(r"1 failed, 10 passed, 1 xfailed, 1 warning in", told), told
    assert "test_them.py::test_number[7]" in told
    assert "printed by 7" in told
    assert "printed by 6" not in told
    assert told.endswith("code 1")
    assert ran(tmp_path) == [*range(12)]
    processes = {line.split()[1] for line in (tmp_path / "ran").read_text().splitlines()}
    assert (tmp_path / "torn-down").read_text() == "x" * len(processes)
    assert len(processes) == 3


def test_a_first_failure_ends_all_workers(tmp_path: Path) -> None:
    told = run(tmp_path, ORDINARY.replace("(4, 7)", "(0, 4)"), "--workers", "2", "-x")
    assert "stopping after 1 failures" in told
    assert len(ran(tmp_path)) < 12
    assert set((tmp_path / "torn-down").read_text()) == {"x"}


def test_a_killed_worker_is_reported_and_replaced(tmp_path: Path) -> None:
    told = run(tmp_path, DEADLY, "--workers", "2")
    assert "1 failed, 7 passed" in told, told
    assert re.search(r"test_number\[5\].*its process ended with -9", told)
    assert ran(tmp_path) == [*range(8)]


@pytest.mark.parametrize("number", [1, 2, 5])
def test_workers_share_all_tests_among_them(number: int) -> None:
    stretches = Stretches([Path(str(at // 4)) for at in range(30)], number)
    taken = []
    while (test := stretches.take(number - 1)) is not None:
        taken.append(test)
    assert sorted(taken) == [*range(30)]
