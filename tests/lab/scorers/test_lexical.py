"""BM25, TF-IDF and query likelihood against values worked out by hand, and the contract of a scorer."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from auscult.documents import Document, Passage
from auscult.encoders.contract import Scorer
from auscult.errors import ConfigError, DataError
from auscult.understanding import Query
from auscult_lab.scorers.lexical import (
    Bm25Config,
    Bm25Scorer,
    QueryLikelihoodConfig,
    QueryLikelihoodScorer,
    TfIdfScorer,
)

TEXTS = {
    "p1": "asthma asthma wheezing cough",
    "p2": "asthma treatment with inhaled corticosteroids",
    "p3": "gout in the big toe",
    "p4": "short",
}
SCORERS: list[Callable[[], Bm25Scorer | TfIdfScorer | QueryLikelihoodScorer]] = [
    Bm25Scorer,
    TfIdfScorer,
    QueryLikelihoodScorer,
]


def document(texts: dict[str, str], title: str = "Title") -> Document:
    text, passages = "", []
    for passage_id, own in texts.items():
        passages.append(Passage(passage_id, "a heading", len(text), len(text) + len(own)))
        text += own + "\n"
    return Document("d", title, text, tuple(passages))


def test_bm25_by_hand() -> None:
    scorer = Bm25Scorer()
    scorer.prepare([document(TEXTS)])
    scores = scorer.score(Query("q", "asthma", ("cough",)), ["p1", "p2", "p3", "p4"])
    # "short" has under 10 characters: three passages of 4, 5 and 5 words are left.
    average = 14 / 3
    asthma, cough = math.log(1 + 1.5 / 2.5), math.log(1 + 2.5 / 1.5)

    def saturated(frequency: int, length: int) -> float:
        return frequency / (frequency + 1.2 * (1 - 0.75 + 0.75 * length / average))

    expected = [asthma * saturated(2, 4) + cough * saturated(1, 4), asthma * saturated(1, 5), 0.0, 0.0]
    np.testing.assert_allclose(scores, expected, rtol=1e-5)
    assert scores.dtype == np.float32


def test_tfidf_by_hand() -> None:
    scorer = TfIdfScorer()
    scorer.prepare([document(TEXTS)])
    scores = scorer.score(Query("q", "asthma asthma", ("cough",)), ["p1", "p2", "p3", "p4"])
    asthma, cough = 1 + math.log(4 / 3), 1 + math.log(4 / 2)
    expected = [(2 * math.sqrt(2) * asthma + cough) / 2, 2 * asthma / math.sqrt(5), 0.0, 0.0]
    np.testing.assert_allclose(scores, expected, rtol=1e-6)


def smoothed_log_likelihood(terms: list[str], passage: list[str], collection: list[str], mu: float) -> float:
    """The logarithm of the probability that a passage's smoothed language model draws the query (zhai2001)."""
    total = 0.0
    for term in terms:
        share = collection.count(term) / len(collection)
        total += math.log((passage.count(term) + mu * share) / (len(passage) + mu))
    return total


@pytest.mark.parametrize("mu", [0.5, 10.0, 2000.0])
def test_query_likelihood_is_the_smoothed_log_likelihood(mu: float) -> None:
    scorer = QueryLikelihoodScorer(QueryLikelihoodConfig(mu=mu))
    scorer.prepare([document(TEXTS)])
    words = {key: text.split() for key, text in TEXTS.items() if key != "p4"}
    collection = [word for each in words.values() for word in each]
    terms = ["asthma", "asthma", "cough", "the"]
    scores = scorer.score(Query("q", "asthma asthma", ("cough the unheard",)), list(words))
    expected = [smoothed_log_likelihood(terms, each, collection, mu) for each in words.values()]
    # What the score leaves out is the same for all passages: the likelihood under the collection alone.
    constant = sum(math.log(collection.count(term) / len(collection)) for term in terms)
    np.testing.assert_allclose(scores, np.array(expected) - constant, rtol=1e-4, atol=1e-6)
    assert scores.dtype == np.float32


def test_query_likelihood_puts_unread_passages_last() -> None:
    scorer = QueryLikelihoodScorer(QueryLikelihoodConfig(mu=1.0))
    scorer.prepare([document(TEXTS)])
    scores = scorer.score(Query("q", "gout"), ["p1", "p2", "p3", "p4"])
    assert scores.argmax() == 2
    assert scores[3] == scores[:3].min() < 0
    assert scorer.score(Query("q", "unheard"), ["p1", "p4"]).tolist() == [0.0, 0.0]
    with pytest.raises(ConfigError, match="mu"):
        QueryLikelihoodConfig(mu=0.0)


def test_parameters_are_used() -> None:
    flat = Bm25Scorer(Bm25Config(k1=0.0, b=0.0))
    flat.prepare([document(TEXTS)])
    one, two = flat.score(Query("q", "asthma"), ["p1", "p2"])
    assert one == pytest.approx(two)


@pytest.mark.parametrize("make", SCORERS)
def test_only_passage_text_counts(make: Callable[[], Scorer]) -> None:
    scorer = make()
    scorer.prepare([document(TEXTS, title="glaucoma")])
    assert scorer.score(Query("q", "glaucoma", ("heading",)), ["p1", "p2"]).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("make", SCORERS)
def test_a_collection_without_words_is_named(make: Callable[[], Scorer]) -> None:
    with pytest.raises(DataError, match="words"):
        make().prepare([document({"p": "---------------"})])
