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
from auscult.search.evidence import EVIDENCE, by_part
from auscult.search.fusion import AS_PARTS, READ, TITLED, Fusion
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
    named, worded = (
        Query("", "gout", ("symptoms",)),
        Query("", "gout", ("symptoms",), text="What are the symptoms of gout?"),
    )
    heading = EVIDENCE.index("aspect_heading")
    fitted = replace(SHIPPED, words=np.where(np.arange(len(EVIDENCE)) == heading, 0, SHIPPED.words))
    of_parts, in_words = (dict(zip(EVIDENCE, fitted.weights(query).tolist(), strict=True)) for query in (named, worded))
    assert in_words != of_parts
    # Of a question that says no more than both, the heading has its weight for entity and aspects.
    for more in (replace(worded, aspects=()), replace(worded, text="What are the symptoms of gout in children?")):
        unread = dict(zip(EVIDENCE, fitted.weights(more).tolist(), strict=True))
        assert in_words == pytest.approx({**unread, "aspect_heading": READ * of_parts["aspect_heading"]})
    # Where the entity is a title of the collection, it is weighed mostly as entity and aspects are.
    titled = fitted.weights(replace(worded, titled=True))
    np.testing.assert_allclose(titled, AS_PARTS * fitted.parts + (1 - AS_PARTS) * fitted.weights(worded), rtol=1e-5)
    assert not np.any(
        fitted.weights(replace(worded, titled=True, aspects=())) - fitted.weights(replace(worded, aspects=()))
    )
    # It keeps a weight of its own.
    assert SHIPPED.weights(worded)[heading] == SHIPPED.words[heading] > 0
    # What an entity's title says counts as soon as one was read.
    nothing_read = dict(zip(EVIDENCE, fitted.weights(replace(worded, entity="")).tolist(), strict=True))
    more = nothing_read["entity_title"] + TITLED * of_parts["entity_title"]
    assert unread == pytest.approx({**nothing_read, "entity_title": more})
    for by_words in ("question_text", "question_label", "question_document"):
        assert in_words["question_vector"] > in_words[by_words]


def test_weights_are_kept_as_json() -> None:
    again = Fusion.from_json(json.loads(json.dumps(SHIPPED.to_json())))
    for part in ("parts", "words", "certainty"):
        np.testing.assert_allclose(getattr(again, part), getattr(SHIPPED, part), atol=1e-4)


@pytest.mark.parametrize("model", ["fast", "best", "cdv"])
def test_at_most_thirty_five_weights(model: str) -> None:
    brought = json.loads((model_folder(model) / "model.json").read_text(encoding="utf-8")).get("fusion")
    told = Fusion.from_json(brought).to_json() if brought else SHIPPED.to_json()
    assert 10 < sum(name != "bias" for part in told.values() for name in part) <= 35


@pytest.mark.parametrize(
    ("told", "got"),
    [
        ({"parts": {}, "words": {}}, "certainty"),
        ({"parts": {"smell": 1.0}, "words": {}, "certainty": {}}, "smell"),
        ({"parts": {"question_text": -1.0}, "words": {}, "certainty": {}}, "below 0"),
        ({"parts": {"question_text": "much"}, "words": {}, "certainty": {}}, "much"),
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
