"""Files of any kind as a corpus: folders, single files, patterns and archives, each file by the reader of its format.

What is told of a document besides its text: the `file` it is from, its `format`, what its reader found (`date`,
`author` ...), and the other places (`also`, a line each) where the same text stands. Documents keep their file
(`Document.original`).

All files are read before the first document is given, into a file that has no name and is gone with this process: only
then is it known which documents say the same. Files that are as they were are not read again (`FilesCorpus.gather`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from auscult.documents import Document
from auscult.errors import CorpusMissingError, DataError
from auscult.files.records import BadRecords
from auscult.interfaces import SentenceSplitter
from auscult.readers.deidentify import open_deidentifier
from auscult.readers.records.rows import Columns
from auscult.readers.report import Report
from auscult.readers.walking import is_pattern, name_of
from auscult.sources.file_records import Index
from auscult.sources.gathering import Gathered, Gathering
from auscult.sources.sectioned import WithoutQueries
from auscult.sources.sharing import SharedFiles

Progress = Callable[[Report], None]
_Gathering = TypeVar("_Gathering", bound=Gathering)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Options for reading files.

    Attributes:
        columns: Meaning of columns of tables and fields of JSON lines.
        deidentify: Name of what removes who documents are about (`readers.deidentify`); empty for none.
        originals: Whether to keep the files, for highlights in them.
        access: Group that may see the documents; empty for everybody who has the index.
        exclude: Patterns of files to leave out, as in `.gitignore`.
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
        name: The corpus' name; of the first path where not given.
        choices: How files are read.
        without: Folders that are passed over (an index that lies in the folder).
        skip_bad: Also a single named file that cannot be read is left out and reported.
        splitter: Finds sentences; the default splitter when not given.

    Attributes:
        report: What the latest pass over the files did.

    Raises:
        CorpusMissingError: A path leads nowhere.
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
        """Files that the latest pass left out, by kind."""
        found = BadRecords()
        for problem in self.report.problems:
            found.count(problem.kind, f"{problem.got} ({problem.name})")
        return found

    @property
    def origins(self) -> list[str]:
        """Where the documents of each path were read."""
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
        """Read what has to be read, and work out what an index has to hold then.

        Args:
            index: What it holds already; nothing where not given.
            progress: Called after every file.
            prune: Forget files that are there no more.
            restored: Ids of documents that were removed and may come again; None also asks for no file by name.

        Raises:
            CorpusMissingError: A path leads nowhere any more.
            DataError: The only path is a file that cannot be read.
        """
        with self._gathering(Gathering) as gathering:
            self.report = gathering.report
            gathered = gathering.gather(index, progress, prune=prune, restored=restored)
            # A single file that cannot be read is an error, and no line of a report.
            single = len(self.paths) == 1 and Path(self.paths[0]).is_file() and self.report.total == 1
            if single and self.report.problems and not self._skip_bad:
                problem = self.report.problems[0]
                raise DataError(problem.expected, f"{problem.kind}: {problem.got} ({problem.name})", problem.remedy)
            yield gathered

    def shared(self) -> SharedFiles:
        """Return the files in shares that several workers read together; nothing has been listed yet."""
        gathering = self._gathering(SharedFiles)
        self.report = gathering.report
        return gathering

    def _gathering(self, kind: type[_Gathering]) -> _Gathering:
        hide = open_deidentifier(self.choices.deidentify) if self.choices.deidentify else None
        return kind(
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

    def documents(self, split: str | None = None) -> Iterator[Document]:
        """Stream documents, in the order of paths and names; all are of the split "train".

        Raises:
            AuscultError: See `gather`.
        """
        if split not in (None, "train"):
            return
        with self.gather() as gathered:
            yield from gathered.documents()

    def __iter__(self) -> Iterator[Document]:
        return self.documents()


def origin_of(path: str, *, hidden: bool = False) -> str:
    """Return what says where documents were read: the absolute path, or its hash.

    Args:
        path: A file, a folder or a pattern.
        hidden: It may name a person: say it so that it can be compared, and not read.
    """
    place = str(Path(path).absolute() if is_pattern(path) else Path(path).resolve())
    return f"sha256:{hashlib.sha256(place.encode('utf-8', 'replace')).hexdigest()}" if hidden else place
