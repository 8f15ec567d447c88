"""Bring a data set onto this machine: rebuild, download or copy its files, and verify them against the catalogue."""

from __future__ import annotations

import re
import shutil
import tempfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from auscult.catalogue import Access, DataFile, Entry, Source
from auscult.errors import AuscultError, ConfigError, CorpusMissingError, DataError
from auscult.files.reading import digest_of_file, digest_of_unpacked, packing
from auscult.files.writing import put_file
from auscult_lab.corpora.download import Progress, download, unpack
from auscult_lab.corpora.medquad_build import rebuild

Report = Callable[[str, int, int | None], None]
"""Called with what is being transferred, the bytes had so far, and the total where it is known."""

_XML = re.compile(r"\d+_\w+/\w+\.xml")


class FileState(StrEnum):
    """Result of comparing a file with the catalogue.

    `SAME`: byte for byte the catalogue's. `SAME_CONTENT`: packed differently, same uncompressed bytes.
    `DIFFERENT`: readable, but other content, or not readable to its end. `MISSING`: not there.
    """

    SAME = "same"
    SAME_CONTENT = "same content"
    DIFFERENT = "different"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class GitHub:
    """Where public repositories are served."""

    archives: str = "https://codeload.github.com"
    raw: str = "https://raw.githubusercontent.com"

    def archive(self, source: Source) -> str:
        """Return the address of a commit's tarball."""
        return f"{self.archives}/{source.repository}/tar.gz/{source.commit}"

    def file(self, source: Source, path: str) -> str:
        """Return the address of one file at a commit."""
        return f"{self.raw}/{source.repository}/{source.commit}/{path}"


def obtain(
    entry: Entry,
    root: Path,
    *,
    origin: str = "",
    tree: Path | None = None,
    annotations: Path | None = None,
    report: Report | None = None,
    github: GitHub | None = None,
) -> tuple[Path, ...]:
    """Bring an entry's files under `root`, unless they are there already.

    Every file is checked against the catalogue before it gets its name. Correct files are left unchanged. The next call
    resumes broken transfers.

    Args:
        entry: Catalogue entry of the data set.
        root: The data folder.
        origin: A folder or http(s) address with the prepared files at their catalogue paths; empty for the public
            sources.
        tree: A copy of github.com/abachaa/MedQuAD, to rebuild MedQuAD without a network; with `annotations`.
        annotations: A copy of `data/MedQuAD/` of github.com/sebastianarnold/cdv.
        report: Called with the progress of transfers.
        github: The servers of public repositories.

    Returns:
        The files, in catalogue order.

    Raises:
        ConfigError: The folder cannot be written to, or an option does not fit the entry.
        CorpusMissingError: The data set cannot be obtained this way; the remedy names another.
        DataError: A file is not the one of the catalogue.
    """
    if entry.access.instructed:
        raise CorpusMissingError(
            "a data set that may be passed on", f"{entry.title} ({entry.licence})", entry.remedy(root)
        )
    if (tree is None) != (annotations is None) or (tree and entry.access is not Access.REBUILD):
        raise ConfigError(
            "a MedQuAD tree and CDV's annotations, both or neither, for a data set that is rebuilt",
            f"something else for {entry.name}",
            "give both options with medquad, or none",
        )
    right = (FileState.SAME, FileState.SAME_CONTENT)
    wanted = [file for file in entry.files if check_file(file, root / file.path) not in right]
    try:
        if wanted and origin:
            for file in wanted:
                _copy(file, origin, root / file.path, report)
        elif wanted and entry.access is Access.REBUILD:
            _rebuild(entry, root, tree, annotations, report, github or GitHub())
        elif wanted and entry.access is Access.DOWNLOAD:
            for file in wanted:
                _download(file, root / file.path, report)
        elif wanted:
            raise CorpusMissingError(
                f"{entry.title} at {root / wanted[0].path}", "no such file, or another", entry.remedy(root)
            )
    except OSError as error:
        raise ConfigError(
            "a data folder that can be read and written",
            f"{error.strerror or error} at {error.filename or root}",
            "correct its permissions or free some room, or set AUSCULT_DATA to another folder",
        ) from error
    return tuple(root / file.path for file in entry.files)


