"""Weighted cosine distance against values worked out by hand, and the contract of a scorer."""

from __future__ import annotations

import math

import numpy as np
import pytest

from auscult.documents import Document, Passage
from auscult.errors import ConfigError, DataError
from auscult.understanding import Query
from auscult_lab.modules.word_vectors import PlainTable
from auscult_lab.scorers.cosine import NO_WORD_SCORE, CosineScorer, InverseDocumentFrequencies

# Axes: protein, degenerate, question words.
VECTORS = PlainTable(
    ["protein", "degenerate", "what", "is"],
    np.array([[1, 0, 0], [0, 2, 0], [0, 0, 1], [0, 0, 3]], dtype=np.float32),
)
TEXTS = {"both": "Degenerate protein protein", "what": "What is what", "one": "protein", "none": "unheard words"}
QUERY = Query("q", "ignored entity", text="What is a degenerate protein?")


def collection(texts: dict[str, str]) -> list[Document]:
    return [Document(key, "title", text, (Passage(key, "", 0, len(text)),)) for key, text in texts.items()]


def cosine(first: list[float], second: list[float]) -> float:
    dot = sum(a * b for a, b in zip(first, second, strict=True))
    return dot / math.sqrt(sum(a * a for a in first) * sum(b * b for b in second))


def test_cd_by_hand() -> None:
    scorer = CosineScorer(VECTORS)
    scorer.prepare(collection(TEXTS))
    scores = scorer.score(QUERY, list(TEXTS))
    query = [1, 2, 4]  # protein + degenerate + what + is; "a" has no vector
    expected = [cosine(query, [2, 2, 0]), cosine(query, [0, 0, 5]), cosine(query, [1, 0, 0]), NO_WORD_SCORE]
    np.testing.assert_allclose(scores, expected, rtol=1e-6)
    assert scores.dtype == np.float32
    assert scorer.name == "CD"


def test_cd_idf_weighs_by_the_passages() -> None:
    scorer = CosineScorer(VECTORS, "passages")
    scorer.prepare(collection(TEXTS))
    protein, rare = math.log(5 / 3), math.log(5 / 2)  # held by two of four passages, and by one
    query = [protein, 2 * rare, rare + 3 * rare]
    both = cosine(query, [2 * protein, 2 * rare, 0])
    expected = [both, cosine(query, [0, 0, 1]), cosine(query, [1, 0, 0])]
    np.testing.assert_allclose(scorer.score(QUERY, ["both", "what", "one"]), expected, rtol=1e-6)
    assert scorer.name == "CD_idf"


def test_cd_q_weighs_words_by_idf_over_questions() -> None:
    asked = ["What is gout?", "What is asthma?", "what is protein"]
    scorer = CosineScorer(VECTORS, InverseDocumentFrequencies.of_texts(asked))
    scorer.prepare(collection(TEXTS))
    protein, unheard = math.log(4 / 2), math.log(4 / 1)
    query = [protein, 2 * unheard, 0]  # "what" and "is" are in every question: no weight is left
    both, what, one = scorer.score(QUERY, ["both", "what", "one"])
    assert both == pytest.approx(cosine(query, [2 * protein, 2 * unheard, 0]), rel=1e-6)
    assert what == NO_WORD_SCORE
    assert one == pytest.approx(cosine(query, [1, 0, 0]), rel=1e-6)
    assert scorer.name == "CD_q"


def test_question_weights_put_the_topic_before_question_words() -> None:
    """Section 2.2: by document idf, a passage with "what" beats one about the topic; by question idf it does not."""
    filler = {f"f{n}": "protein degenerate" for n in range(8)}
    texts = {"topic": "protein degenerate", "chatter": "what is what is", **filler}
    plain, asked = CosineScorer(VECTORS, "passages"), ["what is x", "what is y", "what is z protein"]
    weighted = CosineScorer(VECTORS, InverseDocumentFrequencies.of_texts(asked))
    for scorer in (plain, weighted):
        scorer.prepare(collection(texts))
    by_passages = plain.score(QUERY, ["topic", "chatter"])
    by_questions = weighted.score(QUERY, ["topic", "chatter"])
    assert by_passages[0] < by_passages[1]
    assert by_questions[0] > by_questions[1]


def test_idf_of_texts() -> None:
    idf = InverseDocumentFrequencies.of_texts(["Gout gout", "gout in feet", "Sjögren"])
    assert idf("gout") == pytest.approx(math.log(4 / 3))
    assert idf("sjogren") == pytest.approx(math.log(4 / 2))
    assert idf("unseen") == pytest.approx(math.log(4))
    assert idf.texts == 3
    with pytest.raises(ConfigError, match="texts"):
        InverseDocumentFrequencies.of_texts([])


def test_queries_without_text_use_entity_and_aspects() -> None:
    scorer = CosineScorer(VECTORS)
    scorer.prepare(collection(TEXTS))
    assert scorer.score(Query("q", "protein"), ["one"])[0] == pytest.approx(1.0)
    assert scorer.score(Query("q", "unheard"), ["one", "none"]).tolist() == [0.0, NO_WORD_SCORE]


def test_a_collection_without_words_is_named() -> None:
    with pytest.raises(DataError, match="words"):
        CosineScorer(VECTORS).prepare(collection({"p": "-----"}))
