"""Members of archives, read into memory within limits. Nothing is written to disk."""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from auscult.files.limits import VARIABLE, limits
from auscult.files.reading import GZIP
from auscult.readers.contract import UnreadableError

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""First bytes of office files from before 2007 and of Outlook messages (OLE containers)."""
_ENCRYPTED = 0x1
# Errors of the library for a file that is no zip archive.
_NO_ZIP = (OSError, zipfile.BadZipFile, ValueError, NotImplementedError)
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
#: Members with fewer unpacked bytes are no zip bombs, whatever their compression ratio is.
_SMALL = 1_000_000
_LEFT_OUT = ("__MACOSX", "Thumbs.db", "desktop.ini")
_TARS = (".tar", ".tar.gz", ".tgz")
# Zip archives with one of these members are office files.
_OFFICE = frozenset({"[Content_Types].xml", "mimetype", "META-INF/container.xml"})


@dataclass(frozen=True, slots=True)
class Found:
    """A file, or a member of an archive.

    Attributes:
        name: Path below what the user named, with "/".
        root: Number of the path that the user named.
        content: Returns its bytes, or raises `UnreadableError`.
        problem: Error because of which it cannot be read, if known in advance.
    """

    name: str
    root: int
    content: Callable[[], bytes]
    problem: UnreadableError | None = None


def is_shown(name: str) -> bool:
    """Whether a file or folder is not hidden and was not left by an operating system."""
    return not name.startswith((".", "~$")) and name not in _LEFT_OUT


def plain(name: str) -> str:
    """Return a name without control characters and invalid bytes, for files, terminals and databases."""
    held = name.encode("utf-8", "replace").decode("utf-8")
    return "".join(each if each.isprintable() else "_" for each in held)


def list_zip(name: str, path: Path, root: int) -> list[Found]:
    """Return the files in a zip archive, sorted by name; none for an office file.

    Args:
        name: Name of the archive.
        path: Path of the archive.
        root: `Found.root` of the files.
    """
    try:
        archive = zipfile.ZipFile(path)
    except _NO_ZIP:
        # The reader of an office file reports that it is broken.
        return [refuse(name, root, _damage_error("zip archive"))] if name.lower().endswith(".zip") else []
    return list(_Unpacking(root).list_zip(name, archive, lambda: archive))


def list_tar(name: str, path: Path, root: int) -> Iterator[Found]:
    """Yield the files in a tar archive, sorted by name. Of files with one name, the last is used.

    Args:
        name: Name of the archive.
        path: Path of the archive.
        root: `Found.root` of the files.
    """

    def opened() -> tarfile.TarFile:
        status = path.stat()
        return _opened_tar(path, status.st_size, status.st_mtime_ns)

    return _Unpacking(root).list_tar(name, opened)


@lru_cache(maxsize=1)
def _opened_tar(path: Path, size: int, _: int) -> tarfile.TarFile:
    """Return an archive, cached by path, size and time of change. Only the last one stays in memory."""
    with path.open("rb") as probe:
        is_packed = probe.read(len(GZIP)) == GZIP
    return tarfile.open(fileobj=io.BytesIO(unpack_gzip(path, size)) if is_packed else path.open("rb"), mode="r:")


def members_of(name: str, content: bytes) -> list[Found]:
    """Return the files in a zip, tar or gzip file in memory; none for any other file.

    Args:
        name: Name of the file.
        content: Bytes of the file.
    """
    unpacking = _Unpacking(root=0)
    if is_tar(name, content[:262]):
        return list(unpacking.list_tar(name, partial(unpacking.open_inner, name, partial(_tar_of, lambda: content))))
    if content.startswith(GZIP):
        return [Found(name.removesuffix(".gz"), 0, partial(_gunzipped_member, lambda: content))]
    if not content.startswith(b"PK\x03\x04"):
        return []
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except _NO_ZIP:
        return []
    return list(unpacking.list_zip(name, archive, lambda: archive))


def names_in(content: bytes) -> frozenset[str]:
    """Return the names of a zip archive's members; none for any other file."""
    if not content.startswith(b"PK"):
        return frozenset()
    try:
        return frozenset(zipfile.ZipFile(io.BytesIO(content)).namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError):
        return frozenset()


def streams_in(content: bytes) -> frozenset[str]:
    """Return the names of the top entries of an OLE container; none for any other file."""
    if not content.startswith(OLE):
        return frozenset()
    import olefile

    try:
        with olefile.OleFileIO(io.BytesIO(content)) as opened:
            return frozenset(each.name for each in opened.root.kids)
    except Exception:  # The library raises errors of any type for broken files.
        return frozenset()


