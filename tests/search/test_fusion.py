"""One score from all evidence."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auscult.encoders import model_folder
from auscult.errors import ModelError
from auscult.search.evidence import by_part
from auscult.search.fusion import AS_PARTS, Fusion
from auscult.search.hits import EVIDENCE
from auscult.understanding import Query

SHIPPED = Fusion.of(object())
NAMED, WORDS = Query("", "gout", ("symptoms",)), Query("", "", text="why is my toe red")


@given(st.integers(0, len(EVIDENCE) - 1), st.floats(0, 1), st.floats(0, 1), st.sampled_from([NAMED, WORDS]))
def test_more_evidence_never_lowers_a_score(column: int, less: float, more: float, query: Query) -> None:
    rows = np.full((2, len(EVIDENCE)), 0.5, np.float32)
    rows[:, column] = sorted((less, more))
    low, high = SHIPPED.scores(query, rows)
    assert high >= low


def test_questions_in_words_have_their_own_weights() -> None:
    named = Query("", "gout", ("symptoms",))
    worded = Query("", "gout", ("symptoms",), text="What are the symptoms of gout?")
    np.testing.assert_array_equal(SHIPPED.weights(named), SHIPPED.parts)
    np.testing.assert_array_equal(SHIPPED.weights(worded), SHIPPED.words)


def test_sure_readings_are_weighed_as_parts() -> None:
    worded = Query("", "gout", ("symptoms",), text="What are the symptoms of gout?", titled=True,
                   likelihoods=(1.0,), aspect_likelihoods=(1.0,))  # fmt: skip
    as_parts = SHIPPED.parts * SHIPPED.usual.spread
    for entity, aspect in ((1.0, 1.0), (0.5, 1.0), (1.0, 0.25), (0.0, 1.0)):
        sure = AS_PARTS * entity * aspect
        read = replace(worded, likelihoods=(entity,), aspect_likelihoods=(aspect,))
        mixed = (1 - sure) * SHIPPED.words + sure * as_parts
        np.testing.assert_allclose(SHIPPED.weights(read), mixed, rtol=1e-5)
    # A name that is no title of the collection, or no aspect, is not sure.
    for unsure in (replace(worded, titled=False), replace(worded, aspects=(), aspect_likelihoods=())):
        np.testing.assert_array_equal(SHIPPED.weights(unsure), SHIPPED.words)


def test_weights_are_kept_as_json() -> None:
    rereading = Fusion.from_json(SHIPPED.to_json() | {"rereading": REREADING}).to_json()["rereading"]
    assert rereading == REREADING
    again = Fusion.from_json(json.loads(json.dumps(SHIPPED.to_json())))
    for part in ("parts", "words", "certainty", "certainty_of_parts"):
        np.testing.assert_allclose(getattr(again, part), getattr(SHIPPED, part), atol=1e-4)


@pytest.mark.parametrize("model", ["fast", "best", "cdv"])
def test_sets_of_weights_are_small(model: str) -> None:
    brought = json.loads((model_folder(model) / "model.json").read_text(encoding="utf-8")).get("fusion")
    told = Fusion.from_json(brought).to_json() if brought else SHIPPED.to_json()
    for part in ("parts", "words", "certainty", "certainty_of_parts"):
        assert 5 < sum(name != "bias" for name in told[part]) <= 18


REREADING = {"order": 1.0, "certainty": 0.5, "log_odds": 0.2, "ahead": 0.1, "bias": -1.0}


@pytest.mark.parametrize(
    ("told", "got"),
    [
        ({"parts": {}, "words": {}}, "certainty"),
        ({"parts": {"smell": 1.0}, "words": {}, "certainty": {}}, "smell"),
        ({"parts": {"question_text": -1.0}, "words": {}, "certainty": {}}, "below 0"),
        ({"parts": {"question_text": "much"}, "words": {}, "certainty": {}}, "much"),
        ({"parts": {}, "words": {}, "certainty": {}, "rereading": {"order": 1.0}}, "certainty"),
        ({"parts": {}, "words": {}, "certainty": {}, "rereading": REREADING | {"order": -1.0}}, "below 0"),
        ({"parts": {}, "words": {}, "certainty": {}, "rereading": REREADING | {"bias": float("nan")}}, "no number"),
    ],
)
def test_strange_weights_are_refused(told: dict[str, dict[str, float]], got: str) -> None:
    with pytest.raises(ModelError, match=got):
        Fusion.from_json(told)


def test_cosines_use_only_the_parts_a_query_fills() -> None:
    entity, aspect = np.array([[1.0, 0.0], [0.6, 0.8]]), np.array([[0.0, 1.0], [1.0, 0.0]])
    passages = np.hstack([entity, aspect]).astype(np.float32) / np.sqrt(2)
    parts = {"entity": (0, 2), "aspect": (2, 4)}
    found = by_part(np.array([0, 0, 3, 0], np.float32), parts)
    assert found.keys() == {"aspect"}
    columns, share = found["aspect"]
    np.testing.assert_allclose(passages[:, slice(*columns)] @ share, [0, 1], atol=1e-6)
    columns, share = by_part(np.array([2, 0, 0, 0], np.float32), {})["question"]
    np.testing.assert_allclose(passages[:, slice(*columns)] @ share, passages[:, 0], atol=1e-6)
