"""What is installed with Auscult and under which licence, and calls that no source of its own may have."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

from places import ROOT

_COPYLEFT = re.compile(r"\bA?GPL\b|General Public License|Affero|SSPL|BUSL", re.IGNORECASE)
_LESSER = re.compile(r"\bLGPL|Lesser General", re.IGNORECASE)
#: What may be run, and is not linked with: extras and tools that nobody gets who only serves.
_UNSAFE_NAMES = frozenset({"eval", "exec", "compile"})
_UNSAFE_MODULES = frozenset({"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal", "joblib"})


def licences() -> dict[str, str]:
    """By package, the licence of all that the core and its serving extras bring along, however far."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [
        *project["dependencies"],
        *(dependency for name in ("serve", "client", "mcp", "watch") for dependency in extras.get(name, ())),
    ]
    licence_of: dict[str, str] = {}
    pending = [Requirement(dependency) for dependency in wanted]
    while pending:
        requirement = pending.pop()
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        if (
            name in licence_of
            or name == "auscult"
            or (requirement.marker and not requirement.marker.evaluate({"extra": ""}))
        ):
            continue
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue
        licence_of[name] = _licence(package)
        for dependency in package.requires or ():
            further = Requirement(dependency)
            taken = [
                extra
                for extra in ("", *requirement.extras)
                if not further.marker or further.marker.evaluate({"extra": extra})
            ]
            if taken:
                pending.append(Requirement(str(further).split(";")[0]))
    return licence_of


def copyleft(found: dict[str, str]) -> list[str]:
    """Packages whose licence would ask for more than a notice."""
    return [f"{name}: {text}" for name, text in found.items() if _COPYLEFT.search(_LESSER.sub("", text))]


def unsafe_calls(folder: Path) -> list[str]:
    """Places where code is made of data, or a shell is asked."""
    return [f"{path.name}:{line} {what}" for path in sorted(folder.rglob("*.py")) for line, what in _unsafe(path)]


def _licence(package: Distribution) -> str:
    told = package.metadata
    named = [each for each in told.get_all("Classifier") or () if each.startswith("License ::")]
    return str(
        told.get("License-Expression") or "; ".join(named) or str(told.get("License") or "unknown").split("\n")[0]
    )


def _unsafe(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            for name in names:
                if name.partition(".")[0] in _UNSAFE_MODULES:
                    yield node.lineno, name
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in _UNSAFE_NAMES:
                yield node.lineno, node.func.id
            for keyword in node.keywords:
                is_true = isinstance(keyword.value, ast.Constant) and keyword.value.value is True
                if keyword.arg in ("shell", "allow_pickle", "trust_remote_code") and is_true:
                    yield node.lineno, keyword.arg
