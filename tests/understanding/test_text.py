"""The text that models read of a query."""

from __future__ import annotations

import pytest

from auscult.understanding import Query, query_text
from auscult.understanding.query import Question

BOTH = Query("q", "gout", ("symptoms", "causes"), text="What is gout like?")
ENTITY = Query("q", "gout")
ASKED = Query("q", "", text="What is gout like?")


@pytest.mark.parametrize(
    ("query", "between", "question", "expected"),
    [
        (BOTH, " ", "otherwise", "gout symptoms causes"),
        (BOTH, " ; ", "otherwise", "gout ; symptoms ; causes"),
        (BOTH, " ", "rather", "What is gout like?"),
        (BOTH, " ", "never", "gout symptoms causes"),
        (ENTITY, " ; ", "rather", "gout"),
        (ASKED, " ; ", "otherwise", "What is gout like?"),
        (ASKED, " ", "rather", "What is gout like?"),
        (ASKED, " ", "never", ""),
        (Query("q", "", ("symptoms",)), " ; ", "otherwise", "symptoms"),
    ],
)
def test_entity_and_aspects_or_the_question(query: Query, between: str, question: Question, expected: str):
    assert query_text(query, between=between, question=question) == expected
