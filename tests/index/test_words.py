"""The words of an index: shares of a question's words, golden by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from auscult.documents import Passage
from auscult.index.blocks import BlockFile, BlockWriter
from auscult.index.words import (
    FIELDS,
    WordCounter,
    Words,
    WordSegment,
    analyse,
    analyser_for,
    terms_by_language,
    write_words,
)

DOCUMENTS = (
    ("Gout", [("Symptoms", "The toe is red. The toe swells."), ("Treatment", "Colchicine helps the toe.")]),
    ("Psoriasis of the scalp", [("", "The scalp itches."), ("Treatment", "")]),
    ("", [("Scalp", "Colchicine, colchicine!")]),
)


def words_of(documents: Sequence[tuple[str, list[tuple[str, str]]]], cut: int | None = None) -> Words:
    """Of documents in one segment, or in two, cut there."""
    parts = [documents] if cut is None else [documents[:cut], documents[cut:]]
    segments = []
    with TemporaryDirectory() as place:
        for number, part in enumerate(parts):
            counter = WordCounter()
            for title, passages in part:
                counter.add(title, "", [(Passage("", heading, 0, 0), text) for heading, text in passages])
            writer = BlockWriter(Path(place) / str(number))
            write_words(writer, counter.count())
            end = writer.close({})
            segments.append(WordSegment(BlockFile(writer.path, end), None, None))
    return Words(segments)


WORDS = words_of(DOCUMENTS)


def idf(holders: int, documents: int = 3) -> float:
    return float(np.log1p((documents - holders + 0.5) / (holders + 0.5)))


def test_coverage_is_bm25_divided_by_its_maximum() -> None:
    # "toe" twice among five terms (the stop words fall), where the mean passage has 2.4: toe red toe swell.
    lengths = [len(analyse(text)) for _, passages in DOCUMENTS for _, text in passages]
    assert lengths == [4, 3, 2, 0, 2]
    norm = 1.2 * (1 - 0.75 + 0.75 * 4 / np.mean(lengths))
    toe, unknown = idf(1), idf(1)
    expected = toe * 2 / (2 + norm) / (toe + unknown)
    assert WORDS.coverage([["toe", "zebra"]], "text")[0] == pytest.approx(expected, rel=1e-5)
    assert WORDS.coverage([["zebra"]], "text").tolist() == [0] * 5
    assert WORDS.coverage([[]], "text").tolist() == [0] * 5


def test_coverage_stays_below_one_and_ignores_repetition() -> None:
    everything = WORDS.coverage([["toe"] * 3], "article")
    assert everything.tolist() == WORDS.coverage([["toe"]], "article").tolist()
    assert everything.shape == (3,)
    assert 0 < everything[0] < 1
    assert WORDS.coverage([["gout"]], "article")[0] > 0, "a document's title is part of it"
    assert (WORDS.coverage([analyse("treatment")], "article") > 0).tolist() == [True, True, False], "and its headings"


def test_likeness_tells_a_name_from_a_longer_one() -> None:
    alone, longer = (WORDS.likeness([analyse(name)], "title") for name in ("gout", "psoriasis"))
    assert alone[0] == pytest.approx(1.0)
    # "scalp" is a heading elsewhere, and a word of that article.
    assert longer[1] == pytest.approx(idf(1) / (idf(1) + idf(2)), rel=1e-5)
    assert WORDS.likeness([analyse("Treatments")], "heading").tolist() == [0, 1, 0, 1, 0]
    assert alone[2] == longer[2] == 0


def test_terms_are_known_where_any_text_holds_them() -> None:
    assert WORDS.holds("colchicin")
    assert WORDS.holds("treatment")
    assert not WORDS.holds("the")
    assert not WORDS.holds("zebra")


def test_an_empty_collection_has_no_words() -> None:
    nothing = words_of([])
    for field in FIELDS:
        assert nothing.coverage([["toe"]], field).shape == (0,)
    assert words_of([("", [("", "")])]).likeness([["toe"]], "title").tolist() == [0]


def test_words_in_two_segments_say_the_same() -> None:
    for cut in (0, 1, 2, 3):
        parted = words_of(DOCUMENTS, cut)
        for field in FIELDS:
            for asked in (["toe", "scalp", "zebra"], ["gout"], analyse("Treatment of the scalp")):
                assert parted.coverage([asked], field).tolist() == WORDS.coverage([asked], field).tolist()
                assert parted.likeness([asked], field).tolist() == WORDS.likeness([asked], field).tolist()
        assert parted.shares(["toe", "colchicin"]) == WORDS.shares(["toe", "colchicin"])


def words_in(language: str, text: str, languages: Sequence[str] = ()) -> Words:
    """Of a document with a passage in a language."""
    with TemporaryDirectory() as place:
        counter = WordCounter()
        counter.add("Ramipril", "", [(Passage("", "", 0, 0), text)], language=language, languages=languages)
        writer = BlockWriter(Path(place) / "words")
        write_words(writer, counter.count())
        return Words([WordSegment(BlockFile(writer.path, writer.close({})), None, None)])


def test_passages_have_terms_of_their_language() -> None:
    german = words_in("de", "Er wurde mit 1,5 mg behandelt.")
    assert german.occurs("Behandlung", "de")
    assert not german.occurs("Behandlung")
    assert german.holds("1.5")
    own = words_in("en", "Er wurde behandelt.", ["de"])
    assert own.occurs("Behandlung", "de")


def test_question_is_read_by_several_languages() -> None:
    readings = terms_by_language("Behandlung mit Ramipril", ["en", "de", "de"])
    assert readings == [["behandlung", "mit", "ramipril"], ["behandl", "ramipril"]]
    german = words_in("de", "Behandlungen mit Ramipril.")
    both, english = german.coverage(readings, "text")[0], german.coverage(readings[:1], "text")[0]
    assert both == german.coverage(readings[1:], "text")[0] > english


def test_question_without_terms_has_one_reading() -> None:
    assert terms_by_language("und der", ["de"]) == [[]]
    assert words_in("de", "Text").coverage([[]], "text").tolist() == [0]


def test_english_and_unknown_languages_share_an_analysis() -> None:
    assert analyser_for("en") is analyse
    assert analyser_for("pt") is analyse
    assert analyser_for("fr")("l'asthme") == ["asthme"]


def test_headings_have_their_aspects_english_words() -> None:
    counter = WordCounter()
    passages = [(Passage("d#0", "Quels sont les effets indésirables éventuels ?", 0, 8), "Nausées.")]
    counter.add("Zelipran", "", passages, language="fr")
    counted = counter.count()
    held = {counted.terms[number] for number in counted.fields["heading"].held}
    assert held >= {*analyse("side effects"), *analyser_for("fr")("effets indésirables")}
