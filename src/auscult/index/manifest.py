"""The manifest: what a generation holds, which model made it, and of which segments it is made.

The names of files, record types and the version of the format stand here too (docs/reference/index-format.md).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from auscult.errors import IndexFolderError
from auscult.files.json_text import parse_json
from auscult.interfaces import DocumentEncoder

FORMAT: Final = "auscult-index"
FORMAT_VERSION: Final = 6
#: Segments before format 6 have words of whole documents, and no number of their words' form: they are derived again
#: (`upkeep.repair`), and nothing else is done with such an index. Format 4 lacks `before` and `knowledge` in the
#: manifest, and the generation in CURRENT.
READ_VERSIONS: Final = (4, 5, 6)

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
    """The encoder whose vectors an index holds.

    Attributes:
        fingerprint: Hash of its weights and configuration; another model's queries are refused.
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
    """How many documents, passages and sentences there are."""

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
    """One file of derived data.

    Attributes:
        end: The checksum at its end.
        first: Key of its first document.
        last: Key of its last one.
        documents: How many there are, removed ones too.
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
        end: The checksum at its end.
    """

    name: str
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """Where an index, or a part of one that others are written beside, begins to count.

    Attributes:
        identity: Of the index (`Manifest.identity`).
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
    """Everything a reader checks before it trusts a generation.

    Attributes:
        auscult_version: The version that wrote it.
        created: UTC, ISO 8601.
        corpus: Name of the corpus the documents came from.
        model: Whose vectors these are.
        generation: Its number; every commit adds one.
        counts: Without what was removed.
        segments: In the order of their documents.
        removed: Keys of documents that segments still hold.
        next_document: Key of the next document.
        next_passage: Key of the next passage.
        next_segment: Number of the next segment, or file of a knowledge base.
        known: Documents with a key below it are in the knowledge base.
        identity: By chance, of the build that keys were given in: a key of another one means something else.
        before: Checksum of the manifest before it (`Store.checksum`), empty for the first; None in an index of format
            4, whose CURRENT names no generation.
        bound: Whether checksums of rows begin with `identity`, so that no row of another index is taken for one of
            this; not in an index that format 4 built.
        knowledge: Checksum of the knowledge base's row, 0 where there is none; None in an index of format 4.
        format_version: That its segments have.
        knowledge_file: Of the knowledge base; None where there is none, and in an index that an earlier version wrote.
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
    before: str | None = None
    bound: bool = False
    knowledge: int | None = None
    format_version: int = FORMAT_VERSION
    knowledge_file: KnowledgeRecord | None = None

    @property
    def derived_files(self) -> frozenset[str]:
        """Names of the files beside the database."""
        further = () if self.knowledge_file is None else (self.knowledge_file.name,)
        return frozenset((*(each.name for each in self.segments), *further))

    @property
    def row_seed(self) -> tuple[str, ...]:
        """Values that the checksum of a row begins with."""
        return (self.identity,) if self.bound else ()

    def to_json(self) -> str:
        """Return the manifest as JSON."""
        return json.dumps({"format": FORMAT, **asdict(self)})

    @classmethod
    def parse(cls, content: str, where: str) -> Manifest:
        """Read what `to_json` wrote.

        Raises:
            IndexFolderError: It is of another format, or no manifest.
        """
        try:
            data: dict[str, Any] = parse_json(content)
            version = data["format_version"]
            if data.pop("format") != FORMAT or version not in READ_VERSIONS:
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
