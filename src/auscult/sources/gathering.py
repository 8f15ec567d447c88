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
from typing import NamedTuple, Self

from auscult import __version__
from auscult.documents import Document
from auscult.documents.building import check_sentences
from auscult.errors import DataError
from auscult.files.limits import TooLargeError, check_texts, limits
from auscult.interfaces import SentenceSplitter
from auscult.readers.archives import Found
from auscult.readers.contract import DraftDocument, UnreadableError
from auscult.readers.deidentify import Deidentifier, deidentified
from auscult.readers.ignoring import Ignoring
from auscult.readers.process.reading import FileRead, Reading
from auscult.readers.records.rows import Columns
from auscult.readers.report import Problem, Report
from auscult.readers.walking import name_of, place_of, walk
from auscult.sources.file_records import (
    FileRecord,
    Index,
    Said,
    WaitingDocuments,
    digest_of_id,
    digest_of_text,
    is_hidden,
    others,
    path_at,
    place_in,
    sections_of,
)
from auscult.sources.sectioned import numbered

_Key = tuple[int, str]


class Rewrite(NamedTuple):
    """A document of the index that is written once more: with other places, or in the name of another file.

    Attributes:
        source: Its id as it is.
        doc_id: Its id then; another one than `source` for a copy.
        origin: Where it was read.
        file: The name of the copy's file.
        folders: Names of the folders that the document and its copy are from, which may be their sources.
        also: Other places of the text.
    """

    source: str
    doc_id: str
    origin: str
    file: str
    folders: tuple[str, str]
    also: tuple[str, ...]

    def apply(self, document: Document) -> Document:
        """Return the document as it is then."""
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
    """What an index has to hold.

    Attributes:
        kept: Ids of documents that it holds as they are.
        dropped: Ids of documents that it holds and shall not: their file says something else now, or another has the
            text.
        missing: Ids of documents whose files are gone.
        records: Of each origin, its files by key.
        origins: Of each document that is given, where it was read.
        rewrites: Documents that it holds otherwise.
        restored: Marks of removed documents that may come again (`Index.removed`).
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
        """Yield documents that are new or may have changed, in order; of one origin, or of all."""
        if self._give is not None:
            for doc_id, place in self.origins.items():
                if origin in (None, place):
                    yield self._give(doc_id)

    def files(self) -> dict[str, dict[str, str]]:
        """Return records as an index keeps them: by origin and key."""
        return {
            origin: {key: each.to_json() for key, each in records.items()} for origin, records in self.records.items()
        }


class Gathering:
    """A pass over files; open as long as documents are taken from what it gathered.

    Args:
        paths: What was named.
        origins: Of each, what an index calls it.
        columns: What columns of tables mean.
        deidentifier: What takes out who documents are about; None for nothing.
        access: The group that may see the documents.
        without: Files and folders that are passed over.
        exclude: Patterns of files that are left out.
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
        self._ordered: list[tuple[Said, str]] = []
        self._places: dict[str, tuple[str, ...] | None] = {}
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
        self.close()

    def close(self) -> None:
        """Forget the drafts that wait."""
        self._waiting.close()

    def gather(
        self,
        index: Index | None,
        progress: Callable[[Report], None] | None,
        *,
        prune: bool = False,
        restored: Collection[str] | None = (),
    ) -> Gathered:
        """Read the files that have to be read, and return what an index has to hold.

        Args:
            index: What it holds already; nothing where None.
            progress: Called after every file.
            prune: Forget files that are there no more.
            restored: Ids of documents that were removed and may come again; None also asks for no file by name.

        Raises:
            CorpusMissingError: A path leads nowhere.
        """
        self._index = index = index or Index()
        walks = (walk(path, root, self._without, self._ignoring[root]) for root, path in enumerate(self._paths))
        found = sorted(chain.from_iterable(walks), key=lambda each: (each.root, each.name))
        self.report.ignored = sum(each.count for each in self._ignoring)
        self._old = {
            (root, key): record
            for root, origin in enumerate(self._origins)
            for key, record in index.records.get(origin, {}).items()
        }
        self._elsewhere = {origin: {**held} for origin, held in index.records.items() if origin not in self._origins}
        poorer = set() if self._hide else self._adopt(found)
        self._read(found, progress)
        self._restored = self._asked_for(restored)
        self._order(prune)
        if again := [self._files[key] for key in sorted(self._now) if self._is_lost(self._now[key])]:
            # Their texts stood in other documents, which are there no more.
            for read in Reading(self._columns).read(again, lambda found, digest: False):
                key = self._key(read.found, read.digest)
                self._now[key] = self._taken(key, read, self._old.get(key))
            self._order(prune)
        return self._gathered(prune, poorer)

    def _read(self, found: Sequence[Found], progress: Callable[[Report], None] | None) -> None:
        """Read the files that are not known, and fill the report."""
        foreign = {each.doc_id for each, _ in self._foreign()}
        self._ids.update(record.stem for held in self._elsewhere.values() for record in held.values())
        self._ids.update(foreign, (each.doc_id for each, _ in self._said(self._old)))
        # Earlier versions gave an id twice: to a document, and to one whose text stands elsewhere.
        old = {key: each for key, each in self._old.items() if foreign.isdisjoint(said.doc_id for said in each.said)}

        def known(found: Found, digest: str) -> bool:
            key = self._key(found, digest)
            return key in old and old[key].digest == self._mixed(digest)

        self.report.total = len(found)
        for read in Reading(self._columns).read(found, known):
            self.report.files += 1
            key = self._key(read.found, read.digest)
            if key in self._now and self._hide is None:
                problem = Problem(read.found.name, "repeated name", "every name once", "two files of it", "rename one")
                self.report.problems.append(problem)
            else:
                record = self._now[key] = old[key] if read.unchanged else self._taken(key, read, old.get(key))
                self._files[key] = read.found
                if record.problem:
                    self.report.problems.append(Problem(read.found.name, *record.problem))
                elif read.unchanged:
                    self.report.unchanged += 1
                self.report.remarks += [(read.found.name, remark) for remark in record.remarks]
            if progress is not None:
                progress(self.report)

    def _asked_for(self, restored: Collection[str] | None) -> set[str]:
        """Return the marks of removed documents that are asked for: by their ids, or by naming their file itself."""
        if restored is None:
            return set()
        single = {root for root, path in enumerate(self._paths) if Path(path).is_file()}
        named = {key: record for key, record in self._now.items() if key[0] in single}
        asked = {*restored}
        for key, record in named.items():
            # A member of an archive is not named by naming the archive.
            if self._files[key].name == name_of(self._paths[key[0]]):
                asked.update(each.doc_id for each in record.said)
        every = (*self._said(self._old), *self._said(self._now), *self._foreign())
        return {*map(digest_of_id, asked), *(each.text for each, _ in every if each.doc_id in asked)}

    def _stays_out(self, said: Said) -> bool:
        """Whether a document was removed from the index, and nobody asks for it."""
        marks = {digest_of_id(said.doc_id), said.text} if self._index.removed else set()
        return any(mark in self._index.removed and mark not in self._restored for mark in marks)

    def _order(self, prune: bool) -> None:
        """Work out which document each text is of: one that the index has from elsewhere, else the first by name."""
        taken = self._index.taken
        behind = {} if prune else {key: record for key, record in self._old.items() if key not in self._now}
        foreign = [*self._foreign()]
        ordered = (
            *(each for each in foreign if taken(each[0].doc_id)),
            *self._said(self._now),
            *(each for each in self._said(behind) if taken(each[0].doc_id)),
            *(each for each in foreign if not taken(each[0].doc_id)),
        )
        self._ordered = [each for each in ordered if not self._stays_out(each[0])]
        self._places = others(self._ordered)

    def _is_lost(self, record: FileRecord) -> bool:
        """Whether a file has a document that neither the index has nor waits to be."""
        return any(
            self._places.get(each.doc_id) is not None
            and each.doc_id not in self._waiting
            and not self._index.taken(each.doc_id)
            for each in record.said
        )

    def _gathered(self, prune: bool, poorer: Collection[str]) -> Gathered:
        """Return what an index has to hold, and tell the report what it has not.

        Args:
            prune: Forget files that are there no more.
            poorer: Other origins that lost files.
        """
        places = self._places
        gathered = Gathered(
            restored=self._restored, _give=lambda doc_id: self._waiting.document(doc_id, places[doc_id] or ())
        )
        first: dict[str, str] = {}
        for each, origin in self._ordered:
            first.setdefault(each.text, each.place if origin in self._origins else place_in(origin, each.place))
        for each, origin in self._said(self._now):
            if each.doc_id not in places:
                self.report.removed.append(each.place)
            elif places[each.doc_id] is None:
                self.report.duplicates.append((each.place, first[each.text]))
            elif each.doc_id in self._waiting:
                gathered.origins[each.doc_id] = origin
            else:
                gathered.kept.add(each.doc_id)
        gathered.rewrites = [*self._rewrites(gathered.origins)]
        gone = {key: record for key, record in self._old.items() if key not in self._now}
        if not prune:
            # Whose text stands in another file now, is that.
            gone = {
                key: each
                for key, each in gone.items()
                if any(places.get(said.doc_id) is not None for said in each.said)
            }
        for root, origin in enumerate(self._origins):
            held = self._now if prune else gone | self._now
            gathered.records[origin] = gathered.records.get(origin, {}) | {
                name: record for (place, name), record in held.items() if place == root
            }
        gathered.records |= {origin: self._elsewhere[origin] for origin in poorer}
        had = {each.doc_id for each, _ in self._said(self._old) if self._index.taken(each.doc_id)}
        had -= {each.doc_id for each, _ in self._foreign()}
        gathered.missing = had & {each.doc_id for each, _ in self._said(gone)}
        gathered.dropped = had - gathered.kept - set(gathered.origins) - gathered.missing
        return gathered

    def _rewrites(self, given: Collection[str]) -> Iterator[Rewrite]:
        """Yield documents with other places than before, and those whose file is gone while another has their text."""
        sources = {
            each.text: (each, origin) for each, origin in self._said(self._old) if self._index.taken(each.doc_id)
        }
        for each, origin in self._ordered:
            also = self._places[each.doc_id]
            if also is None or each.doc_id in given:
                continue
            if self._index.taken(each.doc_id):
                if "\n".join(also) != self._index.also.get(each.doc_id, ""):
                    yield Rewrite(each.doc_id, each.doc_id, origin, "", ("", ""), also)
            elif each.text in sources and origin not in self._origins:
                source, home = sources[each.text]
                # A file that is kept as it is becomes none that says nothing of a person.
                if is_hidden(origin) == is_hidden(home):
                    folders = (name_of(home), name_of(origin))
                    yield Rewrite(source.doc_id, each.doc_id, origin, each.place.partition("#")[0], folders, also)

    def _adopt(self, found: Sequence[Found]) -> set[str]:
        """Move the records of files that were read from elsewhere, and are looked at now, to where that is.

        Returns:
            The origins that have fewer records then.
        """
        keys = {path_at(self._origins[each.root], each.name): (each.root, each.name) for each in reversed(found)}
        folders = [(f"{origin}/", root) for root, origin in enumerate(self._origins) if Path(origin).is_dir()]
        poorer = set()
        for origin, held in self._elsewhere.items():
            if not Path(origin).is_absolute():
                continue
            for name in [*held]:
                path = path_at(origin, name)
                below = next(
                    ((root, path.removeprefix(start)) for start, root in folders if path.startswith(start)), None
                )
                key = keys.get(path, below)
                if key is not None:
                    record = held.pop(name)
                    poorer.add(origin)
                    self._old.setdefault(key, record)
        return poorer

    def _key(self, found: Found, digest: str) -> _Key:
        """Return what a file is known by: its name, or a hash where the name may tell of a person."""
        if self._hide is None:
            return found.root, found.name
        return found.root, hashlib.sha256(f"{found.name}\0{digest}".encode()).hexdigest()

    def _mixed(self, digest: str) -> str:
        return hashlib.sha256(f"{self._how}\0{digest}".encode()).hexdigest()

    def _taken(self, key: _Key, read: FileRead, old: FileRecord | None) -> FileRecord:
        """Put a file's drafts to wait, and return its record."""
        try:
            if read.problem is not None:
                raise read.problem
            stem = old.stem if old is not None and old.stem else self._stem(key, read.found)
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
            text = digest_of_text(draft, access)
            # Never one with a document that says who it is about.
            said.append(Said(doc_id, place, f"~{text}" if self._hide else text))
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

    def _stem(self, key: _Key, found: Found) -> str:
        """Return what ids of a file's documents begin with: its name, where no other file has it."""
        name = found.name if self._hide is None else f"document-{key[1][:16]}"
        own = self._index.ids.get(self._origins[found.root], ())
        for each in (name, place_in(self._origins[found.root], name)):
            if each not in self._ids and (each in own or not self._index.taken(each)):
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

    def _foreign(self) -> Iterator[tuple[Said, str]]:
        """Yield all documents of files that are not looked at now, with their origins."""
        for origin, held in self._elsewhere.items():
            for record in held.values():
                yield from ((each, origin) for each in record.said)

    def _said(self, records: Mapping[_Key, FileRecord]) -> list[tuple[Said, str]]:
        """Return all documents with their origins, in the order of paths and names."""
        ordered = sorted(records.items(), key=lambda item: item[0])
        return [(each, self._origins[key[0]]) for key, record in ordered for each in record.said]
