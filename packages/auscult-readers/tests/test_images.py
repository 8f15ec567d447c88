"""Files that are pictures of pages: their words and where they stand, and what is told where there are none."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from auscult.documents.original import Original
from auscult.files.limits import VARIABLE
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult.readers.process.worker import ReadingProcess
from auscult_readers.pdf import images
from auscult_readers.pdf.page_images import PageRenderer, page_png
from auscult_readers.pdf.pictures import opened_pictures
from needs import Needs
from small_pdfs import GOUT, Drawn, grey_png

SCALE = 150 / 72


def page(text: str, size: tuple[float, float] = (420, 200)) -> Image.Image:
    drawn = Drawn(size)
    drawn.paragraph(40, 60, 340, text)
    return Image.open(io.BytesIO(page_png(drawn.content(), 0, SCALE))).convert("L")


def saved(picture: Image.Image, kind: str, **options: object) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()


def read(content: bytes) -> DraftDocument:
    (draft,) = images.ImageReader().read(SourceFile("scan.bin", content))
    return draft


def box_of(draft: DraftDocument, word: str) -> tuple[int, float, float, float, float]:
    start = draft.text.index(word)
    layout = Original(name="", media_type="", content=b"", words=draft.words, pages=draft.pages)
    (box,) = layout.boxes(start, start + len(word))
    return box.page, box.left, box.top, box.right, box.bottom


def test_tiff_frames_are_pages_and_previews_are_not(needs: Needs) -> None:
    needs.package("rapidocr")
    first = page("Colchicine is taken twice a day.").convert("1")
    second = page("Paracetamol is taken at night.").convert("1")
    preview = first.resize((80, 40))
    preview.encoderinfo = {"tiffinfo": {254: 1}}
    content = saved(first, "TIFF", save_all=True, append_images=[preview, second], compression="group4", dpi=(150, 150))
    with ReadingProcess() as process:
        ((name, draft),) = process.read(SourceFile("fax.tif", content))
    assert (name, draft.media_type, draft.metadata["pages"]) == ("image", "image/tiff", "2")
    assert " ".join(draft.text.split()) == "Colchicine is taken twice a day. Paracetamol is taken at night."
    number, left, _, right, bottom = box_of(draft, "Paracetamol")
    assert number == 1
    assert (left, right, bottom) == pytest.approx((40, 95, 62), abs=5)
    assert draft.remarks[0].startswith("pages 1-2: recognised from a scan (confidence ")
    assert 0.8 < float(draft.metadata["scan_confidence"]) <= 1


def test_rotated_photos_are_read_and_drawn_upright(needs: Needs) -> None:
    needs.package("rapidocr")
    upright = page(GOUT, (595, 400))
    exif = Image.Exif()
    exif[0x0112] = 6  # "Turn it right by 90 degrees."
    content = saved(upright.transpose(Image.Transpose.ROTATE_90), "JPEG", exif=exif, quality=90, dpi=(150, 150))
    draft = read(content)
    assert draft.media_type == "image/jpeg"
    assert draft.pages[0] == pytest.approx((595, 400), abs=1)
    assert len(set(GOUT.split()) & set(draft.text.split())) >= 0.9 * len(set(GOUT.split()))
    drawn = np.asarray(Image.open(io.BytesIO(PageRenderer().render(content, 0, 1.0))).convert("L"))
    assert drawn.shape == (400, 595)
    _, left, top, right, bottom = box_of(draft, "arthritis")
    assert drawn[int(top) : int(bottom) + 1, int(left) : int(right) + 1].min() < 128


@pytest.mark.parametrize(
    ("dpi", "size"),
    [
        ((300, 300), (595.2, 841.68)),
        ((300, 150), (595.2, 1683.36)),
        ((72, 72), (595.22, 842.0)),
        (None, (595.22, 842.0)),
    ],
)
def test_page_size_follows_a_plausible_declared_resolution(
    dpi: tuple[int, int] | None, size: tuple[float, float]
) -> None:
    with opened_pictures(saved(Image.new("1", (2480, 3507), 1), "TIFF", dpi=dpi)) as pictures:
        content = pictures.page(0)
    assert (content.width, content.height) == pytest.approx(size, abs=0.3)


@pytest.mark.parametrize("mode", ["RGBA", "LA", "P", "I;16", "CMYK", "1"])
def test_every_pixel_mode_is_drawn_black_on_white(mode: str) -> None:
    grey = np.full((100, 100), 255, np.uint8)
    grey[40:60, 40:60] = 0
    picture = Image.fromarray(grey)
    if mode in ("RGBA", "LA"):
        made = Image.new(mode, picture.size, 0)  # Black, and clear but for the square.
        made.putalpha(picture.point(lambda value: 255 - value))
    else:
        made = Image.fromarray(grey.astype(np.uint16) * 257) if mode == "I;16" else picture.convert(mode)
    content = saved(made, "TIFF" if mode == "CMYK" else "PNG", dpi=(20, 20))
    drawn = np.asarray(Image.open(io.BytesIO(page_png(content, 0, 100 / 360))).convert("L"))
    assert drawn[0, 0] == 255
    assert drawn[drawn.shape[0] // 2, drawn.shape[1] // 2] == 0


def test_images_without_a_readable_page_are_refused(needs: Needs, monkeypatch: pytest.MonkeyPatch) -> None:
    needs.package("rapidocr")
    whole = saved(page("Colchicine is taken twice a day."), "PNG")
    for content, got in (
        (grey_png(), "no words"),
        (saved(Image.new("L", (400, 400), 255), "PNG"), "no words"),
        (whole[:2000], "damaged"),
        (saved(Image.new("1", (17_000, 5_000), 1), "TIFF", compression="group4"), "85,000,000"),
    ):
        with pytest.raises(UnreadableError, match=got) as error:
            read(content)
        assert error.value.kind == "image"
        assert error.value.remedy
    monkeypatch.setenv(VARIABLE, "scan=0")
    with pytest.raises(UnreadableError, match="scan=0"):
        read(whole)
    monkeypatch.setenv(VARIABLE, "seconds=0")
    with pytest.raises(UnreadableError, match=r"no time for.*seconds="):
        read(whole)


def test_without_an_engine_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images, "is_installed", lambda: False)
    with pytest.raises(UnreadableError, match=r"install auscult\[scans\]") as error:
        read(grey_png())
    assert error.value.kind == "image"
