"""Packages of parts, as office programs and publishers of books write them: zip archives in memory, within limits."""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import PurePosixPath

from auscult.files.limits import VARIABLE, limits
from auscult.readers.archives import names_in, problem_of_member, read_member
from auscult.readers.contract import UnreadableError


def media_type_in(content: bytes) -> str:
    """Return the media type in the member "mimetype" of an OpenDocument file or book; "" for any other file."""
    if "mimetype" not in names_in(content):
        return ""
    try:
        with zipfile.ZipFile(io.BytesIO(content)).open("mimetype") as opened:
            return opened.read(100).decode("ascii", "replace").strip()
    except (OSError, EOFError, ValueError, zlib.error, zipfile.BadZipFile, RuntimeError, NotImplementedError):
        return ""


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
        if problem := problem_of_member(member, PurePosixPath(name)):
            raise problem
        return read_member(lambda: self._archive, member)

    def check(self) -> None:
        """Check the stated sizes of all parts before a library unpacks them.

        Raises:
            UnreadableError: A part is encrypted or a zip bomb, or the parts together are too large.
        """
        for name, member in self._members.items():
            if problem := problem_of_member(member, PurePosixPath(name)):
                raise problem
        if (size := sum(member.file_size for member in self._members.values())) > limits().source:
            remedy = f"leave it out, or raise the limit ({VARIABLE}='source={limits().source * 10}')"
            expected = f"{self._kind} of at most {limits().source:,} bytes, unpacked"
            raise UnreadableError("too large", expected, f"one of {size:,}", remedy)

    def broken(self, got: str) -> UnreadableError:
        """Return the error for a broken package."""
        return UnreadableError("broken file", f"a whole file ({self._kind})", got, "fetch it again, or save it again")
