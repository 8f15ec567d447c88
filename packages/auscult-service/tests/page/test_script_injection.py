"""No script that anybody wrote into a document, a name, a file's name or a question runs on the page."""

from __future__ import annotations

import pytest

from needs import Needs
from script_injection import payloads, try_scripts


@pytest.mark.slow
def test_no_injected_script_runs_or_needs_blocking(needs: Needs) -> None:
    findings = try_scripts(needs.chromium(), 40)
    assert findings.executed == []
    assert findings.violations == []
    assert findings.elsewhere == []
    # They were there to be run.
    assert findings.shown >= 70
    assert findings.pages > 120


def test_payloads_are_distinct() -> None:
    assert len({*payloads(200)}) == 200
