"""A user's questions, passages and judgements as they were read, each with its place; what is wrong or odd in them.

All faults are gathered before anything is said.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from auscult.errors import DataError

SPLITS = ("train", "dev", "test")
"""Names of the parts that questions are divided into."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands.

    Attributes:
        file: As the user knows it, relative to the data.
        line: From 1; 0 for the file, or the data, as a whole.
    """

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}" if self.line else self.file


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


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that must be mended before the data can be used.

    Attributes:
        place: Where.
        kind: What is wrong, in a few words, the same for all faults of the kind.
        found: What is there.
        remedy: What to do, as an imperative clause.
    """

    place: Place
    kind: str
    found: str
    remedy: str


@dataclass(slots=True)
class Findings:
    """Faults, and warnings: one sentence for each thing that is odd but usable."""

    faults: list[Fault] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def fault(self, place: Place, kind: str, found: str, remedy: str) -> None:
        """Note a fault."""
        self.faults.append(Fault(place, kind, found, remedy))

    def warn(self, sentence: str) -> None:
        """Note a warning; the same one once."""
        if sentence not in self.warnings:
            self.warnings.append(sentence)

    def insist(self) -> None:
        """Go on only without faults.

        Raises:
            UnusableDataError: There are some.
        """
        if self.faults:
            raise UnusableDataError(tuple(self.faults), tuple(self.warnings))


class UnusableDataError(DataError):
    """The data has faults.

    Args:
        faults: All of them.
        warnings: What else was noticed.
    """

    def __init__(self, faults: tuple[Fault, ...], warnings: tuple[str, ...]) -> None:
        self.faults, self.warnings = faults, warnings
        kinds = ", ".join(f"{count:,} x {kind}" for kind, count in Counter(each.kind for each in faults).most_common())
        first = faults[0]
        plural = "s" if len(faults) > 1 else ""
        super().__init__(
            "questions, passages and judgements that fit together",
            f"{len(faults):,} fault{plural} ({kinds}; first {first.place}: {first.found})",
            f"mend them and give the same command again (first: {first.remedy})",
        )
