"""The files below what a user named: folders, single files, patterns, and the members of zip and tar archives.

The order is that of names. Hidden files are left out, and so is what other systems put into archives. Nothing is read
outside what was named: a link that leads out of a named folder is told, and a member of an archive is bytes with a
name, which is never written anywhere.
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Collection, Iterator
from functools import partial
from pathlib import Path, PurePosixPath

from auscult.errors import CorpusMissingError
from auscult.files.limits import limits
from auscult.files.reading import GZIP
from auscult.readers.archives import Found, gunzipped, is_shown, is_tar, plain, untarred, unzipped, within
from auscult.readers.contract import UnreadableError
from auscult.readers.ignoring import Ignoring

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_PATTERN = frozenset("*?[")
#: Bytes that tell archives apart.
_HEAD = 262


def is_pattern(named: str) -> bool:
    """Whether what a user named is a pattern of names, and no file or folder."""
    return bool(_PATTERN & set(named)) and not os.path.lexists(named)


def place_of(named: str) -> Path:
    """The file or folder that was named; of a pattern the folder that its names count from."""
    return _base(named) if is_pattern(named) else Path(named)


def name_of(named: str) -> str:
    """What it is called."""
    return place_of(named).resolve().name


def walk(
    named: str, root: int = 0, without: Collection[Path] = (), ignoring: Ignoring | None = None
) -> Iterator[Found]:
    """The files below one path, in the order of their names.

    Args:
        named: A folder, a file, or a pattern of names ("notes/**/*.txt").
        root: Handed on.
        without: Resolved paths of folders that are passed over.
        ignoring: Which files are left out; by default those of ignore files. A file that is named itself is not.

    Raises:
        CorpusMissingError: There is nothing of that name.
        ConfigError: An ignore file has no patterns.
    """
    place = place_of(named)
    # Unlike a path's own method it says no where a name is none at all.
    folder = place.resolve() if os.path.isdir(place) else None  # noqa: PTH112
    ignoring = ignoring or Ignoring(place)
    for name, path in _paths(named, without, ignoring):
        for found in _unpacked(name, path, root, folder, is_pattern(named)):
            if found.name == plain(name) or not ignoring(found.name):
                yield found


def _paths(named: str, without: Collection[Path], ignoring: Ignoring) -> Iterator[tuple[str, Path]]:
    """Names and paths of files."""
    if is_pattern(named):
        base = _base(named)
        matches = sorted(glob.glob(named, recursive=True))  # noqa: PTH207
        if not matches:
            raise CorpusMissingError("files that the pattern names", f"none of '{named}'", "correct the pattern")
        seen: set[str] = set()
        for match in map(Path, matches):
            outer = PurePosixPath(match.relative_to(base).as_posix())
            if ignoring(outer.as_posix(), is_folder=match.is_dir()):
                continue
            for inner, path in _below(match, without, ignoring, outer):
                name = (outer / inner).as_posix()
                if name not in seen:
                    seen.add(name)
                    yield name, path
        return
    path = Path(named)
    try:
        path.stat()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CorpusMissingError("a file or folder", f"{named[:80]!r} ({reason})", "correct the path") from error
    if path.is_dir():
        yield from _below(path, without, ignoring, PurePosixPath())
    else:
        yield path.name, path


def _base(pattern: str) -> Path:
    """The folder that a pattern's names count from: what stands before its first part with a sign."""
    parts = Path(pattern).parts
    fixed = next(n for n, part in enumerate(parts) if _PATTERN & set(part))
    return Path(*parts[:fixed])


def _below(
    path: Path, without: Collection[Path], ignoring: Ignoring, outer: PurePosixPath
) -> Iterator[tuple[str, Path]]:
    """Files below a folder by their names in it, hidden ones left out; a file itself has the empty name.

    Args:
        path: The folder.
        without: Folders that are passed over.
        ignoring: Which files are left out.
        outer: The folder's name for it.
    """
    if not path.is_dir():
        if path.resolve() not in without:
            yield "", path
        return

    def refuse(error: OSError) -> None:
        raise CorpusMissingError(
            f"a folder that can be read at {error.filename}", error.strerror or str(error), "correct its permissions"
        ) from error

    files_below = []
    for place, folders, files in os.walk(path, onerror=refuse):
        inside = Path(place)
        named_so = outer / inside.relative_to(path).as_posix()
        folders[:] = [
            name
            for name in folders
            if is_shown(name)
            and (inside / name).resolve() not in without
            and not ignoring((named_so / name).as_posix(), is_folder=True)
        ]
        # What a link to a folder leads to is looked at by whoever opens it, as a link to a file is.
        linked = [name for name in folders if (inside / name).is_symlink()]
        files_below += [
            inside / name
            for name in (*files, *linked)
            if is_shown(name) and (name in linked or not ignoring((named_so / name).as_posix()))
        ]
    places = [(each.relative_to(path).as_posix(), each) for each in files_below]
    yield from sorted(places)


def _unpacked(name: str, path: Path, root: int, folder: Path | None, through: bool) -> Iterator[Found]:
    """A file, or what an archive holds."""
    name = plain(name)
    try:
        head = _head(path, folder, through)
    except UnreadableError as problem:
        yield Found(name, root, partial(_raise, problem), problem)
        return
    if head is None:
        # A link to a folder of the same folder: its files come under their own names.
        return
    if head.startswith(_ZIP):
        yield from unzipped(name, path, root) or [Found(name, root, partial(_whole, path))]
    elif is_tar(name, head):
        yield from untarred(name, path, root)
    elif head.startswith(GZIP):
        yield Found(name, root, partial(_gunzipped, path))
    else:
        yield Found(name, root, partial(_whole, path))


def _head(path: Path, folder: Path | None, through: bool) -> bytes | None:
    """What a file begins with; None for a folder.

    Raises:
        UnreadableError: It is none of a folder, or cannot be read.
    """
    try:
        # Below a folder only the last part of a path may be a link; a pattern leads through links, too.
        may_leave = folder is not None and (through or path.is_symlink())
        if folder is not None and may_leave and not path.resolve().is_relative_to(folder):
            got = "a link that leads out of it"
            raise UnreadableError("link out of the folder", "files of the folder", got, "name what it leads to")
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            return None
        if not stat.S_ISREG(status.st_mode):
            raise UnreadableError("no file", "a file", "a device or a pipe", "leave it out")
        with path.open("rb") as opened:
            return opened.read(_HEAD)
    except OSError as error:
        raise _unreadable(error) from error


def _whole(path: Path) -> bytes:
    """A file's bytes.

    Raises:
        UnreadableError: It is too large, or cannot be read.
    """
    try:
        with path.open("rb") as opened:
            return within(opened.read(limits().source + 1))
    except OSError as error:
        raise _unreadable(error) from error


def _gunzipped(path: Path) -> bytes:
    try:
        packed = path.stat().st_size
    except OSError as error:
        raise _unreadable(error) from error
    return gunzipped(path, packed)


def _unreadable(error: OSError) -> UnreadableError:
    told = error.strerror or type(error).__name__
    return UnreadableError("unreadable file", "a file that can be read", f"'{told}'", "correct its permissions")


def _raise(problem: UnreadableError) -> bytes:
    raise problem
