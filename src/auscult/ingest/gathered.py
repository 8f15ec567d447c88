"""What an index must contain after its files were read: documents, records of files, and changes of documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from auscult.documents import Document
from auscult.ingest.file_records import FileRecord


class Rewrite(NamedTuple):
    """A document of the index that is changed: it gets other places, or is copied to the name of another file.

    Attributes:
        source: Its current id.
        doc_id: Its new id; differs from `source` for a copy.
        origin: Its new origin.
        file: Name of the copy's file.
        folders: Names of the folders of the document and its copy, which may be their sources.
        also: Other places of the text.
    """

    source: str
    doc_id: str
    origin: str
    file: str
    folders: tuple[str, str]
    also: tuple[str, ...]

    def apply(self, document: Document) -> Document:
        """Return the changed document."""
        metadata = {name: value for name, value in document.metadata.items() if name != "also"}
        if self.doc_id != self.source:
            if "file" in metadata:
                metadata["file"] = self.file
            original = replace(document.original, name=self.file) if document.original else None
            passages = [
                replace(each, passage_id=f"{self.doc_id}#{each.passage_id.rpartition('#')[2]}")
                for each in document.passages
            ]
            source = self.folders[1] if document.source == self.folders[0] else document.source
            document = replace(document, doc_id=self.doc_id, source=source, passages=(*passages,), original=original)
        return replace(document, metadata=metadata | ({"also": "\n".join(self.also)} if self.also else {}))


@dataclass(slots=True)
class Gathered:
    """The content that an index must have.

    Attributes:
        kept: Ids of documents that stay unchanged.
        dropped: Ids of documents to delete, as their file has changed or another document has their text.
        missing: Ids of documents whose files no longer exist.
        records: For each origin, the records of its files by key.
        origins: Origin of each new or changed document.
        rewrites: Documents to change without reading them again.
        restored: Digests of removed documents that may be added again (`Index.removed`).
    """

    kept: set[str] = field(default_factory=set)
    dropped: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    records: dict[str, dict[str, FileRecord]] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    rewrites: list[Rewrite] = field(default_factory=list)
    restored: set[str] = field(default_factory=set)
    _give: Callable[[str], Document] | None = None

    def documents(self, origin: str | None = None) -> Iterator[Document]:
        """Yield the new and possibly changed documents in order, of one origin or all."""
        if self._give is not None:
            for doc_id, place in self.origins.items():
                if origin in (None, place):
                    yield self._give(doc_id)

    def sample(self, most: int) -> Iterator[Document]:
        """Yield some of the new and possibly changed documents, evenly spaced."""
        if self._give is not None:
            ids = [*self.origins]
            yield from map(self._give, ids[:: max(1, -(-len(ids) // most))])

    def files(self) -> dict[str, dict[str, str]]:
        """Return the records as JSON, by origin and key."""
        return {
            origin: {key: each.to_json() for key, each in records.items()} for origin, records in self.records.items()
        }
