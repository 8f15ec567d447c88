"""Which words of files does another extractor read that Auscult does not, and why?

    python benchmarks/words_kept.py FOLDER ... [--most 3000]

Every PDF, Word, Excel, PowerPoint and OpenDocument file below the folders is read as `auscult index` reads it, and by
another library: pypdf, python-docx, openpyxl, python-pptx or odfdo. A file's share is that of the other's words, as
often as they stand there, that stand in its documents, headings and titles, whatever their order and capitals. Each
lost word has a reason:

- joined or parted: it is there, with other blanks around it or without the hyphen of a line's end;
- left out and told: the report of the file says that something was left out;
- unknown: nothing says why.

A file that either does not read within the limits is counted and not compared, and so is one in which the other finds
fewer than five words. Test collections of parsers are good folders: those of pdf.js, PDFBox, POI, Tika, pypdf,
pdfminer.six, pdfplumber and python-docx. No file is kept. Writes benchmarks/results/words_kept.json.
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

from auscult.files.writing import write_json
from auscult.provenance import stamp
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.process.worker import ReadingProcess

RESULT: Final = Path(__file__).resolve().parent / "results" / "words_kept.json"
SECONDS: Final = 20
FEWEST: Final = 5
#: Letters of a word that does not stand in others by chance.
SHORTEST: Final = 4
WORST: Final = 0.05
JOINED, TOLD, UNKNOWN = "joined or parted", "left out and told", "unknown"


class Compared(NamedTuple):
    """A file: its format, why it was not compared (or nothing), the share of words kept, and why others were not."""

    name: str
    kind: str
    problem: str
    kept: float
    reasons: Counter[str]


def main() -> None:
    """Compare, and write the record."""
    parser = argparse.ArgumentParser(description="Compare what is read with other libraries.")
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--most", type=int, default=3000, help="files, chosen by chance")
    given = parser.parse_args()
    files = [
        (folder, path)
        for folder in given.folders
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix.lower() in OTHERS
    ]
    random.Random(0).shuffle(files)
    with Pool() as pool:
        found = list(pool.imap_unordered(compared, files[: given.most]))
    kinds = [row(kind, [each for each in found if each.kind == kind]) for kind in sorted({each.kind for each in found})]
    whole = [each for each in found if not each.problem]
    worst = sorted(whole, key=lambda each: each.kept)[: max(1, int(WORST * len(whole)))]
    for each in kinds:
        print(each)
    record = {
        "kind": "words_kept",
        "title": "Words that another library reads",
        "formats": [*kinds, row("all", found)],
        "worst": [{"file": each.name, "kept": round(each.kept, 3), "most lost": reason(each)} for each in worst],
        "worst_by_reason": counted(map(reason, worst)),
        "not_compared": counted(each.problem for each in found if each.problem),
        **stamp(),
    }
    write_json(RESULT, [record])


def counted(names: Iterable[str]) -> list[str]:
    """Return how often each stands there, the most frequent first."""
    return [f"{name}: {number}" for name, number in Counter(names).most_common()]


def reason(file: Compared) -> str:
    """Return why most of the lost words of a file were lost."""
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
        **{f"lost, {name}": lost[name] for name in (JOINED, TOLD, UNKNOWN)},
    }


def compared(place: tuple[Path, Path]) -> Compared:
    """Compare one file."""
    folder, path = place
    name, kind = f"{folder.name}/{path.relative_to(folder).as_posix()}", path.suffix.lower()
    content = path.read_bytes()
    try:
        drafts = [draft for _, draft in reading_process().read(SourceFile(path.name, content))]
    except UnreadableError as error:
        return Compared(name, kind, f"not read: {error.kind}", 0.0, Counter())
    other = within_limits(OTHERS[kind], content)
    if other is None or sum(other.values()) < FEWEST:
        return Compared(name, kind, "the other reads nothing", 0.0, Counter())
    own = " ".join(text_of(draft) for draft in drafts)
    lost = other - Counter(words(own))
    squeezed = "".join(words(own))
    told = any("left out" in remark for draft in drafts for remark in draft.remarks)
    reasons = Counter[str]()
    for word, number in lost.items():
        reasons[JOINED if len(word) >= SHORTEST and word in squeezed else TOLD if told else UNKNOWN] += number
    return Compared(name, kind, "", 1 - lost.total() / other.total(), reasons)


@cache
def reading_process() -> ReadingProcess:
    """Return the one of this process, which reads one file after the other."""
    return ReadingProcess()


def text_of(draft: DraftDocument) -> str:
    """Return all words that an index has of a draft."""
    headings = [heading for section in draft.sections for heading in (section.heading, *section.above)]
    above = [heading for path in draft.heading_paths for heading in path]
    # Its text has most headings; those are counted once more, which loses no word of the other's.
    return " ".join([draft.title, *headings, *above, draft.text])


def words(text: str) -> list[str]:
    """Return words in lower case, compatible characters as one."""
    return re.findall(r"\w+", unicodedata.normalize("NFKC", text).replace("\u00ad", "").lower())


def within_limits(extract: Callable[[bytes], str], content: bytes) -> Counter[str] | None:
    """Return the words that another library reads; None where it fails or takes too long."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Counter(words(extract(content)))
    except Exception:  # Each library has errors of its own.
        return None
    finally:
        signal.alarm(0)


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
                # A cell over several columns is given once for each.
                for cell in {id(cell._tc): cell for cell in cells.cells}.values():
                    yield from texts(cell)

    return "\n".join(texts(Document(io.BytesIO(content))))


def of_workbook(content: bytes) -> str:
    """Read the cells of visible sheets with openpyxl."""
    from openpyxl import load_workbook

    book = load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    # Numbers and dates are written in many ways; words are not.
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


OTHERS: Final[dict[str, Callable[[bytes], str]]] = {
    ".pdf": of_pdf,
    ".docx": of_word,
    ".xlsx": of_workbook,
    ".pptx": of_slides,
    ".odt": of_open_document,
    ".ods": of_open_document,
    ".odp": of_open_document,
}


if __name__ == "__main__":
    main()
