"""All evidence as a scorer: as a search does, but for what names a passage."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from auscult.documents import Document, Section, build_document
from auscult.ingest.building import build_index
from auscult.search import Searcher
from auscult.understanding import Query
from auscult_lab.fitting.fused_scorer import FusedScorer
from encoders import HashedEncoder
from leaflets import leaflets

QUERY = Query("q", "Gout", ("treatment",), text="How is gout treated?")
IDS = [passage.passage_id for each in leaflets() for passage in each.passages]


def prepared(documents: list[Document], *, hide_names: bool = True) -> FusedScorer:
    scorer = FusedScorer(HashedEncoder(), hide_names=hide_names)
    scorer.prepare(documents)
    return scorer


def test_with_names_it_ranks_as_a_search_does(tmp_path: Path) -> None:
    build_index(leaflets(), HashedEncoder(), tmp_path / "index")
    searcher = Searcher.open(tmp_path / "index", HashedEncoder())
    hits = searcher.search(searcher.understand(QUERY).query, len(IDS))
    scores = prepared(leaflets(), hide_names=False).score(QUERY, [hit.passage_id for hit in hits])
    np.testing.assert_allclose(scores, [hit.score for hit in hits], rtol=0, atol=1e-6)


def test_names_and_the_question_are_hidden() -> None:
    renamed = [
        replace(each, title="Gout", passages=tuple(replace(passage, heading="Treatment") for passage in each.passages))
        for each in leaflets()
    ]
    scores = prepared(leaflets()).score(QUERY, IDS)
    np.testing.assert_array_equal(prepared(renamed).score(QUERY, IDS), scores)
    np.testing.assert_array_equal(prepared(leaflets()).score(replace(QUERY, text="What is asthma?"), IDS), scores)
    assert not np.array_equal(prepared(renamed, hide_names=False).score(QUERY, IDS), scores)


def test_a_passage_without_a_sentence_scores_lowest() -> None:
    silent = build_document(doc_id="silent", title="Gout", sections=[Section("Treatment", "", "silent-1")])
    scores = prepared([*leaflets(), silent], hide_names=False).score(QUERY, [*IDS, "silent-1"])
    assert scores[-1] < scores[:-1].min()
