"""What an index knows of the files that its documents are from, so that those need not be read again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from auscult.errors import IndexFolderError
from auscult.files.json_text import parse_json
from auscult.readers.contract import DraftDocument


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
        said: Its documents.
        problem: Why it was not read: kind, expected, got, remedy; empty where it was.
        remarks: What a person should know of how it was read.
    """

    digest: str
    stem: str = ""
    said: tuple[Said, ...] = ()
    problem: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    def to_json(self) -> str:
        """As an index keeps it."""
        told = [self.digest, self.stem, [list(each) for each in self.said], list(self.problem), list(self.remarks)]
        return json.dumps(told)

    @classmethod
    def from_json(cls, content: str) -> FileRecord:
        """What `to_json` wrote.

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
        records: By origin and key of the file.
        ids: Ids of documents, by origin.
        taken: Whether any document has an id.
    """

    records: Mapping[str, Mapping[str, FileRecord]] = field(default_factory=dict)
    ids: Mapping[str, Collection[str]] = field(default_factory=dict)
    taken: Callable[[str], bool] = lambda doc_id: False


def digest_of_text(draft: DraftDocument, access: str) -> str:
    """What makes two documents one: their text but for white space, and that they are of one patient and group.

    Rows of a table, which may differ by nothing but what they are about, need the same title, too.

    Args:
        draft: The document.
        access: The group that may see it.
    """
    metadata = draft.metadata
    parts = (draft.text, metadata.get("patient", ""), access, draft.title if draft.key else "")
    said = hashlib.sha256()
    for part in parts:
        folded = " ".join(part.split()).encode("utf-8", "surrogatepass")
        said.update(len(folded).to_bytes(8, "little") + folded)
    return said.hexdigest()


def others(said: Iterable[Said]) -> dict[str, tuple[str, ...] | None]:
    """Of each document where else its text stands; None for one whose text stands in a document before it."""
    first: dict[str, str] = {}
    places: dict[str, list[str]] = {}
    found: dict[str, tuple[str, ...] | None] = {}
    for each in said:
        owner = first.setdefault(each.text, each.doc_id)
        if owner == each.doc_id:
            places[owner] = []
        else:
            places[owner].append(each.place)
            found[each.doc_id] = None
    return found | {doc_id: tuple(elsewhere) for doc_id, elsewhere in places.items()}


__all__ = ["FileRecord", "Index", "Said", "digest_of_text", "others"]
