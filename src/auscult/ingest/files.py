"""Files of any kind as a corpus: folders, single files, patterns and archives, each file by the reader of its format.

The metadata of a document are its `file`, its `format`, what its reader found (`date`, `author` ...), and other places
of the same text (`also`, one per line). Documents have their original file (`Document.original`).

All files are read before the first document is returned, as only then are all duplicates known. Drafts are kept in an
unnamed temporary file, which disappears with the process. Unchanged files are not read again (`FilesCorpus.gather`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from auscult.documents import Document
from auscult.documents.splitting import SentenceSplitter
from auscult.errors import CorpusMissingError, DataError
from auscult.files.records import BadRecords
from auscult.ingest.file_records import Index
from auscult.ingest.gathered import Gathered
from auscult.ingest.gathering import Gathering
from auscult.ingest.sectioned import WithoutQueries
from auscult.readers.deidentify import open_deidentifier
from auscult.readers.report import Report
from auscult.readers.rows import Columns
from auscult.readers.walking import is_pattern, name_of

Progress = Callable[[Report], None]
_Gathering = TypeVar("_Gathering", bound=Gathering)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Options for reading files.

    Attributes:
        columns: Meaning of table columns and of JSON fields.
        deidentify: Name of the de-identifier (`readers.deidentify`); empty for none.
        originals: Keep the files, to show highlights in them.
        access: The group that may see the documents; empty for everybody.
        exclude: Patterns of files to skip, as in `.gitignore`.
    """

    columns: Columns = field(default_factory=Columns)
    deidentify: str = ""
    originals: bool = True
    access: str = ""
    exclude: tuple[str, ...] = ()


class FilesCorpus(WithoutQueries):
    """Documents of files.

    Args:
        paths: Folders, files, archives and patterns of names.
        name: Name of the corpus; by default that of the first path.
        choices: Options for reading files.
        without: Folders to skip, such as an index within the folder.
        skip_bad: Skip and report an unreadable file also if it is the only one named.
        splitter: Splits sentences; by default the default splitter.

    Attributes:
        report: Report of the latest pass over the files.

    Raises:
        CorpusMissingError: A path does not exist.
    """

    def __init__(
        self,
        *paths: Path | str,
        name: str = "",
        choices: Choices | None = None,
        without: Collection[Path] = (),
        skip_bad: bool = False,
        splitter: SentenceSplitter | None = None,
    ) -> None:
        if not paths:
            raise CorpusMissingError("at least one file or folder", "none", "name one")
        self.paths = tuple({origin_of(path): path for path in map(str, paths)}.values())
        self.choices = choices or Choices()
        self.name = name or ("documents" if self.choices.deidentify else name_of(self.paths[0]))
        self.report = Report()
        self._without = frozenset(path.resolve() for path in without)
        self._skip_bad = skip_bad
        self._splitter = splitter

    @property
    def bad(self) -> BadRecords:
        """Files that the latest pass skipped, by kind of problem."""
        found = BadRecords()
        for problem in self.report.problems:
            found.count(problem.kind, f"{problem.got} ({problem.name})")
        return found

    @property
    def origins(self) -> list[str]:
        """Origin of each path's documents."""
        return [origin_of(path, hidden=bool(self.choices.deidentify)) for path in self.paths]

    @contextmanager
    def gather(
        self,
        index: Index | None = None,
        progress: Progress | None = None,
        *,
        prune: bool = False,
        restored: Collection[str] | None = (),
    ) -> Iterator[Gathered]:
        """Read new and changed files, and determine what an index must contain.

        Args:
            index: What the index contains now; by default nothing.
            progress: Called after every file.
            prune: Drop documents whose files no longer exist.
            restored: Ids of removed documents that may be added again. With None, naming a file does not restore its
                documents either.

        Raises:
            CorpusMissingError: A path no longer exists.
            DataError: The only path is a file that cannot be read.
        """
        with self.open_gathering(Gathering) as gathering:
            gathered = gathering.gather(index, progress, prune=prune, restored=restored)
            # A single unreadable file is an error, and not only a line of the report.
            single = len(self.paths) == 1 and Path(self.paths[0]).is_file() and self.report.total == 1
            if single and self.report.problems and not self._skip_bad:
                problem = self.report.problems[0]
                raise DataError(problem.expected, f"{problem.kind}: {problem.got} ({problem.name})", problem.remedy)
            yield gathered

    def open_gathering(self, kind: type[_Gathering]) -> _Gathering:
        """Return a way to read the files, whose report becomes that of the corpus. Nothing is listed yet."""
        hide = open_deidentifier(self.choices.deidentify) if self.choices.deidentify else None
        gathering = kind(
            self.paths,
            self.origins,
            columns=self.choices.columns,
            deidentifier=hide,
            originals=self.choices.originals and hide is None,
            access=self.choices.access,
            without=self._without,
            exclude=self.choices.exclude,
            splitter=self._splitter,
        )
        self.report = gathering.report
        return gathering

    def documents(self, split: str | None = None) -> Iterator[Document]:
        """Yield documents in the order of paths and names; all are in the split "train".

        Raises:
            AuscultError: As for `gather`.
        """
        if split not in (None, "train"):
            return
        with self.gather() as gathered:
            yield from gathered.documents()

    def __iter__(self) -> Iterator[Document]:
        return self.documents()


def origin_of(path: str, *, hidden: bool = False) -> str:
    """Return the origin of documents: the absolute path, or its hash.

    Args:
        path: A file, a folder or a pattern.
        hidden: Return a hash, as the path may name a person. It can be compared, but not read.
    """
    place = str(Path(path).absolute() if is_pattern(path) else Path(path).resolve())
    return f"sha256:{hashlib.sha256(place.encode('utf-8', 'replace')).hexdigest()}" if hidden else place
