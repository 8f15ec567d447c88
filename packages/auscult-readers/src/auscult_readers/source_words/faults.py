"""Compare the documents of an index with what their files show a person (`auscult verify --sources`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter

from auscult.errors import printable
from auscult.index import PassageIndex
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.process.worker import ReadingProcess
from auscult_readers.rendering import AS_CELLS, can_render, rendered
from auscult_readers.source_words.checking import CHECKERS, PDF, compare
from auscult_readers.source_words.comparison import LostWord
from auscult_readers.source_words.indexed_files import IndexedFile, files_of
from auscult_readers.source_words.misread import Misread, misread_in
from auscult_readers.source_words.part import PRINTED, PRINTED_PAGE
from auscult_readers.source_words.reader import SHOWN_SHEETS


def count_faults(opened: PassageIndex, echo: Callable[[str], object]) -> int:
    """Print what source files show and no passage has, and what is read otherwise. Return the number of faults.

    Args:
        opened: The index.
        echo: Prints a line.
    """
    files, words, faults, shown = 0, 0, 0, 0
    counts, problems = Counter[str](), Counter[str]()
    with ReadingProcess(readers=CHECKERS) as process:
        for file in files_of(opened):
            original, documents, remarks = file
            name = documents[0].doc_id
            if original.media_type.startswith("image/"):
                problems["pictures"] += 1
                continue
            try:
                parts = [draft for _, draft in process.read(SourceFile(original.media_type, original.content))]
            except UnreadableError as error:
                problems[error.kind] += 1
                echo(printable(f"{name}: source not read: {error}"))
                continue
            printed = _printed(process, file)
            shown += bool(printed)
            total, lost = compare(original, documents, [*parts, *printed], remarks)
            misread = misread_in(documents, parts, remarks)
            files, words = files + 1, words + total
            counts.update(each.reason for each in lost)
            counts.update(each.what for each in misread)
            faults += len(misread) + sum(each.is_fault for each in lost)
            _print_differences(echo, name, total, lost, misread)
    reasons = "".join(f"; {reason}: {number:,}" for reason, number in counts.most_common())
    without = "".join(f"; not compared, {kind}: {number:,}" for kind, number in problems.most_common())
    echo(f"files compared: {files:,}, as shown: {shown:,}; words: {words:,}; faults: {faults:,}{reasons}{without}")
    return faults


def _printed(process: ReadingProcess, file: IndexedFile) -> list[DraftDocument]:
    """Return the words of a file as LibreOffice or a browser shows it; none if this machine has neither."""
    media_type = file.original.media_type
    # A browser believes the encoding that a page declares, and the report says that it is wrong.
    if not can_render(media_type) or any(each.startswith("declared as") for each in file.remarks):
        return []
    (content,) = rendered([(media_type, file.original.content)])
    if content is None:
        return []
    form = SHOWN_SHEETS if media_type in AS_CELLS else PDF
    try:
        parts = [draft for _, draft in process.read(SourceFile(form, content))]
    except UnreadableError:
        return []
    # Only the words of a printed page count: the file itself says what is struck out or hidden.
    return [
        part if part.key.startswith(PRINTED) else replace(part, key=f"{PRINTED_PAGE} {int(part.key) + 1}", metadata={})
        for part in parts
        if part.key.isdecimal() or part.key.startswith(PRINTED)
    ]


def _print_differences(
    echo: Callable[[str], object], name: str, total: int, lost: Sequence[LostWord], misread: Sequence[Misread]
) -> None:
    echo(printable(f"{name}: {total:,} words, {total - len(lost):,} kept"))
    for each in misread:
        echo(printable(f"  FAULT: {each.what}: {each.where}"))
    for is_fault in (True, False):
        chosen = sorted((each for each in lost if each.is_fault is is_fault), key=itemgetter(1, 2))
        for (part, reason), group in groupby(chosen, key=itemgetter(1, 2)):
            missing = " ".join(each.word for each in group)
            echo(printable(f"  {'FAULT: ' if is_fault else ''}{part}, {reason}: {missing}"))
