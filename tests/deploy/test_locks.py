"""The locks name, with hashes, all that the image and the release install."""

from __future__ import annotations

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from places import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
IN_EVERYTHING = ("lab", "ner", "onnx", "plot", "postgres", "milvus", "ray", "serve", "scans", "client", "mcp", "watch",
                 "deidentify", "all")  # fmt: skip
LOCKED = re.compile(
    r"^([\w.-]+)==([\w.+!-]+)(?: ;[^\\]*)? \\$((?:\n    --hash=sha256:[0-9a-f]{64}(?: \\)?$)+)", re.MULTILINE
)


def locked(name: str) -> dict[str, str]:
    text = (ROOT / "locks" / f"{name}.txt").read_text(encoding="utf-8")
    return {canonicalize_name(match[1]): match[2] for match in LOCKED.finditer(text)}


def wanted(*extras: str) -> set[str]:
    written = [line for extra in extras for line in EXTRAS[extra]]
    return {canonicalize_name(Requirement(line).name) for line in written} - {"auscult"}


@pytest.mark.parametrize(
    ("name", "needed"),
    [
        ("container", wanted("serve", "postgres")),
        ("everything", wanted(*IN_EVERYTHING)),
        ("release", wanted("release")),
    ],
)
def test_a_lock_names_every_dependency(name: str, needed: set[str]) -> None:
    always = (
        set() if name == "release" else {canonicalize_name(Requirement(each).name) for each in PROJECT["dependencies"]}
    )
    assert needed | always <= locked(name).keys()


def test_every_extra_is_locked_or_for_developers() -> None:
    assert EXTRAS.keys() == {*IN_EVERYTHING, "release", "dev", "benchmarks", "gliner"}


@pytest.mark.parametrize("name", ["container", "everything", "release"])
def test_locks_hold_versions_and_hashes_alone(name: str) -> None:
    text = (ROOT / "locks" / f"{name}.txt").read_text(encoding="utf-8")
    assert re.sub(r"(?m)^#.*\n", "", LOCKED.sub("", text)).strip() == ""
    assert "://" not in text


def test_torch_is_the_pinned_version() -> None:
    pinned = re.search(r"(?m)^torch==(.+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8"))
    assert pinned
    assert locked("everything")["torch"] == pinned[1]


def test_the_image_installs_only_hashed_packages() -> None:
    text = re.sub(r"\\\n", " ", (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8"))
    installs = re.findall(r"pip install ([^&\n]*)", text)
    assert installs
    assert all("--require-hashes" in each or "--no-index" in each for each in installs)
