"""Ids of sentences: they find what they name, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from auscult.documents import Document, Section, build_document
from auscult.errors import QueryError
from auscult.index import IndexUpdate
from auscult.ingest.building import build_index
from auscult.search import Searcher
from auscult.search.sentence_ids import find_sentence, read_sentence_id, sentence_id
from encoders import HashedEncoder
from leaflets import leaflets

ENCODER = HashedEncoder(64)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ids") / "index"
    build_index(leaflets(), ENCODER, folder)
    return folder


def ids_of(document: Document) -> list[str]:
    """The ids of all sentences of a document."""
    return [sentence_id(document.doc_id, each.start, each.end, document.slice(each)) for each in document.sentences]


@given(st.text(min_size=1), st.integers(0, 10**9), st.integers(0, 10**9), st.text())
def test_an_id_is_read_as_it_was_made(doc_id: str, start: int, end: int, text: str) -> None:
    made = sentence_id(doc_id, start, end, text)
    assume(made.strip() == made)
    read = read_sentence_id(made)
    assert (read.doc_id, read.start, read.end, str(read)) == (doc_id, start, end, made)


def test_every_sentence_is_found_by_its_id(folder: Path) -> None:
    reader = Searcher.open(folder, ENCODER).index.reader
    for document in leaflets():
        for number, (written, sentence) in enumerate(zip(ids_of(document), document.sentences, strict=True)):
            found = find_sentence(reader, written)
            assert (found.document, found.number, found.text) == (document, number, document.slice(sentence))
            passage = next(each for each in document.passages if sentence in each.sentences)
            assert found.passage == passage


@pytest.mark.parametrize(
    "written",
    [
        "",
        "leaflet-gout",
        "leaflet-gout#0-5",
        "leaflet-gout#0-5-zzzz",
        "leaflet-gout#0-36-0000",
        "leaflet-gout#0-5-abcd",
        "leaflet-flu#0-36-abcd",
        "../leaflet-gout#0-36-abcd",
    ],
)
def test_invented_ids_are_refused(folder: Path, written: str) -> None:
    with pytest.raises(QueryError, match="sentence"):
        find_sentence(Searcher.open(folder, ENCODER).index.reader, written)


def test_an_id_ends_with_the_sentence_it_named(tmp_path: Path) -> None:
    def one(text: str) -> Document:
        return build_document(doc_id="a#1", title="A", sections=[Section("", text, "a-1")])

    place = tmp_path / "index"
    build_index([one("Take two a day. Rest."), *leaflets()], ENCODER, place)
    first, second = ids_of(one("Take two a day. Rest."))
    with IndexUpdate(place, ENCODER) as update:
        update.replace([one("Take six a day. Rest.")])
        update.commit()
    reader = Searcher.open(place, ENCODER).index.reader
    assert find_sentence(reader, second).text == "Rest."
    with pytest.raises(QueryError, match=r"no sentence of that document has \(now\)"):
        find_sentence(reader, first)


def test_a_hidden_document_has_no_sentence(tmp_path: Path) -> None:
    secret = build_document(
        doc_id="s", title="S", sections=[Section("", "Nobody knows.", "s-1")], metadata={"access": "ward"}
    )
    build_index([secret, *leaflets()], ENCODER, tmp_path / "index")
    searcher = Searcher.open(tmp_path / "index", ENCODER)
    (written,) = ids_of(secret)
    assert find_sentence(searcher.index.reader, written).text == "Nobody knows."
    assert find_sentence(searcher.seen_by(["ward"]).index.reader, written).text == "Nobody knows."
    with pytest.raises(QueryError, match="of no document here"):
        find_sentence(searcher.seen_by([]).index.reader, written)
