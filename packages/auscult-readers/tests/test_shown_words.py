"""Whatever a file shows a person is read, or the report names it: a few random files of every kind, rendered."""

from __future__ import annotations

import pytest

from needs import Needs
from random_words import Words, drawn_documents
from shown_law import KINDS, RENDERED_BY, outcome_of

_DOCUMENTS = 10


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_what_a_file_shows_is_read(name: str, needs: Needs) -> None:
    if RENDERED_BY[name].__name__ == "_by_office":
        needs.office()
    elif KINDS[name].media_type == "text/html":
        needs.chromium()
    outcome = outcome_of(name, _DOCUMENTS)
    assert outcome.documents == _DOCUMENTS
    assert outcome.unrendered == 0
    assert not outcome.faults, outcome.examples


def test_random_documents_are_always_the_same() -> None:
    kind = KINDS["HTML"]
    first, again = (drawn_documents(kind.constructs, 5) for _ in range(2))
    assert first == again
    assert len(first) == 5
    assert [kind.write(blocks, Words()) for blocks in first] == [kind.write(blocks, Words()) for blocks in again]


def test_each_random_word_occurs_once() -> None:
    words = Words()
    made = [word for number in range(300) for word in words(f"{number}").split()]
    assert len({*made}) == len(made)
    assert words.of(made[7]) == "3"
