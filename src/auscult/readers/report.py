"""What became of the files that a user named: read, unchanged, or not read and why. Nobody has to guess."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from auscult.readers.contract import UnreadableError

#: Files that are named on a terminal, of each kind of problem; the written report names all.
_NAMED = 20


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that was not read.

    Attributes:
        name: Its path below what was named.
        kind: What is wrong, in two or three words.
        expected: What would have been right.
        got: What was found.
        remedy: What to do about it.
    """

    name: str
    kind: str
    expected: str
    got: str
    remedy: str

    @classmethod
    def of(cls, name: str, error: UnreadableError) -> Problem:
        """An error, with the file that it is about."""
        return cls(name, error.kind, error.expected, error.got, error.remedy)

    def __str__(self) -> str:
        """One line for a person."""
        told = f"expected {self.expected}, got {self.got}"
        return f"{self.name}: {self.kind} ({told}{f'; {self.remedy}' if self.remedy else ''})"


@dataclass(slots=True)
class Report:
    """What was done, as it goes on.

    Attributes:
        total: Files that there are.
        files: Files that were looked at so far.
        unchanged: Of them, those that the index had, and that were not read again.
        documents: Documents by format, of the files that were read.
        duplicates: Per document that says what another says: its place, and the other's.
        ignored: Files and folders that the user wants left out.
        removed: Places of documents that were removed from the index before.
        problems: Files that were not read, in order.
        remarks: What a person should know of how a file was read: its name, and the remark.
    """

    total: int = 0
    files: int = 0
    unchanged: int = 0
    documents: Counter[str] = field(default_factory=Counter)
    duplicates: list[tuple[str, str]] = field(default_factory=list)
    ignored: int = 0
    removed: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    remarks: list[tuple[str, str]] = field(default_factory=list)

    @property
    def kinds(self) -> Counter[str]:
        """How many files were not read, by what is wrong with them."""
        return Counter(problem.kind for problem in self.problems)

    def lines(self) -> Iterator[str]:
        """What is told at the end, a line each."""
        yield self.summary()
        for kind, number in self.kinds.most_common():
            these = [problem for problem in self.problems if problem.kind == kind]
            yield from (f"not read: {problem}" for problem in these[:_NAMED])
            if number > _NAMED:
                yield f"not read: {number - _NAMED:,} more: {kind} (--report FILE names all)"
        yield from (f"remark: {name}: {remark}" for name, remark in self.remarks[:_NAMED])
        if len(self.remarks) > _NAMED:
            yield f"remark: {len(self.remarks) - _NAMED:,} more (--report FILE names all)"

    def summary(self) -> str:
        """All counts in one line."""
        formats = ", ".join(f"{name} {number:,}" for name, number in sorted(self.documents.items()))
        parts = [f"files: {self.total:,}"]
        parts += [f"unchanged: {self.unchanged:,}"] if self.unchanged else []
        parts += [f"documents read: {self.documents.total():,}" + (f" ({formats})" if formats else "")]
        parts += [f"same text as another: {len(self.duplicates):,}"] if self.duplicates else []
        parts += [f"ignored: {self.ignored:,}"] if self.ignored else []
        parts += [f"removed before: {len(self.removed):,} (--restore ID)"] if self.removed else []
        parts += [f"not read: {len(self.problems):,}"] if self.problems else []
        return "; ".join(parts)

    def to_json(self) -> dict[str, Any]:
        """All of it, as it is written to a file."""
        return {
            "files": self.total,
            "unchanged": self.unchanged,
            "documents": self.documents.total(),
            "formats": dict(sorted(self.documents.items())),
            "duplicates": [{"file": place, "same_as": other} for place, other in self.duplicates],
            "ignored": self.ignored,
            "removed": self.removed,
            "not_read": [
                {
                    "file": each.name,
                    "kind": each.kind,
                    "expected": each.expected,
                    "got": each.got,
                    "remedy": each.remedy,
                }
                for each in self.problems
            ],
            "remarks": [{"file": name, "remark": remark} for name, remark in self.remarks],
        }
