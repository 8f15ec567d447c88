"""Report on the files that a user named: read, unchanged, or not read and the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

#: Files per kind of problem that are named on a terminal. The written report names all.
_NAMED = 20


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that was not read.

    Attributes:
        name: Path below what the user named.
        kind: The problem in two or three words.
        expected: What the reader expected.
        got: What the file has instead.
        remedy: What the user can do.
    """

    name: str
    kind: str
    expected: str
    got: str
    remedy: str

    def __str__(self) -> str:
        """Return one line for people."""
        told = f"expected {self.expected}, got {self.got}"
        return f"{self.name}: {self.kind} ({told}{f'; {self.remedy}' if self.remedy else ''})"


@dataclass(slots=True)
class Report:
    """Counts and problems of reading, updated while files are read.

    Attributes:
        total: Number of files.
        files: Files that were processed so far.
        unchanged: Files among them that the index has already and that were not read again.
        documents: Number of documents by format.
        duplicates: For each document with the text of another one: its place and the other's.
        ignored: Number of files and folders that the user left out.
        removed: Places of documents that were removed from the index.
        problems: Files that were not read, in order.
        remarks: Name of a file, and a note for the user on how it was read.
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
        """Number of files that were not read, by kind of problem."""
        return Counter(problem.kind for problem in self.problems)

    def lines(self) -> Iterator[str]:
        """Yield the lines of the report that is printed at the end."""
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
        """Return all counts in one line."""
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
        """Return the complete report for a JSON file."""
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
                    "file": problem.name,
                    "kind": problem.kind,
                    "expected": problem.expected,
                    "got": problem.got,
                    "remedy": problem.remedy,
                }
                for problem in self.problems
            ],
            "remarks": [{"file": name, "remark": remark} for name, remark in self.remarks],
        }
