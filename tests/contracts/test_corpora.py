"""What every corpus promises, on a few documents of each kind and on the first of every data set that is at hand."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from auscult.catalogue import catalogue
from auscult.documents import check_document
from auscult.errors import AuscultError
from auscult.ingest.corpus import Corpus
from auscult_lab.corpora.opening import READERS, open_corpus
from auscult_lab.corpora.special_names import NOTE_QUERIES, WIKISECTION
from classes import classes_with
from needs import Needs
from small_corpora import CORPORA

AT_HAND = {name: found.files for name, found in catalogue().items() if found.reader and not found.access.instructed}
SPLITS = ("train", "dev", "validation", "development", "test")
every_corpus = pytest.mark.parametrize("kind", CORPORA)


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a corpus asked for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.fixture
def corpus(kind: str, tmp_path: Path) -> Corpus:
    return CORPORA[kind](tmp_path)


def splits_of(corpus: Corpus) -> dict[str, list[str]]:
    """Ids of documents by split; a corpus may refuse a split that it does not have, or have two names for one."""
    splits: dict[str, list[str]] = {}
    for split in SPLITS:
        try:
            corpus.queries(split)
            ids = [document.doc_id for document in corpus.documents(split)]
        except AuscultError:
            continue
        if ids != splits.get("dev"):
            splits[split] = ids
    return splits


def test_no_corpus_escapes(tmp_path_factory: pytest.TempPathFactory) -> None:
    made = {type(make(tmp_path_factory.mktemp("corpus"))) for make in CORPORA.values()}
    assert made == classes_with("documents", "queries", "judgements", "candidates")
    assert set(READERS) <= set(CORPORA)


@every_corpus
def test_documents_have_stable_order_and_unique_ids(corpus: Corpus) -> None:
    assert isinstance(corpus, Corpus)
    assert corpus.name
    stream = corpus.documents()
    assert isinstance(stream, Iterator)
    documents = [check_document(document) for document in stream]
    assert len(documents) > 3
    assert list(corpus.documents()) == documents
    # Two readings at once do not disturb each other.
    assert [one for one, _ in zip(corpus.documents(), corpus.documents(), strict=True)] == documents
    passages = [passage.passage_id for document in documents for passage in document.passages]
    for ids in ([document.doc_id for document in documents], passages):
        assert len(set(ids)) == len(ids)
    assert any(document.sentences for document in documents)


@every_corpus
def test_splits_have_no_document_in_common(corpus: Corpus, kind: str) -> None:
    everything = [document.doc_id for document in corpus.documents()]
    splits = splits_of(corpus)
    in_splits = [doc_id for ids in splits.values() for doc_id in ids]
    # A tree of files knows no splits.
    assert in_splits or kind == "medquad-xml"
    assert set(in_splits) <= set(everything)
    # Splits of BEIR, NFCorpus and cpgQA divide queries: every document may be an answer to any.
    if kind not in ("beir", "nfcorpus", "cpgqa"):
        assert len(set(in_splits)) == len(in_splits)
    for ids in splits.values():
        assert len(set(ids)) == len(ids)


@every_corpus
def test_judgements_and_candidates_name_existing_queries_and_passages(corpus: Corpus) -> None:
    passages = {passage.passage_id for document in corpus.documents() for passage in document.passages}
    for split in splits_of(corpus):
        queries = [query.query_id for query in corpus.queries(split)]
        assert len(set(queries)) == len(queries)
        judged, pools = corpus.judgements(split), corpus.candidates(split)
        assert {judgement.query_id for judgement in judged} <= set(queries)
        assert {judgement.passage_id for judgement in judged} <= passages
        assert len({(judgement.query_id, judgement.passage_id) for judgement in judged}) == len(judged)
        assert set(pools) <= set(queries)
        for pool in pools.values():
            assert len(set(pool)) == len(pool)
            assert set(pool) <= passages
        assert list(corpus.queries(split)) == list(corpus.queries(split))
        assert (list(corpus.judgements(split)), dict(corpus.candidates(split))) == (list(judged), dict(pools))


@pytest.mark.parametrize(
    "kind",
    [
        "medquad", "wikipedia", "nhs", "openstax", "beir", "healthqa", "nfcorpus", "bioasq", "covidqa", "pubmedqa",
        "note-queries",
    ],
)  # fmt: skip
def test_those_that_bring_queries_bring_judgements(corpus: Corpus) -> None:
    assert corpus.queries("test")
    assert corpus.judgements("test")


@pytest.mark.parametrize(
    ("name", "documents", "passages"),
    [
        ("nhs", 704, 2142), ("openstax", 942, 6432), ("mtsamples", 2376, 17_373), ("aci-bench", 207, 1_698),
        ("mts-dialog", 1701, 1701), ("primock57", 57, 314), ("covidqa", 98, 2_616), ("pubmedqa", 1000, 3358),
    ],
)  # fmt: skip
def test_every_data_set_document_keeps_its_promises(name: str, documents: int, passages: int, needs: Needs) -> None:
    needs.data(*(file.path for file in AT_HAND[name]))
    read = [check_document(document) for document in open_corpus(name).documents()]
    assert (len(read), sum(len(document.passages) for document in read)) == (documents, passages)


@pytest.mark.parametrize(
    "name", [*AT_HAND, WIKISECTION, *(pytest.param(name, marks=pytest.mark.slow) for name in NOTE_QUERIES)]
)
def test_every_data_set_opens_and_yields_documents(name: str, needs: Needs) -> None:
    sources = {WIKISECTION: ["enwiki", "simplewiki"]}.get(name, [*AT_HAND] if name in NOTE_QUERIES else [name])
    needs.data(*(file.path for source in sources for file in AT_HAND[source]))
    corpus = open_corpus(name)
    assert isinstance(corpus, Corpus)
    assert corpus.name == name
    first, again = (list(islice(corpus.documents(), 40)) for _ in range(2))
    assert first == again
    assert len({document.doc_id for document in map(check_document, first)}) == 40
    assert first[0].passages
    assert any(passage.sentences for passage in first[0].passages)
