"""Where the tests find the checkout and their own data."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
DATA = TESTS / "data"
SOURCES = (ROOT / "src", *(ROOT / "packages" / name / "src" for name in ("auscult-readers", "auscult-engines")))
"""Folders from which the packages of the project are imported."""
