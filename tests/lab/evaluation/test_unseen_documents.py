"""benchmarks/unseen_documents.py: every passage ranked for every question, vectors kept, names hidden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from auscult.documents import Section, build_document, check_document
from auscult.encoders.contract import FloatArray
from auscult.ingest.corpus import Judgement
from auscult.understanding import Query
from auscult_lab.evaluation.task import Task
from places import ROOT


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    return import_module("open_models")


@pytest.fixture
def benchmark(models: ModuleType) -> ModuleType:
    return import_module("unseen_documents")


def task() -> Task:
    sections = [("Zest", "gout hurts"), ("Apple", "the toe"), ("Middle", "uric acid")]
    documents = tuple(
        build_document(
            doc_id=name, title=f"On {name}", url="https://x/gout", entity_ids=["Q1"], metadata={"chapter": "Gout"},
            sections=[Section(name, text, passage_id=name, aspect=name)],
        )
        for name, text in sections
    )  # fmt: skip
    queries = (Query("1", "gout", ("causes", "signs")), Query("2", "toe", text="Why the toe?"))
    judged = (Judgement("1", "Zest"), Judgement("2", "Apple"))
    return Task(corpus="c", protocol="end-to-end", documents=documents, queries=queries, judgements=judged)


def encode(texts: Sequence[str]) -> FloatArray:
    """Vectors that count three words."""
    return np.array([[text.count(word) for word in ("gout", "toe", "acid")] for text in texts], dtype=np.float32)


def test_documents_without_names_keep_their_texts_and_offsets() -> None:
    hidden = task().without_names()
    assert (task().names, hidden.names) == ("shown", "hidden")
    for before, document in zip(task().documents, hidden.documents, strict=True):
        assert check_document(document).text == before.text
        assert (document.title, document.url, document.entity_ids, dict(document.metadata)) == ("", "", (), {})
        assert document.passages == tuple(replace(each, heading="", aspect="") for each in before.passages)


def test_every_model_is_measured_on_all_passages(benchmark: ModuleType, models: ModuleType, tmp_path: Path) -> None:
    vectors = import_module("kept_vectors").KeptVectors(tmp_path, "counts", encode)
    training = {"encoder": {"name": "counts", "sha256": "1"}}
    collection = models.Collection(task().without_names())
    records = benchmark.measured(collection, models.models_of(collection, vectors, "Counts", training))
    assert [record.model for record in records] == ["BM25", "Counts", "BM25 + Counts"]
    assert {(record.names, record.queries, record.documents) for record in records} == {("hidden", 2, 3)}
    # The corpus' order of passages is not that of their ids.
    assert [record.measures["P@1"] for record in records] == [1.0, 1.0, 1.0]
    assert set(records[0].measures) == set(benchmark.MEASURED)
    assert "P@1" in records[0].intervals
    assert records[2].training == training


def test_models_read_names_where_they_are_shown(models: ModuleType) -> None:
    assert models.Collection(task()).texts[0] == "On Zest\nZest\ngout hurts"
    assert models.Collection(task().without_names()).texts[0] == "gout hurts"
    assert [models.question_of(query) for query in task().queries] == ["causes and signs of gout", "Why the toe?"]


def test_ties_share_the_last_of_their_ranks(models: ModuleType) -> None:
    found = models.reciprocal_ranks(np.array([[0.0, 3.0, 0.0, 5.0], [1.0, 2.0, 3.0, 4.0]], dtype=np.float32))
    assert found == pytest.approx(np.array([[1 / 64, 1 / 62, 1 / 64, 1 / 61], [1 / 64, 1 / 63, 1 / 62, 1 / 61]]))


def test_text_vectors_are_stored_and_not_recomputed(
    models: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kept = import_module("kept_vectors")
    monkeypatch.setattr(kept, "PART", 2)
    read: list[str] = []

    def listening(texts: Sequence[str]) -> FloatArray:
        read.extend(texts)
        return encode(texts)

    texts = ["gout gout", "toe", "acid"]
    first = kept.KeptVectors(tmp_path, "counts", listening).of(texts)
    again = kept.KeptVectors(tmp_path, "counts", listening).of(texts)
    assert read == texts
    assert first.tolist() == again.tolist() == [[2, 0, 0], [0, 1, 0], [0, 0, 1]]
    assert first.dtype == np.float32
    # Another encoder, and another text, are read anew.
    kept.KeptVectors(tmp_path, "other", listening).of(texts[2:])
    kept.KeptVectors(tmp_path, "counts", listening).of(["gout gout", "toe", "no"])
    assert read[3:] == ["acid", "no"]
