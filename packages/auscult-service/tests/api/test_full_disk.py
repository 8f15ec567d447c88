"""A full disk is told as 507, whatever was to be written, and nothing half is left."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from needs import Needs
from places import TESTS

_SCRIPT = Path(__file__).resolve().parents[1] / "full_disk.py"


@pytest.mark.slow
def test_a_full_disk_is_reported_without_partial_files(tmp_path: Path, index: Path, needs: Needs) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    command = [*needs.small_disk(disk, "8m"), sys.executable, str(_SCRIPT), str(disk), str(index)]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": _path()}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    outcome = json.loads(done.stdout.strip().splitlines()[-1])
    full = [507, "no_space"]
    assert {action: outcome[action] for action in ("small", "large", "judgement", "removal")} == {
        "small": full,
        "large": full,
        "judgement": full,
        "removal": full,
    }
    assert outcome["found"] > 0
    assert (outcome["jobs"], outcome["left"]) == ([], [])
    assert outcome["after"] == ["done", 1]


def _path() -> str:
    return os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH", "")]))
