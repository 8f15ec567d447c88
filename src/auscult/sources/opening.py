"""From a name or a path to a corpus: one's own files first, then what extensions register.

An extension's `CorpusSource` says by `marks` which names of files and folders its formats have. A path without such a
name is one's own, and no code of the extension looks at it.
"""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, Protocol

from auscult.catalogue import unknown_name
from auscult.errors import CorpusMissingError
from auscult.extensions import entries, load
from auscult.files.packed import open_unpacked
from auscult.interfaces import Corpus
from auscult.readers.walking import is_pattern
from auscult.sources.csv_table import SUFFIXES, CsvCorpus
from auscult.sources.files import Choices, FilesCorpus
from auscult.sources.jsonl import JsonlCorpus

_GROUP: Final = "auscult.corpora"
_PROBE: Final = 4096
_TABLES: Final = (".jsonl", ".gz", ".json", ".csv", ".tsv")


class CorpusSource(Protocol):
    """The corpora of an extension: an entry point of the group `auscult.corpora` names one object of this protocol.

    Attributes:
        marks: Patterns of names, as of `fnmatch`: a file, or a folder with a direct entry, whose name matches one may
            be of the extension's formats.
    """

    marks: Collection[str]

    def names(self, spec: str) -> bool:
        """Whether a text is the name of a corpus of the extension, and no path."""
        ...

    def open(self, spec: str, *, skip_bad: bool) -> Corpus | None:
        """Open a corpus by its name or path; None where it is of none of the extension's formats.

        Args:
            spec: The name or path.
            skip_bad: Leave bad records out and count them in the corpus' `bad`, instead of raising.
        """
        ...


def open_corpus(spec: str, *, skip_bad: bool = False, choices: Choices | None = None) -> Corpus:
    """Open a corpus.

    Args:
        spec: The name of a corpus that an extension registers, or a path: a JSON lines file (plain or
            gzip-compressed), a table (.csv, .tsv), a file or folder of an extension's format, or any other file,
            folder or pattern of names ("notes/*.pdf"), which is read as files (`FilesCorpus`).
        skip_bad: Leave bad records out and count them in the corpus' `bad`, instead of raising.
        choices: How files are read; the mapping of columns holds for JSON lines and tables too.

    Returns:
        The corpus; nothing has been read yet.

    Raises:
        ConfigError: Neither a name nor a path; names the nearest.
        CorpusMissingError: It is not on this machine; the remedy says where to get it and where to put it.
    """
    # With columns of the user's own, a file is a table, whatever it is called.
    own = choices is not None and bool(choices.columns) and Path(spec).is_file()
    if not own and (registered := open_registered(spec, skip_bad=skip_bad)) is not None:
        return registered
    if is_pattern(spec):
        return FilesCorpus(spec, choices=choices, skip_bad=skip_bad)
    path = Path(spec)
    try:
        path.stat()
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CorpusMissingError("a corpus' name or path", f"{spec[:80]!r} ({reason})", "correct it") from error
    if path.is_dir():
        if not any(each for each in path.rglob("*") if each.is_file()):
            remedy = "put files there, or name the folder or file that holds the documents"
            raise CorpusMissingError(f"documents in the folder {path}", "no files", remedy)
        return FilesCorpus(path, choices=choices, skip_bad=skip_bad)
    if path.is_file():
        return _of_rows(path, skip_bad, choices) or FilesCorpus(path, choices=choices, skip_bad=skip_bad)
    if path.suffix in _TABLES or "/" in spec:
        raise CorpusMissingError(f"a corpus at {path}", "no such file or folder", "correct the path")
    raise unknown_name(spec, or_else=" or an existing file or folder")


def open_registered(spec: str, *, skip_bad: bool = False) -> Corpus | None:
    """Open a corpus of an extension; None where no extension knows the name or the format.

    Args:
        spec: As `open_corpus` takes it.
        skip_bad: As `open_corpus` takes it.
    """
    for source in _sources():
        if source.names(spec) or _is_marked(spec, source.marks):
            corpus = source.open(spec, skip_bad=skip_bad)
            if corpus is not None:
                return corpus
    return None


def opens_as_files(spec: str) -> bool:
    """Whether `open_corpus` reads a path as files, each by the reader of its kind.

    Args:
        spec: As `open_corpus` takes it.
    """
    path = Path(spec)
    try:
        if not (path.exists() or is_pattern(spec)) or open_registered(spec, skip_bad=True) is not None:
            return False
        return not path.is_file() or _of_rows(path, True, None) is None
    except (OSError, ValueError):
        return False


def _sources() -> Iterator[CorpusSource]:
    for name in entries(_GROUP):
        yield load(_GROUP, name)


def _is_marked(spec: str, marks: Collection[str]) -> bool:
    """Whether a path, or an entry of the folder there, has a name of an extension's formats."""
    path = Path(spec)
    try:
        names = [each.name for each in path.iterdir()] if path.is_dir() else [path.name] if path.is_file() else []
    except (OSError, ValueError):
        return False
    return any(fnmatchcase(name, mark) for name in names for mark in marks)


def _of_rows(path: Path, skip_bad: bool, choices: Choices | None) -> Corpus | None:
    """Open a table or a file of JSON lines; None for a file of another kind."""
    columns = choices.columns if choices else None
    if path.name.lower().endswith(SUFFIXES):
        return CsvCorpus(path, skip_bad=skip_bad, columns=columns)
    if path.name.lower().endswith((".jsonl", ".jsonl.gz")) or _holds_objects(path):
        return JsonlCorpus(path, skip_bad=skip_bad, columns=columns)
    return None


def _holds_objects(path: Path) -> bool:
    """Whether a file begins as JSON lines do that are not of FHIR."""
    try:
        with open_unpacked(path) as opened:
            head = opened.peek(_PROBE)[:_PROBE]
    except (OSError, EOFError, zlib.error):
        return False
    return (
        head.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{")
        and b'"resourceType"' not in head
        and not head.startswith(b"{\\rtf")
    )
