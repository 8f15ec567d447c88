"""Which packages an environment has and under which licences, as a table and as a bill of materials."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

# Those that ask whoever passes a program on to pass on its source. A lesser one asks for that of its own files alone.
_COPYLEFT: Final = re.compile(r"\bA?GPL|General Public License|Affero|SSPL|BUSL", re.IGNORECASE)
_LESSER: Final = re.compile(r"\bLGPL[^;,]*|(?:Library or )?Lesser General Public License[^;,]*", re.IGNORECASE)
_LIST: Final = """
import json
from importlib.metadata import distributions
found = {}
for each in distributions():
    said = each.metadata
    kinds = [kind.split(" :: ")[-1] for kind in said.get_all("Classifier") or () if kind.startswith("License ::")]
    licence = said["License-Expression"] or "; ".join(kinds) or (said["License"] or "").split("\\n")[0]
    found[said["Name"]] = [each.version, licence]
print(json.dumps(found))
"""


def licences_of(python: Path) -> dict[str, tuple[str, str]]:
    """Return by package its version and its licence ("" where it tells none).

    Args:
        python: The interpreter of the environment that is asked.
    """
    told = subprocess.run([python, "-c", _LIST], check=True, capture_output=True, text=True)  # noqa: S603 - our own
    packages = json.loads(told.stdout)
    return {name: (version, licence) for name, (version, licence) in sorted(packages.items())}


def refused(packages: dict[str, tuple[str, str]]) -> dict[str, str]:
    """Return the packages, with their licences, that ask for more than a notice."""
    return {name: licence for name, (_, licence) in packages.items() if _COPYLEFT.search(_LESSER.sub("", licence))}


def bill_of_materials(python: Path, project: Path, out: Path) -> None:
    """Write what an environment has as CycloneDX JSON.

    Args:
        python: The interpreter of the environment that is listed.
        project: The `pyproject.toml` that says what all of it is part of.
        out: File to write.
    """
    subprocess.run(  # noqa: S603 - our own arguments
        [
            *(sys.executable, "-m", "cyclonedx_py", "environment", str(python)),
            *("--pyproject", str(project), "--output-reproducible", "--output-file", str(out)),
        ],
        check=True,
    )
