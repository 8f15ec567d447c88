"""Aspects from headings, as in section 3.2 of the paper."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auscult.concepts import document_aspects, normalise_heading
from auscult.documents import Document, Passage


@pytest.mark.parametrize(
    ("heading", "aspects"),
    [
        ("Signs and symptoms", ("signs", "symptoms")),
        ("Signs & Symptoms", ("signs", "symptoms")),
        ("symptoms and presentation", ("symptoms", "presentation")),
        ("frequency and epidemiology", ("frequency", "epidemiology")),
        ("genetic inheritance", ("genetic inheritance",)),
        ("Exams, and tests:", ("exams", "tests")),
        ("Causes/risk factors", ("causes risk factors",)),
        ("Crohn's", ("crohns",)),
        ("Thalamus glands", ("thalamus glands",)),
        ("Treatment and treatment", ("treatment",)),
        ("Abstract", ("information",)),
        ("", ("information",)),
        (" - ", ("information",)),
        ("and", ("information",)),
    ],
)
def test_normalise_heading(heading: str, aspects: tuple[str, ...]) -> None:
    assert normalise_heading(heading) == aspects


@pytest.mark.parametrize(
    ("language", "heading", "aspects"),
    [
        ("fr", "Posologie", ("dosage",)),
        ("fr", "Causes et prévention", ("causes", "prevention")),
        ("fr", "Traitement et vie à l'hôpital", ("treatment",)),
        ("fr", "Étymologie et vie", ("étymologie", "vie")),
        ("fr", "", ("information",)),
        ("es", "Signos y síntomas", ("symptoms",)),
        ("de", "Diagnose und Prognose", ("diagnosis", "prognosis")),
        ("de", "Verlauf", ("verlauf",)),
        ("en", "Posologie", ("posologie",)),
        ("", "Signs and symptoms", ("signs", "symptoms")),
    ],
)
def test_headings_of_other_languages(language: str, heading: str, aspects: tuple[str, ...]) -> None:
    assert normalise_heading(heading, language=language) == aspects


@given(st.sampled_from(["en", "fr", "es", "de"]), st.text(max_size=60))
def test_any_heading_gives_clean_aspects(language: str, heading: str) -> None:
    aspects = normalise_heading(heading, language=language)
    assert aspects
    assert all(aspect == " ".join(aspect.split()) and aspect for aspect in aspects)
    assert len(set(aspects)) == len(aspects)


def document(*headings: str) -> Document:
    return Document("d", "t", "", tuple(Passage(f"d-{i}", heading, 0, 0) for i, heading in enumerate(headings)))


def test_document_aspects() -> None:
    assert document_aspects(document("", "Signs and symptoms", "", "Abstract")) == (
        ("information",),
        ("signs", "symptoms"),
        (),
        ("information",),
    )


def test_document_aspects_of_another_language() -> None:
    assert document_aspects(document("", "Anamnese", "Verlauf"), language="de") == (
        ("information",),
        ("history",),
        ("verlauf",),
    )
