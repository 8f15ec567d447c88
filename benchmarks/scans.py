"""Recall and precision of words on scanned pages, and the time per page.

    python benchmarks/scans.py [--pages 20]

Random pages of the NHS (one page of each document) are set in Times or Helvetica, rendered as a picture, and degraded
as by scanners and copiers. `pdf/scans.py` then reads a PDF of that picture. Words are compared with capitals,
without signs around them and with plain apostrophes, in any order. `headings` is the share of the page's headings that
are the heading of a section.

Writes benchmarks/results/scans.json.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from PIL import Image
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, Paragraph, SimpleDocTemplate

from auscult.catalogue import data_dir
from auscult.files.reading import read_lines
from auscult.files.writing import write_json
from auscult.provenance import stamp
from auscult.readers.contract import DraftDocument, SourceFile, UnreadableError
from auscult_readers.pdf.page_images import page_png
from auscult_readers.pdf.reader import PdfReader

RESULT = Path(__file__).resolve().parent / "results" / "scans.json"
#: Dots an inch, degrees by which the page lies askew, deviation of the noise in grey levels, quality of the JPEG.
WAYS: Final = {
    "clean, 300 dpi": (300, 0.0, 0.0, 95),
    "office, 200 dpi": (200, 0.5, 8.0, 70),
    "fax, 100 dpi": (100, 1.0, 20.0, 40),
}


def main() -> None:
    """Measure, and write the record."""
    parser = argparse.ArgumentParser(description="Measure how scanned pages are read.")
    parser.add_argument("--pages", type=int, default=20)
    given = parser.parse_args()
    path = data_dir() / "consumer_health" / "nhs_pages.jsonl.gz"
    documents = [json.loads(line) for _, line in read_lines(path)]
    chosen = random.Random(0).sample(documents, given.pages)
    # The engine is loaded before the measurement.
    read_draft(scanned(typeset(chosen[0], "Times-Roman"), *WAYS["office, 200 dpi"]))
    ways = []
    for way, degraded in WAYS.items():
        rows = []
        for number, document in enumerate(chosen):
            content = typeset(document, ("Times-Roman", "Helvetica")[number % 2])
            rows.append(compared(read_draft(content), scanned(content, *degraded)))
        means = {name: round(statistics.fmean(row[name] for row in rows), 4) for name in rows[0]}
        ways.append({"way": way, "pages": len(rows), "worst_recall": min(row["recall"] for row in rows), **means})
        print(ways[-1], flush=True)
    write_json(RESULT, [{"kind": "scans", "title": "Words of scanned pages", "ways": ways, **stamp()}])


def typeset(document: dict[str, Any], font: str) -> bytes:
    """Return the first page of a document, as a PDF."""
    styles = getSampleStyleSheet()
    for style in (styles["Title"], styles["Heading2"], styles["BodyText"]):
        style.fontName = font
    story: list[Flowable] = [Paragraph(_escaped(document["title"]), styles["Title"])]
    for section in document["sections"]:
        story.append(Paragraph(_escaped(section["heading"].capitalize()), styles["Heading2"]))
        story += [Paragraph(_escaped(line), styles["BodyText"]) for line in section["text"].splitlines() if line]
    buffer = io.BytesIO()
    SimpleDocTemplate(buffer, invariant=True).build(story)
    return _first_page(buffer.getvalue())


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _first_page(content: bytes) -> bytes:
    import pypdfium2

    source, first, buffer = pypdfium2.PdfDocument(content), pypdfium2.PdfDocument.new(), io.BytesIO()
    first.import_pages(source, [0])
    first.save(buffer)
    return buffer.getvalue()


def scanned(content: bytes, dots: int, askew: float, noise: float, quality: int) -> bytes:
    """Return a page as a PDF with only its picture, as from a scanner."""
    picture = Image.open(io.BytesIO(page_png(content, 0, dots / 72))).convert("L")
    turned = picture.rotate(askew, resample=Image.Resampling.BICUBIC, fillcolor=255)
    grey = np.asarray(turned, np.float64) + np.random.default_rng(0).normal(0, noise, (turned.height, turned.width))
    buffer, output = io.BytesIO(), io.BytesIO()
    Image.fromarray(np.clip(grey, 0, 255).astype(np.uint8)).save(buffer, "JPEG", quality=quality)
    size = picture.width * 72 / dots, picture.height * 72 / dots
    canvas = Canvas(output, pagesize=size, invariant=True)
    canvas.drawImage(ImageReader(buffer), 0, 0, *size)
    canvas.save()
    return output.getvalue()


def read_draft(content: bytes) -> DraftDocument:
    """Return the draft of a PDF."""
    (draft,) = PdfReader().read(SourceFile("page.pdf", content))
    return draft


def compared(written: DraftDocument, scan: bytes) -> dict[str, float]:
    """Return shares of words and headings, the engine's confidence, and seconds."""
    begun = time.perf_counter()
    try:
        draft = read_draft(scan)
    except UnreadableError:
        return {
            "recall": 0.0,
            "precision": 0.0,
            "headings": 0.0,
            "confidence": 0.0,
            "seconds": time.perf_counter() - begun,
        }
    seconds = time.perf_counter() - begun
    written_words, scanned_words = Counter(_words(written)), Counter(_words(draft))
    both = (written_words & scanned_words).total()
    headings = {section.heading for section in written.sections if section.heading}
    return {
        "recall": both / max(written_words.total(), 1),
        "precision": both / max(scanned_words.total(), 1),
        "headings": len(headings & {section.heading for section in draft.sections}) / max(len(headings), 1),
        "confidence": float(draft.metadata["scan_confidence"]),
        "seconds": seconds,
    }


def _words(draft: DraftDocument) -> Iterator[str]:
    words = draft.text.replace("\u2019", "'").replace("\u2018", "'").split()
    return filter(None, (word.strip(".,;:!?()[]'\"\u2022") for word in words))


if __name__ == "__main__":
    main()