def check_file(file: DataFile, path: Path) -> FileState:
    """Compare the file at `path` with the catalogue's digests."""
    if not path.exists():
        return FileState.MISSING
    if digest_of_file(path) == file.sha256:
        return FileState.SAME
    try:
        content = digest_of_unpacked(path)
    except (OSError, EOFError, zlib.error):
        return FileState.DIFFERENT
    return FileState.SAME_CONTENT if content == file.content_sha256 else FileState.DIFFERENT


def require_same(file: DataFile, path: Path, remedy: str) -> None:
    """Check that a file has the content that the catalogue lists.

    Raises:
        DataError: Naming the file, with `remedy`.
    """
    state = check_file(file, path)
    if state in (FileState.DIFFERENT, FileState.MISSING):
        raise DataError(f"{file.path} with the catalogue's checksum", f"a {state.value} file at {path}", remedy)


def _copy(file: DataFile, origin: str, target: Path, report: Report | None) -> None:
    fresh = target.with_name(target.name + ".new")
    if origin.startswith(("http://", "https://")):
        download(f"{origin.rstrip('/')}/{file.path}", fresh, progress=_add_label(report, file.path))
    else:
        places = [Path(origin) / file.path, Path(origin) / Path(file.path).name]
        local = next((place for place in places if place.is_file()), None)
        if local is None:
            raise CorpusMissingError(f"a file at {places[0]}", "no such file", "correct the folder after --from")
        fresh.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(local, fresh)
    _accept(file, fresh, target, f"take the file that the catalogue means; {origin} holds another")


def _download(file: DataFile, target: Path, report: Report | None) -> None:
    plain = target.with_name(target.name + ".plain")
    fresh = target.with_name(target.name + ".new")
    download(file.url, plain, sha256=file.content_sha256, progress=_add_label(report, file.path))
    with plain.open("rb") as source, packing(fresh) as packed:
        shutil.copyfileobj(source, packed)
    plain.unlink()
    _accept(file, fresh, target, "run the command again")


def _accept(file: DataFile, fresh: Path, target: Path, remedy: str) -> None:
    try:
        require_same(file, fresh, remedy)
    except DataError:
        fresh.unlink()
        raise
    put_file(fresh, target)


def _rebuild(
    entry: Entry, root: Path, tree: Path | None, annotations: Path | None, report: Report | None, github: GitHub
) -> None:
    downloads = root / "downloads" / entry.name
    downloads.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".rebuild-", dir=downloads) as work:
        if tree is None or annotations is None:
            tree, annotations = _fetch_sources(entry, downloads, Path(work) / "tree", report, github)
        rebuilt = {path.name: path for path in rebuild(tree, annotations, Path(work) / "made")}
        for file in entry.files:
            require_same(
                file,
                rebuilt[Path(file.path).name],
                "take tree and annotations at the commits of: auscult data show " + entry.name,
            )
        for file in entry.files:
            target = root / file.path
            put_file(rebuilt[target.name], target)
    # Deleted only now: after a failure, the downloads are used again.
    shutil.rmtree(downloads)
    if not any(downloads.parent.iterdir()):
        downloads.parent.rmdir()


def _fetch_sources(
    entry: Entry, downloads: Path, tree: Path, report: Report | None, github: GitHub
) -> tuple[Path, Path]:
    annotations = downloads / "annotations"
    for source in entry.sources:
        for path, digest in source.sha256.items():
            name = Path(path).name
            if not (annotations / name).exists():
                address = github.file(source, path)
                download(address, annotations / name, sha256=digest, progress=_add_label(report, name))
        if source.tree:
            name = f"{source.repository.partition('/')[2]}-{source.commit[:12]}.tar.gz"
            tarball = downloads / name
            if not tarball.exists():
                download(github.archive(source), tarball, progress=_add_label(report, name))
            try:
                unpack(tarball, tree, tree=source.tree, wanted=_XML)
            except AuscultError:
                tarball.unlink()
                raise
    return tree, annotations


def _add_label(report: Report | None, label: str) -> Progress | None:
    return (lambda done, total: report(label, done, total)) if report else None