def is_tar(name: str, head: bytes) -> bool:
    """Whether a file is a tar archive, plain or gzip-compressed.

    Args:
        name: Name of the file.
        head: Its first 262 bytes.
    """
    return head[257:262] == b"ustar" or (head.startswith(GZIP) and name.lower().endswith(_TARS))


Archive = TypeVar("Archive", zipfile.ZipFile, tarfile.TarFile)


class _Unpacking:
    """Lists the members of an archive, and of the archives in it, within limits that they share.

    Args:
        root: `Found.root` of the files.
    """

    def __init__(self, root: int) -> None:
        self._root = root
        # Bytes that all members together may still have.
        self._left = limits().archive
        # Name of the inner archive that was opened last, and the open archive. Only one is in memory.
        self._inner: tuple[str, Any] = ("", None)

    def open_inner(self, name: str, open_archive: Callable[[], Archive]) -> Archive:
        """Return an archive that is kept open until another one is opened."""
        if self._inner[0] != name:
            self._inner = name, open_archive()
        archive: Archive = self._inner[1]
        return archive

    def list_zip(
        self, name: str, archive: zipfile.ZipFile, again: Callable[[], zipfile.ZipFile], *, nested: bool = False
    ) -> Iterator[Found]:
        """Yield the members of an archive.

        Args:
            name: Name of the archive.
            archive: The archive.
            again: Returns it when a member is read.
            nested: Whether it is inside an archive.
        """
        members = sorted(archive.infolist(), key=lambda member: member.filename)
        if _OFFICE & {member.filename for member in members}:
            return
        self._left -= sum(member.file_size for member in members)
        if problem := self._size_error(len(members)):
            yield refuse(name, self._root, problem)
            return
        for member in members:
            place = PurePosixPath(member.filename.replace("\\", "/"))
            if not member.is_dir() and _is_listed(place):
                problem = problem_of_member(member, place)
                yield from self._list_member(f"{name}/{place}", problem, partial(read_member, again, member), nested)

    def list_tar(self, name: str, opened: Callable[[], tarfile.TarFile], *, nested: bool = False) -> Iterator[Found]:
        """Yield the members of a tar archive; `opened` opens it each time one of them is read."""
        members: dict[str, tarfile.TarInfo] = {}
        problem = None
        try:
            for number, member in enumerate(opened(), start=1):
                self._left -= member.size
                members[member.name] = member
                if problem := self._size_error(number):
                    break
        except UnreadableError as error:
            problem = error
        except (tarfile.TarError, OSError, EOFError, ValueError) as error:
            problem = _damage_error("tar archive", error)
        if problem:
            yield refuse(name, self._root, problem)
            return
        for _, member in sorted(members.items()):
            place = PurePosixPath(member.name)
            if member.isdir() or not _is_listed(place):
                continue
            problem = None
            if place.is_absolute() or ".." in place.parts:
                problem = _path_error()
            elif not member.isreg():
                problem = UnreadableError("link in an archive", "files", "a link or a device", "pack the file itself")
            yield from self._list_member(f"{name}/{place}", problem, partial(_tar_member, opened, member), nested)

    def _list_member(
        self, name: str, problem: UnreadableError | None, content: Callable[[], bytes], nested: bool
    ) -> Iterator[Found]:
        """Yield a member, or the members of an archive that it contains."""
        name = plain(name)
        lower = name.lower()
        if problem is not None:
            yield refuse(name, self._root, problem)
        elif not lower.endswith((".zip", *_TARS)):
            content = partial(_gunzipped_member, content) if lower.endswith(".gz") else content
            yield Found(name, self._root, content)
        elif nested:
            expected = "archives in archives one level deep"
            problem = UnreadableError("nested archive", expected, "one in one in one", "unpack the outer one")
            yield refuse(name, self._root, problem)
        elif lower.endswith(_TARS):
            yield from self.list_tar(name, partial(self.open_inner, name, partial(_tar_of, content)), nested=True)
        else:
            inside = partial(self.open_inner, name, lambda: zipfile.ZipFile(io.BytesIO(content())))
            try:
                archive = inside()
            except UnreadableError as error:
                yield refuse(name, self._root, error)
            except _NO_ZIP:
                yield refuse(name, self._root, _damage_error("zip archive"))
            else:
                yield from self.list_zip(name, archive, inside, nested=True)

    def _size_error(self, members: int) -> UnreadableError | None:
        """Return the error for an archive with too many bytes or members; None if it may be unpacked."""
        most = limits()
        if self._left < 0:
            remedy = f"leave it out, or raise the limit ({VARIABLE}='archive={most.archive * 10}')"
            return UnreadableError("zip bomb", f"an archive of at most {most.archive:,} bytes", "a larger one", remedy)
        if members > most.members:
            remedy = f"divide it, or raise the limit ({VARIABLE}='members={most.members * 10}')"
            got = f"one of {members:,}"
            return UnreadableError("too many members", f"an archive of at most {most.members:,} files", got, remedy)
        return None


