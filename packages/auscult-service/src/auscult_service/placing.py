"""Decide which groups see an uploaded document, and which document of the index it replaces.

Both depend only on the upload and on the documents that its caller sees. So hidden documents cannot be replaced, and
no id, count or error reveals that they exist:

- A document replaces the one of the same name and the same groups that the caller sees. Anything else is new.
- A new document of a caller who sees only some groups always gets a random ending ("note.md~3f9c0a61b2d4"). An ending
  that is added only when a name is taken would reveal that somebody else's document has that name. An ending that is
  computed from the name could be occupied on purpose, and would reveal whether a document was removed or hidden.
- Passage ids are unique in an index as well, so they have the ending, too.

Callers who see all documents get plain ids: nothing is hidden from them.
"""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Collection, Generator, Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from auscult.documents import Document
from auscult.index.fields import ACCESS, groups_in
from auscult.index.reader import GenerationReader, open_current
from auscult.ingest.file_records import REMOVED, FileDocument, FileRecord, digest_of_id, digest_of_words
from auscult.ingest.sources import file_records

_ENDING: Final = re.compile(r"(.+)~[0-9a-f]{12}", re.DOTALL)
_FILE: Final = "file"
KNOWN: Final = "known already"
OTHER_GROUPS: Final = "other groups"
ORIGIN: Final = "upload"
"""Origin of uploaded documents in the index."""


def access_field(groups: Collection[str]) -> str:
    """Return groups as the field `access` writes them; empty for everybody."""
    return ", ".join(sorted(groups))


def can_be_written(groups: Collection[str]) -> bool:
    """Check that the field `access` can name these groups exactly; a name with a comma would be read as two groups."""
    return groups_in(access_field(groups)) == frozenset(groups)


class Placing:
    """Gives the documents of one upload their groups and ids.

    Args:
        caller: Groups whose documents the caller sees; None for all documents.
        groups: Groups that the upload is for; none for everybody who may search the index.

    Attributes:
        left_out: By file, the number of documents that were left out because they name groups that the upload is not
            for.
        known: File and id of each document that was left out because the index has its text for the same groups, and
            the caller sees it.
        files: The records of uploaded files for the index, by origin; complete after the last document
            (`update_index`).
    """

    def __init__(self, folder: Path, caller: frozenset[str] | None, groups: frozenset[str]) -> None:
        self.left_out: Counter[str] = Counter()
        self.known: list[tuple[str, str]] = []
        self.files: dict[str, dict[str, str]] = {}
        self._folder = folder
        self._caller = caller
        self._groups = groups
        self._given: set[str] = set()

    def place(self, documents: Iterable[Document]) -> Generator[Document]:
        """Yield the documents that may be added, with their groups and ids.

        The index is opened when the first document is requested. Hold the lock of the index at that time, as
        `update_index` does, so that no other writer hides a document meanwhile.
        """
        with closing(open_current(self._folder)) as whole:
            visible = whole if self._caller is None else whole.seen_by(self._caller)
            finder = _DocumentFinder(visible)
            ids_of_text: dict[str, list[str]] = {}
            for records in file_records(whole.store).values():
                for entry in (entry for record in records.values() for entry in record.said):
                    ids_of_text.setdefault(entry.text, []).append(entry.doc_id)
            stored = whole.store.files(ORIGIN)
            self.files[ORIGIN] = {name: record for name, record in stored.items() if whole.row_of(name) is not None}
            self.files[REMOVED] = removed = whole.store.files(REMOVED)
            for document in documents:
                groups, file = self._groups_of(document), document.metadata.get(_FILE, "")
                if groups is None:
                    self.left_out[file] += 1
                    continue
                placed = self._place(document, groups, finder, whole)
                # As `digest_of_text`: rows of a table have keys behind their file's name.
                title = document.title if "#" in document.doc_id.removeprefix(file) else ""
                patient, access = document.metadata.get("patient", ""), placed.metadata.get(ACCESS, "")
                text = digest_of_words(document.text, patient, access, title)
                same = next((doc_id for doc_id in ids_of_text.get(text, ()) if visible.row_of(doc_id) is not None), "")
                if same and visible.row_of(placed.doc_id) is None:
                    self.known.append((file, same))
                    continue
                record = FileRecord(digest="", said=(FileDocument(placed.doc_id, file, text),))
                self.files[ORIGIN][placed.doc_id] = record.to_json()
                for mark in (text, digest_of_id(placed.doc_id)):
                    removed.pop(mark, None)
                yield placed

    def reasons(self) -> list[tuple[str, str, str]]:
        """Return the name of each file with documents that were left out, the reason and its kind."""
        reasons = [(file, f"the index has its text already, as '{doc_id}'", KNOWN) for file, doc_id in self.known]
        for file, count in self.left_out.items():
            whose = "its field 'access'" if count == 1 else f"the field 'access' of {count} of its documents"
            remedy = "take them out of the field, or use a key that has them"
            reasons.append((file, f"{whose} names groups that this upload is not for; {remedy}", OTHER_GROUPS))
        return reasons

    def _groups_of(self, document: Document) -> frozenset[str] | None:
        """Return the groups that will see a document; None where it must be left out.

        A document may name fewer groups than the upload is for, but no others: ignoring those would show it to people
        whom its author did not name.
        """
        named = [value for name, value in document.metadata.items() if _is_access(name) and value.strip()]
        if not named:
            return self._groups
        own = groups_in(",".join(named))
        within = own <= self._groups if self._groups else self._caller is None
        return own if own and within else None

    def _place(
        self, document: Document, groups: frozenset[str], finder: _DocumentFinder, whole: GenerationReader
    ) -> Document:
        name = document.doc_id
        prefixed = f"{access_field(groups)}:{name}" if groups else name
        existing = finder.find(document.metadata.get(_FILE, ""), (prefixed, name), groups)
        if existing is not None and existing[0] not in self._given:
            doc_id, stem = existing
            if self._caller is None:
                stem = doc_id
            elif not _ENDING.fullmatch(stem):
                stem = _add_ending(doc_id)
        elif self._caller is None and whole.row_of(prefixed) is None and prefixed not in self._given:
            doc_id = stem = prefixed
        else:
            while whole.row_of(doc_id := _add_ending(prefixed)) is not None:
                pass
            stem = doc_id
        self._given.add(doc_id)
        metadata = {field: value for field, value in document.metadata.items() if not _is_access(field)}
        return replace(
            document,
            doc_id=doc_id,
            passages=tuple(
                replace(each, passage_id=f"{stem}{each.passage_id.removeprefix(name)}") for each in document.passages
            ),
            metadata={**metadata, ACCESS: access_field(groups)} if groups else metadata,
        )


