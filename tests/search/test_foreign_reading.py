"""Questions in other languages than English: which names are read, and by which names texts are searched."""

from __future__ import annotations

import pytest

from auscult.concepts import Concept, EntityResolver, KnowledgeBase
from auscult.concepts.adding_names import with_names
from auscult.concepts.opening import EVERYDAY, open_names
from auscult.understanding import Query, QuestionParser
from auscult.understanding.understand import Understanding, names_of, understand

PLAIN = KnowledgeBase(
    [
        Concept("DOID:0051061", "stroke", ("cerebrovascular accident",)),
        Concept("DOID:9074", "systemic lupus erythematosus", ("lupus",)),
        Concept("DOID:11260", "rabies"),
        Concept("DOID:13189", "gout", ("podagra",)),
        Concept("DOID:10534", "stomach cancer", tuple(f"gastric cancer of kind {number}" for number in range(20))),
        Concept("MONDO:1", "hepatitis A"),
    ]
)
KNOWN, _ = with_names(PLAIN, [open_names(EVERYDAY)])
STROKE = "DOID:0051061"


def read(question: str, known: KnowledgeBase = KNOWN, *, title: str = "", of_collection: str = "") -> Understanding:
    titles = {title.lower(): title} if title else {}
    parser = QuestionParser(EntityResolver(known), titles)
    return understand(Query("q", "", text=question), parser, titles, of_collection=lambda: of_collection)


@pytest.mark.parametrize(
    ("question", "asked", "concept_id"),
    [
        ("Was sind die Symptome von Gicht?", "Gicht", "DOID:13189"),
        ("Quelles sont les causes de l'AVC ?", "AVC", STROKE),
        ("¿Cómo se trata el derrame cerebral?", "derrame cerebral", STROKE),
        ("¿Qué es el cáncer de estómago?", "cáncer de estómago", "DOID:10534"),
        ("¿Qué les pasa con LES?", "LES", "DOID:9074"),
        ("Schlaganfall", "Schlaganfall", STROKE),
        ("Comment traiter la hepatitis A ?", "hepatitis A", "MONDO:1"),
    ],
)
def test_foreign_names_are_read(question: str, asked: str, concept_id: str) -> None:
    understood = read(question)
    assert [each.asked for each in understood.entities] == [asked]
    assert understood.query.entity_id == concept_id


@pytest.mark.parametrize("question", ["how long does rage last", "what is la", "is it ictus or rage", "ictus in men"])
def test_english_reads_no_foreign_name(question: str) -> None:
    assert read(question) == read(question, PLAIN)


def test_a_whole_text_may_be_a_name() -> None:
    assert read("stroke") == read("stroke", PLAIN)
    # What is shown lets somebody who meant the English word see it.
    assert "stroke (DOID:0051061), Spanish 'ictus'" in read("ictus").note


def test_reading_shows_both_names() -> None:
    understood = read("ictus", of_collection="es")
    assert understood.note == f"understood as: stroke ({STROKE}), Spanish 'ictus'"
    titled = read("ictus", title="Stroke", of_collection="es")
    assert titled.note == f"understood as: stroke ({STROKE}), Spanish 'ictus'; the documents call it 'Stroke'"


def test_english_texts_are_searched_in_english() -> None:
    understood = read("tratamiento del ictus", title="Stroke")
    assert understood.query.entity == "Stroke"
    assert understood.query.text == "tratamiento del Stroke"
    assert understood.query.names == ("ictus", "stroke", "cerebrovascular accident")


def test_names_follow_languages_of_texts() -> None:
    (match,) = EntityResolver(KNOWN).resolve("stroke")
    english = names_of("stroke", match, KNOWN)
    assert english == ("stroke", "cerebrovascular accident") == names_of("stroke", match, PLAIN)
    assert names_of("stroke", match, KNOWN, ("en", "fr")) == (
        *english,
        "accident vasculaire cérébral",
        "AVC",
        "attaque cérébrale",
    )
    both = names_of("stroke", match, KNOWN, ("es", "de"))
    assert both[:5] == ("stroke", "ictus", "accidente cerebrovascular", "ACV", "derrame cerebral")
    assert {"Schlaganfall", "cerebrovascular accident"} < set(both)


def test_foreign_names_have_their_room() -> None:
    (match,) = EntityResolver(KNOWN).resolve("stomach cancer")
    names = names_of("stomach cancer", match, KNOWN, ("en", "es"))
    assert len(names) == 16
    assert names[-2:] == ("cáncer de estómago", "cáncer gástrico")
    assert names[:14] == names_of("stomach cancer", match, KNOWN)[:14]


def test_documents_of_another_language_are_named() -> None:
    parser = QuestionParser(EntityResolver(KNOWN))
    query = Query("q", "gout", ("treatment",))
    spanish = understand(query, parser, {"gota": "Gota"}, languages=("es",))
    assert spanish.query.entity == "Gota"
    assert understand(query, parser, languages=("es",)).query.entity == "gota"
    assert understand(query, parser).query.entity == "gout"
