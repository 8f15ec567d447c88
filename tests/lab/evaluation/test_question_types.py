"""Questions are sorted by their first words, and results broken down by them."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from auscult.understanding import Query
from auscult_lab.corpora.medquad import MedQuadCorpus
from auscult_lab.evaluation.breakdown import QUESTION_TYPES, break_down, question_type
from auscult_lab.evaluation.measures import QueryMeasures
from auscult_lab.evaluation.task import Task
from needs import Needs


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is (are) gout ?", "what"),
        ("What's the outlook of gaming disorder?", "what"),
        ("In what way does it spread?", "what"),
        ("  “How do I clean a wound?”", "how"),
        ("And how long does it last?", "how"),
        ("HOW COMMON IS IT", "how"),
        ("Why do I sneeze?", "why"),
        ("Who is at risk?", "who"),
        ("Whose job is it?", "who"),
        ("By whom is it treated?", "who"),
        ("When should I call a doctor?", "when/where/which"),
        ("Where can I get help?", "when/where/which"),
        ("Which tests are needed?", "when/where/which"),
        ("At which age does it begin?", "when/where/which"),
        ("Is gout inherited?", "yes-no"),
        ("Can't it be cured?", "yes-no"),
        ("Isn’t it dangerous?", "yes-no"),
        ("Won't it come back?", "yes-no"),
        ("Do you have information about Gout", "yes-no"),
        ("I have asthma. What should I do?", "what"),
        ("What does St. John's wort do? Is it safe?", "what"),
        ("symptoms of gout", "other"),
        ("Information on whatever helps", "other"),
        ("In an emergency call whom?", "other"),
        ("Island fever", "other"),
        ("", ""),
        (" ?! 12", ""),
    ],
)
def test_first_words_decide(text: str, expected: str) -> None:
    assert question_type(text) == expected
    assert expected in (*QUESTION_TYPES, "")


def test_break_down_by_question_type() -> None:
    texts = {"q1": "How is it treated?", "q2": "What is it?", "q3": "", "q4": "What causes it?", "q5": "Why me?"}
    queries = tuple(Query(query_id, "gout", ("treatment",), text=text) for query_id, text in texts.items())
    task = Task(corpus="small", protocol="rerank", documents=(), queries=queries, judgements=())
    measured = QueryMeasures(("RR",), ("q4", "q1", "q2", "q3"), np.array([[0.5], [0.2], [1.0], [0.0]]))
    groups = break_down(task, measured, {}, "question type")
    # In the paper's order; q3 asks nothing and q5 was not measured.
    assert [(each.name, each.queries, each.measures["RR"]) for each in groups] == [("what", 2, 0.75), ("how", 1, 0.2)]


def test_medquads_test_queries_are_questions(needs: Needs) -> None:
    queries = MedQuadCorpus(needs.file("medquad")).queries("test")
    assert Counter(question_type(query.text) for query in queries) == {
        "what": 2418,
        "how": 458,
        "yes-no": 363,
        "who": 54,
    }
