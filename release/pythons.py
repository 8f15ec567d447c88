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
    """Return one interpreter of each supported version on this machine; for its own version, the running one."""
    own = sys.version_info.minor
    interpreters = {own: Path(sys.executable)}
    for minor in SUPPORTED:
        for place in filter(None, (shutil.which(f"python3.{minor}"), *_of_pyenv(minor))):
            if minor not in interpreters and _runs(place, minor):
                interpreters[minor] = Path(place)
    return [interpreters[minor] for minor in sorted(interpreters)]


def _of_pyenv(minor: int) -> list[str]:
    """Return interpreters in the folder of pyenv, which are not on the path unless one is chosen."""
    versions = Path.home() / ".pyenv" / "versions"
    places = [each for each in versions.glob(f"3.{minor}.*/bin/python") if re.search(r"/3\.\d+\.\d+/", str(each))]
    return [str(each) for each in sorted(places)]


def _runs(place: str, minor: int) -> bool:
    """Check that an interpreter starts and has a version, since a file on the path may be a shim."""
    process = subprocess.run(  # noqa: S603 - an interpreter that was looked for
        [place, "-c", "import sys, venv, ensurepip; print(sys.version_info.minor)"],
        capture_output=True,
        text=True,
        check=False,
    )
    return process.returncode == 0 and process.stdout.strip() == str(minor)
