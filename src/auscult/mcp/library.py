"""The indexes that are asked, by name: each opened once, and again when another generation has been published."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from auscult.errors import IndexFolderError, QueryError
from auscult.index.storage import signs_of_change
from auscult.interfaces import DocumentEncoder
from auscult.search import Searcher


class Library:
    """Indexes by name.

    Args:
        folders: Of indexes, by name, at least one.
        groups: Whose documents may be seen, beside those that are open to all; None for all documents.
        encoder: Of all indexes; None for those that their manifests name.
    """

    def __init__(
        self, folders: Mapping[str, Path], groups: Sequence[str] | None = None, encoder: DocumentEncoder | None = None
    ) -> None:
        self._folders = dict(folders)
        self._groups = groups
        self._encoder = encoder
        self._opened: dict[str, tuple[object, Searcher]] = {}
        self._opening = threading.Lock()

    @property
    def names(self) -> list[str]:
        """Of the indexes, in the order given."""
        return list(self._folders)

    def searchers(self, name: str = "") -> dict[str, Searcher]:
        """The searcher of an index by its name, or those of all.

        Raises:
            QueryError: There is no such index.
            IndexFolderError: One cannot be opened.
        """
        if name and name not in self._folders:
            raise QueryError(f"the name of an index ({', '.join(self.names)})", f"'{name}'", "name one of these")
        return {each: self._searcher(each) for each in ([name] if name else self.names)}

    def _searcher(self, name: str) -> Searcher:
        with self._opening:
            signs = signs_of_change(self._folders[name])
            known, searcher = self._opened.get(name, (None, None))
            if searcher is not None and known == signs:
                return searcher
            opened = self._open(self._folders[name], searcher.encoder if searcher else self._encoder)
            # A database that is read changes its signs once; what was read of it stays.
            if searcher is not None and _generation(searcher) == _generation(opened):
                opened = searcher
            self._opened[name] = signs, opened
            return opened

    def _open(self, folder: Path, encoder: DocumentEncoder | None) -> Searcher:
        try:
            searcher = Searcher.open(folder, encoder)
        except IndexFolderError:
            if encoder is None or encoder is self._encoder:
                raise
            # It may have been built again with another model.
            searcher = Searcher.open(folder)
        return searcher if self._groups is None else searcher.seen_by(self._groups)


def _generation(searcher: Searcher) -> tuple[str, int]:
    manifest = searcher.index.manifest
    return manifest.identity, manifest.generation
