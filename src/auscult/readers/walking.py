"""Find the files that a user named: in folders, single files, patterns, and members of zip and tar archives.

Files are sorted by name. Hidden files and files that operating systems put into archives are left out. Nothing outside
the named folders is read: a link that leads out of one is reported. Members of archives are never written to disk.
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
from auscult.readers.archives import Found, check_size, is_shown, is_tar, list_tar, list_zip, plain, refuse, unpack_gzip
from auscult.readers.contract import UnreadableError
from auscult.readers.ignoring import Ignoring

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_PATTERN = frozenset("*?[")
#: Number of first bytes by which archives are recognised.
_HEAD = 262


def is_pattern(named: str) -> bool:
    """Whether a name is a pattern, and not an existing file or folder."""
    return bool(_PATTERN & set(named)) and not os.path.lexists(named)


def place_of(named: str) -> Path:
    """Return the named file or folder; for a pattern, the folder to which its names are relative."""
    return _base_of(named) if is_pattern(named) else Path(named)


def name_of(named: str) -> str:
    """Return the name of the named file or folder; for a pattern, that of its folder."""
    return place_of(named).resolve().name


def walk(
    named: str, root: int = 0, without: Collection[Path] = (), ignoring: Ignoring | None = None
) -> Iterator[Found]:
    """Yield the files below one path, sorted by name.

    Args:
        named: A folder, a file, or a pattern ("notes/**/*.txt").
        root: `Found.root` of the files.
        without: Resolved paths of folders to skip.
        ignoring: Decides which files are left out. Default: those that ignore files name. A named file is always read.

    Raises:
        CorpusMissingError: Nothing has that name.
        ConfigError: An ignore file has an invalid pattern.
    """
    place = place_of(named)
    # Unlike Path.is_dir, this returns False for an invalid name.
    folder = place.resolve() if os.path.isdir(place) else None  # noqa: PTH112
    ignoring = ignoring or Ignoring(place)
    for name, path in _find_paths(named, without, ignoring):
        for found in _unpack(name, path, root, folder, is_pattern(named)):
            if found.name == plain(name) or not ignoring(found.name):
                yield found


def _find_paths(named: str, without: Collection[Path], ignoring: Ignoring) -> Iterator[tuple[str, Path]]:
    """Yield the names and paths of files."""
    if is_pattern(named):
        base = _base_of(named)
        matches = sorted(glob.glob(named, recursive=True))  # noqa: PTH207
        if not matches:
            raise CorpusMissingError("files that the pattern names", f"none of '{named}'", "correct the pattern")
        seen: set[str] = set()
        for match in map(Path, matches):
            outer = PurePosixPath(match.relative_to(base).as_posix())
            if ignoring(outer.as_posix(), is_folder=match.is_dir()):
                continue
            for inner, path in _files_below(match, without, ignoring, outer):
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
        yield from _files_below(path, without, ignoring, PurePosixPath())
    else:
        yield path.name, path


def _base_of(pattern: str) -> Path:
    """Return the folder to which names of a pattern are relative: the parts before the first wildcard."""
    parts = Path(pattern).parts
    fixed = next(n for n, part in enumerate(parts) if _PATTERN & set(part))
    return Path(*parts[:fixed])


def _files_below(
    path: Path, without: Collection[Path], ignoring: Ignoring, outer: PurePosixPath
) -> Iterator[tuple[str, Path]]:
    """Yield the files below a folder with their names in it, without hidden ones. A file itself has the name "".

    Args:
        path: The folder.
        without: Folders to skip.
        ignoring: Decides which files are left out.
        outer: Name of the folder for `ignoring`.
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
        # The target of a link is checked when it is opened, for folders as for files.
        linked = [name for name in folders if (inside / name).is_symlink()]
        files_below += [
            inside / name
            for name in (*files, *linked)
            if is_shown(name) and (name in linked or not ignoring((named_so / name).as_posix()))
        ]
    places = [(each.relative_to(path).as_posix(), each) for each in files_below]
    yield from sorted(places)


def _unpack(name: str, path: Path, root: int, folder: Path | None, through: bool) -> Iterator[Found]:
    """Yield a file, or the files in an archive."""
    name = plain(name)
    try:
        head = _read_head(path, folder, through)
    except UnreadableError as problem:
        yield refuse(name, root, problem)
        return
    if head is None:
        # A link to a folder inside the same folder: its files are found under their own names.
        return
    if head.startswith(_ZIP):
        yield from list_zip(name, path, root) or [Found(name, root, partial(_read_content, path))]
    elif is_tar(name, head):
        yield from list_tar(name, path, root)
    elif head.startswith(GZIP):
        yield Found(name, root, partial(_read_content, path, is_packed=True))
    else:
        yield Found(name, root, partial(_read_content, path))


def _read_head(path: Path, folder: Path | None, through: bool) -> bytes | None:
    """Return the first bytes of a file; None for a folder.

    Raises:
        UnreadableError: The file is outside the folder or cannot be read.
    """
    try:
        # Below a folder, only the last part of a path may be a link. A pattern may also lead through links.
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
        raise _system_error(error) from error


def _read_content(path: Path, *, is_packed: bool = False) -> bytes:
    """Return the bytes of a file, unpacked if it is a gzip file.

    Raises:
        UnreadableError: The file is too large or cannot be read.
    """
    try:
        if is_packed:
            return unpack_gzip(path, path.stat().st_size)
        with path.open("rb") as opened:
            return check_size(opened.read(limits().source + 1))
    except OSError as error:
        raise _system_error(error) from error


def _system_error(error: OSError) -> UnreadableError:
    told = error.strerror or type(error).__name__
    return UnreadableError("unreadable file", "a file that can be read", f"'{told}'", "correct its permissions")
