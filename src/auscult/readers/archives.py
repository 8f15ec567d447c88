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

from auscult.files.limits import VARIABLE, limits
from auscult.files.reading import GZIP
from auscult.readers.contract import UnreadableError

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""First bytes of office files from before 2007 and of Outlook messages (OLE containers)."""
_ENCRYPTED = 0x1
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


@dataclass(slots=True)
class _Unpacking:
    """State that an archive shares with the archives in it.

    Attributes:
        left: Bytes that all members together may still have.
        inner: Name of the inner archive that was opened last, and the open archive. Only one is in memory.
    """

    left: int
    inner: tuple[str, zipfile.ZipFile | tarfile.TarFile] | None = None

    def zip(self, name: str, content: Callable[[], bytes]) -> zipfile.ZipFile:
        if self.inner is None or self.inner[0] != name or not isinstance(self.inner[1], zipfile.ZipFile):
            self.inner = (name, opened := zipfile.ZipFile(io.BytesIO(content())))
            return opened
        return self.inner[1]

    def tar(self, name: str, content: Callable[[], bytes]) -> tarfile.TarFile:
        if self.inner is None or self.inner[0] != name or not isinstance(self.inner[1], tarfile.TarFile):
            held = io.BytesIO(_gunzipped_member(content))
            self.inner = (name, opened := tarfile.open(fileobj=held, mode="r:"))  # noqa: SIM115 - kept open
            return opened
        return self.inner[1]


def unzipped(name: str, path: Path, root: int) -> list[Found]:
    """Return the files in a zip archive, sorted by name; none for an office file.

    Args:
        name: Name of the archive.
        path: Path of the archive.
        root: `Found.root` of the files.
    """
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
        # The reader of an office file reports that it is broken.
        return [_broken_archive(name, root)] if name.lower().endswith(".zip") else []
    return list(_listed(name, archive, root, _Unpacking(limits().archive), lambda: archive, nested=False))


def members_of(name: str, content: bytes) -> list[Found]:
    """Return the files in a zip, tar or gzip file in memory; none for any other file.

    Args:
        name: Name of the file.
        content: Bytes of the file.
    """
    if is_tar(name, content[:262]):
        unpacking = _Unpacking(limits().archive)
        return list(_tarred(name, partial(unpacking.tar, name, lambda: content), 0, unpacking, nested=False))
    if content.startswith(GZIP):
        return [Found(name.removesuffix(".gz"), 0, partial(_gunzipped_member, lambda: content))]
    if not content.startswith(b"PK\x03\x04"):
        return []
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
        return []
    return list(_listed(name, archive, 0, _Unpacking(limits().archive), lambda: archive, nested=False))


def names_in(content: bytes) -> frozenset[str]:
    """Return the names of a zip archive's members; none for any other file."""
    if not content.startswith(b"PK"):
        return frozenset()
    try:
        return frozenset(zipfile.ZipFile(io.BytesIO(content)).namelist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError):
        return frozenset()


def media_type_in(content: bytes) -> str:
    """Return the media type in the member "mimetype" of an OpenDocument file or book; "" for any other file."""
    if "mimetype" not in names_in(content):
        return ""
    try:
        with zipfile.ZipFile(io.BytesIO(content)).open("mimetype") as opened:
            return opened.read(100).decode("ascii", "replace").strip()
    except (OSError, EOFError, ValueError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError):
        return ""


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


class Package:
    """A zip archive of parts, as office programs write them, in memory.

    Args:
        content: Bytes of the archive.
        kind: Kind of file, for errors ("an OpenDocument file").

    Raises:
        UnreadableError: The archive is broken or has too many parts.
    """

    def __init__(self, content: bytes, kind: str) -> None:
        self._kind = kind
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(content))
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError, EOFError) as error:
            raise self.broken(f"what cannot be unpacked ({type(error).__name__})") from error
        self._members = {member.filename: member for member in self._archive.infolist()}
        if len(self._members) > limits().members:
            remedy = f"leave it out, or raise the limit ({VARIABLE}='members={limits().members * 10}')"
            got = f"one of {len(self._members):,}"
            raise UnreadableError("too many members", f"{kind} of at most {limits().members:,} parts", got, remedy)

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def read(self, name: str) -> bytes:
        """Return the bytes of a part; empty if there is no part of that name.

        Raises:
            UnreadableError: The part is broken, encrypted, too large or a zip bomb.
        """
        if name not in self._members:
            return b""
        member = self._members[name]
        if problem := _problem(member, PurePosixPath(name)):
            raise problem
        return _member(lambda: self._archive, member)

    def check(self) -> None:
        """Check the stated sizes of all parts before a library unpacks them.

        Raises:
            UnreadableError: A part is encrypted or a zip bomb, or the parts together are too large.
        """
        for name, member in self._members.items():
            if problem := _problem(member, PurePosixPath(name)):
                raise problem
        if (size := sum(member.file_size for member in self._members.values())) > limits().source:
            remedy = f"leave it out, or raise the limit ({VARIABLE}='source={limits().source * 10}')"
            expected = f"{self._kind} of at most {limits().source:,} bytes, unpacked"
            raise UnreadableError("too large", expected, f"one of {size:,}", remedy)

    def broken(self, got: str) -> UnreadableError:
        """Return the error for a broken package."""
        return UnreadableError("broken file", f"a whole file ({self._kind})", got, "fetch it again, or save it again")


