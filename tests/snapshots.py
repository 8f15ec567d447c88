"""Texts as they were when somebody last looked at them: `UPDATE_SNAPSHOTS=1 pytest FILE` writes them again."""

from __future__ import annotations

import os
from pathlib import Path


def check_snapshot(text: str, kept: Path) -> None:
    """Compare a text with the one that is kept in a file."""
    if os.environ.get("UPDATE_SNAPSHOTS"):
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(text, encoding="utf-8")
    assert text == kept.read_text(encoding="utf-8"), f"{kept.name}: if this is meant, run with UPDATE_SNAPSHOTS=1"
