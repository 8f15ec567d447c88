"""Drafts of files that wait until it is known which of them say the same, and become documents then."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Self

from auscult.documents import Document, Original, Section, build_document
from auscult.interfaces import SentenceSplitter
from auscult.readers.archives import Found
from auscult.readers.contract import DraftDocument, UnreadableError
from auscult.readers.process.wire import Place, Spool
from auscult.sources.sectioned import numbered


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A draft that waits: where, of which format, and of which file; whose digest tells that it may be kept."""

    place: Place
    format: str
    found: Found
    digest: str


class WaitingDocuments:
    """Documents by their ids, made when they are asked for.

    Args:
        sources: Of each path that was named, what its documents' source is where they say none.
        named: Say which file a document is from, and where it can be had.
        originals: Keep the files themselves.
        access: The group that may see the documents.
        splitter: Finds sentences.
    """

    def __init__(
        self, sources: Sequence[str], *, named: bool, originals: bool, access: str, splitter: SentenceSplitter | None
    ) -> None:
        self._sources, self._named, self._originals = sources, named, originals
        self._access, self._splitter = access, splitter
        self._spool = Spool()
        self._held: dict[str, _Waiting] = {}

    def __contains__(self, doc_id: str) -> bool:
        return doc_id in self._held

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._spool.__exit__(kind, error, trace)

    def put(self, doc_id: str, draft: DraftDocument, form: str, found: Found, digest: str) -> None:
        """Let a draft wait.

        Args:
            doc_id: It will have.
            draft: The draft.
            form: Its format.
            found: Its file.
            digest: Of the file; empty where the file is not to be kept with it.
        """
        self._held[doc_id] = _Waiting(self._spool.put(draft), form, found, digest)

    def document(self, doc_id: str, elsewhere: Sequence[str]) -> Document:
        """A document that waited.

        Args:
            doc_id: Its id.
            elsewhere: Other places where the same text stands.
        """
        waiting = self._held[doc_id]
        draft = self._spool.get(waiting.place)
        metadata = {**draft.metadata, "format": waiting.format}
        if self._named:
            metadata["file"] = waiting.found.name
        if self._access:
            metadata["access"] = self._access
        if elsewhere:
            metadata["also"] = "\n".join(elsewhere)
        return build_document(
            doc_id=doc_id,
            title=draft.title,
            sections=numbered(doc_id, sections_of(draft)),
            source=draft.source or self._sources[waiting.found.root],
            url=draft.url if self._named else "",
            entity_ids=draft.entity_ids,
            metadata=metadata,
            splitter=self._splitter,
            text=draft.text,
            original=_original(draft, waiting) if self._originals else None,
        )


def _original(draft: DraftDocument, waiting: _Waiting) -> Original | None:
    content = draft.content
    if content is None and not waiting.digest:
        return None
    if content is None:
        try:
            content = waiting.found.content()
        except UnreadableError:
            return None
        # Highlights in a file that has changed meanwhile would be wrong ones.
        if hashlib.sha256(content).hexdigest() != waiting.digest:
            return None
    return Original(
        name=waiting.found.name,
        media_type=draft.media_type,
        content=content,
        encoding=draft.encoding,
        runs=draft.runs,
        words=draft.words,
        pages=draft.pages,
    )


def sections_of(draft: DraftDocument) -> list[Section]:
    """A draft's sections with the headings above them; all of the text where there are none."""
    sections = list(draft.sections) or [Section("", draft.text, start=0)]
    if not draft.heading_paths:
        return [replace(each, passage_id="") for each in sections]
    paths = [*draft.heading_paths, *[()] * len(sections)]
    return [replace(each, passage_id="", above=tuple(path)) for each, path in zip(sections, paths, strict=False)]


__all__ = ["WaitingDocuments", "sections_of"]
