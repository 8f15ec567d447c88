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
_PACKAGES: Final = ("auscult/", "auscult_lab/", "auscult_readers/")
_READERS: Final = "auscult_readers/"
_NEEDED: Final = (
    "auscult/py.typed",
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


def build(root: Path, out: Path) -> tuple[Path, Path, Path]:
    """Build both distributions, and the wheel with the readers alone, and check their metadata.

    Args:
        root: The checkout.
        out: Folder to write them to; files of an earlier release are deleted.

    Returns:
        The wheel, the source distribution, and the wheel of the readers.
    """
    shutil.rmtree(out, ignore_errors=True)
    _run("-m", "build", "--outdir", str(out), str(root))
    (wheel,), (source,) = out.glob("*.whl"), out.glob("*.tar.gz")
    _run("-m", "build", "--wheel", "--outdir", str(out), str(root / "packages" / "auscult-readers"))
    (readers,) = out.glob("auscult_readers-*.whl")
    _run("-m", "twine", "check", "--strict", str(wheel), str(source), str(readers))
    return wheel, source, readers


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


def check_readers(wheel: Path, readers: Path) -> None:
    """Check that the wheel of the readers has the same readers as the whole wheel, and nothing else.

    Raises:
        ReleaseError: It has other files.
    """
    with zipfile.ZipFile(wheel) as whole, zipfile.ZipFile(readers) as part:
        expected = {name: whole.read(name) for name in whole.namelist() if name.startswith(_READERS)}
        found = {name: part.read(name) for name in part.namelist() if ".dist-info/" not in name}
    if found != expected:
        strange = sorted(name for name in found | expected if found.get(name) != expected.get(name))
        raise ReleaseError(f"{readers.name} and {wheel.name} differ in {strange[:5]}: build both again")


def _run(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], check=True)  # noqa: S603 - our own arguments