def _is_listed(place: PurePosixPath) -> bool:
    return all(is_shown(part) for part in place.parts if part != "..")


def _path_error() -> UnreadableError:
    expected = "names inside the archive"
    return UnreadableError("path traversal", expected, "one that leads out of it", "do not trust this archive")


def problem_of_member(member: zipfile.ZipInfo, path: PurePosixPath) -> UnreadableError | None:
    """Return the error because of which a member must not be read; None if it may be read."""
    if path.is_absolute() or ".." in path.parts or member.filename[1:2] == ":":
        return _path_error()
    if stat.S_ISLNK(member.external_attr >> 16):
        return UnreadableError("link in an archive", "files", "a link", "pack the file itself")
    if member.flag_bits & _ENCRYPTED:
        return UnreadableError("encrypted", "a file that can be read", "one behind a password", "unpack it first")
    if member.compress_type not in _METHODS:
        expected = "an archive packed by deflate"
        return UnreadableError("unknown packing", expected, "another method", "pack it again as a plain zip archive")
    try:
        check_ratio(member.file_size, member.compress_size)
    except UnreadableError as problem:
        return problem
    return None


def check_ratio(size: int, packed: int) -> None:
    """Refuse zip bombs.

    Args:
        size: Unpacked size in bytes.
        packed: Packed size in bytes.

    Raises:
        UnreadableError: The compression ratio is that of a zip bomb.
    """
    most = limits().ratio
    if size > _SMALL and size > most * max(packed, 1):
        remedy = f"leave it out, or raise the limit ({VARIABLE}='ratio={most * 10}')"
        raise UnreadableError("zip bomb", f"at most {most} times as many bytes unpacked as packed", "more", remedy)


def check_size(content: bytes) -> bytes:
    """Return the bytes of a file unchanged if they are within the size limit.

    Raises:
        UnreadableError: The file is too large.
    """
    most = limits().source
    if len(content) > most:
        remedy = f"leave it out, or raise the limit ({VARIABLE}='source={most * 10}')"
        raise UnreadableError("too large", f"a file of at most {most:,} bytes", "a larger one", remedy)
    return content


def unpack_gzip(source: Path | io.BytesIO, packed: int) -> bytes:
    """Unpack a gzip file.

    Args:
        source: Path or bytes of the file.
        packed: Size of the file in bytes.

    Raises:
        UnreadableError: The file is broken, too large, or a zip bomb.
    """
    try:
        with gzip.open(source) as opened:
            # A zip bomb is unpacked only until the ratio shows that it is one.
            content = opened.read(min(limits().source + 1, max(_SMALL, limits().ratio * packed) + 1))
    except (OSError, EOFError, zlib.error) as error:
        raise _damage_error("gzip file", error) from error
    check_ratio(len(content), packed)
    return check_size(content)


def _gunzipped_member(content: Callable[[], bytes]) -> bytes:
    packed = content()
    return unpack_gzip(io.BytesIO(packed), len(packed)) if packed.startswith(GZIP) else packed


def _tar_of(content: Callable[[], bytes]) -> tarfile.TarFile:
    return tarfile.open(fileobj=io.BytesIO(_gunzipped_member(content)), mode="r:")


def read_member(archive: Callable[[], zipfile.ZipFile], member: zipfile.ZipInfo) -> bytes:
    """Return the bytes of a member, at most as many as the archive states.

    Raises:
        UnreadableError: The member is damaged or too large.
    """
    try:
        with archive().open(member) as opened:
            return check_size(opened.read(limits().source + 1))
    except (OSError, EOFError, ValueError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        raise _damage_error("member of an archive", error) from error


def _tar_member(archive: Callable[[], tarfile.TarFile], member: tarfile.TarInfo) -> bytes:
    try:
        opened = archive().extractfile(member)
        return check_size(opened.read(limits().source + 1)) if opened else b""
    except (tarfile.TarError, OSError, EOFError, ValueError) as error:
        raise _damage_error("member of an archive", error) from error


def _damage_error(what: str, error: Exception | None = None) -> UnreadableError:
    got = f"a damaged one ({type(error).__name__})" if error else "a damaged one"
    return UnreadableError("broken archive", f"a whole {what}", got, "fetch it again")


def refuse(name: str, root: int, problem: UnreadableError) -> Found:
    """Return a file that cannot be read.

    Args:
        name: `Found.name` of the file.
        root: `Found.root` of the file.
        problem: The error.
    """

    def content() -> bytes:
        raise problem

    return Found(name, root, content, problem)
