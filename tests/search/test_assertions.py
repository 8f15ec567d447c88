"""What sentences say of the entity: the trap suite, mentions in normal form, lists, and the filter of searches."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import get_args

import pytest

from auscult.cli.search import Said
from auscult.documents import Section, build_document
from auscult.errors import QueryError
from auscult.interfaces import Assertion
from auscult.search import Searcher, SearchOptions, build_index
from auscult.search.assertions import AssertionReader, assertion_label
from auscult.understanding import Query
from encoders import HashedEncoder
from places import DATA

TRAPS = DATA / "assertion_traps.tsv"
ENCODER = HashedEncoder(256)
QUERY = Query("", "gout", ("treatment",))
NOTES = {
    "now": "The patient has gout. His toe is red.",
    "denied": "The patient denies gout. His toe is red.",
    "both": "The patient had no gout in spring. Now he has gout.",
    "mother": "Her mother has gout. Her toe is red.",
    "unnamed": "The toe is red. He rests it.",
}


def test_most_assertion_traps_are_read_correctly() -> None:
    # Rows are divided by their number: the rules were developed on the first, third, and so on (100 of 100 right).
    # The others were read once, when the rules were done: 98 of 100.
    with TRAPS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert [row["status"] for row in rows[::2]].count("family") == 20
    for half, least in ((rows[::2], 98), (rows[1::2], 95)):
        assert len(half) == 100
        right = [
            AssertionReader([row["entity"]]).read(row["sentence"], [row["heading"]]) == (row["status"],) for row in half
        ]
        assert sum(right) >= least


@pytest.mark.parametrize(
    ("names", "sentence", "expected"),
    [
        (["kidney stone"], "No kidney stones were found.", ("negated",)),
        (["haemophilia"], "His brother has hemophilia.", ("family",)),
        (["Crohn's disease", "Crohn"], "She denies Crohn\u2019s disease.", ("negated",)),
        (["type 2 diabetes"], "A history of type II diabetes.", ("historical",)),
        (["gout"], "No gout in spring, but he has gout now.", ("negated", "affirmed")),
        (["gout"], "Asthma.", ()),
        (["breast cancer"], "The cancer is not of the breast.", ()),
        ([], "No gout.", ()),
    ],
)
def test_mentions_are_found_by_their_normal_form(names: list[str], sentence: str, expected: tuple[str, ...]) -> None:
    assert AssertionReader(names).read(sentence) == expected


def test_a_lead_in_decides_its_list_items_assertion() -> None:
    read = AssertionReader(["fever"]).read
    assert read("- fever", lead="Call us if you have:") == ("hypothetical",)
    assert read("- fever", lead="Symptoms are:") == ("affirmed",)
    assert read("- rash", lead="Call us if you have fever:") == ()


def test_labels_name_assertions_other_than_affirmed() -> None:
    assert [assertion_label(said) for said in ((), ("affirmed",), ("negated", "affirmed"))] == [
        "",
        "",
        "negated, affirmed",
    ]


def test_the_command_line_knows_every_assertion() -> None:
    assert tuple(Said) == get_args(Assertion)


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    folder: Path = tmp_path_factory.mktemp("assertions") / "index"
    documents = [
        build_document(doc_id=name, title="", sections=[Section("Treatment", text)]) for name, text in NOTES.items()
    ]
    past = build_document(doc_id="past", title="", sections=[Section("Past medical history", "Asthma, gout.")])
    listed = "Call us if you have:\n\n- gout\n- a cough"
    build_index(
        [*documents, past, build_document(doc_id="listed", title="", sections=[Section("Treatment", listed)])],
        ENCODER,
        folder,
    )
    return Searcher.open(folder, ENCODER)


def test_each_sentence_of_a_hit_has_its_assertions(searcher: Searcher) -> None:
    said = {hit.doc_id: [sentence.assertions for sentence in hit.sentences] for hit in searcher.search(QUERY, 10)}
    assert said == {
        "now": [("affirmed",), ()],
        "denied": [("negated",), ()],
        "both": [("negated",), ("affirmed",)],
        "mother": [("family",), ()],
        "unnamed": [(), ()],
        "past": [("historical",)],
        "listed": [(), ("hypothetical",), ()],
    }


@pytest.mark.parametrize("scoring", ["fused", "model"])
def test_hits_with_only_other_assertions_are_filtered_out(searcher: Searcher, scoring: str) -> None:
    def search(*assertions: Assertion, k: int = 10) -> list[str]:
        options = SearchOptions(assertions=assertions, scoring="model" if scoring == "model" else "fused")
        hits = searcher.search(QUERY, k, options)
        assert [hit.rank for hit in hits] == [*range(1, len(hits) + 1)]
        return [hit.doc_id for hit in hits]

    every = search()
    assert len(every) == 7
    assert search("affirmed") == [name for name in every if name in ("now", "both", "unnamed")]
    assert search("negated", "family") == [name for name in every if name in ("denied", "both", "mother", "unnamed")]
    # Fewer are asked for than stand before the first that says it.
    assert search("historical", k=1) == [name for name in every if name in ("past", "unnamed")][:1]
    assert search(*get_args(Assertion)) == every


def test_filtering_does_not_change_the_remaining_hits(searcher: Searcher) -> None:
    whole = {hit.doc_id: hit for hit in searcher.search(QUERY, 10)}
    for hit in searcher.search(QUERY, 10, SearchOptions(assertions=["family"])):
        other = whole[hit.doc_id]
        assert (hit.score, hit.evidence, hit.probability, hit.sentences) == (
            other.score,
            other.evidence,
            other.probability,
            other.sentences,
        )


def test_the_filter_needs_an_entity(searcher: Searcher) -> None:
    with pytest.raises(QueryError, match="a question about a thing"):
        searcher.find(Query("", "", text="red toes"), 3, SearchOptions(assertions=["affirmed"]))
