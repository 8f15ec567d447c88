"""Results by source, aspect (arnold2020, Figures 6, 7), question type (zhu2019) and length (wang2021); match rates.

A question's first words decide its type, as in zhu2019 (Figures 4 and 5). Lengths are counted in words, as in wang2021
(Figure 5), but with finer groups of long questions. The count is of the text that models read: entity and aspects of a
query ("gout treatment", on MedQuAD), or the question itself for queries without them, as are all in the paper.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from auscult.documents import Document
from auscult.search.hits import Ranking
from auscult.understanding import Query
from auscult_lab.evaluation.measures import QueryMeasures
from auscult_lab.evaluation.records import GroupRecord
from auscult_lab.evaluation.task import Task


@dataclass(frozen=True, slots=True)
class PassageRecord:
    """One passage's labels.

    Attributes:
        title: Title of its document.
        source: Source of its document.
        aspect: The corpus' aspect label, or the lower-cased heading where it has none.
        entity_ids: Ids of its document's entities.
    """

    passage_id: str
    doc_id: str
    title: str
    source: str
    aspect: str
    entity_ids: tuple[str, ...]


def read_passages(documents: Iterable[Document]) -> dict[str, PassageRecord]:
    """Return the record of every passage of a collection, by passage id."""
    return {
        passage.passage_id: PassageRecord(
            passage.passage_id,
            document.doc_id,
            document.title,
            document.source,
            passage.aspect or passage.heading.lower(),
            document.entity_ids,
        )
        for document in documents
        for passage in document.passages
    }


def same_name(first: str, second: str) -> bool:
    """Check whether two names differ in case, punctuation and spacing only."""
    return _plain(first) == _plain(second) != ""


def is_about(passage: PassageRecord, query: Query, true: Sequence[PassageRecord] = ()) -> bool:
    """Check whether a passage's document is about the query's entity.

    Args:
        passage: The passage.
        query: What was asked.
        true: The query's true answers. Entities of their documents count as the query's, because a query may have
            several identifiers, or documents under several names.

    Returns:
        True where identifier or name is the query's, or the document or title is that of a true answer.
    """
    if query.entity_id and query.entity_id in passage.entity_ids:
        return True
    if same_name(passage.title, query.entity):
        return True
    return any(passage.doc_id == each.doc_id or same_name(passage.title, each.title) for each in true)


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", " ", name).strip().lower()


QUESTION_TYPES = ("what", "how", "why", "who", "when/where/which", "yes-no", "other")
"""In the order in which they are shown."""

_TYPE_OF = {
    "what": "what",
    "how": "how",
    "why": "why",
    "who": "who",
    "whom": "who",
    "whose": "who",
    "when": "when/where/which",
    "where": "when/where/which",
    "which": "when/where/which",
}
_AUXILIARIES = frozenset(
    "is are am was were do does did can could will would shall should may might must has have had".split(" ")  # noqa: SIM905
)
# "In what ...", "And how ...": a word before the question word does not change the type.
_BEFORE = frozenset("and but so then at in on for to from by of with under about during after before".split(" "))  # noqa: SIM905
_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)?")
_SENTENCE_END = re.compile(r"[.?!]\s+")


def question_type(text: str) -> str:
    """Return the type of a question, by rule.

    The first word decides: a question word, perhaps after a preposition or conjunction, or an auxiliary verb for yes-no
    questions ("Is it ...", "Can't I ..."). Where the text begins with a statement ("I have asthma. What should I
    do?"), the first sentence with such a beginning decides.

    Args:
        text: A question in natural language.

    Returns:
        One of `QUESTION_TYPES`; empty for a text without words.
    """
    lowered = text.lower()
    if not _WORD.search(lowered):
        return ""
    found = (_by_first_words(sentence) for sentence in _SENTENCE_END.split(lowered))
    return next((each for each in found if each), "other")


def _by_first_words(sentence: str) -> str:
    words = [_stem(word) for word in _WORD.findall(sentence)[:2]]
    if not words:
        return ""
    if len(words) == 2 and words[0] in _BEFORE and words[1] in _TYPE_OF:
        return _TYPE_OF[words[1]]
    return _TYPE_OF.get(words[0], "yes-no" if words[0] in _AUXILIARIES else "")


def _stem(word: str) -> str:
    """Return a word without its part after an apostrophe: "what's", "isn't", "can't"."""
    head = re.split(r"['’]", word)[0]
    # "isn't" is split into "isn" and "t", "can't" into "can" and "t".
    if head == word or head in _TYPE_OF or head in _AUXILIARIES:
        return head
    return {"won": "will", "shan": "shall"}.get(head, head.removesuffix("n"))


_BOUNDS = ((1, 1), (2, 2), (3, 3), (4, 4), (5, 5), (6, 7), (8, 9), (10, 12))
LENGTHS = (*(f"{low}" if low == high else f"{low}-{high}" for low, high in _BOUNDS), f"over {_BOUNDS[-1][1]}")
"""Names of the groups, shortest first. The paper's last one is "more than 5"."""

FEW = 30
"""Groups of fewer queries are marked: one of them moves a mean by more than three points."""

_COUNTED_WORD = re.compile(r"\w+(?:[-'’./]\w+)*")


def length_group(text: str) -> str:
    """Return the length group of a text; words joined by hyphen, apostrophe, point or slash count as one.

    Args:
        text: As it is read.

    Returns:
        One of `LENGTHS`; empty for a text without words.
    """
    words = len(_COUNTED_WORD.findall(text))
    if not words:
        return ""
    return next((name for name, (_, high) in zip(LENGTHS, _BOUNDS, strict=False) if words <= high), LENGTHS[-1])


def counted(queries: int) -> str:
    """Format the size of a group for tables and figures, with an asterisk for a small one."""
    return f"{queries:,}{'*' if queries < FEW else ''}"


Grouping = Literal["source", "aspect", "question type", "length"]


@dataclass(frozen=True, slots=True)
class MatchRates:
    """Shares of queries whose top-1 passage has the right document or section (arnold2020, Figure 5), as fractions.

    Attributes:
        entity: The passage's document is about the query's entity.
        aspect: The passage's aspect is that of a true answer.
        both: Both.
    """

    entity: float
    aspect: float
    both: float


def break_down(
    task: Task, measured: QueryMeasures, passages: Mapping[str, PassageRecord], by: Grouping
) -> list[GroupRecord]:
    """Measure every source, aspect, question type or length.

    A query belongs to every source (aspect) of its true answers, and to one type, by its text; a query without text has
    no type. Its length is that of entity and aspects, which models read, or of its text where it has neither.

    Args:
        task: The queries and their true answers.
        measured: Per-query measures.
        passages: The collection's labels.
        by: Property to group by.

    Returns:
        Largest group first, ties by name; question types and lengths in their own order.
    """
    by_text: Mapping[str, tuple[Sequence[str], Callable[[Query], str]]] = {
        "question type": (QUESTION_TYPES, lambda query: question_type(query.text)),
        "length": (LENGTHS, lambda query: length_group(query.terms or query.text)),
    }
    names, name_of = by_text.get(by, ((), None))
    members: dict[str, list[str]] = {name: [] for name in names}
    relevant = task.relevant
    measurable = set(measured.query_ids)
    for query in task.queries:
        if query.query_id not in measurable:
            continue
        if name_of is not None:
            labels = {name_of(query)} - {""}
        else:
            true = [passages[each] for each in relevant[query.query_id] if each in passages]
            labels = {(each.source if by == "source" else each.aspect) or "(none)" for each in true}
        for label in labels:
            members.setdefault(label, []).append(query.query_id)
    groups = [
        GroupRecord(name=name, queries=len(ids), measures=measured.of(ids).means())
        for name, ids in members.items()
        if ids
    ]
    return groups if names else sorted(groups, key=lambda group: (-group.queries, group.name))


def match_rates(task: Task, rankings: Iterable[Ranking], passages: Mapping[str, PassageRecord]) -> MatchRates:
    """Return how often top-1 passages have the right entity and aspect.

    Args:
        task: The queries and their true answers.
        rankings: One model's rankings; a query with none, or an empty one, counts as a mismatch.
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
