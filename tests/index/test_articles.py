"""The words of an article count for its passages alone; a document is found by all that it is called."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from auscult.documents import Document, Section, build_document
from auscult.index import IndexUpdate, optimize
from auscult.index.articles import article_sizes, headings_of
from auscult.ingest.building import build_index
from auscult.search import Searcher
from auscult.search.hits import EVIDENCE
from auscult.understanding import Query
from encoders import HashedEncoder

ENCODER = HashedEncoder()
#: More words than an article may have, in topics that each have several sections.
WARD = " ".join(f"ward{number} rule time nurses staff" for number in range(40))
SAID_ONCE = {("Topic0", "Arrival"): "Visiting is welcome.", ("Topic0", "Meals"): "At all hours."}
SECTIONS = [
    Section(heading, f"{WARD} {topic} {heading}. {SAID_ONCE.get((topic, heading), '')}", above=("Rules", topic))
    for topic in (f"Topic{number}" for number in range(8))
    for heading in ("Arrival", "Meals", "Leaving")
]
HANDBOOK = build_document(doc_id="handbook", title="Handbook", sections=SECTIONS)
LEAFLET = build_document(
    doc_id="leaflet",
    title="Stay with us",
    sections=[
        Section("Visiting hours", "Visiting hours are from two to six."),
        Section("Parking", "Behind the house."),
    ],
)
LETTER = build_document(
    doc_id="letter",
    title="Discharge letter",
    sections=[Section("", "She was well when she left."), Section("Medicines", "None.")],
    metadata={"names": "Jane Doe\nAnn Weber", "file": "letters/ward 7/leaflet_for-PainRelief.pdf"},
)
OTHERS = [
    build_document(doc_id=f"other{n}", title=f"Discharge letter {n}", sections=[Section("", f"He was well {n}.")])
    for n in range(6)
]
EVERYTHING = [HANDBOOK, LEAFLET, LETTER, *OTHERS]


def sizes_by_document(searcher: Searcher) -> list[list[int]]:
    reader = searcher.index.reader
    owners = [[reader.words.articles[row] for row in reader.passages_of(document)] for document in reader.documents]
    return [[of.count(number) for number in dict.fromkeys(of)] for of in owners]


def passages_with(evidence: str, searcher: Searcher, query: Query) -> set[str]:
    found = searcher.gather(query)[1][:, EVIDENCE.index(evidence)]
    return {searcher.index.reader.passage_id(row) for row in np.flatnonzero(found).tolist()}


def build(folder: Path, documents: list[Document]) -> Searcher:
    build_index(documents, ENCODER, folder)
    return Searcher.open(folder, ENCODER)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    return build(tmp_path_factory.mktemp("whole") / "index", EVERYTHING)


def test_articles_are_the_largest_subtrees_within_the_limit() -> None:
    paths = [("A",), ("A", "a"), ("A", "b"), ("B",), ("B", "c"), ("C",)]
    assert article_sizes(paths, [1] * 6, most=6) == [6]
    assert article_sizes(paths, [1] * 6, most=3) == [3, 2, 1]
    assert article_sizes(paths, [1] * 6, most=2) == [1, 1, 1, 2, 1]
    assert article_sizes(paths, [9] * 6, most=2) == [1] * 6
    assert article_sizes([], [], most=2) == []


def test_passages_without_headings_are_cut_into_runs() -> None:
    assert article_sizes([()] * 5, [2, 2, 2, 9, 1], most=4) == [2, 1, 1, 1]
    assert article_sizes([("A",)] * 3, [2, 2, 2], most=4) == [2, 1]


def test_headings_count_once_per_article() -> None:
    assert [*headings_of([("A", "a"), ("A", "a", "x"), ("A", "b"), ("B", "b")])] == ["A", "a", "x", "b", "B", "b"]
    assert [*headings_of([("A", "a")])] == ["A", "a"], "those above the first passage, too"


def test_handbooks_have_many_articles_and_leaflets_one(whole: Searcher) -> None:
    assert sizes_by_document(whole) == [[3] * 8, [2], [2], *[[1]] * 6]


@pytest.mark.parametrize("query", [Query("", "", text="visiting hours"), Query("", "visiting hours")])
def test_leaflet_outranks_handbook_that_repeats_its_words(whole: Searcher, query: Query) -> None:
    assert whole.search(query, 1)[0].passage_id == "leaflet#1"
    name = "entity_document" if query.entity else "question_document"
    assert passages_with(name, whole, query) == {"leaflet#1", "leaflet#2", "handbook#1", "handbook#2", "handbook#3"}


def test_handbook_topics_are_found_by_parent_headings(whole: Searcher) -> None:
    found = whole.search(Query("", "topic5", ("meals",)), 1)[0]
    assert (found.above, found.heading) == (("Rules", "Topic5"), "Meals")
    # Its words count in its own article only.
    named = passages_with("entity_document", whole, Query("", "topic5"))
    assert named == {"handbook#16", "handbook#17", "handbook#18"}


@pytest.mark.parametrize(
    "question",
    [
        "Mrs Jane Doe discharge letter",
        "discharge letter by Ann Weber",
        "leaflet_for-PainRelief.pdf",
        "pain relief leaflet",
        "discharge letter ward 7",
    ],
)
def test_documents_are_found_by_person_file_folder_names(whole: Searcher, question: str) -> None:
    assert whole.search(Query("", "", text=question), 1)[0].doc_id == "letter"


def test_articles_stay_right_with_additions_and_removals(whole: Searcher, tmp_path: Path) -> None:
    folder = tmp_path / "index"
    build(folder, [OTHERS[0], HANDBOOK])
    with IndexUpdate(folder, ENCODER) as update:
        update.add([LEAFLET, LETTER])
        update.commit()
    with IndexUpdate(folder, ENCODER) as update:
        update.delete(["handbook"])
        update.commit()
    kept = [OTHERS[0], LEAFLET, LETTER]
    expected = build(tmp_path / "alone", kept)
    for change in (lambda: None, lambda: optimize(folder)):
        change()
        changed = Searcher.open(folder, ENCODER)
        assert sizes_by_document(changed) == sizes_by_document(expected) == [[1], [2], [2]]
        for query in (Query("", "visiting hours"), Query("", "", text="Jane Doe leaving")):
            ours, theirs = (
                [(hit.passage_id, pytest.approx(hit.score, abs=1e-6)) for hit in each.search(query, 9)]
                for each in (changed, expected)
            )
            assert ours == theirs
