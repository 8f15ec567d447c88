"""NFCorpus in its authors' layout."""

from __future__ import annotations

from pathlib import Path

import pytest

from auscult.errors import CorpusMissingError, DataError
from auscult.files.records import RecordError
from auscult.ingest.corpus import Judgement
from auscult_lab.corpora.nfcorpus import NfCorpus
from auscult_lab.corpora.opening import open_corpus

DOCUMENTS = """MED-1\thttp://www.ncbi.nlm.nih.gov/pubmed/1\tTea and sleep\tTea keeps awake. So does coffee.
MED-2\thttp://www.ncbi.nlm.nih.gov/pubmed/2\tA paper without abstract\t
MED-3\thttp://www.ncbi.nlm.nih.gov/pubmed/3\tNuts\tNuts are healthy.
"""
QRELS = "PLAIN-2\t0\tMED-1\t3\nPLAIN-2\t0\tMED-2\t2\nPLAIN-2\t0\tMED-3\t1\nPLAIN-9\t0\tMED-3\t1\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "doc_dump.txt").write_text(DOCUMENTS)
    (tmp_path / "test.titles.queries").write_text("PLAIN-2\tdoes tea keep you awake ?\nPLAIN-9\tnuts\n")
    (tmp_path / "test.vid-desc.queries").write_text("PLAIN-2\ttea and coffee keep awake .\n")
    (tmp_path / "test.3-2-1.qrel").write_text(QRELS)
    (tmp_path / "dev.titles.queries").write_text("PLAIN-5\tcoffee\n")
    (tmp_path / "dev.2-1-0.qrel").write_text("PLAIN-5 0 MED-1 2\nPLAIN-5 0 MED-3 0\n")
    return tmp_path


def test_documents(folder: Path) -> None:
    corpus = NfCorpus(folder)
    first, second, _ = corpus.documents("test")
    assert (first.doc_id, first.title, first.url[-1]) == ("MED-1", "Tea and sleep", "1")
    assert [(p.passage_id, first.slice(p)) for p in first.passages] == [("MED-1", "Tea keeps awake. So does coffee.")]
    assert second.text == "A paper without abstract"
    assert not corpus.candidates("test")


def test_links_are_graded_and_shared_topics_not_relevant(folder: Path) -> None:
    corpus = NfCorpus(folder)
    assert corpus.judgements("test") == [
        Judgement("PLAIN-2", "MED-1", 2),
        Judgement("PLAIN-2", "MED-2", 1),
        Judgement("PLAIN-2", "MED-3", 0),
        Judgement("PLAIN-9", "MED-3", 0),
    ]
    (query,) = corpus.queries("test")
    assert (query.query_id, query.text, query.entity) == ("PLAIN-2", *2 * ("does tea keep you awake ?",))
    topics = NfCorpus(folder, topics=True)
    assert [j.relevance for j in topics.judgements("test")] == [3, 2, 1, 1]
    assert [q.query_id for q in topics.queries("test")] == ["PLAIN-2", "PLAIN-9"]


def test_either_scale_of_the_files_gives_the_same(folder: Path) -> None:
    assert [j.relevance for j in NfCorpus(folder).judgements("dev")] == [2, 0]
    assert [j.relevance for j in NfCorpus(folder, topics=True).judgements("dev")] == [3, 1]


def test_kinds_of_queries(folder: Path) -> None:
    assert [q.text for q in NfCorpus(folder, kind="vid-desc").queries("test")] == ["tea and coffee keep awake ."]
    with pytest.raises(CorpusMissingError, match=r"test\.all\.queries"):
        NfCorpus(folder, kind="all").queries("test")
    with pytest.raises(DataError, match="one of titles, all"):
        NfCorpus(folder, kind="headlines")


def test_it_opens_by_path_and_by_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(open_corpus(str(folder)), NfCorpus)
    monkeypatch.setenv("AUSCULT_DATA", str(folder))
    with pytest.raises(CorpusMissingError, match=r"www\.cl\.uni-heidelberg\.de.*doc_dump\.txt"):
        open_corpus("nfcorpus")
    (folder / "nfcorpus").mkdir()
    (folder / "nfcorpus" / "doc_dump.txt").write_text(DOCUMENTS)
    opened = open_corpus("nfcorpus")
    assert isinstance(opened, NfCorpus)
    assert len(list(opened.documents())) == 3


def test_what_is_missing_or_malformed_is_named(folder: Path) -> None:
    with pytest.raises(CorpusMissingError, match=r"\['dev', 'test'\]"):
        NfCorpus(folder).queries("train")
    (folder / "test.3-2-1.qrel").write_text(QRELS + "PLAIN-2\t0\tMED-3\t4\n")
    with pytest.raises(RecordError, match=r"a level of 3-2-1, got '4' \(.*line 5\)"):
        NfCorpus(folder).judgements("test")
    (folder / "test.3-2-1.qrel").write_text("PLAIN-2 MED-3 1\n")
    with pytest.raises(RecordError, match=r"3 fields \(.*line 1\)"):
        NfCorpus(folder).judgements("test")
    (folder / "dev.titles.queries").write_text("PLAIN-5 coffee\n")
    with pytest.raises(RecordError, match="id and text between tabs"):
        NfCorpus(folder).queries("dev")
    (folder / "raw" / "doc_dump.txt").write_text("MED-1\tTea\n" + DOCUMENTS)
    with pytest.raises(RecordError, match=r"2 fields \(.*doc_dump\.txt, line 1\)"):
        list(NfCorpus(folder).documents())
    lenient = NfCorpus(folder, skip_bad=True)
    assert len(list(lenient.documents())) == 3
    assert dict(lenient.bad.counts) == {"malformed line": 1}
    with pytest.raises(CorpusMissingError, match="its BEIR edition"):
        NfCorpus(folder / "raw" / "nothing")
