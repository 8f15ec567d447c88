"""Which file of a user's folder holds what, by its name: questions, passages, judgements, or all three joined."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from auscult.errors import CorpusMissingError, DataError
from auscult_lab.workbench.rows import SUFFIXES, format_of

_NAMES = {
    "passages": "corpus|passages?|documents?|docs|collection|paragraphs?|answers|sections",
    "questions": "queries|query|questions?|topics",
    "judgements": "qrels?|judgements?|judgments?|relevance|labels?|ratings",
}
_SPLIT_NAMES = {
    "train": "train", "training": "train",
    "dev": "dev", "valid": "dev", "val": "dev", "validation": "dev", "development": "dev",
    "test": "test", "testing": "test", "eval": "test",
}  # fmt: skip
_EXPECTED = f"questions, passages and judgements as {', '.join(SUFFIXES)}"

_NAMED = 5


@dataclass(frozen=True, slots=True)
class Layout:
    """Files by what they hold; a file of questions, judgements or joined rows with the split its name says.

    Those that are not read are `unnamed`, where their names do not say what they hold, or of `other_formats`.
    """

    root: Path
    passages: list[Path] = field(default_factory=list)
    questions: list[tuple[Path, str]] = field(default_factory=list)
    judgements: list[tuple[Path, str]] = field(default_factory=list)
    joined: list[tuple[Path, str]] = field(default_factory=list)
    unnamed: list[Path] = field(default_factory=list)
    other_formats: list[Path] = field(default_factory=list)

    @property
    def files(self) -> list[Path]:
        """All that are read."""
        return [*self.passages, *(path for path, _ in (*self.questions, *self.judgements, *self.joined))]


def find_layout(path: Path) -> Layout:
    """Look at the names in a folder, or take a single file as a joined one.

    Args:
        path: A folder (BEIR's, or files of those names), or one joined file.

    Raises:
        CorpusMissingError: There is nothing, nothing that can be read, or a part is missing.
        DataError: The folder may not be looked into.
    """
    try:
        return _look(path)
    except OSError as error:
        found = f"{error.filename or path} ({error.strerror})"
        raise DataError("a folder that may be read", found, "correct its permissions") from error


def _look(path: Path) -> Layout:
    if not path.exists():
        raise CorpusMissingError(f"{_EXPECTED} at {path}", "no such file or folder", "correct the path")
    if path.is_file():
        if not format_of(path):
            raise CorpusMissingError(_EXPECTED, str(path), "export it as CSV or JSON lines")
        return Layout(path.parent, joined=[(path, "")])
    files = _files(path)
    readable = [file for file in files if format_of(file)]
    layout = Layout(path, other_formats=[file for file in files if not format_of(file)])
    for file in readable:
        role, split = _role(file)
        if role == "passages":
            layout.passages.append(file)
        elif role:
            getattr(layout, role).append((file, split))
        else:
            layout.unnamed.append(file)
    if not (layout.passages or layout.questions or layout.judgements):
        return _joined(path, readable, layout.other_formats)
    missing = [name for name in _NAMES if not getattr(layout, name)]
    if missing:
        have = ", ".join(file.name for file in layout.files)
        remedy = f"add a file named {' and one named '.join(missing)} (.csv or .jsonl), or give one joined file"
        raise CorpusMissingError(f"files of passages, questions and judgements in {path}", f"only {have}", remedy)
    return layout


def split_name(said: str) -> str:
    """train, dev or test, for whichever word is used for it; empty for any other."""
    return _SPLIT_NAMES.get(said.strip().lower(), "")


def _files(folder: Path) -> list[Path]:
    """Those in it and in its folders of judgements, but hidden ones."""
    inner = [sub for sub in sorted(folder.iterdir()) if sub.is_dir() and re.fullmatch(_NAMES["judgements"], sub.name)]
    found = (file for place in (folder, *inner) for file in sorted(place.iterdir()))
    return [file for file in found if file.is_file() and not file.name.startswith(".")]


def _role(file: Path) -> tuple[str, str]:
    """What a file holds, and of which split."""
    stem = file.name.removesuffix(".gz").rsplit(".", 1)[0].lower()
    if re.fullmatch(_NAMES["judgements"], file.parent.name):
        return "judgements", split_name(stem)
    words = [word for word in re.split(r"[^a-z]+", stem) if word]
    split = next((split_name(word) for word in words if split_name(word)), "")
    for role, names in _NAMES.items():
        if any(re.fullmatch(names, word) for word in words):
            return role, split
    return "", split


def _joined(folder: Path, readable: list[Path], other_formats: list[Path]) -> Layout:
    files = [(file, _role(file)[1]) for file in readable]
    if not files:
        names = ", ".join(file.name for file in other_formats[:_NAMED])
        more = f" and {len(other_formats) - _NAMED:,} more" if len(other_formats) > _NAMED else ""
        found = f"only {names}{more}" if other_formats else "none"
        raise CorpusMissingError(f"{_EXPECTED} in {folder}", found, "export them as CSV or JSON lines")
    if len(files) > 1 and not all(split for _, split in files):
        names = ", ".join(file.name for file, _ in files)
        remedy = "name them passages, questions and judgements, or keep one joined file"
        raise CorpusMissingError("files whose names say what they hold", names, remedy)
    return Layout(folder, joined=files, other_formats=other_formats)
