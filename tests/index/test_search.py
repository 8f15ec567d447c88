"""Exact search: the one-inner-product identity, order, filters, grouping."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auscult.documents import Document, Passage
from auscult.encoders.contract import DocumentEncoder
from auscult.encoders.passages import passage_means
from auscult.errors import IndexFolderError, ModelError, QueryError
from auscult.index import IndexWriter, PassageIndex
from auscult.index.passage_index import select
from auscult.understanding import Query
from encoders import HashedEncoder
from leaflets import generated, leaflets

ENCODER = HashedEncoder()


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    return generated(300)


@pytest.fixture(scope="module")
def index(documents: list[Document], tmp_path_factory: pytest.TempPathFactory) -> PassageIndex:
    folder = tmp_path_factory.mktemp("index") / "generated"
    with IndexWriter(folder, ENCODER) as writer:
        for first in range(0, len(documents), 32):
            writer.add(documents[first : first + 32])
        writer.commit()
    return PassageIndex.open(folder)


def query(seed: int) -> np.ndarray:
    chance = np.random.default_rng(seed)
    words = " ".join(f"wört{n}" for n in chance.integers(0, 200, 3))
    return ENCODER.encode_queries([Query("", f"topic {seed % 17} {words}", (f"heading {seed % 10}",))])[0]


def brute_force(documents: list[Document], vector: np.ndarray) -> list[tuple[float, str, str]]:
    """(score, passage id, document id) by the definition: the mean over a passage's sentence cosines."""
    scored = []
    for document in documents:
        cosines = ENCODER.encode_documents([document])[0].astype(np.float64) @ vector.astype(np.float64)
        first = 0
        for passage in document.passages:
            last = first + len(passage.sentences)
            if last > first:
                scored.append((float(cosines[first:last].mean()), passage.passage_id, document.doc_id))
            first = last
    return scored


def test_the_fixture_encoder_keeps_the_contract() -> None:
    assert isinstance(ENCODER, DocumentEncoder)


def test_one_inner_product_equals_mean_sentence_cosine(index: PassageIndex, documents: list[Document]) -> None:
    for seed in range(20):
        expected = {passage_id: score for score, passage_id, _ in brute_force(documents, query(seed))}
        rows, scores = index.search(query(seed), k=10_000)
        assert len(rows) == len(expected)
        for row, score in zip(rows.tolist(), scores.tolist(), strict=True):
            assert score == pytest.approx(expected[index.reader.passage_id(row)], abs=1e-6)


