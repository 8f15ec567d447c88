"""Reciprocal ranks as benchmarks/unseen_documents.py adds them up."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import numpy as np
import pytest

from auscult.interfaces import FloatArray
from auscult.queries import Query
from places import ROOT


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    spec = importlib.util.spec_from_file_location("unseen_documents", ROOT / "benchmarks" / "unseen_documents.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Fixed:
    """The same scores whatever is asked."""

    def __init__(self, name: str, scores: list[float]) -> None:
        self.name = name
        self._scores = scores

    def score(self, query: Query, passage_ids: list[str]) -> FloatArray:
        return np.array(self._scores, dtype=np.float32)


def test_passages_that_tie_share_the_last_of_their_ranks(benchmark: ModuleType) -> None:
    found = benchmark.reciprocal_ranks(np.array([0.0, 3.0, 0.0, 5.0], dtype=np.float32))
    assert found == pytest.approx([1 / 64, 1 / 62, 1 / 64, 1 / 61])


def test_two_scorers_are_added_by_rank_alone(benchmark: ModuleType) -> None:
    fused = benchmark.ReciprocalRanks((Fixed("a", [9.0, 1.0, 0.0]), Fixed("b", [0.1, 0.3, 0.2])))
    assert fused.name == "a + b, reciprocal ranks"
    scores = fused.score(Query("q", "gout"), ["1", "2", "3"])
    assert scores == pytest.approx([1 / 61 + 1 / 63, 1 / 62 + 1 / 61, 1 / 63 + 1 / 62])
    assert scores.dtype == np.float32
