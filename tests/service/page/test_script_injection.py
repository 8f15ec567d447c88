"""No script that anybody wrote into a document, a name, a file's name or a question runs on the page."""

from __future__ import annotations

import pytest

from needs import Needs
from script_injection import payloads, try_scripts


@pytest.mark.slow
def test_no_script_runs_and_none_has_to_be_stopped(needs: Needs) -> None:
    found = try_scripts(needs.chromium(), 40)
    assert found.executed == []
    assert found.violations == []
    assert found.elsewhere == []
    # They were there to be run.
    assert found.shown >= 70
    assert found.pages > 120


def test_payloads_are_different_ones() -> None:
    assert len({*payloads(200)}) == 200
