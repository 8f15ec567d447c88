"""Words of files that another extractor reads and Auscult does not, with reasons.

    python benchmarks/words_kept.py FOLDER ... [--most 3000]

Every PDF, Word, Excel, PowerPoint, OpenDocument and RTF file below the folders is read as by `auscult index`, and by
another library: pypdf, python-docx, openpyxl, python-pptx, odfdo or striprtf. A file's share is that of the other's
words, with repeats, that are in its documents, headings and titles, ignoring order and capitals.

A third parser of the file (PDFium's text of pages, libxml2) gives the reason why a word is lost, as in `auscult verify
--sources`: it is struck out, hidden, in a footer, and so on. Further reasons are:

- joined or divided otherwise: it was read with other blanks around it, or without the hyphen of a line's end;
- only the other library reads it: the third parser finds it no more often than Auscult;
- no reason known: it should have been read.

Files that either cannot read within the limits are counted but not compared, and so are files with fewer than five
words by the other. Test collections of parsers are good folders: those of pdf.js, PDFBox, POI, Tika, pypdf,
pdfminer.six, pdfplumber, tabula-java, camelot, python-docx, python-pptx, odfdo, XlsxWriter, calamine, PhpSpreadsheet,
pandoc, docling, unstructured and markitdown. No file is saved. Writes benchmarks/results/words_kept.json.
"""

from __future__ import annotations

import argparse
import io
import logging
import random
import re
import signal
import statistics
import unicodedata
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from multiprocessing import Pool
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple

from auscult.documents import Document
from auscult.documents.building import build_document
from auscult.documents.original import Original
from auscult.files.writing import write_json
from auscult.ingest.file_records import sections_of
from auscult.provenance import stamp
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.process.worker import ReadingProcess
from auscult_readers.source_words.checking import CHECKERS, compare
from auscult_readers.source_words.comparison import UNKNOWN
from auscult_readers.source_words.part import STRUCTURE

RESULT: Final = Path(__file__).resolve().parent / "results" / "words_kept.json"
SECONDS: Final = 20
FEWEST: Final = 5
#: Letters of a word that does not stand in others by chance.
SHORTEST: Final = 4
WORST: Final = 0.05
JOINED, OTHER = "joined or divided otherwise", "only the other library reads it"


class Compared(NamedTuple):
    """A file: its format, why it was not compared (or empty), the share of words kept, and reasons for lost words."""

    name: str
    kind: str
    problem: str
    kept: float
    reasons: Counter[str]


def main() -> None:
    """Compare, and write the record."""
    parser = argparse.ArgumentParser(description="Compare what is read with other libraries.")
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--most", type=int, default=600, help="files of each format, chosen by chance")
    given = parser.parse_args()
    files = [
        (folder, path)
        for folder in given.folders
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix.lower() in OTHERS
    ]
    random.Random(0).shuffle(files)
    chosen = [
        file
        for kind in OTHERS
        for file in [(folder, path) for folder, path in files if path.suffix.lower() == kind][: given.most]
    ]
    with Pool() as pool:
        results = list(pool.imap_unordered(compared, chosen))
    kinds = [
        row(kind, [result for result in results if result.kind == kind])
        for kind in sorted({result.kind for result in results})
    ]
    whole = [result for result in results if not result.problem]
    worst = sorted(whole, key=lambda result: result.kept)[: max(1, int(WORST * len(whole)))]
    for of_kind in kinds:
        print(of_kind)
    record = {
        "kind": "words_kept",
        "title": "Words that another library reads",
        "formats": [*kinds, row("all", results)],
        "worst": [
            {"file": result.name, "kept": round(result.kept, 3), "most lost": reason(result)} for result in worst
        ],
        "worst_by_reason": counted(map(reason, worst)),
        "not_compared": counted(result.problem for result in results if result.problem),
        **stamp(),
    }
    write_json(RESULT, [record])


def counted(names: Iterable[str]) -> list[str]:
    """Return the number of each value, the most frequent first."""
    return [f"{name}: {number}" for name, number in Counter(names).most_common()]


def reason(file: Compared) -> str:
    """Return the most frequent reason for a file's lost words."""
    return file.reasons.most_common(1)[0][0] if file.reasons else "none lost"


def row(kind: str, files: Sequence[Compared]) -> dict[str, Any]:
    """Return the shares of the files of one format."""
    shares = sorted(each.kept for each in files if not each.problem)
    lost = sum((each.reasons for each in files), Counter[str]())
    return {
        "format": kind,
        "files": len(files),
        "compared": len(shares),
        "median": round(statistics.median(shares), 4) if shares else None,
        "worst_5_percent": round(shares[int(WORST * len(shares))], 4) if shares else None,
        "mean": round(statistics.fmean(shares), 4) if shares else None,
        "lost, no reason known": lost[UNKNOWN],
        "lost, by reason": [f"{name}: {number}" for name, number in lost.most_common()],
    }


def compared(place: tuple[Path, Path]) -> Compared:
    """Compare one file."""
    folder, path = place
    name, kind = f"{folder.name}/{path.relative_to(folder).as_posix()}", path.suffix.lower()
    content = path.read_bytes()
    # First, because recognising words in pictures of pages takes long.
    other = within_limits(OTHERS[kind], content)
    if other is None or sum(other.values()) < FEWEST:
        return Compared(name, kind, "the other reads nothing", 0.0, Counter())
    try:
        drafts = [draft for _, draft in reading_process().read(SourceFile(path.name, content))]
    except UnreadableError as error:
        return Compared(name, kind, f"not read: {error.kind}", 0.0, Counter())
    own = words(" ".join(text_of(draft) for draft in drafts))
    lost = other - Counter(own)
    return Compared(name, kind, "", 1 - lost.total() / other.total(), reasons_of(lost, own, drafts, content))


