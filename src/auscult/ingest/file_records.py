"""Records of the files that an index's documents are from, and drafts that wait to become documents.

Files with an unchanged record need not be read again. Drafts wait until duplicates among them are known.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from auscult.documents import Document, Original, Section, build_document
from auscult.documents.splitting import SentenceSplitter
from auscult.errors import IndexFolderError
from auscult.files.json_text import parse_json
from auscult.ingest.sectioned import number_sections
from auscult.readers.archives import Found
from auscult.readers.contract import DraftDocument, UnreadableError
from auscult.readers.process.wire import Place, Spool
from auscult.readers.walking import place_of


class FileDocument(NamedTuple):
    """A document of a file.

    Attributes:
        doc_id: Its unique id.
        place: Where it is, for people: the name of the file, and the document's key within the file.
        text: Digest of its text, which is equal for duplicates.
    """

    doc_id: str
    place: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRecord:
    """The record of a file at the time it was read.

    Attributes:
        digest: Digest of its bytes and of the options for reading.
        stem: Beginning of its documents' ids.
        said: Its documents.
        problem: Why it could not be read: kind, expected, got, remedy; empty where it was read.
        remarks: Remarks for people on how it was read.
    """

    digest: str
    stem: str = ""
    said: tuple[FileDocument, ...] = ()
    problem: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def to_json(self) -> str:
        """Return the record as JSON, for an index."""
        fields = [self.digest, self.stem, [list(each) for each in self.said], list(self.problem), list(self.remarks)]
        return json.dumps(fields)

    @classmethod
    def from_json(cls, content: str) -> FileRecord:
        """Parse the JSON of `to_json`.

        Raises:
            IndexFolderError: It is not such a record.
        """
        try:
            digest, stem, said, problem, remarks = parse_json(content)
            documents = tuple(FileDocument(*each) for each in said)
            return cls(digest=digest, stem=stem, said=documents, problem=tuple(problem), remarks=tuple(remarks))
        except (ValueError, TypeError) as error:
            raise IndexFolderError("a record of a file", "something else", "build the index again") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """The files and documents that an index has.

    Attributes:
        records: Records of files, by origin and key of the file.
        ids: Ids of documents by origin, for the origins that are read now.
        taken: Returns whether a document has an id.
        also: By id, the field `also` of documents that have one.
        removed: Digests of ids and texts that were removed and must not be added again (`digest_of_id`,
            `digest_of_text`).
    """

    records: Mapping[str, Mapping[str, FileRecord]] = field(default_factory=dict)
    ids: Mapping[str, Collection[str]] = field(default_factory=dict)
    taken: Callable[[str], bool] = lambda doc_id: False
    also: Mapping[str, str] = field(default_factory=dict)
    removed: Collection[str] = ()


REMOVED: Final = ":removed"
"""The origin of the records of `Index.removed`; no path has this name."""
MAPPED: Final = ":map"
"""The origin under which an index stores the meaning of table columns."""
NO_PLACES: Final = frozenset((REMOVED, MAPPED))


def digest_of_id(doc_id: str) -> str:
    """Return the digest of a removed document's id, which is stored instead of the id as that may name a person."""
    return hashlib.sha256(f"id\0{doc_id}".encode("utf-8", "surrogatepass")).hexdigest()


def digest_of_text(draft: DraftDocument, access: str) -> str:
    """Return a digest that is equal for duplicates: documents with the same text, patient and group.

    Rows of a table may differ only in what they are about, so they need the same title as well.

    Args:
        draft: The document.
        access: The group that may see it.
    """
    return digest_of_words(draft.text, draft.metadata.get("patient", ""), access, draft.title if draft.key else "")


def digest_of_words(*parts: str) -> str:
    """Return a digest of texts that ignores differences in white space."""
    digest = hashlib.sha256()
    for part in parts:
        folded = " ".join(part.split()).encode("utf-8", "surrogatepass")
        digest.update(len(folded).to_bytes(8, "little") + folded)
    return digest.hexdigest()


