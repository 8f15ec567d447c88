"""Languages of questions and texts, in the four that are expected and in others."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given, settings
from py3langid import langid

from any_text import ANY_TEXT
from auscult.documents import Section, build_document
from auscult.documents.language import SURE, detect_language, likeliest_language, reading_language
from auscult.documents.language_names import NAMES


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The symptoms may come and go. Ask your doctor before you stop a medicine.", "en"),
        ("Was sind die Symptome von Gicht?", "de"),
        ("¿Cuáles son los síntomas de la gota?", "es"),
        ("Quels sont les symptômes de la goutte ?", "fr"),
        ("Quali sono i sintomi della gotta?", "it"),
        ("Wat zijn de symptomen van jicht?", "nl"),
        ("Quais são os sintomas da gota?", "pt"),
        ("Jakie są objawy dny moczanowej?", "pl"),
        ("Каковы симптомы подагры?", "ru"),
        ("痛風の症状は何ですか", "ja"),
        ("Gut hastalığının belirtileri nelerdir?", "tr"),
    ],
)
def test_languages_are_told_apart(text: str, code: str) -> None:
    assert detect_language(text) == code


@pytest.mark.parametrize("text", ["", "12.5", "CRP", "C diff", "gout", "Morbus Crohn", "la", "???", "None"])
def test_what_says_little_is_not_sure(text: str) -> None:
    assert detect_language(text) == ""


@settings(max_examples=100, deadline=None)
@given(ANY_TEXT)
def test_any_text_has_a_likeliest_language(text: str) -> None:
    code, probability = likeliest_language(text)
    assert code in NAMES
    assert 0 < probability <= 1
    assert detect_language(text) == (code if probability >= SURE else "")


def test_the_library_keeps_its_own_state() -> None:
    detect_language("Was sind die Symptome von Gicht?")
    assert langid.IDENTIFIER is None
    assert len(langid.LanguageIdentifier.from_model_file(langid.MODEL_FILE).labels) > 100


def test_nothing_is_loaded_before_the_first_text() -> None:
    program = "from auscult.documents import language; print(language._identifier.cache_info().currsize)"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "0"


GERMAN = (
    "Am 3. Mai 2024 kam der Pat. wieder. Er klagte über Schmerzen im re. Knie. Kein Anhalt für eine Fraktur, "
    "Z. n. Sturz v. a. auf die li. Seite. Kontrolle in zwei Wochen."
)


def test_documents_are_read_in_their_language() -> None:
    document = build_document(doc_id="a", title="Arztbrief", sections=[Section("", GERMAN)])
    assert len(document.passages[0].sentences) == 4
    as_english = build_document(doc_id="a", title="Arztbrief", sections=[Section("", GERMAN)], language="en")
    assert len(as_english.passages[0].sentences) > 4


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (GERMAN, "de"),
        (GERMAN[:60], "en"),
        ("He takes ramipril 5 mg once daily. " * 5, "en"),
        ("Il paziente riferisce dolore al ginocchio destro da tre giorni, senza febbre. " * 2, "en"),
    ],
)
def test_short_and_unread_languages_are_read_as_english(text: str, language: str) -> None:
    assert reading_language(text) == language


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Pat. in gutem AZ, an beiden Beinen Ödeme, in der Auskultation feuchte RGs, Abdomen weich. " * 2, "de"),
        ("No HTA, no DM. No alergias conocidas. No fumador. Ingresa por fiebre y tos, a tratamiento. " * 2, "es"),
        ("The patient was in no pain, and was to be seen in a week. No fever, no cough, an ECG was normal. " * 2, "en"),
    ],
)  # fmt: skip
def test_words_of_two_languages_decide_nothing(text: str, code: str) -> None:
    assert reading_language(text) == code


def test_plainly_english_texts_are_not_classified(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(text: str) -> None:
        raise AssertionError(text)

    monkeypatch.setattr("auscult.documents.language.likeliest_language", fail)
    text = "The patient was seen in the ward, and there are no signs of infection that need to be treated with a drug."
    assert (detect_language(text), reading_language(text)) == ("en", "en")
    for other in (
        "Le patient a été vu dans le service.",
        "The ward",
        "Pacientul are febră și tuse, ei are o stare to do and will",
        "Der Patient wurde in the ward with der Station und der Ambulanz",
    ):
        with pytest.raises(AssertionError):
            detect_language(other)
