"""A user's questions, passages and judgements as read, each with its place, and their faults and warnings.

All faults are collected before they are reported.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from auscult.errors import DataError

SPLITS = ("train", "dev", "test")
"""Names of the parts that questions are divided into."""


@dataclass(frozen=True, slots=True)
class Place:
    """A place in the user's files.

    Attributes:
        file: Path of the file, relative to the data.
        line: Line from 1; 0 for the whole file or data.
    """

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Question:
    """A question.

    Attributes:
        text: Its text.
        entity: Entity of the question, where the data has it.
        aspects: Aspects of the question, where the data has them.
        split: Split of the question; empty where the data has none.
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
        title: Title of the document, and the heading, where the data has them.
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
    """The user's data.

    Attributes:
        name: Name of the folder or file.
        questions: Questions in the files' order, like passages and judgements.
    """

    name: str
    questions: tuple[Question, ...]
    passages: tuple[UserPassage, ...]
    judgements: tuple[Judged, ...]


@dataclass(frozen=True, slots=True)
class Fault:
    """An error that must be corrected before the data can be used.

    Attributes:
        place: Place of the error.
        kind: Kind of error in a few words, the same for all faults of the kind.
        got: The wrong content.
        remedy: Remedy, as an imperative clause.
    """

    place: Place
    kind: str
    got: str
    remedy: str


@dataclass(slots=True)
class Findings:
    """Faults and warnings; a warning is a sentence on an oddity that does not prevent use."""

    faults: list[Fault] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def fault(self, place: Place, kind: str, got: str, remedy: str) -> None:
        """Add a fault."""
        self.faults.append(Fault(place, kind, got, remedy))

    def warn(self, sentence: str) -> None:
        """Add a warning, unless it is there already."""
        if sentence not in self.warnings:
            self.warnings.append(sentence)

    def raise_faults(self) -> None:
        """Raise an error if there are faults.

        Raises:
            UnusableDataError: There are faults.
        """
        if self.faults:
            raise UnusableDataError(tuple(self.faults), tuple(self.warnings))


class UnusableDataError(DataError):
    """The data has faults.

    Args:
        faults: All faults.
        warnings: All warnings.
    """

    def __init__(self, faults: tuple[Fault, ...], warnings: tuple[str, ...]) -> None:
        self.faults, self.warnings = faults, warnings
        kinds = ", ".join(f"{count:,} x {kind}" for kind, count in Counter(each.kind for each in faults).most_common())
        first = faults[0]
        plural = "s" if len(faults) > 1 else ""
        super().__init__(
            "questions, passages and judgements that fit together",
            f"{len(faults):,} fault{plural} ({kinds}; first {first.place}: {first.got})",
            f"mend them and give the same command again (first: {first.remedy})",
        )
