"""What sentences say of the entity: the trap suite, mentions in normal form, lists, and the filter of searches."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import get_args

import pytest

from auscult.cli.search import Said
from auscult.concepts.context import find_contexts
from auscult.documents import Section, build_document
from auscult.errors import QueryError
from auscult.ingest.building import build_index
from auscult.schema import Assertion
from auscult.search import Searcher, SearchOptions
from auscult.search.assertions import AssertionReader, assertion_label, first_assertion
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


def span_of(row: dict[str, str]) -> tuple[int, int]:
    start = row["sentence"].index(row["entity"])
    return start, start + len(row["entity"])


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
    ("name", "language", "part", "least"),
    [
        ("assertion_french", "fr", "tuning", 1.0),
        ("assertion_spanish", "es", "tuning", 1.0),
        ("assertion_german", "de", "tuning", 1.0),
        # Marked before any rule was written, and read for the first time when they were done: 49 of 51.
        ("assertion_german", "de", "test", 0.94),
    ],
)
def test_assertions_of_other_languages(name: str, language: str, part: str, least: float) -> None:
    with (DATA / f"{name}.tsv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["part"] == part]
    assert len(rows) >= 40
    right = [
        first_assertion(find_contexts(row["sentence"], [span_of(row)], language=language)[0]) == row["status"]
        for row in rows
    ]
    assert sum(right) / len(right) >= least


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


REPORTS = {
    "denied": "No evidence of pulmonary embolism.",
    "denied at length": "CT of the chest. No evidence of pulmonary embolism. The lungs are clear.",
    "affirmed": "There is a large pulmonary embolism in the right main artery. The right heart is strained.",
    "affirmed, too": "Bilateral pulmonary embolism with infarction of the left lower lobe.",
    "other": "The lungs are clear. The heart is of normal size.",
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    folder = tmp_path_factory.mktemp("reports") / "index"
    made = [build_document(doc_id=name, title="CT", sections=[Section("", text)]) for name, text in REPORTS.items()]
    build_index(made, ENCODER, folder)
    return Searcher.open(folder, ENCODER)


@pytest.mark.parametrize("query", [Query("", "pulmonary embolism"), Query("", "", text="pulmonary embolism")])
def test_a_name_finds_what_affirms_it_first(reports: Searcher, query: Query) -> None:
    hits = reports.search(query, 5)
    assert {hit.doc_id for hit in hits[:2]} == {"affirmed", "affirmed, too"}
    assert {hit.doc_id for hit in hits[2:4]} == {"denied", "denied at length"}
    assert all(sum(hit.evidence.values()) == pytest.approx(hit.score, abs=1e-4) for hit in hits)
    assert reports.search(query, 1)[0].doc_id == hits[0].doc_id


@pytest.mark.parametrize("question", ["no pulmonary embolism", "without pulmonary embolism"])
def test_a_denied_name_finds_denials_first(reports: Searcher, question: str) -> None:
    assert reports.search(Query("", "pulmonary embolism", text=question), 1)[0].doc_id == "denied"


def test_a_passage_is_read_in_its_language() -> None:
    text = "Kein Anhalt für eine Pneumonie.\n\nBitte kommen Sie bei:\n\n- Pneumonie"
    document = build_document(doc_id="n", title="", sections=[Section("Vorerkrankungen", text)])
    reader, (passage,) = AssertionReader(["Pneumonie"]), document.passages
    assert reader.of_passage(passage, text, language="de") == [("negated",), (), ("historical",)]
    denied = build_document(doc_id="d", title="", sections=[Section("Befund", text[:31])]).passages[0]
    assert reader.denies(denied, text[:31], language="de")
    assert not reader.denies(denied, text[:31])
    assert reader.of_passage(passage, text) == [("affirmed",), (), ("affirmed",)]
