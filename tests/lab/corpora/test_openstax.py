"""OpenStax modules."""

from __future__ import annotations

import json
from pathlib import Path

from auscult_lab.corpora.described import OPENSTAX, DescribedCorpus, openstax_split
from needs import Needs

# Of modules titled "Module 0" to "Module 19", those for testing. A change would spoil figures that have been measured.
TEST_MODULES = [1, 5, 8, 11, 14, 15, 16]

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
    corpus = DescribedCorpus(OPENSTAX, path)
    (module,) = corpus.documents()
    assert [p.heading for p in module.passages] == ["Introduction", "Cells"]
    assert dict(module.metadata) == {"book": "Anatomy", "chapter": "Support > Bone Tissue"}
    assert len(module.sentences) == 3


def test_a_fixed_quarter_of_titles_is_for_testing() -> None:
    assert [n for n in range(20) if openstax_split(f"Module {n}") == "test"] == TEST_MODULES
    assert openstax_split("MODULE 1") == "test"


def test_informative_headings_become_queries(tmp_path: Path) -> None:
    headings = ("Introduction", "Cells", "cells ", "MODULE 1", "Chapter Review", "")
    sections = [{"heading": heading, "level": 1, "text": f"Part {n}."} for n, heading in enumerate(headings)]
    titles = ("Module 1", "Preface", "Module 1", "Module 2")
    rows = [{**MODULE, "doc_id": str(n), "title": title, "sections": sections} for n, title in enumerate(titles)]
    path = tmp_path / "modules.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    corpus = DescribedCorpus(OPENSTAX, path)
    (query,) = corpus.queries("test")
    assert (query.query_id, query.entity, query.aspects) == ("0:cells", "Module 1", ("cells",))
    assert [judged.passage_id for judged in corpus.judgements("test")] == ["0#2", "0#3", "2#2", "2#3"]
    assert not corpus.queries("train")


def test_the_prepared_file(needs: Needs) -> None:
    corpus = DescribedCorpus(OPENSTAX, needs.file("textbooks/openstax_sections.jsonl.gz"))
    assert len(corpus.queries("test")) == 1004