class _DocumentFinder:
    """Finds documents by name and groups, among those that a caller sees."""

    def __init__(self, reader: GenerationReader) -> None:
        self._reader = reader
        names, self._numbers = reader.values(_FILE)
        self._files = {name: number for number, name in enumerate(names)}
        self._ended: dict[str, dict[str, int]] = {}

    def find(self, file: str, names: Iterable[str], groups: frozenset[str]) -> tuple[str, str] | None:
        """Return the id of a document and the common beginning of its passage ids; None where there is no document.

        A document whose id has an ending comes before one with the plain name.
        """
        ended = self._find_endings(file)
        for name in names:
            for row in (ended.get(f"{access_field(groups)}:{name}"), self._reader.row_of(name)):
                if row is None:
                    continue
                record = self._reader.document_record(row)
                value = record.metadata.get(ACCESS, "")
                # These groups and no others.
                if groups_in(value) == groups if groups else not value.strip():
                    passages = self._reader.passages_of(row)
                    first = self._reader.passage_id(passages[0]) if passages else ""
                    return record.doc_id, first.rpartition("#")[0]
        return None

    def _find_endings(self, file: str) -> dict[str, int]:
        """Return the rows of a file's documents whose ids have an ending, by groups and id without the ending."""
        if file not in self._ended:
            rows: dict[str, int] = {}
            for row in np.flatnonzero(self._numbers == self._files.get(file, len(self._files))).tolist():
                record = self._reader.document_record(row)
                if match := _ENDING.fullmatch(record.doc_id):
                    rows.setdefault(f"{access_field(groups_in(record.metadata.get(ACCESS, '')))}:{match[1]}", row)
            self._ended[file] = rows
        return self._ended[file]


def _is_access(field: str) -> bool:
    """Check whether a field says who may see a document; upper and lower case are the same."""
    return field.strip().casefold() == ACCESS


def _add_ending(name: str) -> str:
    return f"{name}~{secrets.token_hex(6)}"
