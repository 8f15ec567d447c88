"""Collections of bare questions, which say how common a word is in questions rather than in documents.

A file is a tab-separated table with a header and a column `question`, plain or gzip-compressed; any other text file
holds one question a line.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from auscult.catalogue import catalogue, locate
from auscult.errors import CorpusMissingError
from auscult.files.reading import read_lines

GENERAL = "general-questions"
"""The catalogue's collection of questions about anything."""

_COLUMN = "question"


def read_questions(spec: str | Path = GENERAL) -> Iterator[str]:
    """Stream the questions of a collection.

    Args:
        spec: A catalogue name ("general-questions"), or a file.

    Raises:
        CorpusMissingError: It is not on this machine.
        DataError: The file cannot be read, or is no text in UTF-8.
    """
    path = locate(spec) if isinstance(spec, str) and spec in catalogue() else Path(spec)
    if not path.is_file():
        raise CorpusMissingError(f"a file of questions at {path}", "no such file", f"correct it, or give '{GENERAL}'")
    column: int | None = None
    for number, line in read_lines(path):
        cells = line.split("\t")
        if number == 1 and _COLUMN in cells:
            column = cells.index(_COLUMN)
            continue
        question = line if column is None else cells[min(column, len(cells) - 1)]
        if question.strip():
            yield question.strip()
