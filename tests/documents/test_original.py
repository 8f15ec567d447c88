"""What a document was read from: ranges of the source, boxes on pages, and the same after a round trip."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from auscult.documents import Box, Original, Section, build_document
from auscult.documents.original import RUN, WORD
from auscult.index import IndexUpdate, PassageIndex, optimize
from auscult.ingest.building import build_index
from encoders import HashedEncoder

SOURCE = "<p>Gout &amp; pain.</p> <p>Rest.</p>"
TEXT = "Gout & pain.\nRest."
RUNS = np.array([(0, 5, 3, 8), (5, 6, 8, 13), (6, 12, 13, 19), (13, 18, 27, 32)], RUN)
HTML = Original(name="gout.html", media_type="text/html", content=SOURCE.encode(), encoding="utf-8", runs=RUNS)


def test_text_ranges_map_back_to_the_source() -> None:
    assert HTML.source_ranges(0, 12) == [(3, 19)]
    assert SOURCE[3:19] == "Gout &amp; pain."
    assert HTML.source_ranges(2, 4) == [(5, 7)]
    assert HTML.source_ranges(7, 18) == [(14, 19), (27, 32)]
    assert HTML.source_ranges(5, 6) == [(8, 13)]
    assert HTML.source_ranges(12, 13) == []


def test_words_on_a_page_become_line_boxes() -> None:
    rows = [
        (0, 4, 0, 10, 10, 30, 20),
        (5, 9, 0, 35, 11, 60, 21),
        (10, 14, 0, 10, 25, 30, 35),
        (15, 19, 1, 10, 10, 30, 20),
    ]
    pdf = Original(
        name="a.pdf", media_type="application/pdf", content=b"%PDF", words=np.array(rows, WORD), pages=[(100, 100)]
    )
    assert pdf.boxes(0, 19) == [Box(0, 10, 10, 60, 21), Box(0, 10, 25, 30, 35), Box(1, 10, 10, 30, 20)]
    assert pdf.boxes(6, 8) == [Box(0, 35, 11, 60, 21)]
    again = Original.from_bytes(pdf.to_bytes(), pdf.content)
    assert again.boxes(0, 19) == pdf.boxes(0, 19)
    assert (again.name, again.media_type, again.pages) == ("a.pdf", "application/pdf", ((100, 100),))


def test_index_keeps_the_file_until_document_deletion(tmp_path: Path) -> None:
    encoder = HashedEncoder()
    sections = [Section("Gout", TEXT, start=0)]
    document = build_document(doc_id="gout", title="Gout", sections=sections, text=TEXT, original=HTML)
    plain = build_document(doc_id="plain", title="Plain", sections=[Section("", "Nothing kept.")])
    build_index([document, plain], encoder, tmp_path / "index")
    reader = PassageIndex.open(tmp_path / "index").reader
    kept = reader.original(reader.document_rows["gout"])
    assert kept is not None
    assert kept.content == HTML.content
    assert kept.source_ranges(2, 4) == [(5, 7)]
    assert reader.original(reader.document_rows["plain"]) is None
    reader.verify()
    with IndexUpdate(tmp_path / "index", encoder) as update:
        assert update.standing(document) == "unchanged"
        # The same words from another file.
        assert update.standing(replace(document, original=replace(HTML, content=b"<b>"))) == "changed"
        update.delete(["gout"])
        update.commit()
    optimize(tmp_path / "index")
    assert PassageIndex.open(tmp_path / "index").reader.document_rows.keys() == {"plain"}
