"""Files that several processes or machines read together, with duplicates found over all of them.

1. Every worker lists the files. The lists are the same everywhere (`SharedFiles.listing`), and so are the shares.
2. A worker reads some shares (`read`). It keeps the drafts, and sends the records to the others.
3. When the records of all shares are known (`complete`), documents are built from the drafts (`documents`), as if one
   process had read all files. Files whose drafts are elsewhere are read again.
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
from auscult.ingest.file_records import FileRecord, find_duplicates, place_in
from auscult.ingest.files import FilesCorpus
from auscult.ingest.gathering import Gathering
from auscult.readers.archives import Found
from auscult.readers.process.reading import Reading
from auscult.readers.report import Problem

_LARGEST = 256
_FEWEST = 32
"""Least number of shares, if there are that many files."""


class ShareRecords(NamedTuple):
    """The records of a share's files, for other workers.

    Attributes:
        files: Records by number of the path and key of the file.
        formats: Number of documents by format.
    """

    files: Mapping[tuple[int, str], FileRecord]
    formats: Mapping[str, int]

    def to_json(self) -> list[Any]:
        """Return the records as values of JSON."""
        return [[[*key, each.to_json()] for key, each in self.files.items()], dict(self.formats)]

    @classmethod
    def from_json(cls, content: str) -> Self:
        """Parse the JSON of `to_json`.

        Raises:
            IndexFolderError: A record is invalid.
        """
        files, formats = parse_json(content)
        return cls({(root, name): FileRecord.from_json(record) for root, name, record in files}, formats)


class SharedFiles(Gathering):
    """Files in shares. It must stay open until all documents were built (see `Gathering`).

    Attributes:
        shares: The files of each share, in the order of paths and names.
    """

    shares: Sequence[Sequence[Found]] = ()
    _reading: Reading | None = None

    def close(self) -> None:
        """Discard the waiting drafts, and end the reading processes."""
        if self._reading is not None:
            self._reading.close()
        super().close()

    def find(self, processes: int = 0) -> None:
        """List the files, and divide them into shares.

        Args:
            processes: Number of reading processes; by default chosen by `Reading`.

        Raises:
            CorpusMissingError: A path does not exist.
        """
        self._reading = Reading(self._columns, processes=processes)
        listed = self._list_files()
        self.report.total = self.report.files = len(listed)
        distinct: dict[tuple[int, str], Found] = {}
        for file in listed:
            if distinct.setdefault((file.root, file.name), file) is not file:
                problem = Problem(file.name, "repeated name", "every name once", "two files of it", "rename one")
                self.report.problems.append(problem)
        self._name(distinct)
        files = [*distinct.values()]
        size = min(max(len(files) // _FEWEST, 1), _LARGEST)
        self.shares = [files[first : first + size] for first in range(0, len(files), size)]

    def _name(self, files: Iterable[tuple[int, str]]) -> None:
        """Give each file the beginning of its documents' ids, which must not depend on which worker reads it."""
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
        """Digest of the list of files and the options for reading; must be equal on all machines."""
        digest = hashlib.sha256("\n".join((*self._origins, self._how)).encode("utf-8", "surrogatepass"))
        for file in chain.from_iterable(self.shares):
            digest.update(f"{file.root}\0{file.name}\0".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def read(self, share: int) -> ShareRecords:
        """Read the files of a share, and keep their drafts."""
        if self._reading is None:
            raise RuntimeError("files that have not been found yet")
        before = self.report.documents.copy()
        records = {}
        for read in self._reading.read(self.shares[share], lambda file, digest: False, keep=True):
            key = self._key(read.found, read.digest)
            records[key] = self._take(key, read, self._old.get(key))
        self._old |= records
        return ShareRecords(records, self.report.documents - before)

    def complete(self, shares: Sequence[ShareRecords]) -> None:
        """Combine the records of all shares, and find duplicates.

        Raises:
            DataError: Two documents have the same id.
        """
        self._now = {key: record for share in shares for key, record in share.files.items()}
        self._old |= self._now
        documents = self._documents_of(self._now)
        repeated = [doc_id for doc_id, times in Counter(each.doc_id for each, _ in documents).items() if times > 1]
        if repeated:
            raise DataError("every document id once", f"'{repeated[0]}' a second time", "rename one of its files")
        self._places = find_duplicates(documents)

    def tell(self, shares: Sequence[ShareRecords]) -> None:
        """Fill the report from the records of all workers."""
        self.complete(shares)
        self.report.documents = sum((Counter(share.formats) for share in shares), Counter[str]())
        for (_, name), record in sorted(self._now.items()):
            if record.problem:
                self.report.problems.append(Problem(name, *record.problem))
            self.report.remarks += [(name, remark) for remark in record.remarks]
        first: dict[str, str] = {}
        for document, _ in self._documents_of(self._now):
            if self._places[document.doc_id] is None:
                self.report.duplicates.append((document.place, first[document.text]))
            first.setdefault(document.text, document.place)

    def documents(self, share: int, records: ShareRecords) -> Iterator[tuple[Document, str]]:
        """Yield the documents of a share with their origins.

        Args:
            share: Number of the share.
            records: Records of its files. A file that has changed since is read again, but new documents in it are not
                returned.
        """
        places = self._places
        said = [(each.doc_id, root) for (root, _), record in sorted(records.files.items()) for each in record.said]
        wanted = [(doc_id, root) for doc_id, root in said if places[doc_id] is not None]
        if any(doc_id not in self._waiting for doc_id, _ in wanted):
            self.read(share)
        for doc_id, root in wanted:
            if doc_id in self._waiting:
                yield self._waiting.document(doc_id, places[doc_id] or ()), self._origins[root]


def share_files(files: FilesCorpus) -> SharedFiles:
    """Return the files of a corpus in shares for several workers. Nothing is listed yet."""
    return files.open_gathering(SharedFiles)
