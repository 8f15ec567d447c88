"""An encoder as a scorer: mean sentence cosine, by the whole vector or a part of it."""

from __future__ import annotations

import numpy as np
import pytest

from auscult.documents import Document, Passage
from auscult.errors import DataError, ModelError
from auscult.understanding import Query
from auscult_lab.scorers.encoder_scorer import NO_SENTENCE_SCORE, EncoderScorer
from encoders import HashedEncoder
from leaflets import generated, leaflets

QUERY = Query("q", "Migraine", ("symptoms",))


def prepared(batch_size: int = 64) -> EncoderScorer:
    scorer = EncoderScorer(HashedEncoder(), batch_size=batch_size)
    scorer.prepare(leaflets())
    return scorer


def test_a_score_is_the_mean_of_sentence_cosines() -> None:
    encoder = HashedEncoder()
    query = encoder.encode_queries([QUERY])[0]
    scorer = prepared()
    for document, vectors in zip(leaflets(), encoder.encode_documents(leaflets()), strict=True):
        row = 0
        for passage in document.passages:
            cosines = [float(query @ vector) for vector in vectors[row : row + len(passage.sentences)]]
            row += len(passage.sentences)
            assert scorer.score(QUERY, [passage.passage_id])[0] == pytest.approx(np.mean(cosines), abs=1e-6)


def test_parts_add_up_to_the_whole() -> None:
    scorer = prepared()
    ids = [passage.passage_id for each in leaflets() for passage in each.passages]
    entity, aspect = scorer.only("entity"), scorer.only("aspect")
    assert entity.name == "hashed-64 (entity only)"
    whole = scorer.score(QUERY, ids)
    np.testing.assert_allclose(entity.score(QUERY, ids) + aspect.score(QUERY, ids), whole, atol=1e-6)
    assert np.abs(entity.score(QUERY, ids) - whole).max() > 0.01


def test_parts_share_what_is_prepared_later() -> None:
    scorer = EncoderScorer(HashedEncoder())
    entity = scorer.only("entity")
    scorer.prepare(leaflets())
    assert entity.score(QUERY, ["migraine-1"]) == prepared().only("entity").score(QUERY, ["migraine-1"])


def test_batches_change_no_score() -> None:
    ids = [passage.passage_id for each in leaflets() for passage in each.passages]
    expected = prepared().score(QUERY, ids).tolist()
    assert [prepared(batch_size).score(QUERY, ids).tolist() for batch_size in (1, 3)] == [expected] * 2


def test_a_passage_without_sentences_scores_lowest() -> None:
    documents = generated(30, seed=1)
    empty = [p.passage_id for each in documents for p in each.passages if not p.sentences]
    others = [p.passage_id for each in documents for p in each.passages if p.sentences]
    scorer = EncoderScorer(HashedEncoder())
    scorer.prepare(documents)
    assert empty
    assert set(scorer.score(QUERY, empty).tolist()) == {NO_SENTENCE_SCORE}
    assert scorer.score(QUERY, others).min() > NO_SENTENCE_SCORE
    mixed = scorer.score(QUERY, [others[0], empty[0], others[1]])
    assert mixed.tolist() == [
        *scorer.score(QUERY, others[:1]),
        NO_SENTENCE_SCORE,
        *scorer.score(QUERY, others[1:2]),
    ]


def test_progress_counts_documents() -> None:
    seen: list[int] = []
    EncoderScorer(HashedEncoder(), batch_size=3, progress=seen.append).prepare(leaflets())
    assert seen == [3, 4]


def test_wrong_use_is_named() -> None:
    with pytest.raises(ModelError, match="'topic'"):
        prepared().only("topic")
    twice = Document("d", "t", "words", (Passage("p", "", 0, 5), Passage("p", "", 5, 5)))
    with pytest.raises(DataError, match="'p' twice"):
        EncoderScorer(HashedEncoder()).prepare([twice])
