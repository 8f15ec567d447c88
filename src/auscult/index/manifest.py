"""The manifest: what a generation holds, which model made it, and how to know that it is whole."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from auscult.errors import IndexFolderError
from auscult.index.layout import FORMAT, FORMAT_VERSION, MANIFEST, REQUIRED_FILES
from auscult.interfaces import DocumentEncoder


@dataclass(frozen=True, slots=True)
class FileRecord:
    """Size in bytes and SHA-256 (hexadecimal) of one file."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """The encoder whose vectors an index holds.

    Attributes:
        name: The encoder's name.
        fingerprint: Hash of its weights and configuration; another model's queries are refused.
        dim: Length of a vector.
        parts: Columns of each part, as (first, one past the last).
        path: What `load_model` takes to load it again: a catalogue name or an absolute folder.
    """

    name: str
    fingerprint: str
    dim: int
    parts: Mapping[str, tuple[int, int]]
    path: str = ""

    @classmethod
    def of(cls, encoder: DocumentEncoder, path: str = "") -> ModelRecord:
        """Describe an encoder."""
        ranges = {name: columns.indices(encoder.dim) for name, columns in encoder.parts.items()}
        parts = {name: (first, last) for name, (first, last, _) in ranges.items()}
        return cls(encoder.name, encoder.fingerprint, encoder.dim, parts, path)


@dataclass(frozen=True, slots=True)
class Counts:
    """How many documents, passages and sentences a generation holds."""

    documents: int
    passages: int
    sentences: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Everything a reader checks before it trusts a generation.

    Attributes:
        auscult_version: The version that wrote it.
        created: UTC, ISO 8601.
        corpus: Name of the corpus the documents came from.
        sources: Names of the documents' sources, in the order documents.npy numbers them.
        knowledge_base: Path of the knowledge base inside the generation; empty when there is none.
        files: Every file by its path in the generation, except the manifest itself.
    """

    auscult_version: str
    created: str
    corpus: str
    model: ModelRecord
    counts: Counts
    sources: tuple[str, ...]
    knowledge_base: str
    files: Mapping[str, FileRecord]

    def to_json(self) -> str:
        """The manifest as indented JSON, with a checksum of itself."""
        data = {"format": FORMAT, "format_version": FORMAT_VERSION, **asdict(self)}
        return json.dumps({**data, "checksum": checksum(data)}, indent=2) + "\n"

    @classmethod
    def read(cls, generation: Path) -> Manifest:
        """Read and check a generation's manifest.

        Raises:
            FileNotFoundError: The manifest is not there (the caller knows whether that is damage or a race).
            IndexFolderError: It is unreadable, incomplete, or of a newer format.
        """
        path = generation / MANIFEST
        raw = path.read_bytes()
        try:
            data = json.loads(raw)
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise _damaged(path, "a manifest in JSON", f"unreadable text ({error})") from error
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise _damaged(path, f'a manifest with "format": "{FORMAT}"', "something else")
        version = data.get("format_version")
        if not isinstance(version, int) or version < 1:
            raise _damaged(path, "a positive format_version", repr(version))
        if version < FORMAT_VERSION:
            raise IndexFolderError(
                f"an index of format {FORMAT_VERSION}",
                f"format {version}, which has no words, in {path}",
                "build the index again with this version",
            )
        if version > FORMAT_VERSION:
            raise IndexFolderError(
                f"an index of format {FORMAT_VERSION}",
                f"format {version} (written by auscult {data.get('auscult_version')}) in {path}",
                "upgrade auscult, or build the index again with this version",
            )
        found = checksum({key: value for key, value in data.items() if key != "checksum"})
        if found != data.get("checksum"):
            raise _damaged(path, f"checksum {found[:16]}…", f"{str(data.get('checksum'))[:16]}…")
        try:
            return _parse(data)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise _damaged(path, "a complete manifest", f"{type(error).__name__}: {error}") from error


def checksum(data: Mapping[str, Any]) -> str:
    """SHA-256 of a manifest's content without its checksum, as sorted JSON without white space."""
    return hashlib.sha256(json.dumps(data, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def _parse(data: dict[str, Any]) -> Manifest:
    model = data["model"]
    parts = {str(name): (int(first), int(last)) for name, (first, last) in model["parts"].items()}
    files = {str(name): FileRecord(int(r["bytes"]), str(r["sha256"])) for name, r in data["files"].items()}
    missing = [name for name in REQUIRED_FILES if name not in files]
    if missing:
        raise ValueError(f"files lacks {', '.join(missing)}")
    counts = data["counts"]
    return Manifest(
        auscult_version=str(data["auscult_version"]),
        created=str(data["created"]),
        corpus=str(data["corpus"]),
        model=ModelRecord(str(model["name"]), str(model["fingerprint"]), int(model["dim"]), parts, str(model["path"])),
        counts=Counts(int(counts["documents"]), int(counts["passages"]), int(counts["sentences"])),
        sources=tuple(str(source) for source in data["sources"]),
        knowledge_base=str(data["knowledge_base"]),
        files=files,
    )


def _damaged(path: Path, expected: str, got: str) -> IndexFolderError:
    return IndexFolderError(f"{expected} at {path}", got, "the index is damaged: build it again")