def find_duplicates(documents: Iterable[tuple[FileDocument, str]]) -> dict[str, tuple[str, ...] | None]:
    """Return for each document the other places of its text; None for a duplicate of an earlier document.

    Args:
        documents: Documents with their origins. Places of an origin other than the first document's begin with the
            origin's name.
    """
    first: dict[str, tuple[FileDocument, str]] = {}
    places: dict[str, list[str]] = {}
    duplicates: dict[str, tuple[str, ...] | None] = {}
    for document, origin in documents:
        owner, home = first.setdefault(document.text, (document, origin))
        if owner is document:
            places[owner.doc_id] = []
            continue
        duplicates[document.doc_id] = None
        # A file that was named in two ways counts as one place.
        if origin == home or path_at(origin, document.place) != path_at(home, owner.place):
            places[owner.doc_id].append(document.place if origin == home else place_in(origin, document.place))
    return duplicates | {doc_id: tuple(dict.fromkeys(elsewhere)) for doc_id, elsewhere in places.items()}


def is_hidden(origin: str) -> bool:
    """Return whether an origin is a hash, as for files that are de-identified."""
    return origin.startswith("sha256:")


def path_at(origin: str, key: str) -> str:
    """Return the path of a file by its origin, which may be a pattern, and its name there."""
    base = place_of(origin)
    return str(base) if base.name == key and not base.is_dir() else f"{base}/{key}"


def place_in(origin: str, key: str) -> str:
    """Return the name of a file below the folder of its origin, for people; the name only for a hidden origin."""
    if is_hidden(origin):
        return key
    base = place_of(origin)
    name = base.parent.name if base.name == key else base.name
    return f"{name}/{key}" if name else key


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A waiting draft: its position in the spool, its format, its file, and the file's digest if that is stored."""

    place: Place
    format: str
    file: Found
    digest: str


class WaitingDocuments:
    """Waiting drafts by the ids of their documents, which are built on access.

    Args:
        sources: For each path, the source of documents that name none.
        named: Whether documents get the name of their file and a URL.
        originals: Whether documents get their original files.
        access: The group that may see the documents.
        splitter: Splits sentences; None for the default.
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

    def close(self) -> None:
        """Discard the waiting drafts."""
        self._spool.__exit__(None, None, None)

    def add(self, doc_id: str, draft: DraftDocument, form: str, file: Found, digest: str) -> None:
        """Add a draft.

        Args:
            doc_id: Id of its document.
            draft: The draft.
            form: Its format.
            file: Its file.
            digest: Digest of the file; empty if the file is not stored with the document.
        """
        self._held[doc_id] = _Waiting(self._spool.put(draft), form, file, digest)

    def document(self, doc_id: str, elsewhere: Sequence[str]) -> Document:
        """Build the document of a waiting draft.

        Args:
            doc_id: Its id.
            elsewhere: Other places of the same text.
        """
        waiting = self._held[doc_id]
        draft = self._spool.get(waiting.place)
        metadata = {**draft.metadata, "format": waiting.format}
        if self._named:
            metadata["file"] = waiting.file.name
        if self._access:
            metadata["access"] = self._access
        if elsewhere:
            metadata["also"] = "\n".join(elsewhere)
        return build_document(
            doc_id=doc_id,
            title=draft.title,
            sections=number_sections(doc_id, sections_of(draft)),
            source=draft.source or self._sources[waiting.file.root],
            url=draft.url if self._named else "",
            entity_ids=draft.entity_ids,
            metadata=metadata,
            splitter=self._splitter,
            text=draft.text,
            original=_build_original(draft, waiting) if self._originals else None,
        )


def _build_original(draft: DraftDocument, waiting: _Waiting) -> Original | None:
    content = draft.content
    if content is None and not waiting.digest:
        return None
    if content is None:
        try:
            content = waiting.file.content()
        except UnreadableError:
            return None
        # The file has changed meanwhile, so highlights would be in wrong places.
        if hashlib.sha256(content).hexdigest() != waiting.digest:
            return None
    return Original(
        name=waiting.file.name,
        media_type=draft.media_type,
        content=content,
        encoding=draft.encoding,
        runs=draft.runs,
        words=draft.words,
        pages=draft.pages,
    )


def sections_of(draft: DraftDocument) -> list[Section]:
    """Return the sections of a draft with the headings above them; a draft without sections gives its whole text."""
    sections = list(draft.sections) or [Section("", draft.text, start=0)]
    if not draft.heading_paths:
        return [replace(each, passage_id="") for each in sections]
    paths = [*draft.heading_paths, *[()] * len(sections)]
    return [replace(each, passage_id="", above=tuple(path)) for each, path in zip(sections, paths, strict=False)]
