"""The splitting experiment: its gold set is text-free and sound, its page is generated, its winner holds."""

from __future__ import annotations

import importlib.util
import json
import sys
from itertools import pairwise
from types import ModuleType

import pytest

from needs import Needs
from places import ROOT

ROWS = [json.loads(line) for line in (ROOT / "benchmarks/data/sentence_gold.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("splitting_benchmark", ROOT / "benchmarks/sentence_splitting.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_gold_set_is_large_and_contains_no_text() -> None:
    assert sum(len(row["sentences"]) for row in ROWS) >= 220
    for row in ROWS:
        assert set(row) == {"stratum", "file", "doc", "section", "start", "end", "sha256", "sentences"}
        ranges = row["sentences"]
        assert ranges[0][0] >= row["start"]
        assert ranges[-1][1] <= row["end"]
        assert all(a[1] <= b[0] for a, b in pairwise(ranges))


def test_marked_notes_are_sound_and_contain_no_text() -> None:
    rows = [json.loads(line) for line in (ROOT / "benchmarks/data/note_lines.jsonl").read_text().splitlines()]
    for half in ("development", "kept"):
        assert sum(row["lines"] for row in rows if row["half"] == half) >= 150
    for row in rows:
        assert set(row) == {"half", "file", "doc", "start", "end", "sha256", "lines", "ends"}
        assert row["ends"] == sorted(set(row["ends"]))
        assert row["start"] < row["ends"][0] <= row["ends"][-1] <= row["end"]


def test_ends_are_counted_as_described(benchmark: ModuleType) -> None:
    note = benchmark.MarkedNote("kept", "It has no\nfever. Well.", 0, 22, 2, frozenset([16, 22]))
    assert benchmark.ends_f1([note], benchmark.as_read) == 1.0
    assert benchmark.ends_f1([note], lambda text: []) == 0.0


def test_ends_of_marked_notes_are_found(benchmark: ModuleType) -> None:
    notes = json.loads(benchmark.RESULT.read_text())["notes"]
    assert notes["kept"]["f1"] >= 0.98


def test_the_page_is_what_the_result_file_says(benchmark: ModuleType) -> None:
    result = json.loads(benchmark.RESULT.read_text())
    page = benchmark.DOCUMENT.read_text()
    assert benchmark.tables(result) in page
    packages = {row["package"] for row in result["splitters"]}
    assert len(packages) >= 4
    (default,) = [row for row in result["splitters"] if row["default"]]
    assert default["sentences_per_second"] >= 20_000


def test_accuracy_counts_as_described(benchmark: ModuleType) -> None:
    block = benchmark.Block("random", "A b. C d. E f.", [(0, 4), (5, 9), (10, 14)])
    measured = benchmark.accuracy([block], lambda text: [(0, 4), (5, 14)])
    assert measured["precision"] == 1.0
    assert measured["recall"] == 0.5
    assert measured["exact"] == pytest.approx(1 / 3)


def test_the_default_splitter_on_the_gold_set(benchmark: ModuleType, needs: Needs) -> None:
    blocks = benchmark.read_gold(needs.data(*(row["file"] for row in ROWS)))
    measured = benchmark.accuracy(blocks, benchmark.framed(benchmark.default_splitter()))
    assert measured["f1"] >= 0.98
    assert measured["exact"] >= 0.96
