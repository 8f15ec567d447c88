"""OpenStax modules."""

from __future__ import annotations

import json
from pathlib import Path

from auscult.corpora.articles import OpenStaxCorpus

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
    (module,) = corpus.documents()
    assert [p.heading for p in module.passages] == ["Introduction", "Cells"]
    assert dict(module.metadata) == {"book": "Anatomy", "chapter": "Support > Bone Tissue"}
    assert len(module.sentences) == 3
