"""What keeps a release from being made."""

from __future__ import annotations

import re
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from places import NEIGHBOURS, ROOT
from release.building import (
    PACKAGES,
    ReleaseError,
    check_contents,
    check_notes,
    check_written,
    project_version,
)
from release.licences import licences_of, refused
from release.pythons import supported_pythons
from release.records import write_checksums
from release.smoke import TRIALS
from release.trying import EXTRAS

GOOD = {
    "auscult": ("auscult/py.typed", "auscult_lab/kinds.py"),
    "auscult-readers": ("auscult_readers/mail.py",),
    "auscult-engines": ("auscult_engines/bulk.py",),
    "auscult-service": ("auscult_service/app.py",),
}
SOURCE = (
    "x/README.md", "x/src/auscult/py.typed", "x/src/auscult_lab/kinds.py",
    "x/packages/auscult-readers/src/auscult_readers/mail.py", "x/packages/auscult-engines/src/auscult_engines/bulk.py",
    "x/packages/auscult-service/src/auscult_service/app.py",
)  # fmt: skip
WHOLE = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PARTS = {
    name: tomllib.loads((ROOT / "packages" / name / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for name in PACKAGES
}
PINNED = {f"{name}=={WHOLE['version']}" for name in NEIGHBOURS}


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


def packed(
    folder: Path, names: dict[str, tuple[str, ...]], source: tuple[str, ...] = SOURCE
) -> tuple[list[Path], Path]:
    wheels = [folder / f"{name}.whl" for name in names]
    for path, files in zip(wheels, names.values(), strict=True):
        with zipfile.ZipFile(path, "w") as wheel:
            for name in (*files, "x.dist-info/METADATA"):
                wheel.writestr(name, "")
    with tarfile.open(folder / "x.tar.gz", "w:gz") as made:
        for name in source:
            made.addfile(tarfile.TarInfo(name))
    return wheels, folder / "x.tar.gz"


def test_whole_wheels_are_let_through(tmp_path: Path) -> None:
    check_contents(*packed(tmp_path, GOOD))


@pytest.mark.parametrize(
    ("names", "source", "problem"),
    [
        ({"auscult": ("auscult/py.typed",)}, (), r"auscult\.whl .*lacks .*auscult_lab/kinds\.py"),
        ({"auscult": (*GOOD["auscult"], "tests/data/x")}, (), "tests/data/x'. too much"),
        ({"auscult-engines": ("auscult_readers/mail.py",)}, (), r"auscult-engines\.whl .*mail\.py'. too much"),
        ({}, ("x/.venv/bin/python",), r"not the project's: .*\.venv"),
    ],
)
def test_what_lacks_or_has_too_much_is_refused(
    tmp_path: Path, names: dict[str, tuple[str, ...]], source: tuple[str, ...], problem: str
) -> None:
    with pytest.raises(ReleaseError, match=problem):
        check_contents(*packed(tmp_path, GOOD | names, (*SOURCE, *source)))


def test_dependencies_are_the_same_in_both_descriptions() -> None:
    others = {line for name in NEIGHBOURS for line in PARTS[name]["dependencies"]}
    own = {*PARTS["auscult"]["dependencies"]}
    assert own - PINNED | others - {"auscult"} == {*WHOLE["dependencies"]}
    assert own >= PINNED


def test_extras_are_the_same_in_both_descriptions() -> None:
    elsewhere = {
        extra: (name, packages)
        for name in NEIGHBOURS
        for extra, packages in PARTS[name]["optional-dependencies"].items()
    }
    own = PARTS["auscult"]["optional-dependencies"]
    for extra, (name, packages) in elsewhere.items():
        assert own[extra] == [f"{name}[{extra}]=={WHOLE['version']}"]
        assert packages == WHOLE["optional-dependencies"][extra]
    developers = ("benchmarks", "dev", "release")
    same = {extra: of for extra, of in WHOLE["optional-dependencies"].items() if extra not in developers}
    assert own.keys() == same.keys()
    assert {extra: own[extra] for extra in own.keys() - elsewhere} == {
        extra: same[extra] for extra in same.keys() - elsewhere
    }


def test_entry_points_are_the_same_in_both_descriptions() -> None:
    assert PARTS["auscult"]["scripts"] == WHOLE["scripts"]
    for name, folders in PACKAGES.items():
        own: dict[str, dict[str, str]] = {}
        for group, entries in WHOLE["entry-points"].items():
            for entry, place in entries.items():
                if f"{re.split('[.:]', place)[0]}/" in folders:
                    own.setdefault(group, {})[entry] = place
        assert PARTS[name]["entry-points"] == own
    for field in ("description", "license", "requires-python", "authors", "keywords", "classifiers", "urls"):
        assert PARTS["auscult"][field] == WHOLE[field]


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
    assert {*WHOLE["optional-dependencies"]} - {"all", "benchmarks", "dev", "release"} == {*EXTRAS} == {*TRIALS} - {""}


def test_checksums_are_read_by_the_usual_program(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"x")
    write_checksums(tmp_path)
    assert (tmp_path / "SHA256SUMS").read_text() == (
        "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881  a\n"
    )
