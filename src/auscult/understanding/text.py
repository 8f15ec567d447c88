"""A query as the text that models read: its entity and aspects, or the question it was asked in.

    words of rankers and TF-IDF, BM25     IgA nephropathy symptoms       entity first, then aspects
    CAPR, CK-HQA (grundmann2021, 3.1)     IgA nephropathy ; symptoms

Models that count words don't see in which order they stand; a transformer does, and was trained with one.
"""

from __future__ import annotations

from typing import Literal

from auscult.understanding.query import Query

Question = Literal["otherwise", "rather", "never"]


def query_text(query: Query, *, between: str = " ", question: Question = "otherwise") -> str:
    """The text of a query.

    Args:
        query: What is asked.
        between: Stands between entity and aspects, and between aspects.
        question: When its own words are the text: where it has neither entity nor aspects ("otherwise"), wherever it
            has some ("rather"), or "never".
    """
    if question == "rather" and query.text:
        return query.text
    parts = between.join(part for part in (query.entity, *query.aspects) if part)
    return parts or ("" if question == "never" else query.text)


__all__ = ["Question", "query_text"]
