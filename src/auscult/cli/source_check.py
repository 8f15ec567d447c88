"""Compare the documents of an index with the files that they were read from (`auscult verify --sources`)."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

import typer

from auscult.documents import Document
from auscult.documents.original import Original
from auscult.errors import printable
from auscult.index import PassageIndex
from auscult.readers.contract import SourceFile, UnreadableError
from auscult.readers.process.worker import ReadingProcess
from auscult.readers.source_words.checking import CHECKERS, compare
from auscult.readers.source_words.comparison import UNKNOWN, LostWord


def words_without_reason(opened: PassageIndex) -> int:
    """Print which words of source files are in no passage. Return how many of them have no known reason."""
    files, words, counts, problems = 0, 0, Counter[str](), Counter[str]()
    with ReadingProcess(readers=CHECKERS) as process:
        for original, documents in _files(opened):
            name = documents[0].doc_id
            if original.media_type.startswith("image/"):
                problems["pictures"] += 1
                continue
            try:
                parts = [draft for _, draft in process.read(SourceFile(original.media_type, original.content))]
            except UnreadableError as error:
                problems[error.kind] += 1
                typer.echo(printable(f"{name}: source not read: {error}"))
                continue
            total, lost = compare(original, documents, parts)
            files, words = files + 1, words + total
            counts.update(each.reason for each in lost)
            _print_lost(name, total, lost)
    reasons = "".join(f"; {reason}: {number:,}" for reason, number in counts.most_common())
    without = "".join(f"; not compared, {kind}: {number:,}" for kind, number in problems.most_common())
    typer.echo(f"files compared: {files:,}; words: {words:,}, kept: {words - counts.total():,}{reasons}{without}")
    return counts[UNKNOWN]


def _files(opened: PassageIndex) -> Iterator[tuple[Original, list[Document]]]:
    """Yield each file that the index has stored, with all documents that were read from it."""
    rows: dict[tuple[str, str, bytes], list[int]] = {}
    for row in opened.documents_where().tolist():
        if (original := opened.reader.original(row)) is not None:
            digest = hashlib.sha256(original.content).digest()
            rows.setdefault((original.name, original.media_type, digest), []).append(row)
    for of_file in rows.values():
        if (original := opened.reader.original(of_file[0])) is not None:
            yield original, [opened.reader.document(row) for row in of_file]


def _print_lost(name: str, total: int, lost: Sequence[LostWord]) -> None:
    typer.echo(printable(f"{name}: {total:,} words, {total - len(lost):,} kept"))
    for (part, reason), group in groupby(sorted(lost, key=itemgetter(1, 2)), key=itemgetter(1, 2)):
        missing = " ".join(each.word for each in group)
        typer.echo(printable(f"  {part}, {reason}: {missing}"))