def reasons_of(lost: Counter[str], own: list[str], drafts: Sequence[DraftDocument], content: bytes) -> Counter[str]:
    """Return the number of lost words by reason.

    Args:
        lost: Words of the other library that Auscult did not read, with counts.
        own: Words that Auscult read.
        drafts: Documents of the file.
        content: The file.
    """
    if not lost:
        return Counter()
    source, known = by_third_parser(drafts, content)
    counts, squeezed = Counter(own), "".join(own)
    reasons = Counter[str]()
    for word, number in lost.items():
        reason = known.get(word, UNKNOWN)
        if reason != UNKNOWN:
            reasons[reason] += number
        elif len(word) >= SHORTEST and word in squeezed:
            reasons[JOINED] += number
        else:
            reasons[OTHER if source[word] <= counts[word] else UNKNOWN] += number
    return reasons


def by_third_parser(drafts: Sequence[DraftDocument], content: bytes) -> tuple[Counter[str], dict[str, str]]:
    """Return the words that a third parser reads in a file, and the reasons for the lost ones."""
    by_content: dict[tuple[str, bytes], list[DraftDocument]] = {}
    for draft in drafts:
        by_content.setdefault((draft.media_type, content if draft.content is None else draft.content), []).append(draft)
    source, known = Counter[str](), dict[str, str]()
    for (media_type, held), group in by_content.items():
        try:
            parts = [part for _, part in checking_process().read(SourceFile(media_type, held))]
        except UnreadableError:
            continue
        original = Original(name="", media_type=media_type, content=b"", words=group[0].words)
        for lost in compare(original, [document_of(draft) for draft in group], parts)[1]:
            known.update(dict.fromkeys(words(lost.word), lost.reason))
        source.update(word for part in parts if part.key not in STRUCTURE for word in words(part.text))
    return source, known


def document_of(draft: DraftDocument) -> Document:
    """Return the document of a draft."""
    return build_document(doc_id="d", title=draft.title, sections=sections_of(draft), text=draft.text)


@cache
def checking_process() -> ReadingProcess:
    """Return this process' cached process for the third parser."""
    return ReadingProcess(readers=CHECKERS)


@cache
def reading_process() -> ReadingProcess:
    """Return this process' cached process for reading files."""
    return ReadingProcess()


def text_of(draft: DraftDocument) -> str:
    """Return all text of a draft that an index contains."""
    headings = [heading for section in draft.sections for heading in (section.heading, *section.above)]
    above = [heading for path in draft.heading_paths for heading in path]
    # Most headings are also in the text; counting them twice loses no word of the other library.
    return " ".join([draft.title, *headings, *above, draft.text])


def words(text: str) -> list[str]:
    """Return words in lower case and NFKC normal form."""
    return re.findall(r"\w+", unicodedata.normalize("NFKC", text).replace("\u00ad", "").lower())


def within_limits(extract: Callable[[bytes], str], content: bytes) -> Counter[str] | None:
    """Return the words that another library reads; None where it fails or takes too long."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    # Processor time, as the machine may be busy.
    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Counter(words(extract(content)))
    except ImportError:
        raise
    except Exception:  # Each library raises different errors.
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def of_pdf(content: bytes) -> str:
    """Read a PDF with pypdf."""
    from pypdf import PdfReader

    return "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(content)).pages)


def of_word(content: bytes) -> str:
    """Read paragraphs and tables of a Word file with python-docx."""
    from docx import Document

    def texts(part: Any) -> Iterator[str]:
        yield from (paragraph.text for paragraph in part.paragraphs)
        for table in part.tables:
            for cells in table.rows:
                # A merged cell is returned once per column.
                for cell in {id(cell._tc): cell for cell in cells.cells}.values():
                    yield from texts(cell)

    return "\n".join(texts(Document(io.BytesIO(content))))


def of_workbook(content: bytes) -> str:
    """Read the cells of visible sheets with openpyxl."""
    from openpyxl import load_workbook

    book = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    # Numbers and dates have many formats; only words are compared.
    return "\n".join(cell for sheet in sheets for each in sheet.values for cell in each if isinstance(cell, str))


def of_slides(content: bytes) -> str:
    """Read the text frames and tables of slides with python-pptx."""
    from pptx import Presentation

    def texts(shapes: Any) -> Iterator[str]:
        for shape in shapes:
            if shape.has_text_frame:
                yield shape.text_frame.text
            if getattr(shape, "has_table", False):
                yield from (cell.text for cells in shape.table.rows for cell in cells.cells)
            if hasattr(shape, "shapes"):
                yield from texts(shape.shapes)

    return "\n".join(text for slide in Presentation(io.BytesIO(content)).slides for text in texts(slide.shapes))


def of_open_document(content: bytes) -> str:
    """Read the paragraphs and headings of an OpenDocument file with odfdo."""
    from odfdo import Document

    body = Document(io.BytesIO(content)).body
    inside = "not(ancestor::text:p or ancestor::text:h or ancestor::text:tracked-changes)"
    found = body.get_elements(f"descendant::text:p[{inside}]|descendant::text:h[{inside}]")
    return "\n".join(each.inner_text for each in found)


def of_rich_text(content: bytes) -> str:
    """Convert rich text with striprtf."""
    from striprtf.striprtf import rtf_to_text

    return rtf_to_text(content.decode("cp1252", "replace"), errors="replace")


OTHERS: Final[dict[str, Callable[[bytes], str]]] = {
    ".pdf": of_pdf,
    ".docx": of_word,
    ".xlsx": of_workbook,
    ".pptx": of_slides,
    ".odt": of_open_document,
    ".ods": of_open_document,
    ".odp": of_open_document,
    ".rtf": of_rich_text,
}


if __name__ == "__main__":
    main()