def _listed(
    name: str,
    archive: zipfile.ZipFile,
    root: int,
    unpacking: _Unpacking,
    again: Callable[[], zipfile.ZipFile],
    *,
    nested: bool,
) -> Iterator[Found]:
    """Yield the members of an archive; `again` opens it when one of them is read."""
    members = sorted(archive.infolist(), key=lambda member: member.filename)
    if _OFFICE & {member.filename for member in members}:
        return
    unpacking.left -= sum(member.file_size for member in members)
    if problem := _too_much(unpacking.left, len(members)):
        yield Found(name, root, partial(_raise, problem), problem)
        return
    for member in members:
        yield from _found(name, member, root, unpacking, again, nested=nested)


def _too_much(left: int, members: int) -> UnreadableError | None:
    """Return the error for an archive with too many bytes or members; None if it may be unpacked."""
    most = limits()
    if left < 0:
        remedy = f"leave it out, or raise the limit ({VARIABLE}='archive={most.archive * 10}')"
        return UnreadableError("zip bomb", f"an archive of at most {most.archive:,} bytes", "a larger one", remedy)
    if members > most.members:
        remedy = f"divide it, or raise the limit ({VARIABLE}='members={most.members * 10}')"
        got = f"one of {members:,}"
        return UnreadableError("too many members", f"an archive of at most {most.members:,} files", got, remedy)
    return None


def is_tar(name: str, head: bytes) -> bool:
    """Whether a file is a tar archive, plain or gzip-compressed.

    Args:
        name: Name of the file.
        head: Its first 262 bytes.
    """
    return head[257:262] == b"ustar" or (head.startswith(GZIP) and name.lower().endswith(_TARS))


def untarred(name: str, path: Path, root: int) -> Iterator[Found]:
    """Yield the files in a tar archive, sorted by name. Of files with one name, the last is used.

    Args:
        name: Name of the archive.
        path: Path of the archive.
        root: `Found.root` of the files.
    """

    def opened() -> tarfile.TarFile:
        status = path.stat()
        return _opened_tar(path, status.st_size, status.st_mtime_ns)

    return _tarred(name, opened, root, _Unpacking(limits().archive), nested=False)


def _tarred(
    name: str, opened: Callable[[], tarfile.TarFile], root: int, unpacking: _Unpacking, *, nested: bool
) -> Iterator[Found]:
    """Yield the members of a tar archive; `opened` opens it each time one of them is read."""
    members: dict[str, tarfile.TarInfo] = {}
    problem = None
    try:
        for number, member in enumerate(opened(), start=1):
            unpacking.left -= member.size
            members[member.name] = member
            if problem := _too_much(unpacking.left, number):
                break
    except UnreadableError as error:
        problem = error
    except (tarfile.TarError, OSError, EOFError, ValueError) as error:
        got = f"a damaged one ({type(error).__name__})"
        problem = UnreadableError("broken archive", "a whole tar archive", got, "fetch it again")
    if problem:
        yield Found(name, root, partial(_raise, problem), problem)
        return
    for _, member in sorted(members.items()):
        place = PurePosixPath(member.name)
        if member.isdir() or not all(is_shown(part) for part in place.parts if part != ".."):
            continue
        own = plain(f"{name}/{place}")
        if problem := _tar_problem(member, place):
            yield Found(own, root, partial(_raise, problem), problem)
        else:
            yield from _member_found(own, partial(_tar_member, opened, member), root, unpacking, nested=nested)


@lru_cache(maxsize=1)
def _opened_tar(path: Path, size: int, _: int) -> tarfile.TarFile:
    """Return an archive, cached by path, size and time of change. Only the last one stays in memory."""
    with path.open("rb") as probe:
        is_packed = probe.read(len(GZIP)) == GZIP
    return tarfile.open(fileobj=io.BytesIO(gunzipped(path, size)) if is_packed else path.open("rb"), mode="r:")


