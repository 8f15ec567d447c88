"""What keeps a release from being made."""

from __future__ import annotations

import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from places import ROOT
from release.building import (
    PARTS,
    ReleaseError,
    check_contents,
    check_notes,
    check_part,
    check_written,
    project_version,
)
from release.licences import licences_of, refused
from release.pythons import supported_pythons
from release.records import write_checksums
from release.smoke import TRIALS
from release.trying import EXTRAS

GOOD = (
    "auscult/py.typed",
    "auscult_engines/py.typed",
    "auscult_readers/py.typed",
    *(f"auscult/encoders/pretrained/{name}/README.md" for name in ("best", "cdv", "fast")),
)


def test_the_version_is_cited() -> None:
    assert project_version(ROOT) == "0.1.0"


def test_another_version_in_the_citation_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.0"\n')
    (tmp_path / "CITATION.cff").write_text("version: 0.9\n")
    with pytest.raises(ReleaseError, match=r"CITATION.cff has version 0.9, pyproject.toml 1.0"):
        project_version(tmp_path)


@pytest.mark.parametrize(("notes", "good"), [("## 1.0 (2026-11-26)\n", True), ("## Unreleased\n\n- 1.0\n", False)])
def test_a_version_has_dated_notes(tmp_path: Path, notes: str, good: bool) -> None:
    (tmp_path / "CHANGELOG.md").write_text(notes)
    if good:
        check_notes(tmp_path, "1.0")
    else:
        with pytest.raises(ReleaseError, match=r"no heading '## 1\.0 "):
            check_notes(tmp_path, "1.0")


def test_a_version_keeps_what_it_writes(tmp_path: Path) -> None:
    check_written(ROOT, project_version(ROOT))
    with pytest.raises(ReleaseError, match=r"written_by/1\.0 is missing"):
        check_written(tmp_path, "1.0")


def packed(folder: Path, names: tuple[str, ...], source: tuple[str, ...] = ()) -> tuple[Path, Path]:
    with zipfile.ZipFile(folder / "x.whl", "w") as wheel:
        for name in (*names, "x.dist-info/METADATA"):
            wheel.writestr(name, "")
    with tarfile.open(folder / "x.tar.gz", "w:gz") as made:
        for name in source:
            made.addfile(tarfile.TarInfo(name))
    return folder / "x.whl", folder / "x.tar.gz"


def test_a_whole_wheel_is_let_through(tmp_path: Path) -> None:
    check_contents(*packed(tmp_path, GOOD, ("x/README.md",)))


@pytest.mark.parametrize(
    ("names", "source", "problem"),
    [
        (GOOD[1:], (), "lacks .*py.typed"),
        ((*GOOD, "tests/data/x"), (), "tests/data/x'. too much"),
        (GOOD, ("x/.venv/bin/python",), r"not the project's: .*\.venv"),
    ],
)
def test_what_lacks_or_has_too_much_is_refused(
    tmp_path: Path, names: tuple[str, ...], source: tuple[str, ...], problem: str
) -> None:
    with pytest.raises(ReleaseError, match=problem):
        check_contents(*packed(tmp_path, names, source))


@pytest.mark.parametrize("part", PARTS)
def test_a_parts_wheel_has_the_same_files(part: str, tmp_path: Path) -> None:
    wheel, _ = packed(tmp_path, GOOD)
    package = part.replace("-", "_")
    alone = tmp_path / f"{package}-1-py3-none-any.whl"
    for names, good in ((("py.typed",), True), (("py.typed", "pdf/reader.py"), False)):
        with zipfile.ZipFile(alone, "w") as made:
            for name in names:
                made.writestr(f"{package}/{name}", "")
        if good:
            check_part(wheel, alone)
        else:
            with pytest.raises(ReleaseError, match=r"differ in .*pdf/reader"):
                check_part(wheel, alone)


@pytest.mark.parametrize("name", PARTS)
def test_the_parts_are_described_alike_twice(name: str) -> None:
    whole, part = (
        tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        for folder in ("", f"packages/{name}")
    )
    assert set(part["dependencies"]) - {"auscult"} <= set(whole["dependencies"])
    for extra, packages in part["optional-dependencies"].items():
        assert packages == whole["optional-dependencies"][extra]
    package = name.replace("-", "_")
    for group, entries in whole["entry-points"].items():
        own = {entry: place for entry, place in entries.items() if place.startswith(package)}
        assert part["entry-points"].get(group, {}) == own


def test_copyleft_licences_are_refused_except_lesser_ones() -> None:
    packages = {
        "a": ("1", "GPL-3.0-or-later"),
        "b": ("1", "GNU Affero General Public License v3"),
        "c": ("1", "GNU Lesser General Public License v3 (LGPLv3)"),
        "d": ("1", "MIT"),
        "e": ("1", "LGPL-3.0-only; BSD"),
    }
    assert sorted(refused(packages)) == ["a", "b"]


def test_licences_are_those_of_the_environment() -> None:
    assert licences_of(Path(sys.executable))["numpy"][1].startswith("BSD")


def test_packages_outside_the_environment_are_not_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metadata = tmp_path / "elsewhere-1.0.dist-info" / "METADATA"
    metadata.parent.mkdir()
    metadata.write_text("Metadata-Version: 2.1\nName: elsewhere\nVersion: 1.0\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert "elsewhere" not in licences_of(Path(sys.executable))


def test_the_running_python_is_tried() -> None:
    assert Path(sys.executable) in supported_pythons()


def test_each_extra_that_users_install_is_tried() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {*extras} - {"all", "benchmarks", "dev", "release"} == {*EXTRAS} == {*TRIALS} - {""}


def test_checksums_are_read_by_the_usual_program(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    write_checksums(tmp_path)
    assert (tmp_path / "SHA256SUMS").read_text() == (
        "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881  a\n"
    )
