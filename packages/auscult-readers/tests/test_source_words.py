"""The check of documents against their sources: a planted loss is found in every family, and all else has a reason."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from docx import Document as WordDocument
from openpyxl import Workbook
from openpyxl.cell.rich_text import CellRichText, TextBlock
from openpyxl.cell.text import InlineFont
from openpyxl.comments import Comment
from openpyxl.styles import Font

from auscult.documents import Document
from auscult.documents.building import build_document
from auscult.ingest.file_records import sections_of
from auscult.readers.contract import DraftDocument, SourceFile
from auscult.readers.registry import Registry
from auscult_readers.source_words.comparison import UNKNOWN, LostWord, lost_words
from auscult_readers.source_words.reader import SourceWordsReader
from good_files import good_files
from small_word_files import add_xml, saved, with_parts

# Kinds that PDFium checks, that are not checked, or that are kept as one of the others.
_ELSEWHERE = ("leaflet.pdf", "plain.pdf", "medicines.xls", "notes.zip")
_GOOD = {name: content for name, content in good_files().items() if name not in _ELSEWHERE}


def drafts_of(name: str, content: bytes) -> list[DraftDocument]:
    file = SourceFile(name, content)
    return list(Registry().reader_of(file).read(file))


def document_of(draft: DraftDocument) -> Document:
    return build_document(doc_id="d", title=draft.title, sections=sections_of(draft), text=draft.text)


def lost_of(drafts: Sequence[DraftDocument], source: bytes) -> list[LostWord]:
    """Compare documents of one source, as the command does."""
    file = SourceFile(drafts[0].media_type, source if drafts[0].content is None else drafts[0].content)
    reader = SourceWordsReader()
    assert reader.recognises(file)
    remarks = [remark for draft in drafts for remark in draft.remarks]
    total, lost = lost_words(map(document_of, drafts), list(reader.read(file)), remarks)
    assert total > 0
    return lost


def of_one_source(drafts: Sequence[DraftDocument]) -> list[list[DraftDocument]]:
    by_content: dict[tuple[str, bytes | None], list[DraftDocument]] = {}
    for draft in drafts:
        if draft.media_type != "application/pdf":
            by_content.setdefault((draft.media_type, draft.content), []).append(draft)
    # Parts of one content are documents that say the same, of which an index has one.
    return [drafts if content is None else drafts[:1] for (_, content), drafts in by_content.items()]


@pytest.mark.parametrize("name", _GOOD)
def test_each_word_omitted_from_good_files_is_explained(name: str) -> None:
    for drafts in of_one_source(drafts_of(name, _GOOD[name])):
        assert [each for each in lost_of(drafts, _GOOD[name]) if each.reason == UNKNOWN] == []


@pytest.mark.parametrize("name", _GOOD)
def test_a_passage_that_a_reader_forgets_is_found(name: str) -> None:
    drafts = of_one_source(drafts_of(name, _GOOD[name]))[0]
    longest = max(range(len(drafts)), key=lambda number: len(drafts[number].text))
    sections = sections_of(drafts[longest])
    forgotten = max(sections, key=lambda section: len(section.text))
    kept = [section for section in sections if section is not forgotten]
    faulty = replace(drafts[longest], sections=kept, heading_paths=()) if kept else None
    rest = [each for number, each in enumerate(drafts) if number != longest]
    broken = [*rest, faulty] if faulty else [*rest, replace(drafts[longest], text="x", sections=(), heading_paths=())]
    unknown = {each.word for each in lost_of(broken, _GOOD[name]) if each.reason == UNKNOWN}
    assert {"arthritis"} & unknown or len(unknown) > 1, unknown


def page(inner: str) -> bytes:
    prose = "Gout is a form of arthritis that is caused by crystals of uric acid in a joint. " * 3
    return (
        f"<html><head><title>Gout</title></head><body><main><h1>Gout</h1><p>{prose}</p>{inner}</main></body>".encode()
    )


def word(inner: str) -> bytes:
    document = WordDocument()
    document.add_paragraph("Gout is a form of arthritis.")
    add_xml(document, inner)
    return saved(document)


def run(text: str, look: str = "") -> str:
    return f'<w:r><w:rPr>{look}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def sheet() -> bytes:
    book = Workbook()
    book.active.append(["Medicine", "Dose"])
    book.active.append(["Colchicine", "low"])
    book.active.append([CellRichText("Rest", TextBlock(InlineFont(strike=True), " warfarin")), "digoxin"])
    book.active["B3"].font = Font(strike=True)
    book.active["A2"].comment = Comment("aside", "ward")
    book.active.oddFooter.center.text = "confidential"
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def rich(inner: str) -> bytes:
    return f"{{\\rtf1\\ansi Gout is a form of arthritis.\\par {inner}}}".encode()


REASONS: list[tuple[str, Callable[[], bytes], str, str]] = [
    ("a.html", lambda: page("<p>Rest <del>warfarin</del> helps.</p>"), "warfarin", "struck out"),
    ("a.html", lambda: page("<p hidden>secret</p>"), "secret", "hidden"),
    ("a.html", lambda: page("<noscript>browser</noscript>"), "browser", "another form of what is shown"),
    ("a.html", lambda: page("<nav><a href='/a'>Elsewhere</a></nav>"), "elsewhere", "navigation, forms"),
    ("a.docx", lambda: word(run("secret", "<w:vanish/>")), "secret", "hidden"),
    ("a.docx", lambda: word(run("warfarin", "<w:strike/>")), "warfarin", "struck out"),
    ("a.docx", lambda: word(f"<w:del>{run('older')}</w:del>"), "older", "deleted in a tracked change"),
    ("a.xlsx", sheet, "aside", "comment"),
    ("a.xlsx", sheet, "warfarin", "struck out"),
    ("a.xlsx", sheet, "digoxin", "struck out"),
    ("a.xlsx", sheet, "confidential", "header, footer"),
    ("a.rtf", lambda: rich(r"Rest {\strike warfarin} helps."), "warfarin", "struck out"),
    ("a.rtf", lambda: rich(r"Rest {\v secret} helps."), "secret", "hidden"),
    ("a.md", lambda: b"# Gout\n\nRest ~~warfarin~~ [here](https://health.test/page).\n", "warfarin", "struck out"),
    ("a.md", lambda: b"# Gout\n\nRest [here](https://health.test/page).\n", "page", "reference, or label of one"),
]


@pytest.mark.parametrize(("name", "made", "lost", "reason"), REASONS)
def test_the_reason_for_each_omission_is_reported(name: str, made: Callable[[], bytes], lost: str, reason: str) -> None:
    content = made()
    found = lost_of(drafts_of(name, content), content)
    assert [each.reason for each in found if each.word == lost and each.reason.startswith(reason)], found
    assert UNKNOWN not in {each.reason for each in found}


def test_footer_words_are_lost_even_if_repeated_elsewhere() -> None:
    footer = b'<w:ftr xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:p><w:r><w:t>Gout</w:t></w:r></w:p></w:ftr>'
    content = with_parts(word(run("Rest.")), {"word/footer1.xml": footer})
    (lost,) = lost_of(drafts_of("a.docx", content), content)
    assert lost == LostWord("gout", "word/footer1.xml", "header, footer, date or number, not in the report")
    assert lost.is_fault


def test_words_split_differently_are_explained() -> None:
    (draft,) = drafts_of("a.txt", b"Gout is a form of arthritis.")
    part = replace(draft, text="Gout is a form of arthri tis.", key="page")
    lost = lost_words([document_of(draft)], [part])[1]
    assert {each.reason for each in lost} == {"joined or divided otherwise"}
