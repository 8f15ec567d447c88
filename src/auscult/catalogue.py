"""The catalogue of data sets, with their licences, their files and how to get them.

The entries are in `catalogue.toml` beside this file. Data files are below one folder, `data_dir()`, at the paths that
the entries name. Nothing here uses the network.
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

from rapidfuzz import fuzz, process

from auscult.errors import ConfigError, CorpusMissingError


class Access(StrEnum):
    """How to get a data set.

    - `REBUILD`: built on this machine from public repositories.
    - `DOWNLOAD`: downloaded as it is published.
    - `PREPARED`: repacked from public repositories; only the repacked files can be used.
    - `RESTRICTED`: may not be redistributed; its owner must be asked.
    - `BY_HAND`: public, but in Git LFS, from which no command fetches; the entry says where it is.
    """

    REBUILD = "rebuild"
    DOWNLOAD = "download"
    PREPARED = "prepared"
    RESTRICTED = "restricted"
    BY_HAND = "by hand"

    @property
    def instructed(self) -> bool:
        """Whether users must get it themselves, by the instructions of the entry."""
        return self in (Access.RESTRICTED, Access.BY_HAND)


@dataclass(frozen=True, slots=True)
class Source:
    """A public GitHub repository at one commit.

    Attributes:
        paths: The used part of the repository, for people; empty for all of it, or for the files of `sha256`.
        tree: Git's id of the whole tree at that commit, where all of it is used; else empty.
        sha256: Digests by path of the files that are used one by one.
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
        path: Path relative to `data_dir()`, with forward slashes.
        bytes: Size of the compressed file.
        sha256: SHA-256 of the compressed file.
        content_sha256: SHA-256 of the uncompressed content, by which a file is checked that was compressed anew.
        rows: Number of records without the header; 0 where the format has none.
        url: URL of the uncompressed content, unchanged; empty where it is not published.
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
        name: Name for `auscult data get NAME` and `open_corpus(NAME)`.
        licence_class: "open" (may be redistributed and changed, with attribution, share-alike where noted),
            "check" (widely copied, no formal licence) or "restricted".
        reader: Name of the corpus that reads it; empty for a set without documents.
        folder: Folder of the whole set, relative to `data_dir()`; empty for a set of single files.
        instructions: How to get a set that no command fetches, as an imperative clause.
        measured_only: Whether it is for evaluation only, so that no experiment may train on it.
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
        """Size of all compressed files; 0 for a set without named files."""
        return sum(file.bytes for file in self.files)

    def path(self, root: Path) -> Path:
        """Return the folder of the set, or its only file, below the data folder `root`."""
        return root / (self.folder or self.files[0].path)

    def missing(self, root: Path) -> tuple[Path, ...]:
        """Return the missing files of the set, or its missing folder where no files are named."""
        wanted = [root / file.path for file in self.files] or [self.path(root)]
        return tuple(path for path in wanted if not path.exists())

    def remedy(self, root: Path) -> str:
        """Return how to get the set, as an imperative clause."""
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
    """Return all entries by name, in the order of the catalogue file."""
    text = resources.files(__package__).joinpath("catalogue.toml").read_text(encoding="utf-8")
    entries: dict[str, Entry] = {}
    for table in tomllib.loads(text)["entry"]:
        sources = tuple(Source(**source) for source in table.pop("source", ()))
        files = tuple(DataFile(**file) for file in table.pop("file", ()))
        access = Access(table.pop("access"))
        entries[table["name"]] = Entry(access=access, sources=sources, files=files, **table)
    return MappingProxyType(entries)


def entry(name: str) -> Entry:
    """Return the entry of a name.

    Raises:
        ConfigError: There is no such entry; the error suggests similar names.
    """
    match = catalogue().get(name)
    if match is None:
        raise unknown_name(name)
    return match


def unknown_name(name: str, or_else: str = "") -> ConfigError:
    """Return the error for a name that is not in the catalogue; it suggests similar names.

    Args:
        name: The unknown name.
        or_else: Other values that would be valid, as words that follow "the name of a data set".
    """
    near = near_names(name)
    hint = f"did you mean {' or '.join(near)}?" if near else "correct it, or see: auscult data list"
    return ConfigError(f"the name of a data set{or_else}", repr(name), hint)


def near_names(name: str) -> list[str]:
    """Return up to three names of the catalogue that are similar to a name, best first."""
    matches = process.extract(name.lower(), list(catalogue()), scorer=fuzz.WRatio, limit=3, score_cutoff=70)
    return [match for match, _, _ in matches]


def data_dir() -> Path:
    """Return the folder of all data: `AUSCULT_DATA`, or by default `auscult` in the user's data folder."""
    given = os.environ.get("AUSCULT_DATA", "")
    if given:
        return Path(given).expanduser()
    shared = os.environ.get("XDG_DATA_HOME", "")
    return (Path(shared) if shared else Path.home() / ".local" / "share") / "auscult"


def locate(name: str, root: Path | None = None) -> Path:
    """Return the path of a data set on this machine.

    Args:
        name: A name of the catalogue.
        root: The data folder; by default `data_dir()`.

    Returns:
        Its folder, or its only file.

    Raises:
        ConfigError: There is no such name.
        CorpusMissingError: The set or a part of it is missing; the remedy says where to get it.
    """
    match = entry(name)
    folder = root or data_dir()
    missing = match.missing(folder)
    if missing:
        raise CorpusMissingError(f"{match.title} at {match.path(folder)}", f"no {missing[0]}", match.remedy(folder))
    return match.path(folder)
