"""Scanned pages: their words and where they stand, what is told of them, and when they are left."""

from __future__ import annotations

import pytest

from auscult.documents.original import Original
from auscult.files.limits import VARIABLE
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.process.worker import ReadingProcess
from auscult_readers.pdf.page_images import page_png
from auscult_readers.pdf.reader import PdfReader
from needs import Needs
from small_pdfs import CAUSES, GOUT, HEADING, TITLE, TREATMENT, Drawn


def read(content: bytes) -> DraftDocument:
    (draft,) = PdfReader().read(SourceFile("a.pdf", content))
    return draft


def leaflet_of_gout() -> Drawn:
    drawn = Drawn()
    drawn.line(60, 80, "Gout", TITLE)
    drawn.line(60, 120, "Causes", HEADING)
    below = drawn.paragraph(60, 140, 470, CAUSES)
    drawn.line(60, below + 30, "Treatment", HEADING)
    drawn.paragraph(60, below + 50, 470, TREATMENT)
    return drawn


def scanned(drawn: Drawn, pages: int = 1) -> Drawn:
    """The same pages as pictures, 200 dots an inch."""
    copy = Drawn(drawn.size)
    content = drawn.content()
    for page in range(pages):
        if page:
            copy.next_page()
        copy.scan(page_png(content, page, 200 / 72))
    return copy


def test_a_scan_yields_its_words_and_their_places(needs: Needs) -> None:
    needs.package("rapidocr")
    written, recognised = read(leaflet_of_gout().content()), read(scanned(leaflet_of_gout()).content())
    expected, got = written.text.split(), recognised.text.split()
    assert len(set(expected) & set(got)) >= 0.95 * len(set(expected))
    assert [section.heading for section in recognised.sections] == ["Causes", "Treatment"]
    assert recognised.title == written.title == "Gout"

    def box_of(draft: DraftDocument) -> tuple[float, ...]:
        start = draft.text.index("uric")
        layout = Original(name="", media_type="", content=b"", words=draft.words, pages=draft.pages)
        (box,) = layout.boxes(start, start + 4)
        return box.left, box.top, box.right, box.bottom

    assert box_of(recognised) == pytest.approx(box_of(written), abs=6)
    assert 0.8 < float(recognised.metadata["scan_confidence"]) <= 1
    assert any(remark.startswith("page 1: recognised from a scan (confidence") for remark in recognised.remarks)


def test_words_of_a_large_scan_have_correct_boxes(needs: Needs) -> None:
    needs.package("rapidocr")
    poster = Drawn(size=(2000, 1600))
    poster.line(1200, 1000, "Colchicine is taken twice a day.", ("Helvetica", 40))
    scan = Drawn(size=poster.size)
    scan.scan(page_png(poster.content(), 0, 1.0))
    draft = read(scan.content())
    left, bottom = (float(draft.words[0][side]) for side in ("left", "bottom"))
    assert draft.text.startswith("Colchicine")
    assert (left, bottom) == pytest.approx((1200, 1005), abs=30)


def test_a_scanned_page_among_others_is_recognised(needs: Needs) -> None:
    needs.package("rapidocr")
    # To recognise a whole page takes seconds.
    page, both = Drawn((340, 340)), Drawn((340, 340))
    page.paragraph(30, 60, 280, GOUT)
    both.line(30, 60, "Written words stand on the first page.")
    both.next_page()
    both.scan(page_png(page.content(), 0, 200 / 72))
    draft = read(both.content())
    assert draft.text.startswith("Written words stand on the first page.")
    assert len(set(GOUT.split()) & set(draft.text.split())) >= 0.9 * len(set(GOUT.split()))
    assert any(remark.startswith("page 2: recognised from a scan") for remark in draft.remarks)


def test_scans_are_recognised_in_the_reading_process(needs: Needs) -> None:
    needs.package("rapidocr")
    page = Drawn((300, 200))
    page.line(30, 60, "Colchicine is taken twice a day.")
    with ReadingProcess() as process:
        ((name, draft),) = process.read(SourceFile("scan.pdf", scanned(page).content()))
    assert name == "PDF"
    assert "Colchicine is taken twice a day." in draft.text


def test_scans_are_refused_when_no_time_is_allowed(needs: Needs, monkeypatch: pytest.MonkeyPatch) -> None:
    needs.package("rapidocr")
    page = Drawn()
    page.line(60, 100, "Colchicine is taken twice a day.")
    content = scanned(page).content()
    monkeypatch.setenv(VARIABLE, "scan=0")
    with pytest.raises(UnreadableError, match="1 page without one"):
        read(content)
    monkeypatch.setenv(VARIABLE, "seconds=0")
    with pytest.raises(UnreadableError, match=r"no time to recognise.*seconds="):
        read(content)
