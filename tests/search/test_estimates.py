"""Of which passages all evidence is weighed is estimated, and the answer is that of weighing all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from auscult.documents import Document
from auscult.encoders.contract import FloatArray
from auscult.index import IndexUpdate, IndexWriter
from auscult.search import Searcher, SearchOptions, weighing
from auscult.understanding import Query
from encoders import TermEncoder
from leaflets import generated, leaflets


class DenseEncoder(TermEncoder):
    """Turns the vectors of words so that no component is empty, as no model's are."""

    def __init__(self) -> None:
        super().__init__(256)
        half = np.linalg.qr(np.random.default_rng(0).standard_normal((128, 128)))[0].astype(np.float32)
        self._turned = np.kron(np.eye(2, dtype=np.float32), half)

    def encode_queries(self, queries: Sequence[Query]) -> FloatArray:
        return super().encode_queries(queries) @ self._turned

    def _encode_document(self, document: Document) -> FloatArray:
        return super()._encode_document(document) @ self._turned


ENCODER = DenseEncoder()
QUERIES = [
    Query("", "Migraine", ("symptoms",)),
    Query("", "gout"),
    Query("", "", text="what are common signs of wört12 wört40?"),
    Query("", "", text="fever"),
]
GONE = [f"doc{number}" for number in range(0, 200, 9)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of three segments, with documents removed."""
    folder = tmp_path_factory.mktemp("estimates") / "index"
    with IndexWriter(folder, ENCODER) as writer:
        writer.add(generated(200))
        writer.commit()
    for more in (leaflets(), generated(8, seed=5, prefix="late")):
        with IndexUpdate(folder, ENCODER) as update:
            update.add(more)
            update.delete(GONE if more == leaflets() else [])
            update.commit()
    return folder


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.text or query.terms)
@pytest.mark.parametrize("group_by", ["passage", "document", "source"])
@pytest.mark.parametrize("where", [{}, {"source": "s1"}])
def test_the_first_five_are_those_of_weighing_all(
    folder: Path, monkeypatch: pytest.MonkeyPatch, query: Query, group_by: str, where: dict[str, str]
) -> None:
    options = SearchOptions(group_by=group_by, where=where)
    every, few = Searcher.open(folder, ENCODER), Searcher.open(folder, ENCODER)
    expected = every.search(query, 5, options)
    monkeypatch.setattr(weighing, "WEIGHED", 60)
    found = few.search(query, 5, options)
    assert [hit.score for hit in found] == pytest.approx([hit.score for hit in expected], abs=1e-5)
    same = {hit.passage_id: hit for hit in expected}
    for hit in found:
        # Equals at the end may be others.
        if hit.passage_id in same:
            assert hit.evidence == pytest.approx(same[hit.passage_id].evidence, abs=1e-5)
            assert hit.probability == pytest.approx(same[hit.passage_id].probability, abs=1e-5)
        else:
            assert hit.score == pytest.approx(expected[-1].score, abs=1e-5)


def test_more_than_are_weighed_may_be_asked_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weighing, "WEIGHED", 60)
    few = Searcher.open(folder, ENCODER)
    living = len(few.index.reader.passage_documents) - len(few.index.reader.wordless)
    assert len(few.find(QUERIES[0], 10_000)) == living > 300
    assert len(few.find(QUERIES[0], 100)) == 100


def test_groups_without_weighed_passages_are_found(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = SearchOptions(group_by="source")
    expected = Searcher.open(folder, ENCODER).find(QUERIES[0], 5, options)
    monkeypatch.setattr(weighing, "WEIGHED", 1)
    found = Searcher.open(folder, ENCODER).find(QUERIES[0], 5, options)
    assert found.scores == pytest.approx(expected.scores, abs=1e-5)
    assert len(found) == 5
