"""Pages as pictures: what is on them, and that a hostile file is the child's problem."""

from __future__ import annotations

import io
import threading
import time

import numpy as np
import pytest
from PIL import Image

from auscult.errors import DataError
from auscult.readers.contract import SourceFile, UnreadableError
from auscult_readers.pdf.page_images import MOST_PIXELS, PageRenderer, RenderLimits, page_png
from auscult_readers.pdf.reader import PdfReader
from small_pdfs import Drawn, leaflet, pages_without_a_size


def pixels(picture: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(picture)).convert("L"))


def test_highlight_boxes_cover_all_ink_and_nothing_else() -> None:
    drawn = Drawn()
    drawn.paragraph(60, 100, 300, "Crystals of uric acid cause gout " * 8)
    content = drawn.content()
    (draft,) = PdfReader().read(SourceFile("a.pdf", content))
    scale = 2.0
    ink = pixels(page_png(content, 0, scale)) < 128
    assert ink.shape == (1684, 1191)
    rest = ink.copy()
    for row in draft.words:
        left, top, right, bottom = (int(row[side] * scale) for side in ("left", "top", "right", "bottom"))
        assert ink[top : bottom + 1, left : right + 1].any()
        rest[top - 1 : bottom + 2, left - 1 : right + 2] = False
    assert not rest.any()


def test_form_values_are_drawn_on_the_page() -> None:
    drawn = Drawn()
    drawn.line(60, 100, "Name of the patient:")
    drawn.canvas.acroForm.textfield(name="n", x=200, y=drawn.size[1] - 104, width=150, height=16, value="Ann Example")
    ink = pixels(page_png(drawn.content(), 0, 2.0)) < 100
    assert ink[180:210, 410:520].any()


def test_large_pages_and_scales_respect_the_pixel_limit() -> None:
    large = Drawn(size=(14_000, 14_000))
    large.line(60, 100, "Far from the other corner")
    for content in (leaflet(1).content(), large.content()):
        height, width = pixels(page_png(content, 0, 8.0)).shape
        assert height * width <= MOST_PIXELS * 1.01


@pytest.mark.parametrize("content", pages_without_a_size())
def test_a_page_with_unusable_boxes_is_drawn_whole(content: bytes) -> None:
    ink = pixels(page_png(content, 0, 1.0)) < 128
    assert ink.shape in ((842, 595), (842, 596), (792, 612))
    assert ink.any()


@pytest.mark.parametrize(("page", "scale"), [(3, 1.0), (-1, 1.0), (0, 0.0), (0, 9.0), (0, float("nan"))])
def test_invalid_pages_and_scales_are_refused(page: int, scale: float) -> None:
    for draw in (page_png, PageRenderer().render):
        with pytest.raises(DataError):
            draw(leaflet(3).content(), page, scale)


def test_a_separate_renderer_draws_identically_and_caches() -> None:
    content = leaflet(2).content()
    renderer = PageRenderer()
    picture = renderer.render(content, 1, 1.0)
    assert picture == page_png(content, 1, 1.0)
    assert renderer.render(content, 1, 1.0) is picture


def test_a_renderer_forgets_pictures_beyond_its_bytes() -> None:
    renderer = PageRenderer(RenderLimits(kept=10_000))
    renderer.render(leaflet(1).content(), 0, 0.2)
    assert 0 < renderer._size <= 10_000
    renderer.render(leaflet(1).content(), 0, 2.0)
    assert renderer._size <= 10_000


def test_a_separate_renderer_reports_a_broken_file() -> None:
    with pytest.raises(UnreadableError) as refused:
        PageRenderer().render(b"%PDF-1.4 nothing", 0, 1.0)
    assert refused.value.kind == "broken PDF"


def test_drawing_stops_at_time_and_memory_limits() -> None:
    drawn = Drawn()
    for number in range(15_000):
        drawn.canvas.circle(300, 400, 10 + number % 290, stroke=1, fill=1)
    heavy = drawn.content()
    begun = time.perf_counter()
    with pytest.raises(UnreadableError, match="time"):
        PageRenderer(RenderLimits(seconds=0.3)).render(heavy, 0, 4.0)
    assert time.perf_counter() - begun < 10
    with pytest.raises(UnreadableError, match="a page that can be drawn"):
        PageRenderer(RenderLimits(memory=1 << 20)).render(leaflet(1).content(), 0, 4.0)


def test_threads_draw_and_read_one_after_the_other() -> None:
    content = leaflet(3).content()
    expected = [page_png(content, page, 1.0) for page in range(3)]
    wrong: list[int] = []

    def work(page: int) -> None:
        for _ in range(3):
            if page_png(content, page, 1.0) != expected[page]:
                wrong.append(page)
            if len(list(PdfReader().read(SourceFile("a.pdf", content)))) != 1:
                wrong.append(page)

    threads = [threading.Thread(target=work, args=(page % 3,)) for page in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
