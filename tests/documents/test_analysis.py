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
def test_terms_have_no_white_space_and_stay_folded(text: str) -> None:
    for term in Analyzer()(text):
        assert term
        assert term.split() == [term]
        assert fold(fold(term)) == fold(term)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("haemophilia", "Hemophilia"),
        ("coeliac", "celiac"),
        ("tumours", "tumor"),
        ("randomised", "randomized"),
        ("hospitalisation", "hospitalization"),
        ("fibres of the centre", "fiber of center"),
        ("labelled", "labeled"),
        ("x-rays", "xray"),
        ("x ray", "X-ray"),
        ("follow-up", "followup"),
        ("anti-tumour", "antitumor"),
        ("\u03b2\u2011blockers", "beta-blocker"),
        ("\u03b11-antitrypsin", "alpha-1 antitrypsin"),
        ("TNF\u03b1", "TNF-alpha"),
        ("5 \u00b5g", "5 mcg"),
        ("IL-6", "IL6"),
        ("type II", "type 2"),
        ("factor V", "factor 5"),
        ("stage IV", "stage 4"),
        ("Crohn\u2019s", "Crohn"),
        ("vertebrae", "vertebra"),
        ("metastases", "metastasis"),
        ("streptococci", "streptococcus"),
        ("children", "child"),
        ("Sj\u00f6gren", "Sjogren"),
    ],
)
def test_one_normal_form_of_two_spellings(one: str, other: str) -> None:
    analyse = Analyzer(stop_words=True, stemming=True, normal_form=True)
    assert analyse(one) == analyse(other) != []


def test_other_words_stay_as_they_are() -> None:
    text = (
        "shoe shoes shoestring aerobic does poet israel israeli phoebe aorta exercise promise compromised surprised "
        "supervised disease precise noise advise clinic i v x iv vitamin leucovorin ribs diabetes our hour four flour "
        "pour sour tour contour"
    )
    assert Analyzer(normal_form=True)(text) == text.split()


@given(st.text())
def test_normal_terms_hold_no_white_space(text: str) -> None:
    for term in Analyzer(stop_words=True, stemming=True, normal_form=True)(text):
        assert term.split() == [term]
        assert "\0" not in term


_WORDS = (
    "dying Skies sky gout Gently news \u00e9t\u00e9 only haemophilia hemophilia type II IV 4 x-ray xray \u03b21 beta"
)


def test_spelling_variants_match_each_other() -> None:
    analyser = Analyzer(stop_words=True, stemming=True, normal_form=True)
    spellings = (
        "maneuver manoeuvre", "colorless colourless", "menorrhea menorrhoea", "modeling modelling", "child children",
        "postoperative post-operative", "sub-study substudy", "enrollment enrolment", "edema oedema", "alpha \u03b1",
        "moldy mouldy", "liters litres", "defenseless defenceless", "mouse mice", "tumor tumour", "anemia anaemia",
    )  # fmt: skip
    for words in map(str.split, spellings):
        for asked in words:
            terms = set(analyser(asked))
            assert all(analyser.holding(terms)(f"of {word}.") == terms for word in words), words


@given(st.booleans(), st.text(), st.lists(st.sampled_from(_WORDS.split())))
def test_held_terms_are_those_shared_with_the_text(normal_form: bool, text: str, words: list[str]) -> None:
    analyser = Analyzer(stop_words=True, stemming=True, normal_form=normal_form)
    both = f"{text} {' '.join(words)}"
    for asked in (set(analyser(_WORDS)), set(analyser("sky only new haemophilia \u03b2 x-ray"))):
        assert analyser.holding(asked)(both) == asked & {*analyser(both)}
