"""Fetch one file over HTTP: progress, resume, checksum, and nothing half-written under the final name.

Also unpack GitHub's tarball of a commit, which is verified against the commit's git tree.
"""

from __future__ import annotations

import hashlib
import http.client
import re
import tarfile
import time
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Protocol

from auscult.errors import ConfigError, CorpusMissingError, DataError
from auscult.files.reading import digest_of_file
from auscult.files.writing import partial_of, put_file
from auscult.version import __version__

Progress = Callable[[int, int | None], None]
"""Called with the bytes had so far and the total, None where the server does not tell it."""

_CHUNK = 1 << 16
_RETRIED_STATUS = frozenset({408, 429, 500, 502, 503, 504})


class _Interrupted(Exception):  # noqa: N818 - never leaves this file
    """The transfer ended early. The bytes received are kept; the next attempt resumes after them."""


class _Response(Protocol):
    status: int
    headers: http.client.HTTPMessage

    def read(self, amount: int, /) -> bytes: ...


def download(
    url: str,
    target: Path,
    *,
    sha256: str = "",
    progress: Progress | None = None,
    attempts: int = 4,
    pause: float = 1.0,
    timeout: float = 60.0,
) -> Path:
    """Download `url` to `target`.

    Bytes go to `<target>.part`. A broken transfer is resumed where it stopped (HTTP Range): up to `attempts` times in
    this call, and again by the next call. A server without ranges starts over. The file gets its name when it is
    complete and its checksum is right.

    Args:
        url: http or https.
        target: Path of the file; missing folders are created.
        sha256: Expected hex digest; empty to accept any content.
        progress: Called after every chunk.
        attempts: How often to try, at least 1.
        pause: Seconds before the second attempt; doubled before each further one.
        timeout: Seconds without a byte after which an attempt fails.

    Returns:
        `target`.

    Raises:
        ConfigError: Not an http(s) address.
        CorpusMissingError: The server refuses, or every attempt failed.
        DataError: The checksum is wrong; the bytes are deleted.
    """
    if not url.startswith(("http://", "https://")):
        raise ConfigError("an http or https address", repr(url), "correct the address")
    target.parent.mkdir(parents=True, exist_ok=True)
    part = partial_of(target)
    reason = "no attempt"
    for attempt in range(attempts):
        if attempt:
            time.sleep(pause * 2 ** (attempt - 1))
        try:
            _transfer(url, part, progress, timeout)
            break
        except _Interrupted as interruption:
            reason = str(interruption)
    else:
        raise CorpusMissingError(
            f"all of {url}", reason, "check the network and run the command again (it goes on where it stopped)"
        )
    if sha256:
        digest = digest_of_file(part)
        if digest != sha256:
            part.unlink()
            raise DataError(
                f"{url} with SHA-256 {sha256[:12]}…",
                f"{digest[:12]}…",
                "run the command again; if it stays so, the published file has changed",
            )
    put_file(part, target)
    return target


def _transfer(url: str, part: Path, progress: Progress | None, timeout: float) -> None:
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(  # noqa: S310 - the scheme was checked
        url, headers={"User-Agent": f"auscult/{__version__}"}
    )
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        with urllib.request.urlopen(request, timeout=timeout) as response:  # noqa: S310 - as above
            _receive(response, part, have, progress)
    except urllib.error.HTTPError as error:
        if error.code == http.client.REQUESTED_RANGE_NOT_SATISFIABLE and have:
            total = re.fullmatch(r"bytes \S+/(\d+)", error.headers.get("Content-Range", ""))
            if total is not None and int(total[1]) == have:
                return
            part.unlink()
            raise _Interrupted("a partial file that does not fit the published one") from error
        if error.code in _RETRIED_STATUS:
            raise _Interrupted(f"HTTP {error.code} {error.reason}") from error
        raise CorpusMissingError(
            f"a file at {url}", f"HTTP {error.code} {error.reason}", "check the address, or get the file elsewhere"
        ) from error
    # Network errors are retried; disk errors (other OSErrors) are not.
    except (urllib.error.URLError, TimeoutError, ConnectionError, http.client.HTTPException) as error:
        cause = getattr(error, "reason", "") or error
        raise _Interrupted(f"no whole answer ({cause})") from error


def _receive(response: _Response, part: Path, have: int, progress: Progress | None) -> None:
    content_range = response.headers.get("Content-Range", "")
    resumed = response.status == http.client.PARTIAL_CONTENT and content_range.startswith(f"bytes {have}-")
    length = response.headers.get("Content-Length")
    received = have if resumed else 0
    total = received + int(length) if length is not None else None
    with part.open("ab" if resumed else "wb") as stream:
        while chunk := response.read(_CHUNK):
            stream.write(chunk)
            received += len(chunk)
            if progress:
                progress(received, total)
    # http.client reports no error for a truncated body that is read in pieces.
    if total is not None and received < total:
        raise _Interrupted(f"only {received} of {total} bytes")


# A folder of a git tree: name -> folder, or the (mode, hash) of a file.
_Tree = dict[str, "_Tree | tuple[bytes, bytes]"]


def unpack(tarball: Path, target: Path, *, tree: str, wanted: re.Pattern[str]) -> int:
    """Unpack some files of a tarball and check that the tarball as a whole is the expected tree.

    GitHub packs a commit on each request, so the packed bytes have no stable checksum. Instead git's id of the tree
    (SHA-1) is recomputed from all files.

    Args:
        tarball: A gzip-compressed tar file with one top folder.
        target: Where the files go, without that folder.
        tree: Git's id of the tree.
        wanted: Which paths to unpack; must match whole.

    Returns:
        How many files were unpacked.

    Raises:
        DataError: The tarball is damaged or holds another tree. The unpacked files must not be used.
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
