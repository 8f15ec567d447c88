"""The manifest of a generation: its counts, its model and its segments.

The names of files, the record types and the version of the format are here, too (docs/reference/index-format.md).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from auscult.encoders.contract import DocumentEncoder
from auscult.errors import IndexFolderError
from auscult.files.json_text import parse_json

FORMAT: Final = "auscult-index"
FORMAT_VERSION: Final = 6

CURRENT: Final = "CURRENT"
LOCK: Final = "lock"
STORE: Final = "index.sqlite"

PASSAGE_DTYPE: Final = np.dtype("<f4")
#: Half precision: sentence scores are shown, never ranked by (for their error see docs/reference/index-format.md).
SENTENCE_DTYPE: Final = np.dtype("<f2")
#: start, end: characters in the document text; flags: the bits below.
SENTENCE_ROW: Final = np.dtype([("start", "<u4"), ("end", "<u4"), ("flags", "u1")])

BEGINS_PARAGRAPH: Final = 1
ENDS_PARAGRAPH: Final = 2
LIST_ITEM: Final = 4


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """The encoder of an index's vectors.

    Attributes:
        name: Its name.
        fingerprint: Hash of its weights and configuration; queries of other models are refused.
        dim: Dimension of its vectors.
        parts: Columns of each part, as (first, one past the last).
        path: Argument for `load_model`: the name of a shipped model or an absolute folder.
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
    """Numbers of documents, passages and sentences."""

    documents: int
    passages: int
    sentences: int

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.documents + other.documents, self.passages + other.passages, self.sentences + other.sentences
        )

    def __sub__(self, other: Counts) -> Counts:
        return self + Counts(-other.documents, -other.passages, -other.sentences)

    def in_words(self) -> str:
        """Return the counts in words: "2 documents, 3 passages, 14 sentences"."""
        return f"{self.documents:,} documents, {self.passages:,} passages, {self.sentences:,} sentences"


@dataclass(frozen=True, slots=True)
class SegmentRecord:
    """A segment: one file of derived data.

    Attributes:
        name: Name of the file.
        end: The checksum at its end.
        first: Key of its first document.
        last: Key of its last document.
        documents: Number of its documents, including deleted ones.
    """

    name: str
    end: int
    first: int
    last: int
    documents: int


@dataclass(frozen=True, slots=True)
class KnowledgeRecord:
    """The file of the knowledge base (`index.knowledge`).

    Attributes:
        name: Name of the file.
        end: The checksum at its end.
    """

    name: str
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """The first numbers of an index, or of a part of one whose other parts are written in parallel.

    Attributes:
        identity: Identity of the index (`Manifest.identity`).
        document: Key of its first document.
        passage: Key of its first passage.
        segment: Number of its first segment.
    """

    identity: str
    document: int = 1
    passage: int = 1
    segment: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The description of a generation, which a reader checks before it uses it.

    Attributes:
        auscult_version: Version of auscult that wrote it.
        created: Time in UTC, ISO 8601.
        corpus: Name of the corpus of the documents.
        model: The encoder of the vectors.
        generation: Its number; every commit adds one.
        counts: Counts without deleted documents.
        segments: The segments, in the order of their documents.
        removed: Keys of deleted documents that are still in segments.
        next_document: Key of the next document.
        next_passage: Key of the next passage.
        next_segment: Number of the next segment, or file of a knowledge base.
        known: Documents with smaller keys are in the knowledge base.
        identity: Random id of the build that gave the keys; the same key means something else in another build.
        before: Checksum of the previous manifest (`Store.checksum`), empty for the first.
        bound: True: the checksums of rows begin with `identity`, so that a row of another index is recognised.
        knowledge: Checksum of the knowledge base's row, 0 without one.
        format_version: Format of the index.
        knowledge_file: File of the knowledge base; None without one.
    """

    auscult_version: str
    created: str
    corpus: str
    model: ModelRecord
    generation: int
    counts: Counts
    segments: tuple[SegmentRecord, ...]
    removed: tuple[int, ...]
    next_document: int
    next_passage: int
    next_segment: int
    known: int
    identity: str
    before: str = ""
    bound: bool = True
    knowledge: int = 0
    format_version: int = FORMAT_VERSION
    knowledge_file: KnowledgeRecord | None = None

    @property
    def derived_files(self) -> frozenset[str]:
        """Names of the files beside the database."""
        further = () if self.knowledge_file is None else (self.knowledge_file.name,)
        return frozenset((*(each.name for each in self.segments), *further))

    def to_json(self) -> str:
        """Return the manifest as JSON."""
        return json.dumps({"format": FORMAT, **asdict(self)})

    @classmethod
    def parse(cls, content: str, where: str) -> Manifest:
        """Parse the JSON of `to_json`.

        Raises:
            IndexFolderError: It has another format, or is not a manifest.
        """
        try:
            data: dict[str, Any] = parse_json(content)
            version = data["format_version"]
            if data.pop("format") != FORMAT or version != FORMAT_VERSION:
                raise IndexFolderError(
                    f"an index of format {FORMAT_VERSION}",
                    f"format {version} (written by auscult {data.get('auscult_version')}) at {where}",
                    "upgrade auscult, or build the index again with this version",
                )
            model = data.pop("model")
            parts = {name: (first, last) for name, (first, last) in model.pop("parts").items()}
            data["counts"] = Counts(**data["counts"])
            data["segments"] = tuple(SegmentRecord(**each) for each in data["segments"])
            data["removed"] = tuple(data["removed"])
            if (knowledge_file := data.get("knowledge_file")) is not None:
                data["knowledge_file"] = KnowledgeRecord(**knowledge_file)
            return cls(**data, model=ModelRecord(**model, parts=parts))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            remedy = "put a backup in its place, or build the index again"
            raise IndexFolderError("a manifest", f"something else at {where} ({error})", remedy) from error
