"""An index in many segments, with documents removed, answers as one that was built whole."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from auscult.documents import Document
from auscult.index import IndexUpdate, IndexWriter, PassageIndex, optimize
from auscult.index.segment import plan
from auscult.index.words import FIELDS, OF_PASSAGES
from auscult.search import Searcher, SearchOptions
from auscult.understanding import Query
from encoders import HashedEncoder
from leaflets import generated, leaflets

ENCODER = HashedEncoder()
EVERYTHING = [*generated(120), *leaflets(), *generated(40, seed=3, prefix="new")]
GONE = [*(f"doc{n}" for n in range(0, 60, 7)), "leaflet-gout", "new5"]
KEPT = [document for document in EVERYTHING if document.doc_id not in GONE]
ASKED = [
    Query("", "Migraine", ("Symptoms",)),
    Query("", "topic 3 wört7 wört19", ("heading 4",)),
    Query("", "", (), text="what are common signs of wört12 wört40?"),
    Query("", "Gout", ("treatment",), names=("IgA nephropathy",)),
]


def build(folder: Path, documents: list[Document]) -> Searcher:
    with IndexWriter(folder, ENCODER) as writer:
        writer.add(documents)
        writer.commit()
    return Searcher.open(folder, ENCODER)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    return build(tmp_path_factory.mktemp("whole") / "index", KEPT)


@pytest.fixture(scope="module")
def parted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parted") / "index"
    build(folder, EVERYTHING[:100])
    for first, last in ((100, 124), (124, 150), (150, len(EVERYTHING))):
        with IndexUpdate(folder, ENCODER) as update:
            update.add(EVERYTHING[first:last])
            update.commit()
    for gone in (GONE[:4], GONE[4:]):
        with IndexUpdate(folder, ENCODER) as update:
            update.delete(gone)
            update.commit()
    return folder


def check_equal(actual: Searcher, expected: Searcher) -> None:
    for query in ASKED:
        for group_by in ("passage", "document"):
            for scoring in ("fused", "model") if query.terms else ("fused",):
                options = {"group_by": group_by, "scoring": scoring}
                hits, wanted = (each.search(query, 40, options=SearchOptions(**options)) for each in (actual, expected))  # type: ignore[arg-type]
                assert [hit.passage_id for hit in hits] == [hit.passage_id for hit in wanted]
                np.testing.assert_allclose([h.score for h in hits], [h.score for h in wanted], atol=1e-6)
                assert [(h.text, h.title, h.metadata) for h in hits] == [(h.text, h.title, h.metadata) for h in wanted]


def test_additions_and_removals_answer_like_one_build(parted: Path, whole: Searcher) -> None:
    searcher = Searcher.open(parted, ENCODER)
    reader = searcher.index.reader
    assert len(reader.segments) > 1
    assert searcher.index.manifest.removed
    check_equal(searcher, whole)
    for field in FIELDS:
        by_passage = reader.living[reader.passage_documents]
        stays = by_passage if field in OF_PASSAGES else reader.living
        if field == "article":
            stays = np.array(
                [by_passage[reader.words.articles == n].all() for n in range(reader.words.articles[-1] + 1)]
            )
        for terms in (["sign", "wört7"], ["topic", "3"], ["treatment", "gout"]):
            for what in ("coverage", "likeness"):
                ours, theirs = (getattr(each.index.reader.words, what)(terms, field) for each in (searcher, whole))
                assert ours[stays].tolist() == theirs.tolist()
    assert not reader.words.holds("allopurinol"), "only a removed document holds it"
    assert dict(reader.titles) == dict(whole.index.reader.titles)
    assert reader.values("source")[0] == whole.index.reader.values("source")[0]
    searcher.index.verify()


def test_optimize_leaves_one_segment_without_removed_bytes(parted: Path, whole: Searcher) -> None:
    before = Searcher.open(parted, ENCODER)
    optimize(parted)
    searcher = Searcher.open(parted, ENCODER)
    assert len(searcher.index.reader.segments) == 1
    assert not searcher.index.manifest.removed
    check_equal(searcher, whole)
    check_equal(before, whole)
    searcher.index.verify()
    files = [path for path in parted.rglob("*") if path.is_file()]
    assert {path.name for path in files} >= {"CURRENT", "index.sqlite", "segment-000001"}
    assert not [path for path in files if b"allopurinol" in path.read_bytes().lower()]


def test_empty_index_gains_documents_and_loses_all(tmp_path: Path) -> None:
    build(tmp_path / "index", [])
    for _ in range(2):
        with IndexUpdate(tmp_path / "index", ENCODER) as update:
            update.add(leaflets())
            update.commit()
        index = PassageIndex.open(tmp_path / "index")
        index.verify()
        assert len(index.reader.documents) == 4
        with IndexUpdate(tmp_path / "index", ENCODER) as update:
            update.delete([document.doc_id for document in leaflets()])
            update.commit()
        index = PassageIndex.open(tmp_path / "index")
        index.verify()
        assert not index.reader.documents.size
        assert not len(index.search(ENCODER.encode_documents(leaflets())[0][0])[0])


def test_documents_added_and_deleted_in_one_update_vanish(tmp_path: Path) -> None:
    build(tmp_path / "index", generated(5))
    with IndexUpdate(tmp_path / "index", ENCODER) as update:
        update.add(leaflets())
        update.replace(leaflets()[:2])
        update.delete(["leaflet-gout"])
        update.commit()
    check_equal(
        Searcher.open(tmp_path / "index", ENCODER),
        build(tmp_path / "whole", [*generated(5), leaflets()[2], *leaflets()[:2]]),
    )


@pytest.mark.parametrize("seed", range(3))
def test_segments_stay_few_and_documents_are_written_seldom(seed: int) -> None:
    chance = random.Random(seed)
    sizes, written, added = [5000], 0, 0
    for _ in range(3000):
        count = chance.choice((1, 1, 1, 2, 9))
        groups = plan([(size, size) for size in [*sizes, count]])
        added += count
        whole = [*sizes, count]
        written += sum(whole[n] for group in groups if len(group) > 1 for n in group)
        sizes = [sum(whole[n] for n in group) for group in groups]
        assert len(sizes) <= 8
    assert sum(sizes) == 5000 + added
    assert written < 30 * (added + 5000)
