"""Terms of French, Spanish and German."""

from __future__ import annotations

import unicodedata
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auscult.documents.analysis import Analyzer
from auscult.documents.language_terms import numbers

OWN = {
    language: Analyzer(stop_words=True, stemming=True, normal_form=True, language=language)
    for language in ("fr", "es", "de")
}
ENGLISH = Analyzer(stop_words=True, stemming=True, normal_form=True)


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("de", "Behandlung Behandlungen behandelt behandeln behandelte"),
        ("de", "Veränderung Veränderungen verändert verändern"),
        ("de", "operiert operieren operierte"),
        ("de", "Heilung heilen"),
        ("de", "Oedem Ödem Ödeme ödem O\u0308dem"),
        ("de", "Fuß Fuss fuß"),
        ("de", "Hämophilie Haemophilie"),
        ("fr", "l'asthme L’ASTHME d'asthme asthme"),
        ("fr", "œdème oedème Œdèmes œde\u0300me oedeme"),
        ("fr", "traitement traiter traité"),
        ("fr", "jusqu'à"),
        ("es", "infección infecciones infeccion"),
        ("es", "niño niños nin\u0303o"),
        ("es", "α alfa"),
    ],
)
def test_forms_of_a_word_are_one_term(language: str, words: str) -> None:
    terms = {tuple(OWN[language](word)) for word in words.split()}
    assert len(terms) == 1, terms


@pytest.mark.parametrize(
    ("language", "text", "terms"),
    [
        ("fr", "Comment traite-t-on l'asthme d'un enfant ?", "comment trait asthme enfant"),
        ("fr", "vitamine C et vitamine D", "vitamin c vitamin d"),
        ("fr", "stade IV, type II", "stad 4 typ 2"),
        ("es", "¿Qué es la hepatitis A?", "hepatitis a"),
        ("es", "a la niña le vi", "nin vi"),
        ("de", "CT-Untersuchung, Vitamin B-12, Typ I", "ct untersuch vitamin b12 typ 1"),
        ("de", "Was sind die Symptome von Gicht?", "symptom gicht"),
        ("de", "5 µg", "5 mcg"),
    ],
)
def test_terms_of_a_sentence(language: str, text: str, terms: str) -> None:
    assert OWN[language](text) == terms.split()


@pytest.mark.parametrize("language", ["fr", "es", "de"])
def test_decimal_numbers_of_doses_stay_one_term(language: str) -> None:
    doses = list(product((0, 1, 2, 7, 12, 37, 150), range(1, 10), ("mg", "ml", "g", "µg"), ("{} {}", "{}{}")))[:500]
    assert len(doses) >= 500
    for whole, tenth, unit, pattern in doses:
        comma, point = (pattern.format(f"{whole}{mark}{tenth}", unit) for mark in ",.")
        terms = OWN[language](f"tgl {comma} x")
        assert terms[1] == f"{whole}.{tenth}", comma
        assert terms == OWN[language](f"tgl {point} x")


@pytest.mark.parametrize(
    ("written", "terms"),
    [
        ("1,5", ["1.5"]),
        ("0,50", ["0.5"]),
        ("50,00", ["50"]),
        ("1.000", ["1000"]),
        ("10 000", ["10000"]),
        ("1.234.567,8", ["1234567.8"]),
        ("0.125", ["0.125"]),
        ("1,000", ["1.000"]),
        ("12.05.2023", ["12", "05", "2023"]),
        ("1,2,3", ["1", "2", "3"]),
        ("15", ["15"]),
    ],
)
def test_numbers_have_one_form(written: str, terms: list[str]) -> None:
    assert numbers(written) == terms
    assert OWN["de"](f"({written})") == terms


def test_number_within_a_product_stays_whole() -> None:
    assert OWN["de"]("1x1,5mg, 2,5-5 mg") == ["1", "x", "1.5", "mg", "2.5", "5", "mg"]


def test_english_numbers_stay_as_they_were() -> None:
    assert ENGLISH("1,500 mg and 1.5 ml") == ["1", "500", "mg", "1", "5", "ml"]


@given(st.text())
def test_unknown_languages_are_read_as_english(text: str) -> None:
    analyse = Analyzer(stop_words=True, stemming=True, normal_form=True, language="pt")
    assert analyse(text) == ENGLISH(text)


@pytest.mark.parametrize("language", ["fr", "es", "de"])
@given(text=st.text())
def test_terms_are_small_and_without_blanks(language: str, text: str) -> None:
    for term in OWN[language](text):
        assert term.split() == [term]
        assert term == term.lower()


@given(text=st.text(alphabet="aeiouäöüéèñß '1,.-"))
def test_composed_and_decomposed_letters_are_equal(text: str) -> None:
    for analyse in OWN.values():
        assert analyse(unicodedata.normalize("NFD", text)) == analyse(unicodedata.normalize("NFC", text))


def test_plain_stems_need_no_normal_form() -> None:
    plain = Analyzer(stop_words=True, stemming=True, language="fr")
    assert plain("Les traitements de l'œdème") == ["trait", "œdem"]
    assert Analyzer(stop_words=True, language="fr")("Les maladies de même") == ["maladies"]


def test_holding_finds_terms_of_the_language() -> None:
    analyse = OWN["de"]
    holding = analyse.holding(analyse("Behandlung mit 1,5 mg"))
    assert holding("Er wurde mit 1.5 mg behandelt.") == {"behandl", "1.5", "mg"}
