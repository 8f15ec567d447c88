"""Results by source, aspect (arnold2020, Figures 6, 7), question type (zhu2019) and length (wang2021); match rates.

The latter two are their papers' Figures 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from auscult.interfaces import Ranking
from auscult.understanding import Query
from auscult_lab.evaluation.collection import PassageRecord, is_about
from auscult_lab.evaluation.measures import QueryMeasures
from auscult_lab.evaluation.question_lengths import LENGTHS, length_group
from auscult_lab.evaluation.question_types import QUESTION_TYPES, question_type
from auscult_lab.evaluation.task import Task

Grouping = Literal["source", "aspect", "question type", "length"]


@dataclass(frozen=True, slots=True)
class Group:
    """One source's, aspect's, question type's or length's share of the queries.

    Attributes:
        name: Of the source, aspect, question type or length.
        queries: How many.
        measures: Means as fractions.
    """

    name: str
    queries: int
    measures: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class MatchRates:
    """How often the top-1 passage is of the right document or section (arnold2020, Figure 5), as fractions.

    Attributes:
        entity: Its document is about the query's entity.
        aspect: Its aspect is that of a true answer.
        both: Both at once.
    """

    entity: float
    aspect: float
    both: float


def break_down(task: Task, measured: QueryMeasures, passages: Mapping[str, PassageRecord], by: Grouping) -> list[Group]:
    """Measures for every source, aspect, question type or length.

    A query belongs to every source (aspect) that holds one of its true answers, and to the one type of its text; a
    query without text has no type. Its length is that of entity and aspects, which models read, or of its text where it
    has none.

    Args:
        task: The queries and their true answers.
        measured: Per-query measures.
        passages: The collection's labels.
        by: What to group by.

    Returns:
        Largest group first, ties by name; question types and lengths in their own order.
    """
    if by == "question type":
        return _by_text(task, measured, QUESTION_TYPES, lambda query: question_type(query.text))
    if by == "length":
        return _by_text(task, measured, LENGTHS, lambda query: length_group(query.terms or query.text))
    members: dict[str, list[str]] = {}
    relevant = task.relevant
    measurable = set(measured.query_ids)
    for query in task.queries:
        if query.query_id not in measurable:
            continue
        labels = {
            passages[each].source if by == "source" else passages[each].aspect
            for each in relevant[query.query_id]
            if each in passages
        }
        for label in labels:
            members.setdefault(label or "(none)", []).append(query.query_id)
    groups = [Group(name, len(ids), measured.of(ids).means()) for name, ids in members.items()]
    return sorted(groups, key=lambda group: (-group.queries, group.name))


def _by_text(task: Task, measured: QueryMeasures, names: Sequence[str], name_of: Callable[[Query], str]) -> list[Group]:
    """Groups that each query is in one of, or none; in the order of their names."""
    measurable = set(measured.query_ids)
    members: dict[str, list[str]] = {each: [] for each in names}
    for query in task.queries:
        kind = name_of(query)
        if kind and query.query_id in measurable:
            members[kind].append(query.query_id)
    return [Group(name, len(ids), measured.of(ids).means()) for name, ids in members.items() if ids]


def match_rates(task: Task, rankings: Iterable[Ranking], passages: Mapping[str, PassageRecord]) -> MatchRates:
    """Entity and aspect match rates of top-1 passages.

    Args:
        task: The queries and their true answers.
        rankings: One model's; a query without one, or with an empty one, counts as a mismatch.
        passages: The collection's labels.
    """
    relevant = task.relevant
    queries = {query.query_id: query for query in task.queries}
    entity = aspect = both = 0
    for ranking in rankings:
        query = queries.get(ranking.query_id)
        if query is None or not ranking.passage_ids:
            continue
        top = passages[ranking.passage_ids[0]]
        true = [passages[each] for each in relevant[query.query_id] if each in passages]
        right_entity = is_about(top, query, true)
        right_aspect = top.aspect in {each.aspect for each in true}
        entity += right_entity
        aspect += right_aspect
        both += right_entity and right_aspect
    asked = max(len(queries), 1)
    return MatchRates(entity / asked, aspect / asked, both / asked)
