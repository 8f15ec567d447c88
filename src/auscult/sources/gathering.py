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
    REMOVED,
    FileRecord,
    Index,
    Said,
    WaitingDocuments,
    digest_of_id,
    digest_of_text,
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

    def __call__(self, document: Document) -> Document:
        """Return the document as it is then."""
        metadata = {name: value for name, value in document.metadata.items() if name != "also"}
        if self.doc_id != self.source:
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
        removed: Digests of what stays removed.
    """

    kept: set[str] = field(default_factory=set)
    dropped: set[str] = field(default_factory=set)
    missing: set[str] = field(default_factory=set)
    records: dict[str, dict[str, FileRecord]] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    rewrites: list[Rewrite] = field(default_factory=list)
    removed: set[str] = field(default_factory=set)
    _give: Callable[[str], Document] | None = None

    def documents(self, origin: str | None = None) -> Iterator[Document]:
        """Yield documents that are new or may have changed, in order; of one origin, or of all."""
        if self._give is not None:
            for doc_id, place in self.origins.items():
                if origin in (None, place):
                    yield self._give(doc_id)

    def files(self) -> dict[str, dict[str, str]]:
        """Return records as an index keeps them: by origin and key."""
        told = {
            origin: {key: each.to_json() for key, each in records.items()} for origin, records in self.records.items()
        }
        return told | {REMOVED: dict.fromkeys(sorted(self.removed), "")}


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
        named = deidentifier is None
        sources = [name_of(path) if named else "" for path in paths]
        self._waiting = WaitingDocuments(sources, named=named, originals=originals, access=access, splitter=splitter)
        hidden = deidentifier.name if deidentifier else ""
        # Files that another version, or other choices, would read otherwise are read again.
        self._how = f"{__version__}|{columns}|{hidden}|{originals}|{access}|{limits()}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.close()

    def gather(
        self,
        index: Index | None,
        progress: Callable[[Report], None] | None,
        *,
        prune: bool = False,
        restored: Collection[str] = (),
    ) -> Gathered:
        """Read the files that have to be read, and return what an index has to hold.

        Args:
            index: What it holds already; nothing where None.
            progress: Called after every file.
            prune: Forget files that are there no more.
            restored: Ids of documents that were removed and may come again.

        Raises:
            CorpusMissingError: A path leads nowhere.
        """
        index = index or Index()
        walks = (walk(path, root, self._without, self._ignoring[root]) for root, path in enumerate(self._paths))
        found = sorted(chain.from_iterable(walks), key=lambda each: (each.root, each.name))
        self.report.ignored = sum(each.count for each in self._ignoring)
        old = {
            (root, key): record
            for root, origin in enumerate(self._origins)
            for key, record in index.records.get(origin, {}).items()
        }
        elsewhere = {origin: {**held} for origin, held in index.records.items() if origin not in self._origins}
        changed = set() if self._hide else self._adopt(found, old, elsewhere)
        foreign = {each.doc_id for held in elsewhere.values() for record in held.values() for each in record.said}
        self._ids.update(record.stem for held in elsewhere.values() for record in held.values())
        self._ids.update(foreign, (each.doc_id for record in old.values() for each in record.said))
        # Earlier versions gave an id twice: to a document, and to one whose text stands elsewhere.
        known_of = {
            key: record for key, record in old.items() if foreign.isdisjoint(each.doc_id for each in record.said)
        }
        now: dict[_Key, FileRecord] = {}
        files: dict[_Key, Found] = {}
        reading = Reading(self._columns)

        def known(found: Found, digest: str) -> bool:
            key = self._key(found, digest)
            return key in known_of and old[key].digest == self._mixed(digest)

        self.report.total = len(found)
        for read in reading.read(found, known):
            self.report.files += 1
            key = self._key(read.found, read.digest)
            if key in now and self._hide is None:
                problem = Problem(read.found.name, "repeated name", "every name once", "two files of it", "rename one")
                self.report.problems.append(problem)
            else:
                now[key] = old[key] if read.unchanged else self._taken(key, read, known_of.get(key), index)
                files[key] = read.found
                if now[key].problem:
                    self.report.problems.append(Problem(read.found.name, *now[key].problem))
                elif read.unchanged:
                    self.report.unchanged += 1
                self.report.remarks += [(read.found.name, remark) for remark in now[key].remarks]
            if progress is not None:
                progress(self.report)
        # Who names a file, or a document, asks for it again.
        asked = {*restored}
        for (root, name), record in now.items():
            if files[root, name].name == name_of(self._paths[root]) and Path(self._paths[root]).is_file():
                asked.update(each.doc_id for each in record.said)
        every = [*old.values(), *now.values(), *(record for held in elsewhere.values() for record in held.values())]
        texts = {each.text for record in every for each in record.said if each.doc_id in asked}
        removed = {*index.removed} - texts - {*map(digest_of_id, asked)}

        def stays_out(each: Said) -> bool:
            return bool(removed) and (each.text in removed or digest_of_id(each.doc_id) in removed)

        gone = {key: record for key, record in old.items() if key not in now}
        for is_last in (False, True):
            present = self._said(now)
            behind = [] if prune else [each for each in self._said(gone) if index.taken(each[0].doc_id)]
            foreign_said = [
                (each, origin) for origin, held in elsewhere.items() for record in held.values() for each in record.said
            ]
            holding = [each for each in foreign_said if index.taken(each[0].doc_id)]
            order = [*holding, *present, *behind, *(each for each in foreign_said if not index.taken(each[0].doc_id))]
            order = [each for each in order if not stays_out(each[0])]
            places = others(order)
            again = [
                files[key]
                for key, record in sorted(now.items(), key=lambda item: item[0])
                if any(
                    places.get(each.doc_id) is not None
                    and each.doc_id not in self._waiting
                    and not index.taken(each.doc_id)
                    for each in record.said
                )
            ]
            if is_last or not again:
                break
            # Files of texts that stood in another document, which is there no more.
            for read in Reading(self._columns).read(again, lambda found, digest: False):
                key = self._key(read.found, read.digest)
                now[key] = self._taken(key, read, old.get(key), index)
        gathered = Gathered(removed=removed, _give=lambda doc_id: self._waiting.document(doc_id, places[doc_id] or ()))
        first: dict[str, str] = {}
        for each, origin in order:
            first.setdefault(each.text, each.place if origin in self._origins else place_in(origin, each.place))
        for each, origin in present:
            if each.doc_id not in places:
                self.report.removed.append(each.place)
            elif places[each.doc_id] is None:
                self.report.duplicates.append((each.place, first[each.text]))
            elif each.doc_id in self._waiting:
                gathered.origins[each.doc_id] = origin
            else:
                gathered.kept.add(each.doc_id)
        sources = {each.text: (each, origin) for each, origin in self._said(old) if index.taken(each.doc_id)}
        for each, origin in order:
            also = places[each.doc_id]
            if also is None or each.doc_id in gathered.origins:
                continue
            if index.taken(each.doc_id):
                if "\n".join(also) != index.also.get(each.doc_id, ""):
                    gathered.rewrites.append(Rewrite(each.doc_id, each.doc_id, origin, "", ("", ""), also))
            elif each.text in sources and origin not in self._origins:
                source, home = sources[each.text]
                folders = (name_of(home), name_of(origin))
                file = each.place.partition("#")[0]
                gathered.rewrites.append(Rewrite(source.doc_id, each.doc_id, origin, file, folders, also))
        stays = {
            key: record for key, record in gone.items() if any(places.get(e.doc_id) is not None for e in record.said)
        }
        for root, origin in enumerate(self._origins):
            held = {**now, **({} if prune else stays)}
            gathered.records[origin] = gathered.records.get(origin, {}) | {
                name: record for (place, name), record in held.items() if place == root
            }
        gathered.records |= {origin: elsewhere[origin] for origin in changed}
        held_before = {each.doc_id for each, _ in self._said(old) if index.taken(each.doc_id)} - foreign
        gathered.missing = {each.doc_id for record in (gone if prune else stays).values() for each in record.said}
        gathered.missing &= held_before
        gathered.dropped = held_before - gathered.kept - set(gathered.origins) - gathered.missing
        return gathered

    def _adopt(
        self, found: Sequence[Found], old: dict[_Key, FileRecord], elsewhere: dict[str, dict[str, FileRecord]]
    ) -> set[str]:
        """Move the records of files that were read from elsewhere, and are looked at now, to where that is.

        Returns:
            The origins that have fewer records then.
        """
        keys = {path_at(self._origins[each.root], each.name): (each.root, each.name) for each in reversed(found)}
        folders = [
            (f"{origin}/", root) for root, origin in enumerate(self._origins) if Path(origin).is_dir()
        ]  # fmt: skip
        changed = set()
        for origin, held in elsewhere.items():
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
                    changed.add(origin)
                    if key not in old:
                        old[key] = record
        return changed

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
        for each in (name, place_in(self._origins[found.root], name)):
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

    def _said(self, records: Mapping[_Key, FileRecord]) -> list[tuple[Said, str]]:
        """Return all documents with their origins, in the order of paths and names."""
        ordered = sorted(records.items(), key=lambda item: item[0])
        return [(each, self._origins[key[0]]) for key, record in ordered for each in record.said]