@given(st.integers(1, 40), st.integers(2, 300), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_the_identity_holds_for_any_unit_vectors(sentences: int, dim: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    vectors = chance.normal(size=(sentences, dim)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    wanted = chance.normal(size=dim).astype(np.float32)
    wanted /= np.linalg.norm(wanted)
    passage = leaflets()[0].passages[0]
    sentence = passage.sentences[0]
    mean = passage_means([Passage("p", "", 0, sentence.end, (sentence,) * sentences)], vectors)[0]
    by_definition = (vectors.astype(np.float64) @ wanted.astype(np.float64)).mean()
    assert abs(float(mean @ wanted) - by_definition) < 1e-6
    assert abs(float(mean.astype(np.float64) @ wanted.astype(np.float64)) - by_definition) < 1e-6


def test_best_first_and_ties_in_row_order(index: PassageIndex, documents: list[Document]) -> None:
    ties = 0
    for seed in range(20):
        rows, scores = index.search(query(seed), k=40)
        pairs = list(zip((-scores).tolist(), rows.tolist(), strict=True))
        assert pairs == sorted(pairs)
        ties += len(scores) - len(set(scores.tolist()))
    assert ties > 0, "the documents should have repeated passages"


@pytest.mark.parametrize("k", [1, 3, 10, 250])
def test_fewer_hits_are_a_prefix_of_more(index: PassageIndex, k: int) -> None:
    rows, scores = index.search(query(1), k=k)
    all_rows, all_scores = index.search(query(1), k=10_000)
    assert rows.tolist() == all_rows[:k].tolist()
    assert scores.tolist() == all_scores[:k].tolist()


def test_passages_without_sentences_are_never_returned(index: PassageIndex, documents: list[Document]) -> None:
    wordless = {p.passage_id for d in documents for p in d.passages if not p.sentences}
    assert wordless
    rows, _ = index.search(query(2), k=10_000)
    assert not wordless & {index.reader.passage_id(row) for row in rows.tolist()}


@pytest.mark.parametrize("sources", [("s0",), ("s1", "s2")])
def test_filter_by_source(index: PassageIndex, documents: list[Document], sources: tuple[str, ...]) -> None:
    allowed = {d.doc_id for d in documents if d.source in sources}
    expected = sum(doc_id in allowed for _, _, doc_id in brute_force(documents, query(3)))
    rows, _ = index.search(query(3), k=10_000, where={"source": sources})
    owners = {index.reader.document_record(index.reader.passage_documents[row]).doc_id for row in rows}
    assert owners <= allowed
    assert len(rows) == expected


def test_filter_by_document_equals_filtered_ranking(index: PassageIndex) -> None:
    chosen = ("doc5", "doc77", "doc120")
    rows, scores = index.search(query(4), k=10_000)
    expected = [
        (row, score)
        for row, score in zip(rows.tolist(), scores.tolist(), strict=True)
        if index.reader.document_record(index.reader.passage_documents[row]).doc_id in chosen
    ]
    rows, scores = index.search(query(4), k=len(expected), documents=chosen)
    assert list(zip(rows.tolist(), scores.tolist(), strict=True)) == expected


@pytest.mark.parametrize("k", [1, 7, 10_000])
def test_grouping_returns_each_documents_best_passage_once(
    index: PassageIndex, documents: list[Document], k: int
) -> None:
    best: dict[int, tuple[int, float]] = {}
    rows, scores = index.search(query(5), k=10_000)
    for row, score in zip(rows.tolist(), scores.tolist(), strict=True):
        best.setdefault(int(index.reader.passage_documents[row]), (row, score))
    rows, scores = index.search(query(5), k=k, group_by="document")
    assert list(zip(rows.tolist(), scores.tolist(), strict=True)) == list(best.values())[:k]


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_selection_equals_a_full_sort(data: st.DataObject) -> None:
    seed = data.draw(st.integers(0, 2**32 - 1))
    count = data.draw(st.integers(1, 60))
    chance = np.random.default_rng(seed)
    distinct = chance.normal(size=(data.draw(st.integers(1, 12)), 9)).astype(np.float32)
    vectors = distinct[chance.integers(0, len(distinct), count)]
    wanted = chance.normal(size=9).astype(np.float32)
    rough = vectors @ wanted
    rough[chance.random(count) < 0.2] = -np.inf
    groups = np.sort(chance.integers(0, 8, count)) if data.draw(st.booleans()) else None
    k = data.draw(st.integers(1, count + 2))
    exact = (vectors.astype(np.float64) * wanted.astype(np.float64)).sum(axis=1)
    order = sorted((r for r in range(count) if rough[r] > -np.inf), key=lambda r: (-exact[r], r))
    if groups is not None:
        order = [r for i, r in enumerate(order) if groups[r] not in groups[order[:i]]]
    rows, scores = select(vectors, wanted, rough, k, groups)
    assert rows.tolist() == order[:k]
    assert scores.tolist() == exact[order[:k]].tolist()


@pytest.mark.parametrize("k", [1, 5, 30])
def test_rounding_errors_of_rough_products_are_corrected(k: int) -> None:
    chance = np.random.default_rng(7)
    wanted = np.full(16, 0.25, np.float32)
    vectors = (wanted + chance.normal(scale=1e-7, size=(60, 16))).astype(np.float32)
    exact = (vectors.astype(np.float64) * wanted.astype(np.float64)).sum(axis=1)
    order = np.argsort(-exact, kind="stable")[:k]
    # Scores as far off as sums of 16 terms may be, so that the best of all comes last.
    rough = (exact + np.where(exact > np.median(exact), -1, 1) * 16 * 1.19e-7 / 2).astype(np.float32)
    assert set(np.argsort(-rough)[:k]) != set(order)
    rows, scores = select(vectors, wanted, rough, k)
    assert rows.tolist() == order.tolist()
    assert scores.tolist() == exact[order].tolist()


def test_questions_that_cannot_be_answered_say_why(index: PassageIndex) -> None:
    vector = query(0)
    with pytest.raises(QueryError, match="at least 1, got 0"):
        index.search(vector, k=0)
    with pytest.raises(QueryError, match=r"s0, s1, s2.*'mars'"):
        index.search(vector, where={"source": "mars"})
    with pytest.raises(QueryError, match=r"a field of this index \(language, source\).*'ward'"):
        index.search(vector, where={"ward": "3"})
    with pytest.raises(QueryError, match=r"a field of this index"):
        index.counts("ward")
    with pytest.raises(QueryError, match="'nobody'"):
        index.search(vector, documents=["nobody"])
    with pytest.raises(QueryError, match="'chapter'"):
        index.search(vector, group_by="chapter")
    with pytest.raises(ModelError, match=r"shape \(64,\)"):
        index.search(vector[:10])
    with pytest.raises(IndexFolderError, match="search with the index' own model"):
        index.reader.check_model(HashedEncoder(seed=1))


def test_an_index_without_documents_answers_with_nothing(tmp_path: Path) -> None:
    with IndexWriter(tmp_path / "empty", ENCODER) as writer:
        writer.commit()
    for group_by in ("passage", "document"):
        rows, scores = PassageIndex.open(tmp_path / "empty").search(query(0), group_by=group_by)  # type: ignore[arg-type]
        assert len(rows) == len(scores) == 0


def test_sentence_vectors_are_near_enough_to_be_shown(index: PassageIndex, documents: list[Document]) -> None:
    exact = np.concatenate(ENCODER.encode_documents(documents))
    rows = range(len(index.reader.passage_documents))
    shown = np.concatenate([index.reader.stored(row).vectors for row in rows]).astype(np.float32)
    for seed in range(10):
        assert np.abs(shown @ query(seed) - exact @ query(seed)).max() < 5e-4
