"""CURRENT, the file that names the live store and says which generation was committed last.

The database's write-ahead log may hold the last commits alone, and SQLite drops the end of a damaged log without a
word. A generation is therefore written down a second time, outside the log, before its commit is reported as done.
"""

from __future__ import annotations

import re
import shlex
import zlib
from dataclasses import dataclass
from pathlib import Path

from auscult.errors import IndexFolderError
from auscult.files.json_text import parse_json
from auscult.index.manifest import CURRENT, FORMAT_VERSION, Manifest

STORE_NAME = re.compile(r"store-(\d{6,})")
OLD_NAME = re.compile(r"generation-(\d{6,})(\.added)?")
_SEALED = re.compile(rb"(store-\d{6,})\ngeneration (\d+)\nmanifest ([0-9a-f]{64})\nsum ([0-9a-f]{8})\n")
_LOST = "put a backup in its place, or build the index again"


@dataclass(frozen=True, slots=True)
class Current:
    """The content of CURRENT.

    Attributes:
        store: Name of the live store's folder.
        generation: Number of the last reported commit; None where format 4 wrote the file.
        checksum: SHA-256 of its manifest, in hexadecimal digits.
    """

    store: str
    generation: int | None = None
    checksum: str = ""

    def to_bytes(self) -> bytes:
        """The file's content."""
        lines = f"{self.store}\ngeneration {self.generation}\nmanifest {self.checksum}\n".encode()
        return lines + f"sum {zlib.crc32(lines):08x}\n".encode()

    def check(self, manifest: Manifest, checksum: str, store: Path) -> None:
        """Refuse a database whose generation is neither the one that was reported last nor the next one.

        A writer that was killed after its commit, and before it replaced CURRENT, leaves the next one. Nobody was told
        of it, and it is whole.

        Args:
            manifest: Read from the database.
            checksum: Of that manifest.
            store: Path of the database, for the error.

        Raises:
            IndexFolderError: A commit is missing, or the generation belongs to another copy of the index.
        """
        if self.generation is None:
            if manifest.before is not None:
                raise IndexFolderError(
                    f"the number of the last generation in {store.parent.parent / CURRENT}", "none", _LOST
                )
        elif checksum != self.checksum and manifest.before != self.checksum:
            told = f"generation {self.generation} in {store}, the last that {CURRENT} names"
            if manifest.generation < self.generation:
                remedy = f"put the file {store.name}-wal that belongs to it back, or a backup, or build the index again"
                raise IndexFolderError(told, f"generation {manifest.generation}, to which commits are missing", remedy)
            remedy = f"{_LOST}; copy an index with: auscult backup"
            raise IndexFolderError(told, f"another generation, with number {manifest.generation}", remedy)


def read_current(folder: Path) -> Current | None:
    """Read CURRENT; None where no index has been committed yet.

    Raises:
        IndexFolderError: It is damaged, or of a format that cannot be read.
    """
    path = folder / CURRENT
    try:
        raw = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        reason = error.strerror or str(error)
        raise IndexFolderError(
            "the folder of an index", f"{str(folder)[:80]!r} ({reason})", "correct the path"
        ) from error
    sealed = _SEALED.fullmatch(raw)
    if sealed:
        current = Current(sealed[1].decode(), int(sealed[2]), sealed[3].decode())
        if current.to_bytes() == raw:
            return current
    name = raw.decode("utf-8", "replace").strip()
    if OLD_NAME.fullmatch(name):
        raise IndexFolderError(
            f"an index of format {FORMAT_VERSION}",
            f"one of an older format at {folder}",
            f"build it again with: {_built_by(folder, name)}",
        )
    if not STORE_NAME.fullmatch(name) or raw != f"{name}\n".encode():
        raise IndexFolderError(f"the name and generation of a store in {path}", repr(raw[:80]), _LOST)
    return Current(name)


def current_store(folder: Path) -> Path | None:
    """The folder of the live store; None where no index has been committed yet.

    Raises:
        IndexFolderError: CURRENT does not name a store.
    """
    current = read_current(folder)
    return None if current is None else folder / current.store


def _built_by(folder: Path, generation: str) -> str:
    """The command that builds an index of an older format again, as far as it tells of what it was made."""
    corpus, model = "CORPUS", ""
    try:
        told = parse_json((folder / generation.removesuffix(".added") / "manifest.json").read_text(encoding="utf-8"))
        corpus, model = str(told["corpus"] or corpus), str(told["model"]["path"])
    except (OSError, ValueError, KeyError, TypeError):
        # Damaged, or not of this kind: what is missing is for whoever reads it to fill in.
        pass
    return shlex.join(["auscult", "index", corpus, "--out", str(folder), *(["--model", model] if model else [])])
