"""What a language model is answered, without the wire."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from auscult.documents import Document, Section, build_document
from auscult.errors import AuscultError, QueryError
from auscult.index import IndexUpdate
from auscult.ingest.building import build_index
from auscult.mcp.library import Library
from auscult.mcp.tools import Tools
from encoders import HashedEncoder
from leaflets import leaflets

ENCODER = HashedEncoder(256)


def secret() -> Document:
    return build_document(
        doc_id="ward-note",
        title="Scabies",
        sections=[Section("Plan", "Permethrin was given to Mrs Canary.", "ward-note-1")],
        metadata={"access": "ward"},
    )


def long_one() -> Document:
    text = " ".join(f"Line {n} says little." for n in range(300))
    return build_document(doc_id="long/one#2", title="Long", sections=[Section("All", text)], metadata={"date": "2024"})


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("mcp")
    build_index(leaflets(), ENCODER, place / "leaflets")
    build_index([secret(), long_one()], ENCODER, place / "notes")
    return {"leaflets": place / "leaflets", "notes": place / "notes"}


@pytest.fixture
def library(folders: dict[str, Path]) -> Library:
    return Library(folders, encoder=ENCODER)


def search(library: Library, question: str = "", entity: str = "", **options):  # type: ignore[no-untyped-def]
    given = {"aspects": (), "index": "", "k": 5, "where": {}} | options
    return Tools(library).search(question, entity, **given)


def test_found_sentences_can_be_cited_word_for_word(library: Library) -> None:
    found = search(library, entity="Gout", aspects=["treatment"])
    first = found.passages[0]
    assert (first.index, first.document, first.heading) == ("leaflets", "leaflet-gout", "Treatment")
    assert [sentence.text for sentence in first.sentences] == [
        "Treatment often begins with allopurinol.",
        "Ask your doctor before you stop a medicine.",
    ]
    assert first.answering == [first.sentences[0].id]
    cited = Tools(library).cite([sentence.id for sentence in first.sentences])
    assert cited.all_exist
    assert [citation.text for citation in cited.citations] == [sentence.text for sentence in first.sentences]
    assert {(citation.document, citation.title, citation.heading) for citation in cited.citations} == {
        ("leaflet-gout", "Gout", "Treatment")
    }


def test_a_search_filters_by_assertions(tmp_path: Path) -> None:
    notes = [("one", "The patient has gout."), ("two", "The patient denies gout. He sleeps well.")]
    documents = [
        build_document(doc_id=doc_id, title="Note", sections=[Section("History", text, doc_id)])
        for doc_id, text in notes
    ]
    build_index(documents, ENCODER, tmp_path / "notes")
    library = Library({"notes": tmp_path / "notes"}, encoder=ENCODER)
    found = {
        passage.document: [one.assertions for one in passage.sentences]
        for passage in search(library, "", "gout").passages
    }
    assert found == {"one": [["affirmed"]], "two": [["negated"], []]}
    only = search(library, "", "gout", assertions=["negated"])
    assert [passage.document for passage in only.passages] == ["two"]
    with pytest.raises(QueryError, match="a question about a thing"):
        search(library, "does he sleep well?", assertions=["negated"])


def test_an_invented_citation_does_not_exist(library: Library) -> None:
    real = search(library, entity="Gout", aspects=["treatment"]).passages[0].sentences[0].id
    cited = Tools(library).cite([real, real[:-4] + "0000", "leaflet-gout#0-5-abcd", "as doctors say"])
    assert not cited.all_exist
    assert [citation.exists for citation in cited.citations] == [True, False, False, False]
    for citation in cited.citations[1:]:
        assert citation.text == ""
        assert citation.problem.count(". ") == 0
        assert citation.problem.endswith(".")


def test_all_indexes_are_asked_or_one(library: Library) -> None:
    both = search(library, entity="Scabies", k=20)
    assert {passage.index for passage in both.passages} == {"leaflets", "notes"}
    scores = [passage.probability for passage in both.passages]
    assert len(scores) <= 20
    assert both.passages[0].document == "ward-note"
    assert {passage.index for passage in search(library, entity="Scabies", index="leaflets", k=20).passages} == {
        "leaflets"
    }
    only = search(library, entity="Gout", where={"source": "North"}, k=20)
    assert {passage.source for passage in only.passages} == {"North"}
    dated = search(library, entity="Long", where={"date": "2020..2024-06"})
    assert [(passage.document, passage.date) for passage in dated.passages] == [("long/one#2", "2024")]


def test_that_nothing_answers_is_said(library: Library) -> None:
    found = search(library, "Which trains go to Munich?")
    assert found.nothing_here.startswith("Nothing here seems to answer this; the nearest follow (the best of them with")
    assert found.passages
    assert search(library, entity="Gout", aspects=["treatment"]).understood != ""


def test_another_language_is_named_as_the_reason(library: Library) -> None:
    found = search(library, "Was hilft gegen das hohe Fieber, und wie lange dauert es?")
    assert (found.language, found.nothing_here) == ("de", "")
    assert found.language_note.startswith("The question is in German, and the model of this index reads English only")
    assert {passage.probability for passage in found.passages} == {None}
    assert search(library, "What are the symptoms of gout?").language_note == ""


def test_long_passages_show_their_best_sentences(library: Library) -> None:
    (passage, *_) = search(library, entity="Long", aspects=["line 250"], index="notes").passages
    assert passage.document == "long/one#2"
    assert len(passage.sentences) == 12
    assert "Line 250 says little." in [each.text for each in passage.sentences]
    assert passage.more_before + 12 + passage.more_behind == 300


def test_reading_on(library: Library) -> None:
    whole = Tools(library).read("", "long/one#2", "", 5, 5, 290)
    assert (whole.first, whole.last, whole.sentences_in_all) == (290, 300, 300)
    fifth = whole.sections[0].sentences[5]
    assert fifth.text == "Line 295 says little."
    around = Tools(library).read(fifth.id, "", "", 2, 1, 0)
    assert [sentence.text for sentence in around.sections[0].sentences] == [
        f"Line {n} says little." for n in (293, 294, 295, 296)
    ]
    bounded = Tools(library).read("", "long/one#2", "", 0, 0, 0)
    assert (bounded.first, bounded.last) == (0, 120)
    sections = Tools(library).read("", "leaflet-gout", "leaflets", 0, 0, 0).sections
    assert [section.heading for section in sections] == ["What is it?", "Symptoms", "Treatment"]
    assert Tools(library).text_of("leaflets", "leaflet-gout") == leaflets()[3].text


def test_coverage_and_indexes(library: Library) -> None:
    table = Tools(library).coverage(["Gout", "zebra fever"], ["treatment"], "", {})
    assert (table.index, table.entities, table.aspects) == ("leaflets", ["Gout", "zebra fever"], ["treatment"])
    gout, zebra = table.cells
    assert gout.document == "leaflet-gout"
    assert gout.sentence is not None
    assert Tools(library).cite([gout.sentence.id]).all_exist
    assert zebra.word == "no answer"
    leaflet, notes = Tools(library).indexes().indexes
    assert (leaflet.name, leaflet.documents, leaflet.passages) == ("leaflets", 4, 12)
    assert leaflet.fields == {"audience": ["patients"], "language": ["en"], "source": ["North", "South"]}
    assert notes.fields["access"] == ["ward"]


def test_a_group_sees_its_documents_alone(folders: dict[str, Path]) -> None:
    outside, inside = Library(folders, [], ENCODER), Library(folders, ["ward"], ENCODER)
    plan = search(inside, entity="Scabies", index="notes").passages[0].sentences[0]
    assert "Canary" in plan.text
    assert Tools(inside).cite([plan.id]).all_exist
    assert not Tools(outside).cite([plan.id]).all_exist
    answers = repr(
        [
            search(outside, entity="Scabies", k=20),
            Tools(outside).coverage(["Scabies"], ["plan"], "notes", {}),
            Tools(outside).indexes(),
        ]
    )
    assert "Canary" not in answers
    assert "ward" not in answers
    for ask in (
        lambda: Tools(outside).read("", "ward-note", "", 0, 0, 0),
        lambda: Tools(outside).read(plan.id, "", "", 0, 0, 0),
        lambda: Tools(outside).text_of("notes", "ward-note"),
    ):
        with pytest.raises(QueryError, match="here"):
            ask()


def test_a_new_generation_is_seen(tmp_path: Path) -> None:
    build_index(leaflets(), ENCODER, tmp_path / "index")
    library = Library({"index": tmp_path / "index"}, encoder=ENCODER)
    before = library.searchers()["index"]
    assert library.searchers()["index"] is before
    with IndexUpdate(tmp_path / "index", ENCODER) as update:
        update.delete(["leaflet-gout"])
        update.commit()
    with pytest.raises(QueryError, match="'leaflet-gout'"):
        Tools(library).text_of("index", "leaflet-gout")
    other = HashedEncoder(64)
    build_index([replace(leaflets()[3], doc_id="again")], other, tmp_path / "index")
    with pytest.raises(AuscultError, match="model 'hashed-64'"):
        library.searchers()


def test_earlier_questions_complete_a_question(library: Library) -> None:
    found = search(library, "and in children?", index="leaflets", conversation=["How is gout treated?"])
    assert found.understood.endswith("from before: gout, treatment")
    assert found.passages[0].heading == "Treatment"
    alone = search(library, "and in children?", index="leaflets")
    assert "from before" not in alone.understood


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda library: search(library), "an entity, an aspect, or a question"),
        (lambda library: search(library, "gout", k=0), "k from 1 to 20"),
        (lambda library: search(library, "gout", index="none"), r"the name of an index \(leaflets, notes\)"),
        (lambda library: search(library, "gout", where={"colour": "red"}), "a field of this index"),
        (lambda library: search(library, "gout " * 500), "at most 2000 characters"),
        (lambda library: Tools(library).read("", "", "", 0, 0, 0), "the id of a sentence or of a document"),
        (lambda library: Tools(library).read("", "leaflet-gout", "", 0, 0, 99), "first from 0 to"),
        (lambda library: Tools(library).cite([]), "ids from 1 to 100"),
        (lambda library: Tools(library).coverage(["gout"] * 30, ["treatment"] * 10, "", {}), "at most 200 cells"),
    ],
)
def test_mistakes_are_told(library: Library, ask, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(QueryError, match=message):
        ask(library)
