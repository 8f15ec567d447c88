"""Files that several processes, or machines, read together: each reads some, and all know which texts are the same.

1. Every worker lists the files. They are the same everywhere (`SharedFiles.listing`), and so are their shares.
2. A worker reads some shares (`read`). Drafts wait with it; their records go to the others.
3. When the records of all shares are known (`complete`), documents are made of the drafts (`documents`), as if one
   process had read all files. Files whose drafts wait elsewhere are read again.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, Self

from auscult.documents import Document
from auscult.errors import DataError
from auscult.files.json_text import parse_json
from auscult.readers.archives import Found
from auscult.readers.process.reading import Reading
from auscult.readers.report import Problem
from auscult.readers.walking import walk
from auscult.sources.file_records import FileRecord, others, place_in
from auscult.sources.gathering import Gathering

_LARGEST = 256
_FEWEST = 32
"""Shares that there are at least, where there are as many files."""


class ShareRecords(NamedTuple):
    """What was found in the files of a share, as other workers need to know it.

    Attributes:
        files: Records by number of the path that was named, and key of the file.
        formats: How many documents there are of each format.
    """

    files: Mapping[tuple[int, str], FileRecord]
    formats: Mapping[str, int]

    def to_json(self) -> list[Any]:
        """Return what `from_json` reads."""
        return [[[*key, each.to_json()] for key, each in self.files.items()], dict(self.formats)]

    @classmethod
    def from_json(cls, content: str) -> Self:
        """Read what `to_json` wrote.

        Raises:
            IndexFolderError: A record is something else.
        """
        files, formats = parse_json(content)
        return cls({(root, name): FileRecord.from_json(record) for root, name, record in files}, formats)


class SharedFiles(Gathering):
    """The files that were named, in shares; open as long as documents are made of them (see `Gathering`).

    Attributes:
        shares: Files, in the order of paths and names.
    """

    shares: Sequence[Sequence[Found]] = ()
    _reading: Reading | None = None

    def close(self) -> None:
        """Forget the drafts that wait, and end the processes that read."""
        if self._reading is not None:
            self._reading.close()
        super().close()

    def find(self, processes: int = 0) -> None:
        """Find the files.

        Args:
            processes: That read here; as `Reading` chooses where not given.

        Raises:
            CorpusMissingError: A path leads nowhere.
        """
        self._reading = Reading(self._columns, processes=processes)
        walks = (walk(path, root, self._without, self._ignoring[root]) for root, path in enumerate(self._paths))
        listed = sorted(chain.from_iterable(walks), key=lambda each: (each.root, each.name))
        self.report.ignored = sum(each.count for each in self._ignoring)
        self.report.total = self.report.files = len(listed)
        distinct: dict[tuple[int, str], Found] = {}
        for found in listed:
            if distinct.setdefault((found.root, found.name), found) is not found:
                problem = Problem(found.name, "repeated name", "every name once", "two files of it", "rename one")
                self.report.problems.append(problem)
        self._name(distinct)
        files = [*distinct.values()]
        size = min(max(len(files) // _FEWEST, 1), _LARGEST)
        self.shares = [files[first : first + size] for first in range(0, len(files), size)]

    def _name(self, files: Iterable[tuple[int, str]]) -> None:
        """Give each file the beginning of its documents' ids, which does not depend on who reads what."""
        if self._hide is not None:
            return
        given: set[str] = set()
        for root, name in files:
            preferred = (name, place_in(self._origins[root], name))
            free = next((each for each in preferred if each not in given), None)
            if free is not None:
                given.add(free)
                self._old[root, name] = FileRecord(digest="", stem=free)

    @property
    def listing(self) -> str:
        """Digest of which files there are and of how they are read; equal on all machines that work together."""
        said = hashlib.sha256("\n".join((*self._origins, self._how)).encode("utf-8", "surrogatepass"))
        for found in chain.from_iterable(self.shares):
            said.update(f"{found.root}\0{found.name}\0".encode("utf-8", "surrogatepass"))
        return said.hexdigest()

    def read(self, share: int) -> ShareRecords:
        """Read the files of a share, and let their drafts wait."""
        if self._reading is None:
            raise RuntimeError("files that have not been found yet")
        before = self.report.documents.copy()
        records = {}
        for read in self._reading.read(self.shares[share], lambda found, digest: False, keep=True):
            key = self._key(read.found, read.digest)
            records[key] = self._taken(key, read, self._old.get(key))
        self._old |= records
        return ShareRecords(records, self.report.documents - before)

    def complete(self, shares: Sequence[ShareRecords]) -> None:
        """Take the records of all shares, and work out which texts are the same.

        Raises:
            DataError: Two documents have one id.
        """
        self._now = {key: record for share in shares for key, record in share.files.items()}
        self._old |= self._now
        said = self._said(self._now)
        repeated = [doc_id for doc_id, times in Counter(each.doc_id for each, _ in said).items() if times > 1]
        if repeated:
            raise DataError("every document id once", f"'{repeated[0]}' a second time", "rename one of its files")
        self._places = others(said)

    def tell(self, shares: Sequence[ShareRecords]) -> None:
        """Fill the report with what all workers have read."""
        self.complete(shares)
        self.report.documents = sum((Counter(each.formats) for each in shares), Counter[str]())
        for (_, name), record in sorted(self._now.items()):
            if record.problem:
                self.report.problems.append(Problem(name, *record.problem))
            self.report.remarks += [(name, remark) for remark in record.remarks]
        first: dict[str, str] = {}
        for each, _ in self._said(self._now):
            if self._places[each.doc_id] is None:
                self.report.duplicates.append((each.place, first[each.text]))
            first.setdefault(each.text, each.place)

    def documents(self, share: int, records: ShareRecords) -> Iterator[tuple[Document, str]]:
        """Yield the documents of a share, each with where it was read.

        Args:
            share: Its number.
            records: Of its files; where a file has changed since, what it says now is read, and no new document.
        """
        places = self._places
        said = [(each.doc_id, root) for (root, _), record in sorted(records.files.items()) for each in record.said]
        wanted = [(doc_id, root) for doc_id, root in said if places[doc_id] is not None]
        if any(doc_id not in self._waiting for doc_id, _ in wanted):
            self.read(share)
        for doc_id, root in wanted:
            if doc_id in self._waiting:
                yield self._waiting.document(doc_id, places[doc_id] or ()), self._origins[root]
