"""One question answered by several sources: a column per source, a row per aspect or heading, and dates.

A column is a value of any field of documents (`source`, or of their metadata: an audience, a year), or one document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from auscult.concepts.aspects import normalise_heading
from auscult.errors import QueryError
from auscult.index.fields import ANY, Where
from auscult.search.certainty import Verdict, verdict
from auscult.search.coverage import LOOKED_AT
from auscult.search.hits import Hit, date_of
from auscult.search.searcher import Searcher, SearchOptions
from auscult.search.siblings import sibling_note
from auscult.understanding.query import Query

DOCUMENT: Final = "document"
"""Name in place of a field's: columns are documents, by their ids."""
MOST_COLUMNS: Final = 12
_COLUMNS: Final = 4


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of one column to one row.

    Attributes:
        word: Whether the first hit answers the question.
        probability: Probability that the first hit answers, in [0, 1]; 0 without a hit.
        hits: The best passages about the query's entity, best first.
        similar: Passages about a similar entity (`siblings`), best first.
    """

    word: Verdict
    probability: float
    hits: tuple[Hit, ...]
    similar: tuple[Hit, ...] = ()

    @property
    def date(self) -> str:
        """Date of the first hit's document; empty where it has none."""
        return date_of(self.hits[0].metadata) if self.hits else ""


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Answers beside each other.

    Attributes:
        field: Field whose values are the columns; "document" for documents.
        values: The value of each column.
        rows: The aspects of the query; if it has none, the headings of the hits, best first.
        answers: One tuple per row, with one answer per column.
    """

    field: str
    values: tuple[str, ...]
    rows: tuple[str, ...]
    answers: tuple[tuple[Answer, ...], ...]


def side_by_side(
    searcher: Searcher, query: Query, field: str, values: Sequence[str] = (), *, k: int = 3, where: Where = ANY
) -> SideBySide:
    """Answer a query from several sources.

    Args:
        searcher: An opened index, or the view of it that somebody may see.
        query: The query, understood.
        field: Field that distinguishes the sources: `source`, one of the metadata, or "document".
        values: Values to compare; empty for the four with the best passages.
        k: Passages per cell; per column, if the query has no aspect.
        where: Only documents whose fields have these values.

    Raises:
        QueryError: The query is empty; the field, or a value, unknown; or there are not two to twelve columns.
    """
    columns = tuple(dict.fromkeys(values)) or _choose_columns(searcher, query, field, where)
    if not 2 <= len(columns) <= MOST_COLUMNS:
        raise QueryError(f"2 to {MOST_COLUMNS} of '{field}' to compare", str(len(columns)), "name them")
    # Of a question about several aspects, each row asks for one of them.
    text = "" if query.entity else query.text
    certain = replace(query, text=text, aspect_likelihoods=(), asking="")
    queries = [replace(certain, aspects=(aspect,)) for aspect in query.aspects] or [query]
    vectors = searcher.vectors(queries)

    def answer_of(number: int, value: str) -> Answer:
        limits = (where, (value,)) if field == DOCUMENT else ({**where, field: value}, ())
        options = SearchOptions(where=limits[0], documents=limits[1])
        hits: list[Hit] = []
        similar: list[Hit] = []
        for hit in searcher.find(queries[number], k + LOOKED_AT, options, encoded=vectors[number]):
            is_similar = sibling_note(query, hit.title, searcher.knowledge_base)
            (similar if is_similar else hits).append(hit)
            if len(hits) == k:
                break
        return _make_answer(hits, similar[:k])

    table = [[answer_of(number, value) for value in columns] for number in range(len(queries))]
    if query.aspects:
        rows = query.aspects
        answers = [tuple(row) for row in table]
    else:
        rows, answers = _split_by_heading(table[0])
    return SideBySide(field, columns, rows, tuple(answers))


def _choose_columns(searcher: Searcher, query: Query, field: str, where: Where) -> tuple[str, ...]:
    """Return the documents with the best passages, or the values of a field with the best passages."""
    # One more, since documents without the field are one group.
    hits = searcher.search(query, _COLUMNS + 1, SearchOptions(group_by=field, where=where))
    if field == DOCUMENT:
        return tuple(hit.doc_id for hit in hits)[:_COLUMNS]
    names = [hit.source if field == "source" else hit.metadata.get(field, "") for hit in hits]
    return tuple(dict.fromkeys(filter(None, names)))[:_COLUMNS]


def _split_by_heading(columns: Sequence[Answer]) -> tuple[tuple[str, ...], list[tuple[Answer, ...]]]:
    """Split columns into one row for the first aspect of every heading, the row with the best hit first."""
    best: dict[str, float] = {}
    for column in columns:
        for hit in (*column.hits, *column.similar):
            name = normalise_heading(hit.heading)[0]
            best[name] = max(hit.score, best.get(name, hit.score))

    def below(row: str, hits: Sequence[Hit]) -> list[Hit]:
        return [hit for hit in hits if normalise_heading(hit.heading)[0] == row]

    rows = sorted(best, key=lambda name: -best[name])
    answers = [
        tuple(_make_answer(below(row, column.hits), below(row, column.similar)) for column in columns) for row in rows
    ]
    return tuple(rows), answers


def _make_answer(hits: Sequence[Hit], similar: Sequence[Hit]) -> Answer:
    probability = (hits[0].probability or 0.0) if hits else 0.0
    # Whether a passage answers that the model does not read is not known.
    word = "may answer" if hits and hits[0].unread else verdict(probability)
    return Answer(word, probability, tuple(hits), tuple(similar))
