"""What a collection answers, and sources side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from auscult.concepts import KnowledgeBase
from auscult.concepts.concept import Concept
from auscult.documents import Document, Section, build_document
from auscult.errors import QueryError
from auscult.ingest.building import build_index
from auscult.search import Searcher
from auscult.search.certainty import label, nothing_here, verdict
from auscult.search.coverage import aspects_of, cover, entities_named
from auscult.search.hits import date_of
from auscult.search.side_by_side import side_by_side
from auscult.understanding import Query
from encoders import HashedEncoder
from leaflets import leaflets


class Counted(HashedEncoder):
    """Counts how often queries are encoded."""

    batches = 0

    def encode_queries(self, queries):  # type: ignore[no-untyped-def]
        self.batches += 1
        return super().encode_queries(queries)


def dated() -> list[Document]:
    """The leaflets, one of them with a date, and one for others only."""
    documents = [replace(each, metadata={"audience": "patients", "date": "2024-05-01"}) for each in leaflets()]
    secret = build_document(
        doc_id="secret",
        title="Scabies",
        sections=[Section("Inheritance", "Scabies is not inherited.", "secret-1")],
        source="East",
        metadata={"audience": "staff", "access": "ward"},
    )
    return [*documents, secret]


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    folder = tmp_path_factory.mktemp("coverage") / "index"
    encoder = Counted(256)
    build_index(dated(), encoder, Path(folder))
    return Searcher.open(folder, encoder)


def test_cells_are_first_hits_and_encoded_together(searcher: Searcher) -> None:
    encoder = searcher.encoder
    assert isinstance(encoder, Counted)
    before = encoder.batches
    table = cover(searcher, ["Gout", "Asthma"], ["treatment", "symptoms"])
    assert encoder.batches == before + 1
    assert table.aspects == ("treatment", "symptoms")
    assert [each.query.entity for each in table.entities] == ["Gout", "Asthma"]
    for understood, row in zip(table.entities, table.cells, strict=True):
        for aspect, cell in zip(table.aspects, row, strict=True):
            (hit,) = searcher.search(replace(understood.query, aspects=(aspect,)), 1)
            assert cell.hit is not None
            # Passages are weighed together, and sums of single precision differ by their number.
            assert replace(cell.hit, probability=None) == replace(hit, probability=None)
            assert cell.probability == pytest.approx(hit.probability, abs=1e-5)
            assert cell.word == verdict(cell.probability)
    assert table.cells[0][0].hit is not None
    assert table.cells[0][0].hit.passage_id == "gout-3"
    shown = [label(cell.probability) for row in table.cells for cell in row]
    assert table.share("no answer") == shown.count("no answer") / 4


def test_unknown_entities_have_no_answer(searcher: Searcher) -> None:
    table = cover(searcher, ["Gout", "zebra fever"], ["treatment"])
    found, missing = table.cells[0][0], table.cells[1][0]
    assert missing.word == "no answer"
    assert found.probability > missing.probability


@pytest.mark.parametrize(
    ("probability", "shown", "said"),
    [
        (0.0, "no answer", "Nothing here seems to answer this; "),
        (0.0099, "no answer", "Nothing here seems to answer this; "),
        (0.01, "uncertain", "Perhaps nothing here answers this; "),
        (0.09, "uncertain", "Perhaps nothing here answers this; "),
        (0.1, "may answer", ""),
        (0.75, "answers", ""),
    ],
)
def test_only_an_improbable_answer_is_denied(probability: float, shown: str, said: str) -> None:
    assert label(probability) == shown
    sentence = nothing_here([0.0, probability, None])
    assert sentence.startswith(said) if said else sentence == ""


@pytest.mark.parametrize(
    ("probability", "word"),
    [
        (0.0, "no answer"),
        (0.09, "no answer"),
        (0.1, "may answer"),
        (0.69, "may answer"),
        (0.75, "answers"),
        (1, "answers"),
    ],
)
def test_verdicts_follow_the_probability(probability: float, word: str) -> None:
    assert verdict(probability) == word


def artery_and_sprue(folder: Path) -> Searcher:
    """Leaflets on two diseases with a common word, and others."""
    known = KnowledgeBase(
        [
            Concept("X:9", "disease"),
            Concept("X:1", "pelvic disease", ("pelvic sprue",), parents=("X:9",)),
            Concept("X:2", "pelvic artery compression syndrome", parents=("X:9",)),
            Concept("X:3", "refractory sprue", parents=("X:1",)),
            Concept("X:4", "hand, foot and mouth disease", parents=("X:9",)),
            Concept("X:5", "scurvy", parents=("X:9",)),
            Concept("X:6", "type 1 palsy", parents=("X:9",)),
            Concept("X:7", "type 2 palsy", parents=("X:9",)),
        ]
    )
    similar = build_document(
        doc_id="artery",
        title="Pelvic artery compression syndrome",
        sections=[
            Section("Treatment", "Pelvic artery compression is no pelvic disease. Treatment is by surgery.", "artery-1")
        ],
        source="Artery",
    )
    kind = build_document(
        doc_id="kind",
        title="Refractory sprue",
        sections=[Section("Treatment", "Pelvic disease that is refractory is treated with steroids.", "kind-1")],
        source="Kind",
    )
    encoder = HashedEncoder(256)
    build_index([similar, kind, *leaflets()], encoder, folder / "index", knowledge_base=known)
    return Searcher.open(folder / "index", encoder)


def test_similar_diseases_are_apart_from_answers(tmp_path: Path) -> None:
    searcher = artery_and_sprue(tmp_path)
    names = ["pelvic disease", "pelvic artery compression syndrome"]
    ((cell,), (own,)) = cover(searcher, names, ["treatment"], where={"source": "Artery"}).cells
    assert (cell.word, cell.probability, cell.hit) == ("no answer", 0.0, None)
    assert cell.similar is not None
    assert cell.similar.doc_id == "artery"
    assert cell.note.startswith("similar, but not the one asked: 'Pelvic artery compression syndrome'")
    assert own.hit is not None
    assert (own.hit.doc_id, own.similar, own.note) == ("artery", None, "")
    # A kind of what was asked may answer.
    ((kind,), _) = cover(searcher, names, ["treatment"], where={"source": "Kind"}).cells
    assert kind.hit is not None
    assert (kind.hit.doc_id, kind.similar) == ("kind", None)
    query = searcher.understand(Query("", "pelvic disease", ("treatment",))).query
    ((answer, other),) = side_by_side(searcher, query, "document", ["artery", "kind"]).answers
    assert (answer.word, answer.probability, answer.hits) == ("no answer", 0.0, ())
    assert [hit.doc_id for hit in answer.similar] == ["artery"]
    assert ([hit.doc_id for hit in other.hits], other.similar) == (["kind"], ())
    by_heading = side_by_side(searcher, replace(query, aspects=()), "document", ["artery", "kind"])
    assert by_heading.rows == ("treatment",)
    assert [bool(each.similar) for each in by_heading.answers[0]] == [True, False]


def test_a_sibling_is_no_answer(tmp_path: Path) -> None:
    encoder = HashedEncoder(256)
    one = build_document(
        doc_id="11",
        title="Spastic paraplegia 11",
        sections=[Section("Treatment", "Treatment of spastic paraplegia 11 is by walking aids.", "11-1")],
    )
    build_index([one], encoder, tmp_path / "index")
    searcher = Searcher.open(tmp_path / "index", encoder)
    ((other,), (same,)) = cover(searcher, ["Spastic paraplegia 8", "Spastic paraplegia 11"], ["treatment"]).cells
    assert (same.hit is not None, same.note) == (True, "")
    assert (other.word, other.probability, other.hit) == ("no answer", 0.0, None)
    assert other.similar is not None
    assert other.similar.title == "Spastic paraplegia 11"


@pytest.mark.parametrize(
    ("texts", "names"),
    [
        (["scurvy, asthma"], ["scurvy", "asthma"]),
        (["Gout and asthma"], ["Gout", "asthma"]),
        (["gout; asthma\nscurvy"], ["gout", "asthma", "scurvy"]),
        (["gout, asthma, and scurvy & migraine", "gout"], ["gout", "asthma", "scurvy", "migraine", "gout"]),
        (["hand, foot and mouth disease"], ["hand, foot and mouth disease"]),
        (["gout, hand, foot and mouth disease, asthma"], ["gout", "hand, foot and mouth disease", "asthma"]),
        (["zorbimab and gout"], ["zorbimab", "gout"]),
        (["zorbimab, plimex"], ["zorbimab", "plimex"]),
        (["wear and tear"], ["wear and tear"]),
        (["type 1 and type 2 palsy"], ["type 1 palsy", "type 2 palsy"]),
        ([" ,; and", ""], ["and"]),
        (["scurvy or IgA nephropathy"], ["scurvy", "IgA nephropathy"]),
    ],
)
def test_lists_of_entities_are_split_into_names(listing: Searcher, texts: list[str], names: list[str]) -> None:
    assert entities_named(listing, texts) == names
    assert entities_named(listing, names) == names


@pytest.fixture(scope="module")
def listing(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    return artery_and_sprue(tmp_path_factory.mktemp("listing"))


def test_default_aspects_are_the_visible_filtered_documents_headings(searcher: Searcher) -> None:
    assert aspects_of(searcher) == ("symptoms", "treatment", "inheritance")
    assert aspects_of(searcher, {"source": "North"}) == ("symptoms", "treatment")
    view = searcher.seen_by(())
    assert aspects_of(view) == ("symptoms", "treatment")
    assert cover(view, ["Gout"]).aspects == ("symptoms", "treatment")
    seen = cover(view, ["Scabies"], ["inheritance"]).cells[0][0]
    assert seen.hit is None or seen.hit.doc_id != "secret"
    assert cover(searcher, ["Scabies"], ["inheritance"]).cells[0][0].hit.doc_id == "secret"  # type: ignore[union-attr]
    only = cover(searcher, ["Gout"], ["treatment"], where={"source": "South"}).cells[0][0].hit
    assert only is not None
    assert only.source == "South"


def test_empty_and_too_large_tables_are_refused(searcher: Searcher) -> None:
    with pytest.raises(QueryError, match="entities and aspects"):
        cover(searcher, [" "], ["treatment"])
    with pytest.raises(QueryError, match="at most 2000 cells"):
        cover(searcher, ["Gout"] * 1_001, ["treatment", "symptoms"])


def test_each_aspect_that_was_read_is_a_row(searcher: Searcher) -> None:
    query = Query("", "Gout", ("symptoms", "treatment"), text="how does gout feel", aspect_likelihoods=(0.9, 0.4))
    assert side_by_side(searcher, query, "source", ["South", "North"]).rows == ("symptoms", "treatment")


def test_sources_answer_side_by_side(searcher: Searcher) -> None:
    query = searcher.understand(Query("", "Gout", ("treatment", "symptoms"))).query
    table = side_by_side(searcher, query, "source", ["South", "North"], k=2)
    assert (table.field, table.values, table.rows) == ("source", ("South", "North"), ("treatment", "symptoms"))
    for row in table.answers:
        assert [{hit.source for hit in answer.hits} for answer in row] == [{"South"}, {"North"}]
        assert all(len(answer.hits) == 2 for answer in row)
        assert [answer.date for answer in row] == ["2024-05-01"] * 2
    treatment, symptoms = (row[1].hits[0].passage_id for row in table.answers)
    assert (treatment, symptoms) == ("gout-3", "gout-2")
    assert table.answers[0][1].word == verdict(table.answers[0][1].probability)


def test_without_aspects_rows_are_headings(searcher: Searcher) -> None:
    query = searcher.understand(Query("", "Gout")).query
    table = side_by_side(searcher, query, "document")
    assert table.values[0] == "leaflet-gout"
    assert len(table.values) == 4
    assert set(table.rows) >= {"symptoms", "treatment"}
    first = [answer for row in table.answers for answer in row[:1]]
    assert {hit.doc_id for answer in first for hit in answer.hits} == {"leaflet-gout"}
    by_audience = side_by_side(searcher, query, "audience")
    assert set(by_audience.values) == {"patients", "staff"}
    with pytest.raises(QueryError, match="2 to 12 of 'audience'"):
        side_by_side(searcher.seen_by(()), query, "audience")


def test_dates_of_documents() -> None:
    assert date_of({"last_reviewed": "07 April 2025", "date": ""}) == "07 April 2025"
    assert date_of({"audience": "patients"}) == ""
