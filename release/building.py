"""Build the wheels and the source distribution, and check their metadata and content."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final

#: What the public index of packages takes at most, in bytes.
LARGEST_WHEEL: Final = 100_000_000
PACKAGES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "auscult": ("auscult/", "auscult_lab/"),
        "auscult-readers": ("auscult_readers/",),
        "auscult-engines": ("auscult_engines/",),
        "auscult-service": ("auscult_service/",),
    }
)
"""The folders of each distribution, which are those of its wheel; the first distribution depends on the others."""


class ReleaseError(Exception):
    """A release cannot be made; has the expected and actual state and the remedy."""


def project_version(root: Path) -> str:
    """Return the version of `pyproject.toml`; `CITATION.cff` must have the same.

    Raises:
        ReleaseError: The versions differ.
    """
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    version: str = project["version"]
    cited = re.search(r"^version: *(\S+)", (root / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    if cited is None or cited[1] != version:
        raise ReleaseError(f"CITATION.cff has version {cited and cited[1]}, pyproject.toml {version}: make them equal")
    return version


def check_notes(root: Path, version: str) -> None:
    """Check that the changelog has dated notes of a version.

    Raises:
        ReleaseError: There are none.
    """
    if not re.search(
        rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", (root / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE
    ):
        raise ReleaseError(
            f"CHANGELOG.md has no heading '## {version} (YYYY-MM-DD)': write what users see of this version below one"
        )


def check_written(root: Path, version: str) -> None:
    """See that what a version writes is kept, so that later versions are tested with it.

    Raises:
        ReleaseError: It is not.
    """
    if not (root / "tests" / "data" / "written_by" / version / "answers.json").is_file():
        raise ReleaseError(f"tests/data/written_by/{version} is missing: run python tests/written_by.py, and commit it")


def build(root: Path, out: Path) -> tuple[list[Path], Path]:
    """Build the distributions and check their metadata.

    Args:
        root: The checkout.
        out: Folder to write them to; files of an earlier release are deleted.

    Returns:
        The wheels of `PACKAGES`, and the source distribution of all of them.
    """
    shutil.rmtree(out, ignore_errors=True)
    _run("-m", "build", "--sdist", "--outdir", str(out), str(root))
    for name in PACKAGES:
        _run("-m", "build", "--wheel", "--outdir", str(out), str(root / "packages" / name))
    (source,) = out.glob("*.tar.gz")
    wheels = [next(out.glob(f"{name.replace('-', '_')}-*.whl")) for name in PACKAGES]
    _run("-m", "twine", "check", "--strict", *map(str, (*wheels, source)))
    return wheels, source


def check_contents(wheels: Sequence[Path], source: Path) -> None:
    """Check that each wheel has its packages as the source distribution has them, and nothing else.

    Args:
        wheels: The wheels of `PACKAGES`, in their order.
        source: The source distribution.

    Raises:
        ReleaseError: A wheel is too large, lacks a file, or has one that is not its own; or the source distribution
            has files or data of other projects.
    """
    with tarfile.open(source) as packed:
        files = [each.name for each in packed if not each.isdir()]
    hidden = [name for name in files if "/.git/" in name or "/.venv/" in name or "__pycache__" in name]
    if hidden:
        raise ReleaseError(f"{source.name} has files that are not the project's: {hidden[:5]}; see .gitignore")
    for wheel, folders in zip(wheels, PACKAGES.values(), strict=True):
        size = wheel.stat().st_size
        if size > LARGEST_WHEEL:
            raise ReleaseError(f"{wheel.name} has {size:,} bytes; at most {LARGEST_WHEEL:,} can be published")
        with zipfile.ZipFile(wheel) as packed_wheel:
            found = {name for name in packed_wheel.namelist() if ".dist-info/" not in name}
        # "auscult-0.1.0/packages/auscult-readers/src/auscult_readers/mail.py" is "auscult_readers/mail.py" in a wheel.
        expected = {name for each in files if (name := each.partition("/src/")[2]).startswith(folders)}
        if found != expected or not found:
            strange, missing = sorted(found - expected), sorted(expected - found)
            raise ReleaseError(f"{wheel.name} has {strange or 'nothing'} too much and lacks {missing or 'nothing'}")


def _run(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], check=True)  # noqa: S603 - our own arguments
