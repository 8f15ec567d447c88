"""The usual headings in French, Spanish and German: how they are written, and what their table holds."""

from __future__ import annotations

from importlib import resources

import pytest

from auscult.documents.known_headings import LONGEST, known_heading
from auscult.documents.language_names import READ_BESIDE_ENGLISH
from auscult.understanding.aspects import QUESTIONS


@pytest.mark.parametrize(
    ("language", "heading", "aspect"),
    [
        ("fr", "Posologie", "dosage"),
        ("fr", "MOTIF DE L\u2019HOSPITALISATION :", "chief complaint"),
        ("fr", "4. QUELS SONT LES EFFETS INDESIRABLES EVENTUELS ?", "side effects"),
        ("fr", "Qu'est-ce que DOLIREX 500 mg, comprime\u0301 et dans quels cas est-il utilisé ?", "uses"),
        ("fr", "Radiographie du poignet", "imaging"),
        ("es", "Antecedentes", "history"),
        ("es", "JUICIO CLINICO", "diagnosis"),
        ("es", "4.2.1. Posología", "dosage"),
        ("es", "Conservación de Humira", "storage"),
        ("de", "Anamnese", "history"),
        ("de", "Procedere", "plan"),
        ("de", "Roentgen-Thorax", "imaging"),
        ("de", "Pferdegraphie", "imaging"),
        ("de", "Was sollten Sie vor der Einnahme von X beachten?", "warnings"),
        ("de", "X darf nicht eingenommen werden", "contraindications"),
        ("de", "Verlauf", ""),
    ],
)
def test_a_heading_has_its_aspect(language: str, heading: str, aspect: str) -> None:
    known = known_heading(heading, language)
    assert known is not None
    assert known.aspect == aspect


@pytest.mark.parametrize(
    ("language", "heading"),
    [
        ("fr", "Le traitement comporte entre autres"),
        ("fr", "Fêtes de Noël"),
        ("fr", "de la"),
        ("fr", ""),
        ("de", "Posologie"),
        ("en", "Posologie"),
        ("", "Posologie"),
        ("it", "Posologie"),
        ("de", f"Wie ist {'x ' * LONGEST} einzunehmen?"),
    ],
)
def test_other_words_are_no_known_heading(language: str, heading: str) -> None:
    assert known_heading(heading, language) is None


def test_a_heading_without_other_words_comes_first() -> None:
    assert known_heading("Traitement habituel", "fr") == ("medications", False)
    assert known_heading("Traitement par antibiotiques", "fr") == ("treatment", True)


@pytest.mark.parametrize("language", READ_BESIDE_ENGLISH)
def test_tables_have_only_aspects_with_questions(language: str) -> None:
    table = resources.files("auscult.documents").joinpath(f"headings_{language}.tsv").read_text(encoding="utf-8")
    rows = [line.split("\t") for line in table.splitlines()[1:]]
    assert {aspect for aspect, _ in rows} - {"-"} <= set(QUESTIONS)
    headings = [heading for _, heading in rows]
    assert len(headings) == len(set(headings))
    # Each row can be met: its first choices are a heading of its aspect, or of one that stands before it.
    for heading in headings:
        words = " ".join(part.split("|")[0] for part in heading.replace("{e}", "X").replace("...", "").split())
        assert known_heading(words.replace("*", "Y"), language) is not None, heading
