"""The interpreters of this machine that the project supports."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

#: Minor versions of Python 3 that are looked for.
SUPPORTED: Final = range(11, 15)


def supported_pythons() -> list[Path]:
    """Return one interpreter of each supported version that this machine has, the running one for its own."""
    own = sys.version_info.minor
    found = {own: Path(sys.executable)}
    for minor in SUPPORTED:
        for place in filter(None, (shutil.which(f"python3.{minor}"), *_of_pyenv(minor))):
            if minor not in found and _runs(place, minor):
                found[minor] = Path(place)
    return [found[minor] for minor in sorted(found)]


def _of_pyenv(minor: int) -> list[str]:
    """Interpreters below the folder of pyenv, which is on no path until one is chosen."""
    versions = Path.home() / ".pyenv" / "versions"
    places = [each for each in versions.glob(f"3.{minor}.*/bin/python") if re.search(r"/3\.\d+\.\d+/", str(each))]
    return [str(each) for each in sorted(places)]


def _runs(place: str, minor: int) -> bool:
    """Whether an interpreter starts and is of a version; what stands on a path may be another's shim."""
    told = subprocess.run(  # noqa: S603 - an interpreter that was looked for
        [place, "-c", "import sys, venv, ensurepip; print(sys.version_info.minor)"],
        capture_output=True,
        text=True,
        check=False,
    )
    return told.returncode == 0 and told.stdout.strip() == str(minor)
