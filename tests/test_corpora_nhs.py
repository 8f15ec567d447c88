"""NHS pages."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from auscult.corpora.nhs import NhsCorpus
from auscult.documents import check_document
from auscult.interfaces import Corpus

PAGE = {
    "doc_id": "nhs:conditions/gout",
    "title": "Gout",
    "page_type": "condition",
    "url": "https://www.nhs.uk/conditions/gout/",
    "last_reviewed": "1 May 2025",
    "sections": [{"heading": "symptoms", "text": "The pain comes fast.\nhot skin\nswelling"}],
}


def test_a_page(tmp_path: Path) -> None:
    path = tmp_path / "pages.jsonl"
    path.write_text(json.dumps(PAGE))
    corpus = NhsCorpus(path)
    assert isinstance(corpus, Corpus)
    (page,) = corpus.documents("train")
    assert (page.title, page.source, page.url) == ("Gout", "NHS", "https://www.nhs.uk/conditions/gout/")
    assert dict(page.metadata) == {"page_type": "condition", "last_reviewed": "1 May 2025"}
    assert [page.slice(s) for s in page.sentences] == ["The pain comes fast.", "hot skin", "swelling"]
    assert list(corpus.documents("test")) == []


def test_the_prepared_file() -> None:
    path = Path(os.environ.get("AUSCULT_DATA", "")) / "consumer_health/nhs_pages.jsonl.gz"
    if "AUSCULT_DATA" not in os.environ or not path.is_file():
        pytest.skip("the NHS pages are not under AUSCULT_DATA")
    pages = [check_document(page) for page in NhsCorpus(path).documents()]
    assert (len(pages), sum(len(page.passages) for page in pages)) == (704, 2142)
