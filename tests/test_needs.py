"""Tests are skipped in one place, for reasons that have a name."""

from __future__ import annotations

import re

from places import TESTS

# What is expected to fail runs all the same, and fails where it does not (strict).
_SKIPS = re.compile(
    r"pytest\.(mark\.)?(skip|skipif|importorskip|xfail(?!\(strict=True)|exit)\b|\bunittest\b|collect_ignore|__test__"
)


def test_nothing_but_what_is_needed_skips_a_test() -> None:
    files = [file for file in TESTS.rglob("*.py") if file.name not in ("needs.py", "test_needs.py")]
    assert not [str(file) for file in files if _SKIPS.search(file.read_text(encoding="utf-8"))]
