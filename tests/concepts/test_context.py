"""Contexts of entities by ConText's rules: negated, historical, of the family, hypothetical, uncertain."""

from __future__ import annotations

import csv
from importlib import resources
from typing import get_args

import pytest

from auscult.concepts.context import CONTEXTS, Role, find_contexts, heading_contexts
from auscult.documents.language_names import READ_BESIDE_ENGLISH
from places import DATA

GOLD = DATA / "context_sentences.tsv"


def contexts_of(sentence: str, name: str, language: str = "en") -> set[str]:
    at = sentence.index(name)
    return set(find_contexts(sentence, [(at, at + len(name))], language=language)[0])


@pytest.mark.parametrize(
    ("sentence", "name", "expected"),
    [
        ("No nausea.", "nausea", {"negated"}),
        ("Denies chest pain.", "chest pain", {"negated"}),
        ("Mother had breast cancer.", "breast cancer", {"family"}),
        ("Return if fever.", "fever", {"hypothetical"}),
        ("History of asthma.", "asthma", {"historical"}),
        ("Possible pneumonia.", "pneumonia", {"uncertain"}),
        ("Complains of cough.", "cough", set()),
    ],
)
def test_contexts_are_told_apart(sentence: str, name: str, expected: set[str]) -> None:
    assert contexts_of(sentence, name) == expected


def test_contexts_of_the_gold_sentences() -> None:
    # Measured: 0.984 of the sentences the rules were adjusted on, 0.968 of those they were not.
    with GOLD.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len(rows) >= 120
    for part, floor in (("tuning", 0.95), ("test", 0.93)):
        right = [
            contexts_of(row["sentence"], row["entity"]) == set(row["flags"].split(",")) - {"-"}
            for row in rows
            if row["part"] == part
        ]
        assert sum(right) / len(right) >= floor


def test_each_gold_context_has_high_precision_and_recall() -> None:
    with GOLD.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    predicted = [contexts_of(row["sentence"], row["entity"]) for row in rows]
    wanted = [set(row["flags"].split(",")) - {"-"} for row in rows]
    for name in CONTEXTS:
        both = sum(name in f and name in w for f, w in zip(predicted, wanted, strict=True))
        assert both / sum(name in f for f in predicted) >= 0.9
        assert both / sum(name in w for w in wanted) >= 0.9


def test_each_entity_in_a_sentence_has_own_contexts() -> None:
    sentence = "No fever or nausea but chest pain."
    spans = [(sentence.index(name), sentence.index(name) + len(name)) for name in ("fever", "nausea", "chest pain")]
    assert find_contexts(sentence, spans) == [{"negated"}, {"negated"}, set()]
    assert find_contexts(sentence, []) == []


def test_entities_inside_tokens_are_also_marked() -> None:
    assert contexts_of("Denies fever/chills.", "chills") == {"negated"}
    assert contexts_of("no\ud800 fever", "fever") == {"negated"}


def test_entity_outside_its_sentence_is_an_error() -> None:
    with pytest.raises(ValueError, match="outside of its sentence"):
        find_contexts("No fever.", [(40, 45)])


def test_rules_cover_every_role_without_repeating_phrases() -> None:
    table = resources.files("auscult.concepts").joinpath("context_rules.tsv").read_text(encoding="utf-8")
    rows = [tuple(line.split("\t")) for line in table.splitlines()[1:]]
    assert len(rows) == len(set(rows))
    roles = {*get_args(Role)}
    for context in CONTEXTS:
        assert {role for named, role, _ in rows if named in (context, "any")} >= roles
    assert {(context, role) for context, role, _ in rows if role not in roles} == {
        *((context, "heading") for context in ("family", "historical", "hypothetical", "uncertain")),
        ("family", "kin"),
    }


def test_phrases_count_in_both_directions_as_whole_words() -> None:
    assert contexts_of("In the past, asthma.", "asthma") == {"historical"}
    assert contexts_of("Asthma in the past.", "Asthma") == {"historical"}
    assert contexts_of("A nodule in the thyroid.", "thyroid") == set()
    assert contexts_of("She can\u2019t have gout.", "gout") == {"negated"}
    # "history of" lies over the end of the pseudo-trigger "family history".
    assert contexts_of("Family history of gout.", "gout") == {"family"}


def test_a_trigger_inside_of_a_name_is_none() -> None:
    assert contexts_of("Treated with negative pressure therapy.", "negative pressure therapy") == set()


def test_headings_reach_over_their_section() -> None:
    assert heading_contexts(["FAMILY HISTORY:"]) == {"family"}
    assert heading_contexts(["Notes", "Past Medical History"]) == {"historical"}
    assert heading_contexts(["History of present illness", "Allergies", ""]) == set()


@pytest.mark.parametrize(
    ("language", "sentence", "name", "expected"),
    [
        ("fr", "Pas d\u2019asthme.", "asthme", {"negated"}),
        ("fr", "Absence d'asthme, sans fièvre mais avec toux.", "toux", set()),
        ("fr", "ANTECEDENTS D'ASTHME", "ASTHME", {"historical"}),
        ("fr", "Pas d'antécédent familial d'asthme.", "asthme", {"negated", "family"}),
        ("fr", "E\u0301ventuelle fracture.", "fracture", {"uncertain"}),
        ("es", "Sin fiebre.", "fiebre", {"negated"}),
        ("es", "Antecedentes de asma.", "asma", {"historical"}),
        ("es", "Su madre padece asma.", "asma", {"family"}),
        ("es", "Si fiebre, acuda a urgencias.", "fiebre", {"hypothetical"}),
        ("de", "Kein Fieber.", "Fieber", {"negated"}),
        ("de", "Oedeme: keine", "Oedeme", {"negated"}),
        ("de", "Ödeme: keine", "Ödeme", {"negated"}),
        ("de", "V.a. Pneumonie.", "Pneumonie", {"uncertain"}),
        ("de", "Vor drei Jahren Pneumonie.", "Pneumonie", {"historical"}),
        ("de", "Im Jahr 2012 Pneumonie.", "Pneumonie", {"historical"}),
        ("", "No fever.", "fever", {"negated"}),
        ("it", "No fever.", "fever", {"negated"}),
        ("en", "Kein Fieber.", "Fieber", set()),
        ("de", "No fever.", "fever", set()),
    ],
)
def test_languages_have_rules_of_their_own(language: str, sentence: str, name: str, expected: set[str]) -> None:
    assert contexts_of(sentence, name, language) == expected


def test_headings_of_other_languages() -> None:
    assert heading_contexts(["ANTECEDENTS FAMILIAUX :"], language="fr") == {"family"}
    assert heading_contexts(["Antecedentes personales"], language="es") == {"historical"}
    assert heading_contexts(["Differentialdiagnosen"], language="de") == {"uncertain"}
    assert heading_contexts(["Family history"], language="de") == set()


@pytest.mark.parametrize("language", READ_BESIDE_ENGLISH)
def test_rules_of_other_languages_are_wellformed(language: str) -> None:
    table = resources.files("auscult.concepts").joinpath(f"context_rules_{language}.tsv").read_text(encoding="utf-8")
    rows = [tuple(line.split("\t")) for line in table.splitlines() if not line.startswith("#")]
    assert rows[0] == ("context", "role", "phrase")
    assert len(rows) == len(set(rows))
    roles = {*get_args(Role)}
    assert {role for _, role, _ in rows[1:]} == roles | {"kin", "heading"}
    assert {context for context, _, _ in rows[1:]} == {*CONTEXTS, "any"}
    for context in CONTEXTS:
        assert {role for named, role, _ in rows if named in (context, "any")} >= roles
