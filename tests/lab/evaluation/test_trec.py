"""TREC files come back as they went, and a bad line is named."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auscult.errors import DataError
from auscult.ingest.corpus import Judgement
from auscult.search.hits import Ranking
from auscult_lab.evaluation.trec import read_qrels, read_run, write_qrels, write_run

WORDS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8).filter(
    lambda text: len(text.split()) == 1
)
RANKINGS = st.dictionaries(
    WORDS, st.dictionaries(WORDS, st.floats(-1e9, 1e9), min_size=1, max_size=6), min_size=1, max_size=4
)


@given(RANKINGS, st.sampled_from(["run.txt", "run.txt.gz"]))
@settings(max_examples=40)
def test_a_run_comes_back(
    tmp_path_factory: pytest.TempPathFactory, scores: dict[str, dict[str, float]], name: str
) -> None:
    rankings = []
    for query_id, row in scores.items():
        best_first = sorted(row, key=lambda doc_id: -row[doc_id])
        rankings.append(Ranking(query_id, tuple(best_first), tuple(row[doc_id] for doc_id in best_first)))
    path = tmp_path_factory.mktemp("runs") / name
    write_run(path, rankings, "my tag")
    assert read_run(path) == rankings
    assert [file.name for file in path.parent.iterdir()] == [name]


@pytest.mark.parametrize("name", ["x.qrels", "x.qrels.gz"])
def test_qrels_come_back(tmp_path: Path, name: str) -> None:
    judgements = [
        Judgement("q1", "GARD_0002209-1"),
        Judgement("q1", "CancerGov_1#a-2", 0),
        Judgement("q2", "é", 2),
    ]
    write_qrels(tmp_path / name, judgements)
    assert read_qrels(tmp_path / name) == judgements


def test_layout(tmp_path: Path) -> None:
    write_run(tmp_path / "a", [Ranking("q1", ("b", "a"), (0.5, 0.25))], "CDV avg")
    assert (tmp_path / "a").read_text() == "q1 Q0 b 1 0.5 CDV_avg\nq1 Q0 a 2 0.25 CDV_avg\n"
    write_qrels(tmp_path / "b", [Judgement("q1", "b")])
    assert (tmp_path / "b").read_text() == "q1 0 b 1\n"


def test_equal_runs_give_equal_packed_files(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        write_run(tmp_path / name, [Ranking("q", ("p",), (1.0,))], "t")
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_scores_decide_then_ranks(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("q Q0 a 1 0.1 t\nq Q0 c 3 0.9 t\n\nq\tQ0\tb\t2\t0.9\tt\n")
    assert read_run(tmp_path / "run") == [Ranking("q", ("b", "c", "a"), (0.9, 0.9, 0.1))]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("q Q0 a 1 0.5 t\nq Q0 b 2\n", "line 2: 4 fields"),
        ("q Q0 a first 0.5 t\n", "line 1: rank 'first'"),
        ("q Q0 a 1 high t\n", "line 1: rank '1' or score 'high'"),
        ("q Q0 a 1 nan t\n", "line 1: score 'nan' is not finite"),
        ("q Q0 a 1 2 t\nq Q0 a 2 1 t\n", "line 2: passage 'a' occurs twice"),
        ("", "empty file"),
    ],
)
def test_a_malformed_run_is_named(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "bad.run").write_text(content)
    with pytest.raises(DataError, match=message) as caught:
        read_run(tmp_path / "bad.run")
    assert "bad.run" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("q 0 a 1\nq 0 b\n", "line 2: 3 fields"),
        ("q 0 a yes\n", "line 1: relevance 'yes'"),
        ("q 0 a 1\nq 0 a 0\n", "line 2: passage 'a' is judged twice"),
    ],
)
def test_malformed_qrels_are_named(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "bad.qrels").write_text(content)
    with pytest.raises(DataError, match=message):
        read_qrels(tmp_path / "bad.qrels")


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nowhere"):
        read_run(tmp_path / "nowhere")
    # Behind a block of the file, in which a reader of text would know no line.
    (tmp_path / "latin").write_bytes(b"".join(b"q%d Q0 a 1 1 t\n" % n for n in range(3000)) + b"q Q0 caf\xe9 1 1 t\n")
    with pytest.raises(DataError, match=r"UTF-8 text at .*latin:3001, got the byte 0xe9"):
        read_run(tmp_path / "latin")
    (tmp_path / "plain.gz").write_bytes(b"q Q0 a 1 1 t\n")
    with pytest.raises(DataError, match=r"plain\.gz"):
        read_run(tmp_path / "plain.gz")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"q Q0 a 1 1 t\n" * 100)[:20])
    with pytest.raises(DataError, match=r"cut\.gz"):
        read_run(tmp_path / "cut.gz")


def test_blanks_in_ids_are_refused_without_writing(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("old")
    with pytest.raises(DataError, match="white space"):
        write_run(tmp_path / "run", [Ranking("q", ("a", "b c"), (2.0, 1.0))], "t")
    assert (tmp_path / "run").read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["run"]
