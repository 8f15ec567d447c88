"""What hits are worth where question and passages are in different languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from auscult.documents import Document, Section, build_document
from auscult.index import PassageIndex
from auscult.ingest.building import build_index
from auscult.search import Searcher
from auscult.search.languages import LanguagesRead, note_languages, say_unread
from auscult.understanding import Query
from encoders import HashedEncoder
from leaflets import leaflets

GERMAN = "Was hilft gegen Gicht, und was sind die Symptome?"


class Multilingual(HashedEncoder):
    languages = ("en", "de")


def leaflet_in_german() -> Document:
    text = "Gicht ist eine Krankheit der Gelenke. Die Symptome kommen und gehen. Fragen Sie Ihren Arzt, was hilft."
    return build_document(doc_id="gicht", title="Gicht", sections=[Section("Symptome", text, "gicht-1")])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("languages") / "index"
    build_index([*leaflets(), leaflet_in_german()], HashedEncoder(), place)
    return place


def search(searcher: Searcher, question: str) -> dict[str, float | None]:
    query = searcher.understand(Query("", "", text=question)).query
    return {hit.passage_id: hit.probability for hit in searcher.search(query, 20)}


def test_unread_passages_have_no_probability(folder: Path) -> None:
    searcher = Searcher(PassageIndex.open(folder), HashedEncoder())
    chances = search(searcher, GERMAN)
    assert len(chances) == 13
    assert chances.pop("gicht-1") is not None
    assert set(chances.values()) == {None}


def test_english_questions_have_probabilities(folder: Path) -> None:
    searcher = Searcher(PassageIndex.open(folder), HashedEncoder())
    chances = search(searcher, "What are the symptoms of gout?")
    assert [passage_id for passage_id, chance in chances.items() if chance is None] == ["gicht-1"]
    assert say_unread("en", ["en"]).startswith("Some hits are in a language that the model of this index does not read")


def test_a_model_of_both_languages_has_probabilities(folder: Path) -> None:
    searcher = Searcher(PassageIndex.open(folder), Multilingual())
    assert None not in search(searcher, GERMAN).values()


def test_people_are_told_the_reason(folder: Path) -> None:
    searcher = Searcher(PassageIndex.open(folder), HashedEncoder())
    query = searcher.understand(Query("", "", text=GERMAN)).query
    hits = searcher.search(query, 20)
    assert note_languages(query.language, {"en"}, hits) == (
        "The question is in German, and the model of this index reads English only. So no probabilities are shown."
        " Ask in English, or use an index in German."
    )
    assert note_languages(query.language, {"en"}, [hit for hit in hits if not hit.unread]) == ""
    assert "reads English and French only" in say_unread("de", ["fr", "en"])


def test_an_unsure_language_is_no_other(folder: Path) -> None:
    reader = PassageIndex.open(folder).reader
    assert not any(LanguagesRead("").lacks(reader, row) for row in range(13))
    assert LanguagesRead("de").lacks(reader, 0)


def test_a_collection_has_the_language_of_most_passages(folder: Path, tmp_path: Path) -> None:
    assert Searcher(PassageIndex.open(folder), HashedEncoder()).language == "en"
    build_index([leaflet_in_german()], HashedEncoder(), tmp_path / "index")
    german = Searcher(PassageIndex.open(tmp_path / "index"), HashedEncoder())
    assert german.language == "de"
    assert german.understand(Query("", "", text="Gicht Symptom")).corrections == ()
