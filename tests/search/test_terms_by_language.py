"""Words of questions and passages in several languages."""

from __future__ import annotations

from pathlib import Path

import pytest

from auscult.documents import Section, build_document
from auscult.encoders import load_model
from auscult.ingest.building import build_index
from auscult.search import Searcher
from auscult.search.hits import EVIDENCE
from auscult.understanding import Query

LEAFLETS = {
    "gicht": ("Gicht", "Die Behandlungen der Gicht sind vielfältig. Colchicin wird in Dosen von 1,5 mg am Tag gegeben, "
              "und die Ernährung wird umgestellt, damit die Anfälle seltener werden."),
    "husten": ("Husten", "Ein Husten dauert meist zwei Wochen. Bei Fieber, Atemnot oder blutigem Auswurf sollte man "
               "zum Arzt gehen, denn dann kann eine Entzündung der Lunge dahinter stecken."),
    "asthme": ("Asthme", "L'asthme est traité par des médicaments inhalés. Les crises surviennent souvent la nuit, et "
               "le patient doit toujours avoir son inhalateur sur lui."),
}  # fmt: skip


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    place: Path = tmp_path_factory.mktemp("index") / "index"
    documents = [
        build_document(doc_id=name, title=title, sections=[Section("", text)])
        for name, (title, text) in LEAFLETS.items()
    ]
    encoder = load_model("fast")
    build_index(documents, encoder, place)
    return Searcher.open(place, encoder)


def test_languages_are_those_of_passages(searcher: Searcher) -> None:
    assert searcher.index.reader.languages.read == ("de", "fr")


@pytest.mark.parametrize(
    ("question", "document"),
    [
        ("Wie wird Gicht behandelt?", "gicht"),
        ("Colchicin 1.5 mg", "gicht"),
        ("Wie lange dauern Hustenanfälle und Husten?", "husten"),
        ("Quel est le traitement de l’asthme ?", "asthme"),
    ],
)
def test_questions_find_words_of_their_language(searcher: Searcher, question: str, document: str) -> None:
    assert searcher.search(question, 1)[0].doc_id == document
    query = searcher.understand(Query("", "", text=question)).query
    _, evidence, _ = searcher.gather(query)
    assert evidence[:, EVIDENCE.index("question_text")].argmax() == [*LEAFLETS].index(document)


def test_denials_are_read_by_language(tmp_path: Path) -> None:
    text = (
        "Der Patient kam wegen Schmerzen in der rechten Schulter in die Notaufnahme des Krankenhauses. "
        "Kein Hinweis auf eine Pneumonie. Die Röntgenaufnahme zeigt keine Verschattung der Lunge."
    )
    encoder = load_model("fast")
    build_index([build_document(doc_id="a", title="Arztbrief", sections=[Section("", text)])], encoder, tmp_path / "i")
    hit = Searcher.open(tmp_path / "i", encoder).search("Pneumonie", 1)[0]
    (said,) = [each.assertions for each in hit.sentences if "Pneumonie" in text[each.start : each.end]]
    assert said == ("negated",)
