"""The indexes that the tools answer from. Each is opened once, and again when it has changed."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from auscult.documents import Document
from auscult.encoders.contract import DocumentEncoder
from auscult.engines import signs_of
from auscult.errors import IndexFolderError, QueryError
from auscult.search import Searcher
from auscult.search.sentence_ids import CitedSentence, find_sentence


class Library:
    """Indexes by name.

    Args:
        indexes: Index folders, or addresses of servers that have a whole index, by name; at least one.
        groups: Groups whose documents are visible, besides documents without a group; None for all documents.
        encoder: The model for all indexes; None for the models that their manifests name.
    """

    def __init__(
        self,
        indexes: Mapping[str, Path | str],
        groups: Sequence[str] | None = None,
        encoder: DocumentEncoder | None = None,
    ) -> None:
        self._indexes = dict(indexes)
        self._groups = groups
        self._encoder = encoder
        self._opened: dict[str, tuple[object, Searcher]] = {}
        self._opening = threading.Lock()

    @property
    def names(self) -> list[str]:
        """Names of the indexes in order."""
        return list(self._indexes)

    def searchers(self, name: str = "") -> dict[str, Searcher]:
        """Return the searcher of an index, or of all indexes without a name.

        Raises:
            QueryError: There is no such index.
            IndexFolderError: An index cannot be opened.
        """
        if name and name not in self._indexes:
            raise QueryError(f"the name of an index ({', '.join(self.names)})", f"'{name}'", "name one of these")
        return {each: self._open(each) for each in ([name] if name else self.names)}

    def find_sentence(self, index: str, id_: str) -> tuple[str, CitedSentence]:
        """Return the first index that has a sentence, and the sentence.

        Raises:
            QueryError: None has it.
        """
        refused: list[QueryError] = []
        for name, searcher in self.searchers(index).items():
            try:
                return name, find_sentence(searcher.index.reader, id_)
            except QueryError as error:
                refused.append(error)
        raise refused[-1]

    def find_document(self, index: str, doc_id: str) -> tuple[str, Document]:
        """Return the first index that has a document, and the document.

        Raises:
            QueryError: None has it.
        """
        for name, searcher in self.searchers(index).items():
            row = searcher.index.reader.row_of(doc_id)
            if row is not None:
                return name, searcher.index.reader.document(row)
        raise QueryError("the id of a document here", f"'{doc_id}'", "take one from the answer of a search")

    def _open(self, name: str) -> Searcher:
        with self._opening:
            signs = signs_of(self._indexes[name])
            known, searcher = self._opened.get(name, (None, None))
            if searcher is not None and known == signs:
                return searcher
            encoder = searcher.encoder if searcher else self._encoder
            try:
                opened = Searcher.open(self._indexes[name], encoder)
            except IndexFolderError:
                if encoder is None or encoder is self._encoder:
                    raise
                # It may have been built again with another model.
                opened = Searcher.open(self._indexes[name])
            if self._groups is not None:
                opened = opened.seen_by(self._groups)
            # Reading a database changes its signs once: keep the searcher of the same generation.
            if searcher is not None and _identify_generation(searcher) == _identify_generation(opened):
                opened = searcher
            self._opened[name] = signs, opened
            return opened


def _identify_generation(searcher: Searcher) -> tuple[str, int]:
    manifest = searcher.index.manifest
    return manifest.identity, manifest.generation
