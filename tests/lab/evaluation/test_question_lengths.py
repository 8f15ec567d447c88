"""Lengths of questions in words, and of queries as models read them."""

from __future__ import annotations

import numpy as np
import pytest

from auscult.understanding import Query
from auscult_lab.evaluation.breakdown import LENGTHS, break_down, length_group
from auscult_lab.evaluation.measures import QueryMeasures
from auscult_lab.evaluation.task import Task


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("gout", "1"),
        ("St. John's wort", "3"),
        ("alpha-1 antitrypsin", "2"),
        ("What are the symptoms of gout ?", "6-7"),
        ("one two three four five six seven eight", "8-9"),
        ("a b c d e f g h i j k l", "10-12"),
        ("a b c d e f g h i j k l m", "over 12"),
        (" ?! ", ""),
    ],
)
def test_lengths_are_counted_in_words(text: str, expected: str) -> None:
    assert length_group(text) == expected
    assert expected in (*LENGTHS, "")


def test_query_length_counts_the_words_models_read() -> None:
    asked = "What is gout and what helps?"
    queries = (Query("q1", "gout", ("treatment",), text=asked), Query("q2", "", text=asked))
    task = Task(corpus="small", protocol="rerank", documents=(), queries=queries, judgements=())
    measured = QueryMeasures(("AP",), ("q1", "q2"), np.array([[0.25], [0.75]]))
    groups = break_down(task, measured, {}, "length")
    assert [(group.name, group.queries, group.measures["AP"]) for group in groups] == [("2", 1, 0.25), ("6-7", 1, 0.75)]
