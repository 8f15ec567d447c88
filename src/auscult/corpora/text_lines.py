"""Lines of plain text files, numbered, with every fault named by file and line."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path

from auscult.corpora.records import reject
from auscult.errors import CorpusMissingError, DataError


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    r"""Stream the lines of a UTF-8 file; a byte order mark is ignored, empty lines are passed over.

    Only "\n" (or "\r\n") ends a line: texts may hold other characters that count as line breaks elsewhere.

    Args:
        path: The file.

    Yields:
        (number, line): counted from 1, without its end.

    Raises:
        CorpusMissingError: There is no such file.
        DataError: It cannot be read.
        RecordError: A line is not UTF-8; names file and line.
    """
    if not path.is_file():
        raise CorpusMissingError(f"a text file at {path}", "no such file", "correct the path")
    try:
        with path.open("rb") as stream:
            for number, raw in enumerate(stream, start=1):
                line = raw.removeprefix(codecs.BOM_UTF8) if number == 1 else raw
                try:
                    text = line.decode("utf-8").rstrip("\r\n")
                except UnicodeDecodeError as error:
                    found = f"byte 0x{line[error.start]:02x} at position {error.start}"
                    reject("invalid UTF-8", f"{path}, line {number}", "text in UTF-8", found)
                if text.strip():
                    yield number, text
    except OSError as error:
        raise DataError(f"a readable file at {path}", str(error.strerror), "correct its permissions") from error


__all__ = ["numbered_lines"]
