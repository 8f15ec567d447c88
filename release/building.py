"""Build the wheel and the source distribution, and check their metadata and content."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Final

#: What the public index of packages takes at most, in bytes.
LARGEST_WHEEL: Final = 100_000_000
_PACKAGES: Final = ("auscult/", "auscult_lab/", "auscult_readers/", "auscult_engines/")
PARTS: Final = ("auscult-readers", "auscult-engines")
"""Distributions whose packages the whole wheel has, too."""
_NEEDED: Final = (
    "auscult/py.typed",
    "auscult_engines/py.typed",
    "auscult_readers/py.typed",
    "auscult/encoders/pretrained/best/README.md",
    "auscult/encoders/pretrained/cdv/README.md",
    "auscult/encoders/pretrained/fast/README.md",
)


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


def build(root: Path, out: Path) -> tuple[Path, Path, list[Path]]:
    """Build both distributions, and the wheels of parts, and check their metadata.

    Args:
        root: The checkout.
        out: Folder to write them to; files of an earlier release are deleted.

    Returns:
        The wheel, the source distribution, and the wheels of `PARTS`.
    """
    shutil.rmtree(out, ignore_errors=True)
    _run("-m", "build", "--outdir", str(out), str(root))
    (wheel,), (source,) = out.glob("*.whl"), out.glob("*.tar.gz")
    for name in PARTS:
        _run("-m", "build", "--wheel", "--outdir", str(out), str(root / "packages" / name))
    parts = [next(out.glob(f"{name.replace('-', '_')}-*.whl")) for name in PARTS]
    _run("-m", "twine", "check", "--strict", *map(str, (wheel, source, *parts)))
    return wheel, source, parts


def check_contents(wheel: Path, source: Path) -> None:
    """Check that both have the right files and no others.

    Raises:
        ReleaseError: The wheel is too large, lacks a file, or has one from outside of the packages; or the source
            distribution has files or data of other projects.
    """
    if wheel.stat().st_size > LARGEST_WHEEL:
        raise ReleaseError(
            f"{wheel.name} has {wheel.stat().st_size:,} bytes; at most {LARGEST_WHEEL:,} can be published"
        )
    with zipfile.ZipFile(wheel) as packed_wheel:
        names = packed_wheel.namelist()
    strange = [name for name in names if not name.startswith(_PACKAGES) and ".dist-info/" not in name]
    missing = [name for name in _NEEDED if name not in names]
    if strange or missing:
        raise ReleaseError(f"{wheel.name} has {strange or 'nothing'} too much and lacks {missing or 'nothing'}")
    with tarfile.open(source) as packed:
        hidden = [name for name in packed.getnames() if "/.git/" in name or "/.venv/" in name or "__pycache__" in name]
    if hidden:
        raise ReleaseError(f"{source.name} has files that are not the project's: {hidden[:5]}; see .gitignore")


def check_part(wheel: Path, part: Path) -> None:
    """Check that the wheel of a part has the same package as the whole wheel, and nothing else.

    Raises:
        ReleaseError: It has other files.
    """
    package = f"{part.name.partition('-')[0]}/"
    with zipfile.ZipFile(wheel) as whole, zipfile.ZipFile(part) as packed:
        expected = {name: whole.read(name) for name in whole.namelist() if name.startswith(package)}
        found = {name: packed.read(name) for name in packed.namelist() if ".dist-info/" not in name}
    if found != expected:
        strange = sorted(name for name in found | expected if found.get(name) != expected.get(name))
        raise ReleaseError(f"{part.name} and {wheel.name} differ in {strange[:5]}: build both again")


def _run(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], check=True)  # noqa: S603 - our own arguments
