"""The four distributions, as pip installs them: no file twice, and the product alone names what it lacks."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from places import ROOT
from release.building import PACKAGES
from small_pdfs import leaflet

pytestmark = pytest.mark.slow


def built(folder: Path, out: Path) -> Path:
    """The wheel of a project's folder."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(out)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return max(out.glob("*.whl"), key=lambda path: path.stat().st_mtime_ns)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Those of `PACKAGES`, in their order."""
    out = tmp_path_factory.mktemp("wheels")
    return [built(ROOT / "packages" / name, out) for name in PACKAGES]


def contents(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as packed:
        return {name for name in packed.namelist() if ".dist-info/" not in name}


def test_four_wheels_have_the_files_of_one(wheels: list[Path], tmp_path: Path) -> None:
    whole = built(ROOT, tmp_path)
    parts = [contents(wheel) for wheel in wheels]
    assert set().union(*parts) == contents(whole)
    assert sum(map(len, parts)) == len(contents(whole))
    assert sum(wheel.stat().st_size for wheel in wheels) <= 1.02 * whole.stat().st_size


class Installation:
    """An environment of its own with some wheels, beside the packages of this one but not Auscult's."""

    def __init__(self, folder: Path, wheels: list[Path]) -> None:
        venv.create(folder)
        python = str(folder / "bin" / "python")
        command = [sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", "--quiet"]
        subprocess.run([*command, *map(str, wheels)], check=True, capture_output=True)
        (packages,) = folder.glob("lib/python*/site-packages")
        # What a .pth of that folder names (an editable Auscult) is not looked up, only the folder itself.
        (packages / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
        self._program = folder / "bin" / "auscult"

    def run(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        command = [self._program, *map(str, arguments)]
        return subprocess.run(command, env=clean, check=False, capture_output=True, text=True)


@pytest.fixture
def page(tmp_path: Path) -> Path:
    path = tmp_path / "gout.pdf"
    path.write_bytes(leaflet(pages=1).content())
    return path


def test_the_product_alone_names_missing_packages(wheels: list[Path], page: Path, tmp_path: Path) -> None:
    alone = Installation(tmp_path / "alone", wheels[:1])
    refused = alone.run("index", page, "--out", tmp_path / "index", "--no-knowledge")
    assert refused.returncode == 2
    assert "a PDF is read by auscult-readers: pip install auscult-readers" in " ".join(refused.stderr.split())
    refused = alone.run("search", "postgresql://127.0.0.1:1/none", "gout")
    assert "auscult-engines: pip install auscult-engines" in " ".join(refused.stderr.split())
    refused = alone.run("serve", tmp_path / "index")
    assert refused.returncode == 2
    assert "auscult-service: pip install auscult-service" in " ".join(refused.stderr.split())
    (tmp_path / "gout.md").write_text("# Gout\n\nGout is treated with colchicine.\n")
    assert alone.run("index", tmp_path / "gout.md", "--out", tmp_path / "index", "--no-knowledge").returncode == 0
    assert "colchicine" in alone.run("search", tmp_path / "index", "How is gout treated?").stdout


def test_all_four_read_a_pdf_and_make_keys(wheels: list[Path], page: Path, tmp_path: Path) -> None:
    whole = Installation(tmp_path / "whole", wheels)
    indexed = whole.run("index", page, "--out", tmp_path / "index", "--no-knowledge")
    assert indexed.returncode == 0, indexed.stderr
    assert "colchicine" in whole.run("search", tmp_path / "index", "How is gout treated?").stdout
    assert whole.run("data", "list").returncode == 0
    assert whole.run("keys", "add", tmp_path / "keys.json", "Ann").returncode == 0
