"""A passage that answers comes before one that only names what is asked about."""

from __future__ import annotations

from pathlib import Path

from auscult.documents import Section, build_document
from auscult.encoders import load_model
from auscult.ingest.building import build_index
from auscult.search import Searcher
from auscult.understanding import Query


def test_the_treatment_comes_before_the_definition(tmp_path: Path) -> None:
    sections = [Section("", "Gout is a disease."), Section("", "Treatment: Colchicine helps.")]
    encoder = load_model("fast")
    build_index([build_document(doc_id="gout", title="Gout", sections=sections)], encoder, tmp_path / "index")
    searcher = Searcher.open(tmp_path / "index", encoder)
    first, _ = searcher.search(searcher.understand(Query("", "", (), text="How is gout treated?")).query, 2)
    assert first.text == "Treatment: Colchicine helps."
