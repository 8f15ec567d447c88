"""Open a corpus by name or path: a corpus of an extension, or the user's own files.

The names of an extension's entry points say which files it reads: `study/NOTEEVENTS.csv*` means the extension `study`
and a pattern for `fnmatch`. The extension is tried only if the name of the path, or of a direct entry of that folder,
matches. All other paths are the user's own, and no module of the extension is imported for them. An entry without a
pattern is tried for every path.
"""

from __future__ import annotations

import codecs
import zlib
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, Protocol

from auscult.catalogue import catalogue, unknown_name
from auscult.errors import CorpusMissingError
from auscult.extensions import entries, load
from auscult.files.limits import limits
from auscult.files.reading import open_unpacked
from auscult.ingest.corpus import Corpus
from auscult.ingest.files import Choices, FilesCorpus
from auscult.ingest.rows import SUFFIXES, CsvCorpus, JsonlCorpus
from auscult.readers.contract import SourceFile
from auscult.readers.registry import Registry
from auscult.readers.walking import is_pattern

_GROUP: Final = "auscult.corpora"
_PROBE: Final = 4096
_JSON: Final = (".json", ".json.gz")
_FHIR: Final = b'"resourceType"'
_TABLES: Final = (".jsonl", ".gz", ".json", ".csv", ".tsv")


class CorpusSource(Protocol):
    """The corpora of an extension: entry points of the group `auscult.corpora` name one object of this protocol."""

    def names(self, spec: str) -> bool:
        """Return whether a text is the name of a corpus of the extension, and not a path."""
        ...

    def open(self, spec: str, *, skip_bad: bool) -> Corpus | None:
        """Open a corpus by its name or path; return None if it has none of the extension's formats.

        Args:
            spec: The name or path.
            skip_bad: Skip bad records and count them in the corpus' `bad`, instead of raising an error.
        """
        ...


def open_corpus(spec: str, *, skip_bad: bool = False, choices: Choices | None = None) -> Corpus:
    """Open a corpus.

    Args:
        spec: The name of a corpus that an extension registers, or a path: a JSON lines file (plain or
            gzip-compressed), a table (.csv, .tsv), a file or folder of an extension's format, or any other file,
            folder or pattern of names ("notes/*.pdf"), which is read as files (`FilesCorpus`).
        skip_bad: Skip bad records and count them in the corpus' `bad`, instead of raising an error.
        choices: Options for reading files; the mapping of columns also applies to JSON lines and tables.

    Returns:
        The corpus; nothing has been read yet.

    Raises:
        ConfigError: It is neither a name nor a path; the error suggests similar names.
        CorpusMissingError: It is not on this machine; the remedy says where to get it and where to put it.
    """
    # A file for which the user has mapped columns is the user's own table, whatever its name.
    own = choices is not None and bool(choices.columns.of(spec)) and Path(spec).is_file()
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
        return _open_rows(path, skip_bad, choices) or FilesCorpus(path, choices=choices, skip_bad=skip_bad)
    if path.suffix in _TABLES or "/" in spec:
        raise CorpusMissingError(f"a corpus at {path}", "no such file or folder", "correct the path")
    raise unknown_name(spec, or_else=", or a file or folder that exists")


def open_registered(spec: str, *, skip_bad: bool = False) -> Corpus | None:
    """Open a corpus of an extension; return None if no extension knows the name or the format."""
    refused: list[CorpusSource] = []
    names = _list_names(spec)
    # A name of the catalogue has precedence over a path.
    may_be_name = not names or spec in catalogue()
    for entry in entries(_GROUP):
        pattern = entry.partition("/")[2] or "*"
        is_marked = any(fnmatchcase(name, pattern) for name in names)
        if not (is_marked or may_be_name):
            continue
        source: CorpusSource = load(_GROUP, entry)
        if source not in refused and (is_marked or source.names(spec)):
            if (corpus := source.open(spec, skip_bad=skip_bad)) is not None:
                return corpus
            refused.append(source)
    return None


def opens_as_files(spec: str) -> bool:
    """Return whether `open_corpus` reads a path as files, each with the reader for its format."""
    path = Path(spec)
    try:
        if not (path.exists() or is_pattern(spec)) or open_registered(spec, skip_bad=True) is not None:
            return False
        return not path.is_file() or _open_rows(path, True, None) is None
    except (OSError, ValueError):
        return False


def _list_names(spec: str) -> list[str]:
    """Return the names of a file or folder and of the folder's direct entries; empty for a missing path.

    FHIR files are left out, as they are always the user's own.
    """
    path = Path(spec)
    try:
        inner = list(path.iterdir()) if path.is_dir() else []
        paths = [path, *inner] if path.exists() else []
    except (OSError, ValueError):
        return []
    return [each.name for each in paths if not (each.name.lower().endswith(_JSON) and _FHIR in _read_head(each))]


def _open_rows(path: Path, skip_bad: bool, choices: Choices | None) -> Corpus | None:
    """Open a table or a file of JSON lines; return None for any other file."""
    columns = choices.columns.of(path.as_posix()) if choices else None
    if path.name.lower().endswith(SUFFIXES):
        return CsvCorpus(path, skip_bad=skip_bad, columns=columns)
    head = _read_head(path)
    # JSON lines begin with a brace, but so do FHIR and, after a backslash, RTF.
    begins_so = head.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"{") and not head.startswith(b"{\\rtf")
    named_so = path.name.lower().endswith((".jsonl", ".jsonl.gz"))
    if named_so or (begins_so and _FHIR not in head and not _is_fhir(path)):
        return JsonlCorpus(path, skip_bad=skip_bad, columns=columns)
    return None


def _is_fhir(path: Path) -> bool:
    """Return whether a JSON file is FHIR, which some files say only at their end."""
    if not path.name.lower().endswith(_JSON):
        return False
    try:
        with open_unpacked(path) as opened:
            file = SourceFile(path.name.lower().removesuffix(".gz"), opened.read(limits().source))
        return Registry().reader("fhir").recognises(file)
    except (OSError, EOFError, zlib.error):
        return False


def _read_head(path: Path) -> bytes:
    """Return the first bytes of a file, unpacked; empty if it cannot be read."""
    if not path.is_file():
        return b""
    try:
        with open_unpacked(path) as opened:
            return opened.peek(_PROBE)[:_PROBE]
    except (OSError, EOFError, zlib.error):
        return b""
