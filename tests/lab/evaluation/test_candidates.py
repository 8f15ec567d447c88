"""Candidates are drawn by the published rule."""

from __future__ import annotations

from auscult.ingest.corpus import Judgement
from auscult.understanding import Query
from auscult_lab.evaluation.task import build_task, draw_candidates, insert_missing
from auscult_lab.scorers.lexical import Bm25Scorer
from leaflets import generated, leaflets
from needs import Needs


def test_missing_answers_overwrite_the_lowest() -> None:
    assert insert_missing(["a", "b", "c", "d"], ["x"], 3) == ["x", "a", "b"]
    assert insert_missing(["a", "b", "c", "d"], ["b"], 3) == ["b", "a", "c"]
    assert insert_missing(["a", "a", "b"], [], 2) == ["a", "b"]
    assert insert_missing([], ["x", "y"], 1) == ["x", "y"]


def test_candidates_include_the_best_document_and_the_answer() -> None:
    query = Query("q", "Gout")
    # Only gout-1 says "gout"; its siblings come with it, and the answer although no word fits.
    drawn = draw_candidates(leaflets(), [query], [Judgement("q", "asthma-3")], count=4)
    assert drawn == {"q": ("asthma-3", "gout-1", "gout-2", "gout-3")}


def test_siblings_take_the_place_of_the_lowest() -> None:
    documents = generated(60, seed=5)
    query = Query("q", "wört1 wört2 wört3 wört4 wört5 wört6")
    scorer = Bm25Scorer()
    scorer.prepare(documents)
    ids = [
        passage.passage_id
        for document in documents
        for passage in document.passages
        if len(document.slice(passage).strip()) >= 10
    ]
    scores = dict(zip(ids, scorer.score(query, ids).tolist(), strict=True))
    best = sorted(
        (passage_id for passage_id in ids if scores[passage_id] > 0), key=lambda passage_id: -scores[passage_id]
    )[:8]
    siblings = [passage_id for passage_id in ids if passage_id.split("-")[0] == best[0].split("-")[0]]
    expected = list(dict.fromkeys([best[0], *siblings, *best[1:]]))[:8]
    assert draw_candidates(documents, [query], [], count=8) == {"q": tuple(sorted(expected))}


def test_drawn_candidates_agree_with_the_prepared_ones(needs: Needs) -> None:
    from auscult_lab.corpora.medquad import MedQuadCorpus

    task = build_task(MedQuadCorpus(needs.file("medquad")), number=300, seed=1)
    assert task.candidates is not None
    drawn = draw_candidates(task.documents, task.queries, task.judgements)
    shared = [len(set(drawn[each]) & set(task.candidates[each])) / len(task.candidates[each]) for each in drawn]
    # Equal texts tie at the edge of the 64, and BM25 with Lucene's rounded lengths orders them otherwise.
    assert sum(shared) / len(shared) > 0.93
    assert [len(drawn[each]) for each in drawn] == [len(task.candidates[each]) for each in drawn]
