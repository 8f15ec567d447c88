"""Read new and changed files, and determine what an index must contain.

1. Every file is hashed. A file whose digest the index knows is not read again.
2. Drafts of the others wait in a `Spool` until all duplicates are known.
3. Of several places of a text, the first by name becomes the document and lists the others. If that changes for an
   unchanged file, the document is rewritten or the file is read after all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Self

from auscult.documents.building import check_sentences
from auscult.documents.splitting import SentenceSplitter
from auscult.errors import DataError
from auscult.files.limits import TooLargeError, check_texts, limits
from auscult.ingest.file_records import (
    FileDocument,
    FileRecord,
    Index,
    WaitingDocuments,
    digest_of_id,
    digest_of_text,
    find_duplicates,
    is_hidden,
    path_at,
    place_in,
    sections_of,
)
from auscult.ingest.gathered import Gathered, Rewrite
from auscult.ingest.sectioned import number_sections
from auscult.readers.archives import Found
from auscult.readers.contract import DraftDocument, UnreadableError
from auscult.readers.deidentify import Deidentifier, deidentified
from auscult.readers.ignoring import Ignoring
from auscult.readers.process.reading import FileRead, Reading
from auscult.readers.report import Problem, Report
from auscult.readers.rows import Columns
from auscult.readers.walking import name_of, place_of, walk
from auscult.version import __version__

_Key = tuple[int, str]


class Gathering:
    """A pass over files. It must stay open until all documents were taken.

    Args:
        paths: The paths that the user named.
        origins: Origin of each path.
        columns: Meaning of table columns.
        deidentifier: Removes what identifies people; None for no de-identification.
        originals: Whether documents get their original files.
        access: The group that may see the documents.
        without: Files and folders to skip.
        exclude: Patterns of files to skip.
        splitter: Splits sentences; None for the default.
    """

    def __init__(
        self,
        paths: Sequence[str],
        origins: Sequence[str],
        *,
        columns: Columns,
        deidentifier: Deidentifier | None,
        originals: bool,
        access: str,
        without: Collection[Path],
        exclude: Sequence[str],
        splitter: SentenceSplitter | None,
    ) -> None:
        self.report = Report()
        self._paths, self._origins = paths, origins
        self._columns, self._hide, self._access, self._without = columns, deidentifier, access, without
        self._ignoring = [Ignoring(place_of(path), exclude) for path in paths]
        self._ids: set[str] = set()
        self._index = Index()
        self._old: dict[_Key, FileRecord] = {}
        self._now: dict[_Key, FileRecord] = {}
        self._files: dict[_Key, Found] = {}
        self._elsewhere: dict[str, dict[str, FileRecord]] = {}
        self._restored: set[str] = set()
        self._ordered: list[tuple[FileDocument, str]] = []
        self._places: dict[str, tuple[str, ...] | None] = {}
        named = deidentifier is None
        sources = [name_of(path) if named else "" for path in paths]
        self._waiting = WaitingDocuments(sources, named=named, originals=originals, access=access, splitter=splitter)
        hidden = deidentifier.name if deidentifier else ""
        # Part of the digests, so that files are read again with another version or other options.
        self._how = (
            f"{__version__}|{columns.to_json() if columns.files else columns}|{hidden}|{originals}|{access}|{limits()}"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Discard the waiting drafts."""
        self._waiting.close()

    def gather(
        self,
        index: Index | None,
        progress: Callable[[Report], None] | None,
        *,
        prune: bool = False,
        restored: Collection[str] | None = (),
    ) -> Gathered:
        """Read new and changed files, and return what an index must contain; see `FilesCorpus.gather`.

        Raises:
            CorpusMissingError: A path does not exist.
        """
        self._index = index = index or Index()
        files = self._list_files()
        self._old = {
            (root, key): record
            for root, origin in enumerate(self._origins)
            for key, record in index.records.get(origin, {}).items()
        }
        self._elsewhere = {origin: {**held} for origin, held in index.records.items() if origin not in self._origins}
        poorer = set() if self._hide else self._adopt(files)
        self._read_files(files, progress)
        self._restored = self._find_restored(restored)
        self._order_documents(prune)
        if again := [self._files[key] for key in sorted(self._now) if self._is_lost(self._now[key])]:
            # They were duplicates of documents that no longer exist.
            for read in Reading(self._columns).read(again, lambda file, digest: False):
                key = self._key(read.found, read.digest)
                self._now[key] = self._take(key, read, self._old.get(key))
            self._order_documents(prune)
        return self._combine(prune, poorer)

    def _list_files(self) -> list[Found]:
        """Return all files in the order of paths and names, and count the ignored ones in the report.

        Raises:
            CorpusMissingError: A path does not exist.
        """
        walks = (walk(path, root, self._without, self._ignoring[root]) for root, path in enumerate(self._paths))
        files = sorted(chain.from_iterable(walks), key=lambda each: (each.root, each.name))
        self.report.ignored = sum(each.count for each in self._ignoring)
        return files

    def _read_files(self, files: Sequence[Found], progress: Callable[[Report], None] | None) -> None:
        """Read the files without a current record, and fill the report."""
        foreign = {document.doc_id for document, _ in self._documents_elsewhere()}
        self._ids.update(record.stem for records in self._elsewhere.values() for record in records.values())
        self._ids.update(foreign, (document.doc_id for document, _ in self._documents_of(self._old)))
        # Earlier versions could give an id twice: to a document and to a duplicate. Ignore such records.
        old = {
            key: record
            for key, record in self._old.items()
            if foreign.isdisjoint(document.doc_id for document in record.said)
        }

        def known(file: Found, digest: str) -> bool:
            key = self._key(file, digest)
            return key in old and old[key].digest == self._mix_in_options(digest)

        self.report.total = len(files)
        for read in Reading(self._columns).read(files, known):
            self.report.files += 1
            key = self._key(read.found, read.digest)
            if key in self._now and self._hide is None:
                problem = Problem(read.found.name, "repeated name", "every name once", "two files of it", "rename one")
                self.report.problems.append(problem)
            else:
                record = self._now[key] = old[key] if read.unchanged else self._take(key, read, old.get(key))
                self._files[key] = read.found
                if record.problem:
                    self.report.problems.append(Problem(read.found.name, *record.problem))
                elif read.unchanged:
                    self.report.unchanged += 1
                self.report.remarks += [(read.found.name, remark) for remark in record.remarks]
            if progress is not None:
                progress(self.report)

    def _find_restored(self, restored: Collection[str] | None) -> set[str]:
        """Return the digests of removed documents that the user wants back: by their ids, or by naming their file."""
        if restored is None:
            return set()
        single = {root for root, path in enumerate(self._paths) if Path(path).is_file()}
        named = {key: record for key, record in self._now.items() if key[0] in single}
        wanted = {*restored}
        for key, record in named.items():
            # Naming an archive does not name its members.
            if self._files[key].name == name_of(self._paths[key[0]]):
                wanted.update(document.doc_id for document in record.said)
        known = (*self._documents_of(self._old), *self._documents_of(self._now), *self._documents_elsewhere())
        return {*map(digest_of_id, wanted), *(document.text for document, _ in known if document.doc_id in wanted)}

    def _order_documents(self, prune: bool) -> None:
        """Determine the document of each text: one that the index has from another origin, else the first by name."""
        taken = self._index.taken
        behind = {} if prune else {key: record for key, record in self._old.items() if key not in self._now}
        foreign = [*self._documents_elsewhere()]
        ordered = (
            *(pair for pair in foreign if taken(pair[0].doc_id)),
            *self._documents_of(self._now),
            *(pair for pair in self._documents_of(behind) if taken(pair[0].doc_id)),
            *(pair for pair in foreign if not taken(pair[0].doc_id)),
        )
        # What was removed from the index is not added again, unless the user wants it back.
        removed = frozenset(self._index.removed) - self._restored
        self._ordered = [
            (document, key)
            for document, key in ordered
            if not removed or removed.isdisjoint((digest_of_id(document.doc_id), document.text))
        ]
        self._places = find_duplicates(self._ordered)

    def _is_lost(self, record: FileRecord) -> bool:
        """Return whether a file has a document that is neither in the index nor waiting."""
        return any(
            self._places.get(document.doc_id) is not None
            and document.doc_id not in self._waiting
            and not self._index.taken(document.doc_id)
            for document in record.said
        )

    def _combine(self, prune: bool, poorer: Collection[str]) -> Gathered:
        """Return what an index must contain, and add removed and duplicate documents to the report.

        Args:
            prune: Drop documents whose files no longer exist.
            poorer: Other origins whose records were moved.
        """
        places = self._places
        gathered = Gathered(
            restored=self._restored, _give=lambda doc_id: self._waiting.document(doc_id, places[doc_id] or ())
        )
        first: dict[str, str] = {}
        for document, origin in self._ordered:
            first.setdefault(
                document.text, document.place if origin in self._origins else place_in(origin, document.place)
            )
        for document, origin in self._documents_of(self._now):
            if document.doc_id not in places:
                self.report.removed.append(document.place)
            elif places[document.doc_id] is None:
                self.report.duplicates.append((document.place, first[document.text]))
            elif document.doc_id in self._waiting:
                gathered.origins[document.doc_id] = origin
            else:
                gathered.kept.add(document.doc_id)
        gathered.rewrites = [*self._find_rewrites(gathered.origins)]
        gone = {key: record for key, record in self._old.items() if key not in self._now}
        if not prune:
            # A missing file all of whose texts are in other files is forgotten.
            gone = {
                key: record
                for key, record in gone.items()
                if any(places.get(document.doc_id) is not None for document in record.said)
            }
        for root, origin in enumerate(self._origins):
            records = self._now if prune else gone | self._now
            gathered.records[origin] = gathered.records.get(origin, {}) | {
                name: record for (place, name), record in records.items() if place == root
            }
        gathered.records |= {origin: self._elsewhere[origin] for origin in poorer}
        had = {document.doc_id for document, _ in self._documents_of(self._old) if self._index.taken(document.doc_id)}
        had -= {document.doc_id for document, _ in self._documents_elsewhere()}
        gathered.missing = had & {document.doc_id for document, _ in self._documents_of(gone)}
        gathered.dropped = had - gathered.kept - set(gathered.origins) - gathered.missing
        return gathered

    def _find_rewrites(self, given: Collection[str]) -> Iterator[Rewrite]:
        """Yield documents whose other places have changed, and copies for files with the text of a missing file."""
        sources = {
            document.text: (document, origin)
            for document, origin in self._documents_of(self._old)
            if self._index.taken(document.doc_id)
        }
        for document, origin in self._ordered:
            also = self._places[document.doc_id]
            if also is None or document.doc_id in given:
                continue
            if self._index.taken(document.doc_id):
                if "\n".join(also) != self._index.also.get(document.doc_id, ""):
                    yield Rewrite(document.doc_id, document.doc_id, origin, "", ("", ""), also)
            elif document.text in sources and origin not in self._origins:
                source, home = sources[document.text]
                # An original file must not become the original of a de-identified document.
                if is_hidden(origin) == is_hidden(home):
                    folders = (name_of(home), name_of(origin))
                    yield Rewrite(
                        source.doc_id, document.doc_id, origin, document.place.partition("#")[0], folders, also
                    )

    def _adopt(self, files: Sequence[Found]) -> set[str]:
        """Move the records of files that were read from another origin to the origin that is read now.

        Returns:
            The origins that lost records.
        """
        keys = {path_at(self._origins[file.root], file.name): (file.root, file.name) for file in reversed(files)}
        folders = [(f"{origin}/", root) for root, origin in enumerate(self._origins) if Path(origin).is_dir()]
        poorer = set()
        for origin, records in self._elsewhere.items():
            if not Path(origin).is_absolute():
                continue
            for name in [*records]:
                path = path_at(origin, name)
                below = next(
                    ((root, path.removeprefix(start)) for start, root in folders if path.startswith(start)), None
                )
                key = keys.get(path, below)
                if key is not None:
                    record = records.pop(name)
                    poorer.add(origin)
                    self._old.setdefault(key, record)
        return poorer

    def _key(self, file: Found, digest: str) -> _Key:
        """Return the key of a file: its name, or a hash if the name may identify a person."""
        if self._hide is None:
            return file.root, file.name
        return file.root, hashlib.sha256(f"{file.name}\0{digest}".encode()).hexdigest()

    def _mix_in_options(self, digest: str) -> str:
        return hashlib.sha256(f"{self._how}\0{digest}".encode()).hexdigest()

    def _take(self, key: _Key, read: FileRead, old: FileRecord | None) -> FileRecord:
        """Add the drafts of a file to the waiting ones, and return its record."""
        try:
            if read.problem is not None:
                raise read.problem
            stem = old.stem if old is not None and old.stem else self._choose_stem(key, read.found)
            drafts = [(name, self._prepare(draft, read.found)) for name, draft in read.drafts]
            if not drafts:
                raise UnreadableError("no words", "a file with words", "one without any", "leave it out")
            return self._add_waiting(drafts, stem, read, {each.doc_id for each in old.said} if old else set())
        except UnreadableError as problem:
            # `got` may quote the file ("only the columns ..."), so it is not stored with de-identification.
            got = problem.got if self._hide is None else "something else"
            failure = (problem.kind, problem.expected, got, problem.remedy)
            if old is not None and old.said:
                # Its earlier documents stay, and without a digest it is read again the next time.
                return replace(old, problem=failure, digest="")
            return FileRecord(digest=self._mix_in_options(read.digest), problem=failure)

    def _add_waiting(
        self, drafts: list[tuple[str, DraftDocument]], stem: str, read: FileRead, own: set[str]
    ) -> FileRecord:
        documents: list[FileDocument] = []
        self._ids -= own
        last: dict[str, int] = {}
        for number, (name, draft) in enumerate(drafts, 1):
            key = "".join(each if each.isprintable() else "_" for each in draft.key)
            ending = "" if not draft.key else f"#{number}" if self._hide else f"#{key}"
            doc_id = self._find_free_id(f"{stem}{ending}", last)
            self._ids.add(doc_id)
            access = self._access or draft.metadata.get("access", "")
            place = doc_id if self._hide else f"{read.found.name}{ending}"
            text = digest_of_text(draft, access)
            # So that a de-identified document is never a duplicate of one that is not.
            documents.append(FileDocument(doc_id, place, f"~{text}" if self._hide else text))
            # Of a file with many documents, each would store the whole file.
            digest = read.digest if len(drafts) == 1 else ""
            self._waiting.add(doc_id, draft, name, read.found, digest)
            self.report.documents[name] += 1
        drafts_told = drafts if self._hide is None else ()
        remarks = dict.fromkeys(remark for _, draft in drafts_told for remark in draft.remarks)
        return FileRecord(
            digest=self._mix_in_options(read.digest), stem=stem, said=tuple(documents), remarks=tuple(remarks)
        )

    def _prepare(self, draft: DraftDocument, file: Found) -> DraftDocument:
        try:
            check_texts((draft.title, draft.text), file.name)
            check_sentences(draft.text, file.name)
        except TooLargeError as error:
            raise UnreadableError(f"{error.name} too large", error.expected, "a larger one", error.remedy) from error
        if not number_sections("", sections_of(draft)):
            raise UnreadableError("no words", "a document with words", "one without any", "leave it out")
        if self._hide is None:
            return draft
        try:
            return deidentified(draft, self._hide)
        except DataError as error:
            raise UnreadableError("cannot be de-identified", error.expected, error.got, error.remedy) from error

    def _choose_stem(self, key: _Key, file: Found) -> str:
        """Return the beginning of the ids of a file's documents: its name, if no other file has it."""
        name = file.name if self._hide is None else f"document-{key[1][:16]}"
        ids_of_origin = self._index.ids.get(self._origins[file.root], ())
        for candidate in (name, place_in(self._origins[file.root], name)):
            if candidate not in self._ids and (candidate in ids_of_origin or not self._index.taken(candidate)):
                return candidate
        return self._find_free_id(f"{name}~{hashlib.sha256(self._origins[file.root].encode()).hexdigest()[:8]}")

    def _find_free_id(self, doc_id: str, last: dict[str, int] | None = None) -> str:
        """Return an unused id.

        Args:
            doc_id: The preferred id.
            last: Last number by id, as a file may have one key a hundred thousand times.
        """
        number = last.get(doc_id, 1) if last else 1
        free = doc_id if number == 1 else f"{doc_id}~{number}"
        while free in self._ids:
            number += 1
            free = f"{doc_id}~{number}"
        if last is not None:
            last[doc_id] = number
        return free

    def _documents_elsewhere(self) -> Iterator[tuple[FileDocument, str]]:
        """Yield all documents of other origins, with their origins."""
        for origin, records in self._elsewhere.items():
            for record in records.values():
                yield from ((document, origin) for document in record.said)

    def _documents_of(self, records: Mapping[_Key, FileRecord]) -> list[tuple[FileDocument, str]]:
        """Return all documents with their origins, in the order of paths and names."""
        ordered = sorted(records.items(), key=lambda item: item[0])
        return [(document, self._origins[key[0]]) for key, record in ordered for document in record.said]
