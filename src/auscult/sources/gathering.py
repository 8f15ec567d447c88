"""Reading the files that have to be read, and working out what an index has to hold then.

1. Every file is looked at: one whose digest an index knows is not read again.
2. Drafts of the others wait in a `Spool`, until it is known which texts stand in several places.
3. The first of these, in the order of names, is the document, and tells the others; where that is another one than
   before, or has others than before, its file is read after all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Self

from auscult import __version__
from auscult.documents import Document
from auscult.documents.building import check_sentences
from auscult.errors import DataError
from auscult.files.limits import TooLargeError, check_texts, limits
from auscult.interfaces import SentenceSplitter
from auscult.readers.archives import Found
from auscult.readers.contract import DraftDocument, UnreadableError
from auscult.readers.deidentify import Deidentifier, deidentified
from auscult.readers.process.reading import FileRead, Reading
from auscult.readers.records.rows import Columns
from auscult.readers.report import Problem, Report
from auscult.readers.walking import name_of, walk
from auscult.sources.file_records import FileRecord, Index, Said, WaitingDocuments, digest_of_text, others, sections_of
from auscult.sources.sectioned import numbered

_Key = tuple[int, str]


@dataclass(slots=True)
class Gathered:
    """What an index has to hold.

    Attributes:
        kept: Ids of documents that it holds as they are.
        dropped: Ids of documents whose file is there, and says something else now.
        records: Of each origin, its files by key.
        gone: Of each origin, the files that it had and has no more.
        origins: Of each document that is given, where it was read.
    """

    kept: set[str] = field(default_factory=set)
    dropped: set[str] = field(default_factory=set)
    records: dict[str, dict[str, FileRecord]] = field(default_factory=dict)
    gone: dict[str, dict[str, FileRecord]] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    _give: Callable[[str], Document] | None = None

    def documents(self, origin: str | None = None) -> Iterator[Document]:
        """Yield documents that are new or may have changed, in order; of one origin, or of all."""
        if self._give is not None:
            for doc_id, place in self.origins.items():
                if origin in (None, place):
                    yield self._give(doc_id)

    def files(self, *, prune: bool) -> dict[str, dict[str, str]]:
        """Return records as an index keeps them: by origin and key.

        Args:
            prune: Forget files that are there no more.
        """
        held = {
            origin: records if prune else {**self.gone.get(origin, {}), **records}
            for origin, records in self.records.items()
        }
        return {origin: {key: each.to_json() for key, each in records.items()} for origin, records in held.items()}


class Gathering:
    """A pass over files; open as long as documents are taken from what it gathered.

    Args:
        paths: What was named.
        origins: Of each, what an index calls it.
        columns: What columns of tables mean.
        deidentifier: What takes out who documents are about; None for nothing.
        access: The group that may see the documents.
        without: Files and folders that are passed over.
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
        splitter: SentenceSplitter | None,
    ) -> None:
        self.report = Report()
        self._paths, self._origins = paths, origins
        self._columns, self._hide, self._access, self._without = columns, deidentifier, access, without
        self._ids: set[str] = set()
        named = deidentifier is None
        sources = [name_of(path) if named else "" for path in paths]
        self._waiting = WaitingDocuments(sources, named=named, originals=originals, access=access, splitter=splitter)
        hidden = deidentifier.name if deidentifier else ""
        # Files that another version, or other choices, would read otherwise are read again.
        self._how = (
            f"{__version__}|{columns.to_json() if columns.files else columns}|{hidden}|{originals}|{access}|{limits()}"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.close()

    def gather(self, index: Index | None, progress: Callable[[Report], None] | None) -> Gathered:
        """Read the files that have to be read, and return what an index has to hold.

        Args:
            index: What it holds already; nothing where None.
            progress: Called after every file.

        Raises:
            CorpusMissingError: A path leads nowhere.
        """
        index = index or Index()
        old = {
            (root, key): record
            for root, origin in enumerate(self._origins)
            for key, record in index.records.get(origin, {}).items()
        }
        self._ids.update(each.doc_id for record in old.values() for each in record.said)
        before = others(_said(old))
        # Files whose documents the index still holds: somebody may have removed one.
        held = {root: index.ids.get(origin, ()) for root, origin in enumerate(self._origins)}
        whole = {
            key
            for key, record in old.items()
            if all(before[each.doc_id] is None or each.doc_id in held[key[0]] for each in record.said)
        }
        now: dict[_Key, FileRecord] = {}
        files: dict[_Key, Found] = {}
        reading = Reading(self._columns)

        def known(found: Found, digest: str) -> bool:
            key = self._key(found, digest)
            return key in whole and old[key].digest == self._mixed(digest)

        walks = (walk(path, root, self._without) for root, path in enumerate(self._paths))
        found = sorted(chain.from_iterable(walks), key=lambda each: (each.root, each.name))
        self.report.total = len(found)
        for read in reading.read(found, known):
            self.report.files += 1
            key = self._key(read.found, read.digest)
            if key in now and self._hide is None:
                problem = Problem(read.found.name, "repeated name", "every name once", "two files of it", "rename one")
                self.report.problems.append(problem)
            else:
                now[key] = old[key] if read.unchanged else self._taken(key, read, old.get(key), index)
                files[key] = read.found
                if now[key].problem:
                    self.report.problems.append(Problem(read.found.name, *now[key].problem))
                elif read.unchanged:
                    self.report.unchanged += 1
                self.report.remarks += [(read.found.name, remark) for remark in now[key].remarks]
            if progress is not None:
                progress(self.report)
        after = others(_said(now))
        turned = {
            key
            for key, record in now.items()
            if any(
                each.doc_id not in self._waiting and after[each.doc_id] not in (None, before.get(each.doc_id))
                for each in record.said
            )
        }
        again = [files[key] for key in sorted(turned)]
        for read in Reading(self._columns).read(again, lambda found, digest: False) if again else ():
            key = self._key(read.found, read.digest)
            now[key] = self._taken(key, read, old.get(key), index)
        return self._gathered(old, now, before, index)

    def _key(self, found: Found, digest: str) -> _Key:
        """Return what a file is known by: its name, or a hash where the name may tell of a person."""
        if self._hide is None:
            return found.root, found.name
        return found.root, hashlib.sha256(f"{found.name}\0{digest}".encode()).hexdigest()

    def _mixed(self, digest: str) -> str:
        return hashlib.sha256(f"{self._how}\0{digest}".encode()).hexdigest()

    def _taken(self, key: _Key, read: FileRead, old: FileRecord | None, index: Index) -> FileRecord:
        """Put a file's drafts to wait, and return its record."""
        try:
            if read.problem is not None:
                raise read.problem
            stem = old.stem if old is not None and old.stem else self._stem(key, read.found, index)
            drafts = [(name, self._prepared(draft, read.found)) for name, draft in read.drafts]
            if not drafts:
                raise UnreadableError("no words", "a file with words", "one without any", "leave it out")
            return self._waits(drafts, stem, read, {each.doc_id for each in old.said} if old else set())
        except UnreadableError as problem:
            # What was found may be words of the file ("only the columns ..."), which are not for an index then.
            got = problem.got if self._hide is None else "something else"
            told = (problem.kind, problem.expected, got, problem.remedy)
            if old is not None and old.said:
                # What was read of it before stays, and it is looked at again the next time.
                return replace(old, problem=told, digest="")
            return FileRecord(digest=self._mixed(read.digest), problem=told)

    def _waits(self, drafts: list[tuple[str, DraftDocument]], stem: str, read: FileRead, own: set[str]) -> FileRecord:
        said: list[Said] = []
        self._ids -= own
        last: dict[str, int] = {}
        for number, (name, draft) in enumerate(drafts, 1):
            key = "".join(each if each.isprintable() else "_" for each in draft.key)
            ending = "" if not draft.key else f"#{number}" if self._hide else f"#{key}"
            doc_id = self._free(f"{stem}{ending}", last)
            self._ids.add(doc_id)
            access = self._access or draft.metadata.get("access", "")
            place = doc_id if self._hide else f"{read.found.name}{ending}"
            said.append(Said(doc_id, place, digest_of_text(draft, access)))
            # Each of a file's many documents would keep the whole file.
            digest = read.digest if len(drafts) == 1 else ""
            self._waiting.put(doc_id, draft, name, read.found, digest)
            self.report.documents[name] += 1
        drafts_told = drafts if self._hide is None else ()
        remarks = dict.fromkeys(remark for _, draft in drafts_told for remark in draft.remarks)
        return FileRecord(digest=self._mixed(read.digest), stem=stem, said=tuple(said), remarks=tuple(remarks))

    def _prepared(self, draft: DraftDocument, found: Found) -> DraftDocument:
        try:
            check_texts((draft.title, draft.text), found.name)
            check_sentences(draft.text, found.name)
        except TooLargeError as error:
            raise UnreadableError(f"{error.name} too large", error.expected, "a larger one", error.remedy) from error
        if not numbered("", sections_of(draft)):
            raise UnreadableError("no words", "a document with words", "one without any", "leave it out")
        if self._hide is None:
            return draft
        try:
            return deidentified(draft, self._hide)
        except DataError as error:
            raise UnreadableError("cannot be de-identified", error.expected, error.got, error.remedy) from error

    def _stem(self, key: _Key, found: Found, index: Index) -> str:
        """Return what ids of a file's documents begin with: its name, where no other file has it."""
        name = found.name if self._hide is None else f"document-{key[1][:16]}"
        own = index.ids.get(self._origins[found.root], ())
        for each in (name, f"{name_of(self._paths[found.root])}/{name}" if self._hide is None else name):
            if each not in self._ids and (each in own or not index.taken(each)):
                return each
        return self._free(f"{name}~{hashlib.sha256(self._origins[found.root].encode()).hexdigest()[:8]}")

    def _free(self, doc_id: str, last: dict[str, int] | None = None) -> str:
        """Return an id that no document has.

        Args:
            doc_id: Preferred.
            last: Number that was given last, by id: a file may have one key a hundred thousand times.
        """
        number = last.get(doc_id, 1) if last else 1
        free = doc_id if number == 1 else f"{doc_id}~{number}"
        while free in self._ids:
            number += 1
            free = f"{doc_id}~{number}"
        if last is not None:
            last[doc_id] = number
        return free

    def _gathered(
        self,
        old: Mapping[_Key, FileRecord],
        now: Mapping[_Key, FileRecord],
        before: Mapping[str, tuple[str, ...] | None],
        index: Index,
    ) -> Gathered:
        said = _said(now)
        elsewhere = others(said)
        roots = {each.doc_id: key[0] for key, record in sorted(now.items()) for each in record.said}
        gathered = Gathered(_give=lambda doc_id: self._waiting.document(doc_id, elsewhere[doc_id] or ()))
        first = {each.text: each.place for each in reversed(said)}
        for each in said:
            origin = self._origins[roots[each.doc_id]]
            if elsewhere[each.doc_id] is None:
                self.report.duplicates.append((each.place, first[each.text]))
            elif each.doc_id in self._waiting:
                gathered.origins[each.doc_id] = origin
            else:
                gathered.kept.add(each.doc_id)
        for root, origin in enumerate(self._origins):
            gathered.records[origin] = gathered.records.get(origin, {}) | {
                name: record for (place, name), record in now.items() if place == root
            }
            gathered.gone[origin] = {
                name: record for (place, name), record in old.items() if place == root and (place, name) not in now
            }
        held = {doc_id for origin in self._origins for doc_id in index.ids.get(origin, ())}
        of_present = {each.doc_id for key, record in old.items() if key in now for each in record.said}
        gathered.dropped = (of_present & held) - gathered.kept - set(gathered.origins)
        return gathered


def _said(records: Mapping[_Key, FileRecord]) -> list[Said]:
    """Return all documents, in the order of paths and names."""
    return [each for _, record in sorted(records.items(), key=lambda item: item[0]) for each in record.said]
