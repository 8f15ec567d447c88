"""Where the tests find the checkout and their own data."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent
DATA = TESTS / "data"
NEIGHBOURS = ("auscult-readers", "auscult-engines", "auscult-service")
"""Packages on which the product depends."""
SOURCES = (ROOT / "src", *(ROOT / "packages" / name / "src" for name in NEIGHBOURS))
"""Folders from which the packages of the project are imported."""
