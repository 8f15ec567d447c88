"""The law that what a file shows a person is read, or counted in the report: random files, rendered and read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from playwright.sync_api import sync_playwright

import random_office as office
import random_pages as pages
from auscult.documents import Document
from auscult.documents.building import build_document
from auscult.ingest.file_records import sections_of
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.process.worker import ReadingProcess
from auscult_readers.old_office import office_program
from auscult_readers.rendering import AS_CELLS, browser_program, convert_files, rendered
from auscult_readers.source_words.checking import CHECKERS, PDF
from auscult_readers.source_words.comparison import UNKNOWN, lost_words
from auscult_readers.source_words.misread import misread_in
from auscult_readers.source_words.part import PRINTED_PAGE, STRUCK, STRUCK_RUNS, STRUCTURE
from auscult_readers.source_words.reader import SHOWN_SHEETS, type_of
from random_words import Block, Words, drawn_documents

_OFFICE: Final = "application/vnd.openxmlformats-officedocument."
_ODF: Final = "application/vnd.oasis.opendocument."
_HTML: Final = "text/html"


@dataclass(frozen=True)
class Kind:
    """A kind of file.

    Attributes:
        write: Writes a document.
        constructs: What it may have.
        ending: Its ending, with the dot.
        media_type: Its media type; "" for a text, which shows what it holds.
        by_office: Ending of the file that LibreOffice converts to this kind.
        exceptions: Why a difference is none, by its name.
    """

    write: Callable[[list[Block], Words], bytes]
    constructs: Sequence[str]
    ending: str
    media_type: str = ""
    by_office: str = ""
    exceptions: dict[str, str] = field(default_factory=dict)

    @property
    def needs_program(self) -> bool:
        """Whether LibreOffice, a browser or PDFium shows it. A text shows what it holds."""
        return bool(self.media_type) and self.ending != ".md"


_BY_SHEET: Final = {"content of a style sheet: lost": "made by a style sheet, and in no element of the page"}
_ONE_LIST: Final = {f"other ({number}): lost": "lists side by side are one, whose numbers go on" for number in "123"}
_YES: Final = {"other (1): lost": "TRUE is read as yes; LibreOffice's page of the sheet has 1"}
_REFUSED: Final = {"not read: repeated column": "refused, and named in the report"}
KINDS: Final = {
    "Word": Kind(office.write_word, office.WORD_CONSTRUCTS, ".docx", f"{_OFFICE}wordprocessingml.document"),
    "OpenDocument text": Kind(office.write_word, office.WORD_CONSTRUCTS, ".odt", f"{_ODF}text", ".docx"),
    "RTF": Kind(office.write_word, office.WORD_CONSTRUCTS, ".rtf", "application/rtf", ".docx"),
    "Excel": Kind(
        office.write_workbook,
        office.SHEET_CONSTRUCTS,
        ".xlsx",
        f"{_OFFICE}spreadsheetml.sheet",
        exceptions=_YES,
    ),
    "OpenDocument sheet": Kind(office.write_workbook, office.SHEET_CONSTRUCTS, ".ods", f"{_ODF}spreadsheet", ".xlsx"),
    "PowerPoint": Kind(office.write_slides, office.SLIDE_CONSTRUCTS, ".pptx", f"{_OFFICE}presentationml.presentation"),
    "OpenDocument slides": Kind(office.write_slides, office.SLIDE_CONSTRUCTS, ".odp", f"{_ODF}presentation", ".pptx"),
    "HTML": Kind(pages.write_page, pages.PAGE_CONSTRUCTS, ".html", _HTML, exceptions=_BY_SHEET),
    "EPUB": Kind(pages.write_book, pages.PAGE_CONSTRUCTS, ".epub", _HTML, exceptions=_BY_SHEET),
    "PDF": Kind(pages.write_pdf, pages.PDF_CONSTRUCTS, ".pdf", PDF),
    "PDF by LibreOffice": Kind(office.write_word, office.WORD_CONSTRUCTS, ".pdf", PDF, ".docx"),
    "text": Kind(pages.write_note, pages.TEXT_CONSTRUCTS, ".txt"),
    "Markdown": Kind(pages.write_markdown, pages.MARKDOWN_CONSTRUCTS, ".md", "text/markdown", exceptions=_ONE_LIST),
    "table": Kind(pages.write_table, pages.ROW_CONSTRUCTS, ".csv", exceptions=_REFUSED),
    "JSON": Kind(pages.write_objects, pages.ROW_CONSTRUCTS, ".json"),
    "mail": Kind(pages.write_mail, pages.TEXT_CONSTRUCTS, ".eml"),
}
"""Kinds of files by name."""


def _always() -> bool:
    return True


def _by_office() -> bool:
    return bool(office_program())


def _by_browser() -> bool:
    return bool(browser_program())


RENDERED_BY: Final[dict[str, Callable[[], bool]]] = {
    name: _by_browser
    if kind.media_type == _HTML
    else _by_office
    if kind.by_office or (kind.needs_program and kind.media_type != PDF)
    else _always
    for name, kind in KINDS.items()
}
"""Whether this machine can show a kind of files."""


@dataclass
class Outcome:
    """Counts for the documents of a kind.

    Attributes:
        documents: Number of documents.
        differing: Number of those with a difference that is no exception.
        faults: Number of documents by construct that is lost or misread.
        excepted: Number of documents with a difference that is a named exception, by its name.
        unrendered: Number of documents that no program showed.
        examples: The smallest document for each fault.
    """

    documents: int = 0
    differing: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    excepted: Counter[str] = field(default_factory=Counter)
    unrendered: int = 0
    examples: dict[str, list[Block]] = field(default_factory=dict)


def outcome_of(name: str, number: int) -> Outcome:
    """Write, render and read random documents of a kind."""
    kind = KINDS[name]
    drawn = drawn_documents(kind.constructs, number)
    vocabularies = [Words() for _ in drawn]
    files: list[bytes | None] = [kind.write(blocks, words) for blocks, words in zip(drawn, vocabularies, strict=True)]
    if kind.by_office:
        named = [(f"{number}{kind.by_office}", each or b"") for number, each in enumerate(files)]
        files = convert_files(named, kind.ending.removeprefix("."))
    shown: list[bytes | None] = [None] * len(files)
    if kind.media_type == PDF or not kind.needs_program:
        shown = list(files)
    elif kind.ending == ".epub":
        chapters = [pages.chapter_of(each or b"") for each in files]
        shown = _printed_pages(chapters)
    elif kind.media_type == _HTML:
        shown = _printed_pages([each or b"" for each in files])
    else:
        shown = rendered([(kind.media_type, each or b"") for each in files])
    outcome = Outcome()
    with ReadingProcess() as reading, ReadingProcess(readers=CHECKERS) as checking:
        for blocks, words, content, view in zip(drawn, vocabularies, files, shown, strict=True):
            outcome.documents += 1
            if content is None or view is None:
                outcome.unrendered += 1
                continue
            try:
                faults = _faults(kind, words, content, view, (reading, checking))
            except UnreadableError as error:
                faults = {f"not read: {error.kind}"}
            outcome.excepted.update(faults & kind.exceptions.keys())
            faults -= kind.exceptions.keys()
            outcome.differing += bool(faults)
            for fault in faults:
                outcome.faults[fault] += 1
                if len(blocks) < len(outcome.examples.get(fault, [*blocks, None])):
                    outcome.examples[fault] = blocks
    return outcome


def _printed_pages(contents: Sequence[bytes]) -> list[bytes | None]:
    """Return pages as a browser prints them, by one process."""
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=browser_program()[-1], args=["--no-sandbox"])
        page = browser.new_page(offline=True)
        printed: list[bytes | None] = []
        for content in contents:
            page.set_content(content.decode())
            printed.append(page.pdf())
        browser.close()
    return printed


def _faults(
    kind: Kind, words: Words, content: bytes, view: bytes, processes: tuple[ReadingProcess, ReadingProcess]
) -> set[str]:
    """Return what a file shows and its documents lack, or say otherwise."""
    reading, checking = processes
    drafts = list(reading.read(SourceFile(f"file{kind.ending}", content)))
    documents = [_document(form, draft, number) for number, (form, draft) in enumerate(drafts)]
    remarks = [remark for _, draft in drafts for remark in draft.remarks]
    named = _type_of_view(kind, content)
    read = [draft for _, draft in checking.read(SourceFile(named, view))]
    # A PDF shows a deletion as LibreOffice prints it: struck out.
    reasons = {**_REASONS, "deleted": STRUCK} if kind.media_type == PDF else _REASONS
    # Only the words of a print count: lines of a table or a box may cross them.
    is_print = kind.needs_program and kind.media_type != PDF
    parts = [
        _as_written(part, words, reasons)
        for part in read
        if part.key.isdecimal() or not is_print or named == SHOWN_SHEETS
    ]
    lost = [each for each in lost_words(documents, parts, remarks)[1] if each.is_fault]
    faults = {f"{words.of(each.word)}: {'lost' if each.reason == UNKNOWN else each.reason}" for each in lost}
    return faults | {each.what for each in misread_in(documents, parts, remarks)}


def _document(form: str, draft: DraftDocument, number: int) -> Document:
    metadata = {**draft.metadata, "format": form}
    return build_document(
        doc_id=f"d{number}", title=draft.title, sections=sections_of(draft), text=draft.text, metadata=metadata
    )


def _type_of_view(kind: Kind, content: bytes) -> str:
    if kind.media_type in AS_CELLS:
        return SHOWN_SHEETS
    if kind.needs_program:
        return PDF
    return type_of(f"file{kind.ending}", content, kind.media_type or "text/plain")


_REASONS: Final = {
    "struck out": STRUCK,
    "struck out in a cell": STRUCK,
    "deleted": "deleted in a tracked change",
    "header or footer": "header, footer, date or number",
    "comment": "comment",
}


def _as_written(part: DraftDocument, words: Words, why: Mapping[str, str]) -> DraftDocument:
    """Return a part of a view with the reasons that the writer knows: a person sees which words are struck out."""
    if part.key in STRUCTURE:
        return part
    reasons: dict[str, str] = {}
    for construct, text in words.runs:
        if reason := why.get(construct):
            reasons[reason] = f"{reasons.get(reason, '')} {text}"
    struck = [text for construct, text in words.runs if why.get(construct) == STRUCK]
    if struck and part.text.strip():
        reasons[STRUCK_RUNS] = "\n".join(struck)
    if part.key.isdecimal():
        return replace(part, key=f"{PRINTED_PAGE} {part.key}", metadata=reasons)
    return replace(part, metadata={**part.metadata, **reasons})
