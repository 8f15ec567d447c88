"""Sentence ends in French, Spanish and German."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auscult.documents import build_document, default_splitter, segment_passage
from auscult.documents.document import Section
from auscult.documents.sentence_ends import sentence_ends
from auscult.documents.splitting import splitter_for
from benchmarks.sentence_languages import f1, framed, read_lines

LANGUAGES = ("fr", "es", "de")


def split(language: str, text: str) -> list[str]:
    return [text[start:end] for start, end in splitter_for(language).split(text)]


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("de", ["Am 3. Mai 2024 kam der Pat. wieder."]),
        ("de", ["Er nimmt z. B. Ramipril 5 mg tgl.", "Danach ging es besser."]),
        ("de", ["Z. n. Appendektomie.", "V. a. Pneumonie li. basal."]),
        ("de", ["Sturz auf das li. Handgelenk.", "Kein path. Befund."]),
        ("de", ["Der 2. Tag war gut.", "Am 3. Tag kam Fieber."]),
        ("de", ["Diabetes mellitus Typ 2.", "Vitamin D.", "Es ging ihm gut."]),
        ("de", ["Prof. Dr. med. K. Weber sah den Pat. am 12. 5. 2023 in der Ambulanz."]),
        ("de", ["Schreiben vom 9. d. M. erhalten.", "AV-Block II. Grades."]),
        ("de", ["Keine pathol. Herzgeräusche.", "Entlassung in ordentl. Zustand."]),
        ("de", ["Hypertonie seit 1995, Diabetes seit 2003.", "2010 Herzinfarkt."]),
        ("de", ["Er fragt: „Muss ich operiert werden?“", "Wir raten ab."]),
        ("fr", ["M. le Dr Martin a vu Mme A. M. est venue."]),
        ("fr", ["Elle prend p. ex. de l'aspirine.", "Cf. fig. 3."]),
        ("fr", ["Le phage II de S. aureus.", "La vitamine D.", "Dans ce cas, oui."]),
        ("fr", ["Au VIe siècle av. J.-C. ; la découverte.", "Fin."]),
        ("fr", ["Il a dit « non ».", "Puis il est parti."]),
        ("es", ["La Dra. López, p. ej. con fiebre, tomó 1 comp. en la cena.", "Mejoró."]),
        ("es", ["Bazo de 14 cm.", "Endoscopia normal."]),
        ("es", ["¿Qué tal?", "¡Bien!", "El Hcto. 43 % era normal."]),
        ("es", ["Ingerir abundante líquido."]),
    ],
)
def test_sentences_end_where_they_should(language: str, sentences: list[str]) -> None:
    assert split(language, " ".join(sentences)) == sentences


def test_forgotten_blank_still_ends_a_sentence() -> None:
    assert split("es", "Ingerir abundante líquido.Dieta blanda.") == ["Ingerir abundante líquido.", "Dieta blanda."]


def test_numbers_of_a_list_stay_with_items() -> None:
    text = "Diagnosen: 1. Herzinsuffizienz, 2. Vorhofflimmern, 3. Anämie."
    assert split("de", text) == [text]


@pytest.mark.parametrize("language", LANGUAGES)
@given(text=st.text(alphabet="aAzZÄé. 1,;:!?()„“«»-\n"))
def test_ranges_hold_every_visible_character(language: str, text: str) -> None:
    ranges = splitter_for(language).split(text)
    assert "".join("".join(text[start:end] for start, end in ranges).split()) == "".join(text.split())
    assert all(end <= start for (_, end), (start, _) in pairwise(ranges))


def test_german_lines_reach_the_measured_f1() -> None:
    lines = read_lines("de", Path(), None)
    written = [line for line in lines["de written"] if line.half == "kept"]
    assert f1(written, framed(splitter_for("de"))) >= 96


def test_unknown_language_is_split_as_english() -> None:
    assert splitter_for("pt") is splitter_for("") is default_splitter()


def test_documents_are_split_in_their_language() -> None:
    text = "Am 3. Mai 2024 kam der Pat. wieder. Er war gesund."
    document = build_document(doc_id="a", title="", sections=[Section("", text)], language="de")
    assert len(document.passages[0].sentences) == 2
    assert len(segment_passage(text, 0, len(text), language="de")) == 2


@pytest.mark.parametrize("language", LANGUAGES)
def test_rules_are_read_once(language: str) -> None:
    assert sentence_ends(language) is sentence_ends(language)
