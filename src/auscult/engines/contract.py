"""What a package for servers implements: whole indexes at addresses (`IndexServer`), and passages proposed (`Engine`).

An engine keeps the vectors of an index that is in PostgreSQL, and *proposes* passages: those whose
vectors are nearest to a query's. Words, scores, evidence and texts come from PostgreSQL. Keys are the store's: a key is
never given to other content, so that writing a row twice changes nothing, and publishing is a difference of sets.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from auscult.encoders.contract import FloatArray
from auscult.engines.addresses import Place
from auscult.index.fields import Between
from auscult.index.manifest import Manifest
from auscult.index.passage_index import PassageIndex

__all__ = [
    "LAYOUT",
    "Engine",
    "EngineRow",
    "Filters",
    "IndexServer",
    "Place",
    "Proposer",
    "PublishReport",
    "Published",
]
LAYOUT: Final = 3
"""Version of what a collection has of each passage (`EngineRow`)."""


@dataclass(frozen=True, slots=True)
class PublishReport:
    """The result of publishing.

    Attributes:
        written: Number of documents that the servers lacked.
        removed: Number of documents that the index no longer has.
        passages: Number of passages that the servers have now.
        engine: Name of the servers, for people.
        removed_ids: Ids of the first removed documents.
    """

    written: int
    removed: int
    passages: int
    engine: str
    removed_ids: Sequence[str] = ()


class IndexServer(Protocol):
    """Keeps whole indexes at the addresses of a scheme. Every method may raise EngineError and ConfigError."""

    def open_index(self, address: str) -> PassageIndex:
        """Open the index at an address, without a copy on this machine."""
        ...

    def manifest_at(self, address: str) -> Manifest | None:
        """Return the manifest of the generation that is published at an address; None where there is none."""
        ...

    def publish(
        self,
        folder: str | Path,
        address: str,
        *,
        approximate: bool = False,
        candidates: str = "",
        progress: Callable[[int, int], None] | None = None,
    ) -> PublishReport:
        """Publish the index of a folder at an address.

        Args:
            folder: The index folder.
            address: Where to.
            approximate: Let the servers propose passages by graphs of their vectors.
            candidates: Address of an engine that proposes passages instead; empty for none.
            progress: Called with documents written and to be written to a server.
        """
        ...

    def withdraw(self, address: str) -> str | None:
        """Delete the index at an address. Return the server's name; None without an index."""
        ...


@dataclass(frozen=True, slots=True)
class EngineRow:
    """A passage, as an engine keeps it.

    Attributes:
        key: The store's.
        document: The store's key of its document.
        doc_id: Of its document.
        vector: (dim,), as the index holds it.
        fields: What its document says of itself (`index.fields`).
        access: Groups that may see it; None where everybody may.
    """

    key: int
    document: int
    doc_id: str
    vector: FloatArray
    fields: Mapping[str, str]
    access: Sequence[str] | None


@dataclass(frozen=True, slots=True)
class Filters:
    """Which passages may be proposed.

    Attributes:
        where: By field, the values or the range that a document may have. All fields must match.
        documents: Ids that a document may have; empty for any.
        groups: Groups of the caller; None for all passages. Passages of documents that none of these groups may see are
            not proposed. The searcher checks the proposed passages again.
        left_out: Numbers of PostgreSQL servers that are away. A proposer that cannot tell which passages are there may
            propose them: they are left out afterwards.
    """

    where: Mapping[str, frozenset[str] | Between] = field(default_factory=dict)
    documents: frozenset[str] = frozenset()
    groups: frozenset[str] | None = None
    left_out: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Published:
    """What a collection holds.

    Attributes:
        dim: Dimension of the vectors.
        fingerprint: Fingerprint of the model that made the vectors.
        store: Identity of their index: no other index may write here.
        generation: Last generation of that index whose passages are all here; -1 for none.
        layout: Version of the columns. Raise `LAYOUT` when they change: a collection has columns of one version.
    """

    dim: int
    fingerprint: str
    store: str
    generation: int
    layout: int = LAYOUT


class Proposer(Protocol):
    """Finds passages by their vectors. May raise EngineError: a server cannot be reached, or refuses."""

    def nearest(self, vector: FloatArray, k: int, filters: Filters) -> list[int]:
        """Return the keys of about the k passages of largest inner product with a vector, best first.

        Args:
            vector: Vector, (dim,).
            k: How many. Fewer are returned only if fewer pass the filters.
            filters: Which passages may be returned.
        """
        ...


class Engine(Proposer, Protocol):
    """One collection on a server. Every method may raise EngineError: it cannot be reached, or refuses."""

    name: str
    """What it is, and where, for people; without a password."""

    def published(self) -> Published | None:
        """Return what the collection holds; None where there is none."""
        ...

    def create(self, published: Published) -> None:
        """Create the collection if it is missing."""
        ...

    def finish(self, published: Published) -> None:
        """Store the description of the contents, after all was written."""
        ...

    def documents(self) -> set[int]:
        """Return the keys of all documents that it has."""
        ...

    def put(self, rows: Sequence[EngineRow]) -> None:
        """Write passages. Those with the same keys are replaced, so that writing them again changes nothing."""
        ...

    def drop(self, documents: Collection[int]) -> None:
        """Remove all passages of documents."""
        ...

    def destroy(self) -> None:
        """Remove the collection."""
        ...

    def close(self) -> None:
        """End the connection."""
        ...
