"""OpenStax modules."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from auscult.corpora.openstax import OpenStaxCorpus
from auscult.documents import check_document
from auscult.interfaces import Corpus

MODULE = {
    "doc_id": "openstax:m1",
    "title": "Bone",
    "book": "Anatomy",
    "chapter": ["Support", "Bone Tissue"],
    "sections": [
        {"heading": "Introduction", "level": 1, "text": "Bones are organs."},
        {"heading": "Cells", "level": 2, "text": "There are four kinds. They differ."},
    ],
}


def test_a_module(tmp_path: Path) -> None:
    path = tmp_path / "modules.jsonl"
    path.write_text(json.dumps(MODULE))
    corpus = OpenStaxCorpus(path)
    assert isinstance(corpus, Corpus)
    (module,) = corpus.documents()
    assert [p.heading for p in module.passages] == ["Introduction", "Cells"]
    assert dict(module.metadata) == {"book": "Anatomy", "chapter": "Support > Bone Tissue"}
    assert len(module.sentences) == 3


def test_the_prepared_file() -> None:
    path = Path(os.environ.get("AUSCULT_DATA", "")) / "textbooks/openstax_sections.jsonl.gz"
    if "AUSCULT_DATA" not in os.environ or not path.is_file():
        pytest.skip("the OpenStax sections are not under AUSCULT_DATA")
    modules = [check_document(module) for module in OpenStaxCorpus(path).documents()]
    assert (len(modules), sum(len(module.passages) for module in modules)) == (942, 6432)
