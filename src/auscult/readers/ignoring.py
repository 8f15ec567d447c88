"""Files that a user wants left out: by patterns of `--exclude`, and of `.auscultignore` in any folder.

Both are in the pattern language of `.gitignore`. Patterns of `--exclude` come first, then those of the innermost folder
that says something of a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from pathspec import GitIgnoreSpec

from auscult.errors import ConfigError

IGNORE_FILE: Final = ".auscultignore"
#: Bytes of an ignore file.
_LONGEST: Final = 1_000_000
#: Stars in one part of a pattern. Matching takes a power of a name's length that grows with them: twelve took minutes.
_MOST_STARS: Final = 3


class Ignoring:
    """Tells which files below a folder are left out.

    Args:
        base: The folder that names count from.
        exclude: Patterns.

    Attributes:
        count: How many files and folders were left out.

    Raises:
        ConfigError: A pattern is none.
    """

    def __init__(self, base: Path, exclude: Sequence[str] = ()) -> None:
        self.count = 0
        self._base = base
        self._exclude = _parse_patterns(exclude, "--exclude")
        self._specs: dict[str, GitIgnoreSpec | None] = {}

    def __call__(self, name: str, *, is_folder: bool = False) -> bool:
        """Return whether a file or folder is left out, and count it.

        Raises:
            ConfigError: An ignore file cannot be read, or a pattern in it is none.
        """
        written = f"{name}/" if is_folder else name
        parts = written.split("/")
        is_left_out = self._exclude.check_file(written).include
        for depth in reversed(range(len(parts) - is_folder)):
            if is_left_out is not None:
                break
            spec = self._patterns_of("/".join(parts[:depth]))
            is_left_out = spec.check_file("/".join(parts[depth:])).include if spec is not None else None
        self.count += bool(is_left_out)
        return bool(is_left_out)

    def _patterns_of(self, folder: str) -> GitIgnoreSpec | None:
        if folder not in self._specs:
            path = self._base / folder / IGNORE_FILE
            try:
                with path.open("rb") as opened:
                    lines = opened.read(_LONGEST + 1).decode("utf-8-sig").splitlines()
                self._specs[folder] = _parse_patterns(lines, str(path))
            except (FileNotFoundError, NotADirectoryError):
                self._specs[folder] = None
            except (OSError, UnicodeDecodeError) as error:
                got = getattr(error, "strerror", None) or str(error)
                raise ConfigError(f"patterns as in .gitignore at {path}", got, "correct the file") from error
        return self._specs[folder]


def _parse_patterns(lines: Iterable[str], where: str) -> GitIgnoreSpec:
    kept = []
    for line in lines:
        try:
            if any(part.count("*") > _MOST_STARS for part in re.sub(r"\*+", "*", line).split("/")):
                raise ValueError
            GitIgnoreSpec.from_lines([line])
        except (ValueError, re.error) as error:
            raise ConfigError(f"patterns as in .gitignore ({where})", repr(line), "correct the pattern") from error
        kept.append(line)
    return GitIgnoreSpec.from_lines(kept)
