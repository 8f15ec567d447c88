"""The catalogue: every data set that can be used, its licence, its files and how it is had.

`catalogue.toml` beside this file holds the entries. Files lie under one folder, `data_dir()`, at the paths
that the entries name; nothing here touches the network.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rapidfuzz import fuzz, process

from auscult.errors import ConfigError, CorpusMissingError


class Access(StrEnum):
    """How a data set comes onto a machine.

    `REBUILD`: made here from public repositories. `DOWNLOAD`: its files are public as they are. `PREPARED`:
    repacked from public repositories, and only the repacked files can be used. `RESTRICTED`: its terms let
    nobody pass it on; its owner has to be asked. `BY_HAND`: public, but in files that no command fetches here (kept in
    Git LFS); the entry tells where they are.
    """

    REBUILD = "rebuild"
    DOWNLOAD = "download"
    PREPARED = "prepared"
    RESTRICTED = "restricted"
    BY_HAND = "by hand"

    @property
    def instructed(self) -> bool:
        """Whether people get it themselves, by an entry's instructions."""
        return self in (Access.RESTRICTED, Access.BY_HAND)


@dataclass(frozen=True, slots=True)
class Source:
    """A public GitHub repository at one commit.

    Attributes:
        paths: The part of it that was used, for a reader; empty for all, or for the files of `sha256`.
        tree: Git's id of the whole tree at that commit, where all of it is taken; else empty.
        sha256: Digests of the files, by path, that are taken one by one.
    """

    repository: str
    commit: str
    paths: str = ""
    tree: str = ""
    sha256: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DataFile:
    """One gzip-compressed file.

    Attributes:
        path: Relative to `data_dir()`, with forward slashes.
        bytes: Size as packed.
        sha256: Of the file as packed.
        content_sha256: Of the uncompressed bytes: what a rebuilt file, packed differently, must still hold.
        rows: Records without header; 0 where the format has none.
        url: Where the uncompressed content is public, unchanged; empty elsewhere.
    """

    path: str
    bytes: int
    sha256: str
    content_sha256: str
    rows: int = 0
    url: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One data set.

    Attributes:
        name: As `auscult data get NAME` and `open_corpus(NAME)` take it.
        licence_class: "open" (may be redistributed and changed, with attribution, share-alike where noted),
            "check" (widely copied, no formal licence) or "restricted".
        reader: Which corpus reads it; empty where it holds no documents.
        folder: Where the set as a whole lies, relative to `data_dir()`; empty where it is its files.
        instructions: How to get a set that no command fetches, as an imperative clause.
        measured_only: Models are measured and chosen with it; no experiment may learn from it.
    """

    name: str
    title: str
    access: Access
    licence: str
    licence_class: str
    description: str
    attribution: str = ""
    reader: str = ""
    folder: str = ""
    instructions: str = ""
    measured_only: bool = False
    sources: tuple[Source, ...] = ()
    files: tuple[DataFile, ...] = ()

    @property
    def bytes(self) -> int:
        """Size of all files as packed; 0 where no file may be named."""
        return sum(file.bytes for file in self.files)

    def path(self, root: Path) -> Path:
        """The set's folder, or the one file it consists of, under the data folder `root`."""
        return root / (self.folder or self.files[0].path)

    def missing(self, root: Path) -> tuple[Path, ...]:
        """What is not there: the files of the set, or the folder of one without named files."""
        wanted = [root / file.path for file in self.files] or [self.path(root)]
        return tuple(path for path in wanted if not path.exists())

    def remedy(self, root: Path) -> str:
        """What to do when the set is not on this machine, as an imperative clause."""
        where = self.path(root)
        if self.access.instructed:
            return f"{self.instructions}, and put it in {where}"
        if self.access is Access.PREPARED:
            origins = ", ".join(f"github.com/{s.repository} at {s.commit[:12]}" for s in self.sources)
            places = ", ".join(str(root / file.path) for file in self.files)
            return (
                f"put the prepared file at {places}, or run: auscult data get {self.name} --from "
                f"FOLDER_OR_URL (it was repacked from {origins}, and is not published as such)"
            )
        return f"run: auscult data get {self.name}"


@cache
def catalogue() -> Mapping[str, Entry]:
    """All entries by name, in the order of the catalogue file."""
    text = resources.files(__package__).joinpath("catalogue.toml").read_text(encoding="utf-8")
    entries = [_entry(table) for table in tomllib.loads(text)["entry"]]
    return MappingProxyType({entry.name: entry for entry in entries})


def _entry(table: dict[str, Any]) -> Entry:
    sources = tuple(Source(**source) for source in table.pop("source", ()))
    files = tuple(DataFile(**file) for file in table.pop("file", ()))
    return Entry(access=Access(table.pop("access")), sources=sources, files=files, **table)


def entry(name: str) -> Entry:
    """The entry of a name.

    Raises:
        ConfigError: There is none; names the nearest.
    """
    found = catalogue().get(name)
    if found is None:
        raise unknown_name(name)
    return found


def unknown_name(name: str, or_else: str = "") -> ConfigError:
    """The error for a name that is not in the catalogue, with the nearest that are.

    Args:
        name: What was given.
        or_else: What else would have done.
    """
    near = near_names(name)
    hint = f"did you mean {' or '.join(near)}?" if near else "correct it, or see: auscult data list"
    return ConfigError(f"the name of a data set{or_else}", repr(name), hint)


def near_names(name: str) -> list[str]:
    """Up to three catalogue names that look like `name`, best first."""
    found = process.extract(name.lower(), list(catalogue()), scorer=fuzz.WRatio, limit=3, score_cutoff=70)
    return [match for match, _, _ in found]


def data_dir() -> Path:
    """The folder that holds all data: `AUSCULT_DATA`, or else `auscult` in the user's data folder."""
    given = os.environ.get("AUSCULT_DATA", "")
    if given:
        return Path(given).expanduser()
    shared = os.environ.get("XDG_DATA_HOME", "")
    return (Path(shared) if shared else Path.home() / ".local" / "share") / "auscult"


def locate(name: str, root: Path | None = None) -> Path:
    """Where a data set lies on this machine.

    Args:
        name: A catalogue name.
        root: The data folder; `data_dir()` when not given.

    Returns:
        Its folder, or the one file it consists of.

    Raises:
        ConfigError: No such name.
        CorpusMissingError: It, or a part of it, is not there; the remedy says where to get it.
    """
    found = entry(name)
    folder = root or data_dir()
    missing = found.missing(folder)
    if missing:
        raise CorpusMissingError(f"{found.title} at {found.path(folder)}", f"no {missing[0]}", found.remedy(folder))
    return found.path(folder)
