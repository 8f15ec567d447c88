"""From uploaded files to documents: where files are kept while they are read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final

from auscult.documents import Document
from auscult.readers.report import Problem
from auscult.sources.files import FilesCorpus

_CHUNK: Final = 1 << 20
_STRANGE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff<>:\"|?*]+")
_MOST: Final = 120
_NAME: Final = "upload"


Skipped = tuple[str, str]
"""The name of a file that could not be read, and why."""


@contextmanager
def reading(folder: Path, looked_at: Callable[[int], None]) -> Iterator[tuple[Iterator[Document], list[Skipped]]]:
    """Yield the documents of uploaded files, and the files that could not be read.

    Args:
        folder: Of the files.
        looked_at: Is told how many files have been looked at.
    """
    corpus = FilesCorpus(folder, name=_NAME, skip_bad=True)
    with corpus.gather(progress=lambda report: looked_at(report.files)) as gathered:
        # A document without a source of its own has the folder's name, which is another one with every upload.
        documents = (
            replace(each, source=_NAME) if each.source == folder.name else each for each in gathered.documents()
        )
        yield documents, [(each.name, _why(each)) for each in corpus.report.problems]


def _why(problem: Problem) -> str:
    return str(problem).removeprefix(f"{problem.name}: ")


def place_for(folder: Path, name: str) -> Path:
    """Where an uploaded file is kept: below the folder, whatever it calls itself, and beside others of its name."""
    parts = [_STRANGE.sub("_", part).strip(" .")[-_MOST:] for part in re.split(r"[/\\]", name)]
    kept = [part for part in parts if part][-8:] or ["document"]
    path = folder.joinpath(*kept)
    number = 2
    while path.exists() or any(parent.is_file() for parent in path.parents):
        path = folder.joinpath(f"{number}", *kept)
        number += 1
    return path


def keep(file: BinaryIO, path: Path) -> int:
    """Write an uploaded file; how many bytes it has."""
    path.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    with path.open("wb") as kept:
        while chunk := file.read(_CHUNK):
            kept.write(chunk)
            size += len(chunk)
    return size
