"""Folders in BEIR's layout."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from auscult.errors import ConfigError, CorpusMissingError, DataError
from auscult.files.records import RecordError
from auscult.ingest.corpus import Judgement
from auscult_lab.corpora.beir import BeirCorpus
from needs import Needs

DOCUMENTS = [
    {
        "_id": "d1",
        "title": "Gout",
        "text": "It hurts. It is red.",
        "metadata": {"url": "https://example.org"},
    },
    {"_id": "d2", "title": "A paper without abstract", "text": ""},
]
QUERIES = [
    {"_id": "q1", "text": "what are signs of gout", "metadata": {"entity": "gout", "aspect": "symptoms"}},
    {"_id": "q2", "text": "papers without abstracts"},
    {
        "_id": "q3",
        "text": "gout",
        "metadata": {"entity": "gout", "entity_id": "C1", "aspects": ["causes", "diet"]},
    },
]
QRELS = "query-id\tcorpus-id\tscore\nq2\td2\t2\nq1\td1\t1\nq1\td2\t0\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "corpus.jsonl").write_text("\n".join(map(json.dumps, DOCUMENTS)))
    (tmp_path / "queries.jsonl.gz").write_bytes(gzip.compress("\n".join(map(json.dumps, QUERIES)).encode()))
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels/test.tsv").write_text(QRELS)
    (tmp_path / "qrels/dev.tsv").write_text("q3\td1\t1\r\n")
    return tmp_path


def test_documents_have_one_passage_with_their_own_id(folder: Path) -> None:
    corpus = BeirCorpus(folder, name="tiny")
    first, second = corpus.documents("test")
    assert [(p.passage_id, first.slice(p)) for p in first.passages] == [("d1", "It hurts. It is red.")]
    assert (first.title, first.url, first.source) == ("Gout", "https://example.org", "tiny")
    assert second.text == "A paper without abstract"
    assert not corpus.candidates("test")


def test_queries_and_judgements_of_a_split(folder: Path) -> None:
    corpus = BeirCorpus(folder)
    q1, q2 = corpus.queries("test")
    assert (q1.entity, q1.aspects, q1.text) == ("gout", ("symptoms",), "what are signs of gout")
    assert (q2.entity, q2.aspects) == ("papers without abstracts", ())
    assert corpus.judgements("test") == [
        Judgement("q2", "d2", 2),
        Judgement("q1", "d1", 1),
        Judgement("q1", "d2", 0),
    ]
    (q3,) = corpus.queries("dev")
    assert (q3.aspects, q3.entity_id) == (("causes", "diet"), "C1")
    assert corpus.name == folder.name


def test_what_is_missing_is_named(folder: Path) -> None:
    with pytest.raises(CorpusMissingError, match="got the splits dev, test; name one"):
        BeirCorpus(folder).queries("train")
    with pytest.raises(CorpusMissingError, match=r"corpus\.jsonl"):
        BeirCorpus(folder / "qrels")
    (folder / "queries.jsonl.gz").write_bytes(gzip.compress(json.dumps(QUERIES[0]).encode()))
    with pytest.raises(DataError, match="no query 'q2'"):
        BeirCorpus(folder).queries("test")


@pytest.mark.parametrize(
    ("line", "kind"), [("q1\td1", "malformed line"), ("q1\td1\thigh", "wrong type"), ("q1\td1\t0", "contradiction")]
)
def test_a_bad_judgement_is_named(folder: Path, line: str, kind: str) -> None:
    (folder / "qrels/test.tsv").write_text(QRELS + line + "\n")
    with pytest.raises(RecordError, match=r"test\.tsv, line 5") as caught:
        BeirCorpus(folder, skip_bad=True).judgements("test")
    assert caught.value.kind == kind


def test_a_judgement_may_be_written_as_a_decimal(folder: Path) -> None:
    (folder / "qrels/test.tsv").write_text("q1\td1\t1.0\nq2\td2\t0.0\n")
    assert BeirCorpus(folder).judgements("test") == [Judgement("q1", "d1", 1), Judgement("q2", "d2", 0)]
    for score in ("0.5", "nan", "inf"):
        (folder / "qrels/test.tsv").write_text(f"q1\td1\t{score}\n")
        with pytest.raises(RecordError, match="a whole number as score"):
            BeirCorpus(folder).judgements("test")


def test_judgements_that_are_no_text_are_named(folder: Path) -> None:
    (folder / "qrels/test.tsv").write_bytes(QRELS.encode() + b"q1\td\xe9\t1\n")
    with pytest.raises(RecordError, match=r"byte 0xe9 at position 4 \(.*test\.tsv, line 5\)"):
        BeirCorpus(folder).judgements("test")


def test_judgements_that_may_not_be_read_are_named(folder: Path, needs: Needs) -> None:
    needs.file_modes()
    (folder / "qrels/test.tsv").chmod(0)
    with pytest.raises(DataError, match=r"test\.tsv"):
        BeirCorpus(folder).judgements("test")


def test_bad_documents_can_be_skipped(folder: Path) -> None:
    with (folder / "corpus.jsonl").open("a") as file:
        file.write('\n{"_id": "d1", "text": "Again."}\n{"_id": "d3", "text": ""}\n')
    with pytest.raises(RecordError, match="line 3"):
        list(BeirCorpus(folder).documents())
    corpus = BeirCorpus(folder, skip_bad=True)
    assert [d.doc_id for d in corpus.documents()] == ["d1", "d2"]
    assert dict(corpus.bad.counts) == {"duplicate id": 1, "empty document": 1}


ROWS = [
    {"_id": "gout-1", "title": "Gout", "text": "It is a disease.", "metadata": {"parent": "gout"}},
    {"_id": "gout-2", "title": "Signs", "text": "It hurts. It is red.", "metadata": {"parent": "gout"}},
    {"_id": "flu-1", "title": "Flu", "text": "It is caught."},
]


def write_rows(folder: Path, *rows: dict[str, object]) -> None:
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, rows)))


def test_rows_of_one_parent_are_one_document(folder: Path) -> None:
    write_rows(folder, *ROWS)
    gout, flu = BeirCorpus(folder).documents()
    assert (gout.doc_id, gout.title) == ("gout", "Gout")
    assert [(p.passage_id, p.heading) for p in gout.passages] == [("gout-1", ""), ("gout-2", "Signs")]
    assert gout.slice(gout.passages[1]) == "It hurts. It is red."
    assert [p.passage_id for p in flu.passages] == ["flu-1"]


def test_a_pattern_of_ids_joins_passages(folder: Path) -> None:
    write_rows(folder, *({**row, "metadata": {}} for row in ROWS))
    corpus = BeirCorpus(folder, parent=r"^(.+)-\d+$")
    assert [(d.doc_id, len(d.passages)) for d in corpus.documents()] == [("gout", 2), ("flu", 1)]
    for pattern, named in (("gout", "a group"), ("(", "a regular expression")):
        with pytest.raises(ConfigError, match=named):
            BeirCorpus(folder, parent=pattern)


def test_scattered_rows_of_a_parent_are_refused(folder: Path) -> None:
    write_rows(folder, ROWS[0], ROWS[2], ROWS[1])
    with pytest.raises(DataError, match="'gout' in two places"):
        list(BeirCorpus(folder).documents())
