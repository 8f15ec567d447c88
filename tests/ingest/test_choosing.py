"""The encoder that suits the languages of documents."""

from __future__ import annotations

from pathlib import Path

import pytest

import auscult
from auscult.documents import Document, Section
from auscult.documents.building import build_document
from auscult.ingest.choosing import choose_encoder

ENGLISH = "The patient was admitted with fever and a cough that had lasted for a week. She was given amoxicillin."
TEXTS = {
    "French": "La patiente a été hospitalisée pour une fièvre et une toux qui duraient depuis une semaine. Elle a reçu "
    "de l'amoxicilline.",
    "Spanish": "La paciente ingresó con fiebre y una tos que duraba desde hacía una semana. Se le dio "
    "amoxicilina durante siete días.",
    "German": "Die Patientin wurde mit Fieber und Husten aufgenommen, die seit einer Woche bestanden. Sie bekam ein "
    "Antibiotikum.",
}


def document(number: int, text: str) -> Document:
    return build_document(doc_id=str(number), title="", sections=[Section("", text)])


@pytest.mark.parametrize("language", TEXTS)
def test_documents_in_another_language_are_named(language: str) -> None:
    documents = [document(number, ENGLISH) for number in range(49)]
    choice = choose_encoder([*documents, document(49, TEXTS[language])])
    assert choice.model == "multilingual"
    assert choice.why.startswith(f"not in English: {language} 1 of 50 documents; ")


@pytest.mark.parametrize("texts", [[], [ENGLISH], ["RR 130/80, T 38,2"], [ENGLISH] * 200 + [TEXTS["French"]]])
def test_english_and_almost_english_documents_keep_fast(texts: list[str]) -> None:
    assert choose_encoder(map(document, range(len(texts)), texts)) == ("fast", "")


def test_an_index_is_encoded_by_its_languages(tmp_path: Path) -> None:
    for name, text in (("a.txt", ENGLISH), ("b.txt", TEXTS["German"])):
        (tmp_path / name).write_text(text, encoding="utf-8")
    auscult.build_index(tmp_path, tmp_path / "index", knowledge=[])
    assert auscult.open_index(tmp_path / "index").index.manifest.model.path == "multilingual"
    auscult.build_index(tmp_path / "a.txt", tmp_path / "english", knowledge=[])
    assert auscult.open_index(tmp_path / "english").index.manifest.model.path == "fast"
