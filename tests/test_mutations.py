"""The list of mutations keeps up with the code and its tests; `make mutants` tries what is on it."""

from __future__ import annotations

from collections import Counter

import pytest

from mutations import MUTATIONS, Mutation
from places import SOURCES, TESTS


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_mutations_match_unique_text_and_existing_tests(mutation: Mutation) -> None:
    assert list(mutation.faults(SOURCES, TESTS)) == []
    assert mutation.tests


def test_mutations_are_told_apart() -> None:
    repeated = [name for name, times in Counter(each.name for each in MUTATIONS).items() if times > 1]
    assert repeated == []
