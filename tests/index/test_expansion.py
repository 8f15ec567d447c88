"""Weighted terms are found by the best window of a passage, in any number of segments, and survive a repair."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from auscult.documents import Document
from auscult.index import IndexUpdate, IndexWriter, PassageIndex, optimize, repair
from auscult.index.expansion import from_bytes, to_bytes
from auscult.search import Searcher
from auscult.search.hits import EVIDENCE
from auscult.understanding import Query
from encoders import TERMS, TermEncoder, weighed
from leaflets import generated, leaflets

DOCUMENTS = [*leaflets(), *generated(60)]


ENCODER = TermEncoder()
ASKED = ENCODER.expand_query(Query("", "", text="common signs of wört12 and severe pain"))


def build(folder: Path, documents: Sequence[Document]) -> PassageIndex:
    with IndexWriter(folder, ENCODER) as writer:
        writer.add(documents)
        writer.commit()
    return PassageIndex.open(folder)


def by_passage(index: PassageIndex) -> dict[str, float]:
    reader = index.reader
    scores = reader.expansions.scores(*ASKED)
    shown = np.flatnonzero(reader.living[reader.passage_documents])
    return {reader.passage_id(row): float(scores[row]) for row in shown.tolist()}


def expected(documents: Sequence[Document]) -> dict[str, float]:
    query = np.zeros(TERMS)
    query[ASKED[0]] = ASKED[1]
    best = {}
    for document in documents:
        for passage in document.passages:
            windows = [weighed(document.slice(each)) for each in passage.sentences]
            best[passage.passage_id] = max((float(query[terms] @ weights) for terms, weights in windows), default=0.0)
    return best


def test_a_passage_scores_by_its_best_window(tmp_path: Path) -> None:
    found, wanted = by_passage(build(tmp_path / "index", DOCUMENTS)), expected(DOCUMENTS)
    assert found == pytest.approx(wanted, abs=0.05)
    assert max(wanted.values()) > 1
    assert len({*wanted.values()}) > 5


def test_segments_and_removed_documents_change_no_score(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    build(folder, DOCUMENTS[:40])
    for first in range(40, len(DOCUMENTS), 6):
        with IndexUpdate(folder, ENCODER) as update:
            update.add(DOCUMENTS[first : first + 6])
            update.commit()
    gone = [DOCUMENTS[row].doc_id for row in (1, 20, 43, len(DOCUMENTS) - 1)]
    with IndexUpdate(folder, ENCODER) as update:
        update.delete(gone)
        update.commit()
    wanted = expected([document for document in DOCUMENTS if document.doc_id not in gone])
    assert by_passage(PassageIndex.open(folder)) == pytest.approx(wanted, abs=0.05)
    optimize(folder)
    assert by_passage(PassageIndex.open(folder)) == pytest.approx(wanted, abs=0.05)


def test_a_repair_brings_the_terms_back(tmp_path: Path) -> None:
    folder = tmp_path / "index"
    before = by_passage(build(folder, DOCUMENTS))
    (segment,) = folder.glob("store-*/segment-*")
    segment.unlink()
    repair(folder)
    assert by_passage(PassageIndex.open(folder)) == before


def test_all_evidence_has_the_best_window(tmp_path: Path) -> None:
    build(tmp_path / "index", DOCUMENTS)
    searcher = Searcher.open(tmp_path / "index", ENCODER)
    _, evidence, background = searcher.gather(Query("", "", text="common signs of wört12 and severe pain"))
    best = (evidence * background.spread)[:, EVIDENCE.index("question_expansion")]
    np.testing.assert_allclose(10 * best, searcher.index.reader.expansions.scores(*ASKED), atol=1e-5)


def test_stored_weights_are_within_half_a_step() -> None:
    (expansion,) = ENCODER.expand_documents([DOCUMENTS[0]])
    read = from_bytes(to_bytes(expansion))
    for name in ("windows", "starts", "terms"):
        np.testing.assert_array_equal(getattr(read, name), getattr(expansion, name))
    np.testing.assert_allclose(read.weights, expansion.weights, atol=1 / 128)
