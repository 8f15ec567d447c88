"""Each example does what is kept beside it: `UPDATE_EXAMPLES=1 pytest tests/test_examples.py` writes that anew."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from places import ROOT

EXAMPLES = ROOT / "examples"
OUTPUT = EXAMPLES / "output"
LONGEST = 60
#: What makes files for others, rather than showing a task.
MAKERS = {"make_mixed_folder", "make_user_data", "mixed_formats"}
NAMES = sorted({path.stem for path in EXAMPLES.glob("*.py")} - MAKERS)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_an_example_prints_what_is_kept(name: str, tmp_path: Path) -> None:
    beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py"],
        cwd=tmp_path,
        env={**os.environ, "PATH": beside, "AUSCULT_DATA": str(tmp_path), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    kept = OUTPUT / f"{name}.txt"
    if os.environ.get("UPDATE_EXAMPLES"):
        kept.write_text(done.stdout, encoding="utf-8")
    assert done.stdout == kept.read_text(encoding="utf-8")


def test_examples_are_ten_short_scripts_with_their_output() -> None:
    assert len(NAMES) >= 10
    assert {path.stem for path in OUTPUT.iterdir()} == {*NAMES}
    assert max(len((EXAMPLES / f"{name}.py").read_text(encoding="utf-8").splitlines()) for name in NAMES) <= LONGEST
