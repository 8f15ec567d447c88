"""GitHub's tarball of a commit: verified against the commit's git tree, and unpacked without trust."""

from __future__ import annotations

import hashlib
import re
import tarfile
import zlib
from pathlib import Path, PurePosixPath

from auscult.errors import DataError

# A folder of a git tree: name -> folder, or the (mode, hash) of a file.
_Tree = dict[str, "_Tree | tuple[bytes, bytes]"]


def unpack(tarball: Path, target: Path, *, tree: str, wanted: re.Pattern[str]) -> int:
    """Unpack some files of a tarball, after which the whole of it must prove to be the expected tree.

    GitHub packs a commit afresh when asked and promises no checksum of the packed bytes; git's own id of the
    tree is recomputed from all files instead (SHA-1, as git has it).

    Args:
        tarball: A gzip-compressed tar file with one top folder.
        target: Where the files go, without that folder.
        tree: Git's id of the tree.
        wanted: Which paths to unpack; must match whole.

    Returns:
        How many files were unpacked.

    Raises:
        DataError: The tarball is damaged or holds another tree. What was unpacked is not to be used.
    """
    top: _Tree = {}
    count = 0
    try:
        with tarfile.open(tarball, "r:gz") as archive:
            for member in archive:
                parts = PurePosixPath(member.name).parts[1:]
                if not parts or member.isdir():
                    continue
                content, mode = _content(archive, member)
                _insert(top, parts, mode, content)
                path = "/".join(parts)
                # An absolute or climbing path cannot match a pattern of plain names, nor can it be in a git
                # tree.
                if member.isfile() and ".." not in parts and wanted.fullmatch(path):
                    place = target / path
                    place.parent.mkdir(parents=True, exist_ok=True)
                    place.write_bytes(content)
                    count += 1
    except (tarfile.TarError, EOFError, zlib.error) as error:
        raise DataError(f"a whole tarball at {tarball}", str(error), "delete it and run the command again") from error
    found = _tree_id(top).hex()
    if found != tree:
        raise DataError(
            f"the git tree {tree[:12]} in {tarball}", f"tree {found[:12]}", "delete it and run the command again"
        )
    return count


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> tuple[bytes, bytes]:
    if member.issym():
        return member.linkname.encode(), b"120000"
    stream = archive.extractfile(member) if member.isfile() else None
    if stream is None:
        raise tarfile.TarError(f"{member.name} is neither a file nor a link")
    return stream.read(), b"100755" if member.mode & 0o100 else b"100644"


def _insert(top: _Tree, parts: tuple[str, ...], mode: bytes, content: bytes) -> None:
    folder = top
    for part in parts[:-1]:
        inner = folder.setdefault(part, {})
        if not isinstance(inner, dict):
            raise tarfile.TarError(f"{part} is a file and a folder")
        folder = inner
    folder[parts[-1]] = mode, _hash(b"blob", content)


def _tree_id(tree: _Tree) -> bytes:
    entries = []
    for name, value in tree.items():
        raw = name.encode()
        if isinstance(value, dict):
            entries.append((raw + b"/", b"40000 " + raw + b"\0" + _tree_id(value)))
        else:
            entries.append((raw, value[0] + b" " + raw + b"\0" + value[1]))
    # Git sorts a folder as if its name ended in a slash.
    return _hash(b"tree", b"".join(entry for _, entry in sorted(entries)))


def _hash(kind: bytes, content: bytes) -> bytes:
    header = kind + b" " + str(len(content)).encode() + b"\0"
    return hashlib.sha1(header + content, usedforsecurity=False).digest()
