"""Which column says what, by the names that people give to columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_QUESTION_IDS = ("question_id", "query_id", "qid", "q_id", "questionid", "queryid")
_PASSAGE_IDS = ("passage_id", "pid", "p_id", "corpus_id", "document_id", "doc_id", "docid", "passageid", "answer_id")
_QUESTIONS = ("question", "query", "question_text", "query_text", "q")
_TEXTS = (
    "passage", "passage_text", "text", "content", "body", "answer", "answer_text", "paragraph", "snippet", "context",
    "abstract", "document_text",
)  # fmt: skip
_TITLES = ("title", "document_title", "document", "doc_title", "page", "name")
_HEADINGS = ("heading", "section", "section_title", "header", "subtitle")
_LABELS = ("relevance", "label", "score", "rel", "grade", "rating", "judgement", "judgment", "relevant")
_SPLITS = ("split", "set", "partition", "fold", "subset")
_ENTITIES, _ASPECTS = ("entity", "disease", "focus", "concept"), ("aspects", "aspect", "question_type", "qtype")


@dataclass(frozen=True, slots=True)
class Roles:
    """What is looked for in a kind of file.

    Attributes:
        names: role -> the names of columns that play it, best first.
        required: Roles without which the file cannot be used.
    """

    names: Mapping[str, Sequence[str]]
    required: tuple[str, ...]


QUESTIONS = Roles(
    {
        "question id": ("id", *_QUESTION_IDS, "number"),
        "question": (*_QUESTIONS, "text", "title"),
        "entity": _ENTITIES,
        "aspects": _ASPECTS,
        "split": _SPLITS,
    },
    required=("question id", "question"),
)
"""Of a file of questions."""
PASSAGES = Roles(
    {"passage id": ("id", *_PASSAGE_IDS), "passage": _TEXTS, "title": _TITLES, "heading": _HEADINGS},
    required=("passage id", "passage"),
)
"""Of a file of passages."""
JUDGEMENTS = Roles(
    {
        "question id": (*_QUESTION_IDS, *_QUESTIONS),
        "passage id": (*_PASSAGE_IDS, "passage", "document", "answer"),
        "label": _LABELS,
        "split": _SPLITS,
    },
    required=("question id", "passage id"),
)
"""Of a file of judgements."""
JOINED = Roles(
    {
        "question id": _QUESTION_IDS,
        "question": _QUESTIONS,
        "passage id": _PASSAGE_IDS,
        "passage": _TEXTS,
        "title": _TITLES,
        "heading": _HEADINGS,
        "label": _LABELS,
        "entity": _ENTITIES,
        "aspects": _ASPECTS,
        "split": _SPLITS,
    },
    required=("question", "passage"),
)
"""Of one file that holds a question, a passage and a label in each row."""


def find_columns(columns: Sequence[str], roles: Roles) -> dict[str, str]:
    """Role -> the column that plays it; a column plays one role, and a role none can play is left out.

    Args:
        columns: Folded names.
        roles: One of `QUESTIONS`, `PASSAGES`, `JUDGEMENTS`, `JOINED`.
    """
    free = list(columns)
    found: dict[str, str] = {}
    for role, names in roles.names.items():
        for name in names:
            if name in free:
                found[role] = name
                free.remove(name)
                break
    return found


def lacking(found: Mapping[str, str], roles: Roles) -> list[str]:
    """Roles that must be played and are not."""
    return [role for role in roles.required if role not in found]
