"""Install the wheels in a new environment and test the main job and each extra."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

#: In the order in which they are installed into one environment; GLiNER pins packages of others and comes last.
EXTRAS: Final = (
    "plot", "serve", "client", "mcp", "watch", "postgres", "milvus", "deidentify", "scans", "ner", "lab", "onnx", "ray",
    "gliner",
)  # fmt: skip
_SMOKE: Final = Path(__file__).with_name("smoke.py")
_LONGEST: Final = 600


@dataclass(frozen=True, slots=True)
class Trial:
    """Result of a test.

    Attributes:
        what: "the main job", or an extra.
        python: The version that it was tried with.
        works: Whether it works.
        seconds: Seconds to install and test it.
        problem: The last lines of output if it does not work.
    """

    what: str
    python: str
    works: bool
    seconds: float
    problem: str = ""


class Environment:
    """A virtual environment of an interpreter, in a folder that is deleted afterwards.

    Args:
        base: The interpreter to make it with.
        wheels: The wheels to install, first the one that has extras.
        constraints: Versions to install.
    """

    def __init__(self, base: Path, wheels: Sequence[Path], constraints: Path) -> None:
        self._base = base
        self._wheels = [str(wheel.resolve()) for wheel in wheels]
        self._constraints = constraints

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="auscult-release-"))
        subprocess.run([self._base, "-m", "venv", self._folder / "venv"], check=True)  # noqa: S603 - our own arguments
        self.python = self._folder / "venv" / "bin" / "python"
        process = subprocess.run(  # noqa: S603 - our own arguments
            [self.python, "-c", "import platform; print(platform.python_version())"],
            check=True,
            capture_output=True,
            text=True,
        )
        self.version = process.stdout.strip()
        return self

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self._folder)

    def install(self, extra: str = "") -> str:
        """Install the wheels with an extra; return the problem, or ""."""
        first, *others = self._wheels
        # All are named: no wheel of these names may come from an index.
        wanted = [f"{first}[{extra}]" if extra else first, *others]
        return self._run("-m", "pip", "install", "--quiet", "--constraint", str(self._constraints), *wanted)

    def smoke(self, what: str) -> str:
        """Run the smoke test of an extra, "" for the main job; return the problem, or ""."""
        return self._run(str(_SMOKE), what)

    def _run(self, *arguments: str) -> str:
        # Files of this checkout must not replace missing ones of the wheel.
        surroundings = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "AUSCULT"))}
        try:
            process = subprocess.run(  # noqa: S603 - our own arguments
                [self.python, *arguments],
                cwd=self._folder,
                env={**surroundings, "HF_HUB_OFFLINE": "1"},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=_LONGEST,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"did not end within {_LONGEST} seconds"
        return (
            ""
            if process.returncode == 0
            else "\n".join(process.stdout.strip().splitlines()[-8:]) or "failed in silence"
        )


def try_release(environment: Environment, extras: Sequence[str]) -> list[Trial]:
    """Test the main job, then each extra, in one environment."""
    trials = []
    for extra in ("", *extras):
        begun = time.perf_counter()
        problem = environment.install(extra) or environment.smoke(extra)
        taken = time.perf_counter() - begun
        trial = Trial(extra or "the main job", environment.version, not problem, round(taken, 1), problem)
        print(f"Python {trial.python}, {trial.what}: {'works' if trial.works else 'FAILS'}, {taken:.0f} s", flush=True)
        trials.append(trial)
    return trials