def _tar_problem(member: tarfile.TarInfo, place: PurePosixPath) -> UnreadableError | None:
    if place.is_absolute() or ".." in place.parts:
        return _leads_out()
    if not member.isreg():
        return UnreadableError("link in an archive", "files", "a link or a device", "pack the file itself")
    return None


def _tar_member(archive: Callable[[], tarfile.TarFile], member: tarfile.TarInfo) -> bytes:
    try:
        opened = archive().extractfile(member)
        return within(opened.read(limits().source + 1)) if opened else b""
    except (tarfile.TarError, OSError, EOFError, ValueError) as error:
        got = f"a damaged one ({type(error).__name__})"
        raise UnreadableError("broken archive", "a whole member of an archive", got, "fetch it again") from error


def _leads_out() -> UnreadableError:
    expected = "names inside the archive"
    return UnreadableError("path traversal", expected, "one that leads out of it", "do not trust this archive")


def _found(
    name: str,
    member: zipfile.ZipInfo,
    root: int,
    unpacking: _Unpacking,
    again: Callable[[], zipfile.ZipFile],
    *,
    nested: bool,
) -> Iterator[Found]:
    path = PurePosixPath(member.filename.replace("\\", "/"))
    if member.is_dir() or not all(is_shown(part) for part in path.parts if part != ".."):
        return
    own = plain(f"{name}/{path}")
    if problem := _problem(member, path):
        yield Found(own, root, partial(_raise, problem), problem)
        return
    yield from _member_found(own, partial(_member, again, member), root, unpacking, nested=nested)


def _member_found(
    own: str, content: Callable[[], bytes], root: int, unpacking: _Unpacking, *, nested: bool
) -> Iterator[Found]:
    """Yield a member, or the members of an archive that it contains.

    Args:
        own: Name of the member.
        content: Returns its bytes.
        root: `Found.root` of the files.
        unpacking: State of the outer archive.
        nested: Whether it is in an archive inside an archive.
    """
    lower = own.lower()
    if not lower.endswith((".zip", *_TARS)):
        yield Found(own, root, partial(_gunzipped_member, content) if lower.endswith(".gz") else content)
    elif nested:
        expected = "archives in archives one level deep"
        yield _refused(own, root, "nested archive", expected, "one in one in one", "unpack the outer one")
    elif lower.endswith(_TARS):
        yield from _tarred(own, partial(unpacking.tar, own, content), root, unpacking, nested=True)
    else:
        inside = partial(unpacking.zip, own, content)
        try:
            archive = inside()
        except UnreadableError as error:
            yield Found(own, root, partial(_raise, error), error)
        except (OSError, zipfile.BadZipFile, ValueError, NotImplementedError):
            yield _broken_archive(own, root)
        else:
            yield from _listed(own, archive, root, unpacking, inside, nested=True)


def _problem(member: zipfile.ZipInfo, path: PurePosixPath) -> UnreadableError | None:
    """Return the error because of which a member must not be read; None if it may be read."""
    if path.is_absolute() or ".." in path.parts or member.filename[1:2] == ":":
        return _leads_out()
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


def within(content: bytes) -> bytes:
    """Return the bytes of a file unchanged if they are within the size limit.

    Raises:
        UnreadableError: The file is too large.
    """
    most = limits().source
    if len(content) > most:
        remedy = f"leave it out, or raise the limit ({VARIABLE}='source={most * 10}')"
        raise UnreadableError("too large", f"a file of at most {most:,} bytes", "a larger one", remedy)
    return content


def gunzipped(source: Path | io.BytesIO, packed: int) -> bytes:
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
        got = f"a damaged one ({type(error).__name__})"
        raise UnreadableError("broken archive", "a whole gzip file", got, "fetch it again") from error
    check_ratio(len(content), packed)
    return within(content)


def _gunzipped_member(content: Callable[[], bytes]) -> bytes:
    packed = content()
    return gunzipped(io.BytesIO(packed), len(packed)) if packed.startswith(GZIP) else packed


def _member(archive: Callable[[], zipfile.ZipFile], member: zipfile.ZipInfo) -> bytes:
    """Return the bytes of a member, at most as many as the archive states."""
    try:
        with archive().open(member) as opened:
            return within(opened.read(limits().source + 1))
    except (OSError, EOFError, ValueError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
        got = f"a damaged one ({type(error).__name__})"
        raise UnreadableError("broken archive", "a whole member of an archive", got, "fetch it again") from error


def _broken_archive(name: str, root: int) -> Found:
    return _refused(name, root, "broken archive", "a whole zip archive", "a damaged one", "fetch it again")


def _refused(name: str, root: int, *told: str) -> Found:
    problem = UnreadableError(*told)
    return Found(name, root, partial(_raise, problem), problem)


def _raise(problem: UnreadableError) -> bytes:
    raise problem
