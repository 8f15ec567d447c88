"""How likely each sentence of a passage answers."""

from __future__ import annotations

import json
from importlib.resources import files

import numpy as np
import pytest

from auscult.documents import Section, build_document
from auscult.index.words import analyse
from auscult.search.answering import FEATURES, FILE, LAYERS, Answering, read_layers, weigh
from auscult.understanding import Query

PARTS = {"entity": (0, 2), "aspect": (2, 4), "question": (4, 6)}
WORDS = {
    term: share
    for word, share in {"colchicine": 0.5, "diarrhoea": 0.25, "rash": 0.25}.items()
    for term in analyse(word)
}
TEXT = "Colchicine is old. Colchicine may cause diarrhoea. Drink water."


def features(question: str = "Does colchicine cause diarrhoea or a rash?", heading: str = "") -> dict[str, list[float]]:
    document = build_document(doc_id="d", title="Gout", sections=[Section(heading, TEXT)])
    (passage,) = (each for each in document.passages if each.sentences)
    vectors = np.array([[0, 1, 1, 0, 1, 0], [0, 1, 1, 0, 1, 0], [0, 1, 0, 1, 0, 1]], np.float16) / np.sqrt(3)
    query = Query("", "colchicine", ("side effects",), text=question)
    answering = Answering(query, np.array([0, 0, 1, 0, 1, 0], np.float32), PARTS, WORDS)
    found = answering.features(passage, document.slice(passage), vectors)
    return {name: pytest.approx(found[:, column].tolist(), abs=2e-3) for column, name in enumerate(FEATURES)}


def test_features_say_words_vectors_and_places() -> None:
    found = features()
    assert found["words"] == [0, 0.25, 0], "what is no name"
    assert found["names"] == [0.5, 0.5, 0]
    assert found["alone"] == [0, 0.25, 0], "both hold the name"
    assert found["aspect"] == [1, 1, 0]
    assert found["question"] == [1, 1, 0]
    assert found["central"] == [2 / 3, 2 / 3, 1 / 3]
    # Apart from the mean (2/3, 1/3): (1/3, -1/3) and (-2/3, 2/3).
    assert found["apart"] == [np.sqrt(0.5), np.sqrt(0.5), -np.sqrt(0.5)]
    assert found["place"] == [0, 1 / 3, 2 / 3]
    assert found["length"] == np.log([18, 31, 12]).tolist()
    assert found["heading"] == [0, 0, 0]


def test_a_heading_says_part_of_a_sentence() -> None:
    assert features(heading="How old is it?")["heading"] == [2 / 3, 0, 0]


def test_two_sums_make_the_log_odds() -> None:
    layers = {
        "direct": np.array([1.0, 2.0]),
        "inner": np.array([[1.0, 0.0]]),
        "bias": np.array([0.5]),
        "outer": np.array([3.0]),
    }
    assert weigh(np.array([[1.0, -1.0]]), layers).tolist() == [pytest.approx(-1 + 3 * np.tanh(1.5))]


def test_the_weights_fit_the_features() -> None:
    layers = read_layers()
    inner = len(layers["bias"])
    assert {name: layers[name].shape for name in LAYERS} == {
        "direct": (len(FEATURES),),
        "inner": (inner, len(FEATURES)),
        "bias": (inner,),
        "outer": (inner,),
    }
    assert set(json.loads((files("auscult.search") / FILE).read_text(encoding="utf-8"))) == set(LAYERS)


def test_a_passage_without_sentences_has_no_odds() -> None:
    document = build_document(doc_id="d", title="Gout", sections=[Section("Gout", "It hurts. It lasts.")])
    passage = next(each for each in document.passages if each.sentences)
    answering = Answering(Query("", "", text="what is scurvy"), np.zeros(6, np.float32), PARTS, {"scurvy": 1.0})
    assert answering.log_odds(passage, document.slice(passage), np.zeros((2, 6))) == {}
