"""What an index knows of the files that its documents are from, and drafts that wait to become documents.

Files that an index knows need not be read again. Drafts wait until it is known which of them say the same.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from auscult.documents import Document, Original, Section, build_document
from auscult.errors import IndexFolderError
from auscult.files.json_text import parse_json
from auscult.interfaces import SentenceSplitter
from auscult.readers.archives import Found
from auscult.readers.contract import DraftDocument, UnreadableError
from auscult.readers.process.wire import Place, Spool
from auscult.readers.walking import place_of
from auscult.sources.sectioned import numbered


class Said(NamedTuple):
    """A document of a file.

    Attributes:
        doc_id: Its id, which no other has.
        place: Where it stands, as it is told: the file's name, with what tells its documents apart.
        text: Digest of what it says: equal where two documents are one.
    """

    doc_id: str
    place: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRecord:
    """A file as it was when it was read.

    Attributes:
        digest: Of its bytes and of how it was read.
        stem: What its documents' ids begin with.
        problem: Why it was not read: kind, expected, got, remedy; empty where it was.
        remarks: What a person should know of how it was read.
    """

    digest: str
    stem: str = ""
    said: tuple[Said, ...] = ()
    problem: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def to_json(self) -> str:
        """Return the record as an index keeps it."""
        told = [self.digest, self.stem, [list(each) for each in self.said], list(self.problem), list(self.remarks)]
        return json.dumps(told)

    @classmethod
    def from_json(cls, content: str) -> FileRecord:
        """Read what `to_json` wrote.

        Raises:
            IndexFolderError: It is something else.
        """
        try:
            digest, stem, said, problem, remarks = parse_json(content)
            documents = tuple(Said(*each) for each in said)
            return cls(digest=digest, stem=stem, said=documents, problem=tuple(problem), remarks=tuple(remarks))
        except (ValueError, TypeError) as error:
            raise IndexFolderError("a record of a file", "something else", "build the index again") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """What an index holds, as far as files go.

    Attributes:
        records: By origin and key of the file, of all origins.
        ids: Ids of documents, by origin, of those that are read.
        taken: Whether any document has an id.
        also: By id, the field `also` of documents that have one.
        removed: Digests of ids and texts that were removed and stay so (`digest_of_id`, `digest_of_text`).
    """

    records: Mapping[str, Mapping[str, FileRecord]] = field(default_factory=dict)
    ids: Mapping[str, Collection[str]] = field(default_factory=dict)
    taken: Callable[[str], bool] = lambda doc_id: False
    also: Mapping[str, str] = field(default_factory=dict)
    removed: Collection[str] = ()


REMOVED: Final = ":removed"
"""The origin whose records are `Index.removed`; no place is called so."""
MAPPED: Final = ":map"
"""The origin under which an index keeps what columns of tables mean."""
NO_PLACES: Final = frozenset((REMOVED, MAPPED))


def digest_of_id(doc_id: str) -> str:
    """Return what an index keeps of the id of a document that was removed, which may name a person."""
    return hashlib.sha256(f"id\0{doc_id}".encode("utf-8", "surrogatepass")).hexdigest()


def digest_of_text(draft: DraftDocument, access: str) -> str:
    """Return a digest that is equal for documents that are one: same text, patient and group.

    Rows of a table, which may differ by nothing but what they are about, need the same title, too.

    Args:
        draft: The document.
        access: The group that may see it.
    """
    return digest_of_words(draft.text, draft.metadata.get("patient", ""), access, draft.title if draft.key else "")


def digest_of_words(*parts: str) -> str:
    """Return a digest of texts, whatever white space stands between their words."""
    said = hashlib.sha256()
    for part in parts:
        folded = " ".join(part.split()).encode("utf-8", "surrogatepass")
        said.update(len(folded).to_bytes(8, "little") + folded)
    return said.hexdigest()


def others(said: Iterable[tuple[Said, str]]) -> dict[str, tuple[str, ...] | None]:
    """Return where else each document's text stands; None for one whose text stands in an earlier document.

    Args:
        said: Documents with their origins. Places of another origin than the first's have its name before them.
    """
    first: dict[str, tuple[Said, str]] = {}
    places: dict[str, list[str]] = {}
    found: dict[str, tuple[str, ...] | None] = {}
    for each, origin in said:
        owner, home = first.setdefault(each.text, (each, origin))
        if owner is each:
            places[owner.doc_id] = []
            continue
        found[each.doc_id] = None
        # A file that was named in two ways is one place.
        if origin == home or path_at(origin, each.place) != path_at(home, owner.place):
            places[owner.doc_id].append(each.place if origin == home else place_in(origin, each.place))
    return found | {doc_id: tuple(dict.fromkeys(elsewhere)) for doc_id, elsewhere in places.items()}


def is_hidden(origin: str) -> bool:
    """Return whether an origin is a hash, as it is of files that are de-identified."""
    return origin.startswith("sha256:")


def path_at(origin: str, key: str) -> str:
    """Return the path of a file by where it was read and its name there; of a pattern's files, too."""
    base = place_of(origin)
    return str(base) if base.name == key and not base.is_dir() else f"{base}/{key}"


def place_in(origin: str, key: str) -> str:
    """Return a file's name with that of the folder it was read in, as people know it; nothing of a hidden origin."""
    if is_hidden(origin):
        return key
    base = place_of(origin)
    name = base.parent.name if base.name == key else base.name
    return f"{name}/{key}" if name else key


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
        access: The group that may see the documents.
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
        """Forget the drafts that wait."""
        self._spool.__exit__(None, None, None)

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
        """Make a document of a draft that waited.

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
    """Return a draft's sections with the headings above them; all of the text where there are none."""
    sections = list(draft.sections) or [Section("", draft.text, start=0)]
    if not draft.heading_paths:
        return [replace(each, passage_id="") for each in sections]
    paths = [*draft.heading_paths, *[()] * len(sections)]
    return [replace(each, passage_id="", above=tuple(path)) for each, path in zip(sections, paths, strict=False)]
