"""A user's questions, passages and judgements, as they were read, each with its place."""

from __future__ import annotations

from dataclasses import dataclass

from auscult.workbench.faults import Place

SPLITS = ("train", "dev", "test")
"""Names of the parts that questions are divided into."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question.

    Attributes:
        text: Its words.
        entity: What it asks about, where the data says so.
        aspects: Which sides of it, where the data says so.
        split: Where the data has it; empty where it does not say.
    """

    question_id: str
    text: str
    place: Place
    entity: str = ""
    aspects: tuple[str, ...] = ()
    split: str = ""


@dataclass(frozen=True, slots=True)
class UserPassage:
    """A passage.

    Attributes:
        title: Of the document, and the heading, where the data has them.
    """

    passage_id: str
    text: str
    place: Place
    title: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """A judgement; relevant when positive."""

    question_id: str
    passage_id: str
    relevance: int
    place: Place
    split: str = ""


@dataclass(frozen=True, slots=True)
class UserData:
    """All of it.

    Attributes:
        name: Of the folder or file.
        questions: In the files' order; so are the others.
    """

    name: str
    questions: tuple[Question, ...]
    passages: tuple[UserPassage, ...]
    judgements: tuple[Judged, ...]


__all__ = ["SPLITS", "Judged", "Question", "UserData", "UserPassage"]
