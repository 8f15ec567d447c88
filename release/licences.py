"""List the packages of an environment and their licences, as a table and as a bill of materials."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

# Licences that require the source of a whole program to be passed on. Lesser ones require that of their own files only.
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
    """Return version and licence by package ("" where it states none).

    Args:
        python: Interpreter of the environment.
    """
    # Isolated: packages of a PYTHONPATH are no part of the release.
    command: list[str | Path] = [python, "-I", "-c", _LIST]
    process = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - our own arguments
    packages = json.loads(process.stdout)
    return {name: (version, licence) for name, (version, licence) in sorted(packages.items())}


def refused(packages: dict[str, tuple[str, str]]) -> dict[str, str]:
    """Return the packages, with licences, that require more than a notice."""
    return {name: licence for name, (_, licence) in packages.items() if _COPYLEFT.search(_LESSER.sub("", licence))}


def bill_of_materials(python: Path, project: Path, out: Path) -> None:
    """Write the packages of an environment as CycloneDX JSON.

    Args:
        python: Interpreter of the environment.
        project: The `pyproject.toml` of the project.
        out: File to write.
    """
    subprocess.run(  # noqa: S603 - our own arguments
        [
            *(sys.executable, "-m", "cyclonedx_py", "environment", str(python)),
            *("--pyproject", str(project), "--output-reproducible", "--output-file", str(out)),
        ],
        check=True,
    )
