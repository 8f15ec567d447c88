"""Text to terms."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auscult.documents.analysis import ENGLISH_STOP_WORDS, Analyzer, fold


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Sjögren", "sjogren"),
        ("Ménière's", "meniere's"),
        ("Œdème", "oedeme"),
        ("Weiß", "weiss"),
        ("β-Blocker", "β-blocker"),
        ("H₂O", "h2o"),
        ("℡", "tel"),
        ("Ærø Łódź", "aero lodz"),
    ],
)
def test_fold_strips_accents_and_case(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_terms_are_runs_of_letters_and_digits() -> None:
    assert Analyzer()("IgA-nephropathy: type 2/3, 1.5 mg_daily") == [
        *("iga", "nephropathy", "type", "2", "3", "1", "5", "mg", "daily")
    ]


def test_defaults_keep_stop_words_and_inflections() -> None:
    assert Analyzer()("the causes of diseases") == ["the", "causes", "of", "diseases"]


def test_stop_words_and_stemming_are_options() -> None:
    assert Analyzer(stop_words=True)("the causes of diseases") == ["causes", "diseases"]
    assert Analyzer(stemming=True)("causes of diseases") == ["caus", "of", "diseas"]
    assert Analyzer(stop_words=True, stemming=True)("The") == []
    assert len(ENGLISH_STOP_WORDS) == 33


@given(st.text())
def test_terms_hold_no_white_space_and_fold_to_themselves(text: str) -> None:
    for term in Analyzer()(text):
        assert term
        assert term.split() == [term]
        assert fold(fold(term)) == fold(term)


@given(
    st.text(), st.lists(st.sampled_from(["dying", "Skies", "sky", "gout", "Gently", "news", "\u00e9t\u00e9", "only"]))
)
def test_terms_that_a_text_holds_are_those_that_it_has_in_common(text: str, words: list[str]) -> None:
    analyser = Analyzer(stop_words=True, stemming=True)
    asked = set(analyser("dying sky gout gently skies \u00e9t\u00e9 only new"))
    both = f"{text} {' '.join(words)}"
    assert analyser.holding(asked)(both) == asked & {*analyser(both)}
