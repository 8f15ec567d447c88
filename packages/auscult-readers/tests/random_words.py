"""Random documents for the law that what a file shows is read: unique words, so that each lost one names its construct.

A document is a list of blocks. `hypothesis` draws it; a writer of each format writes it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"
_SIZE: Final = len(_CONSONANTS) * len(_VOWELS)
#: A document of them is one page or two.
MOST_BLOCKS: Final = 8


@dataclass
class Words:
    """Makes words that occur once, and remembers the construct of each.

    Attributes:
        constructs: The construct of each word or number.
        runs: The construct and text of each run of words.
    """

    constructs: dict[str, str] = field(default_factory=dict)
    runs: list[tuple[str, str]] = field(default_factory=list)
    made: int = 0

    def __call__(self, construct: str, number: int = 2) -> str:
        """Return some new words: "babada bafada"."""
        text = " ".join(self._word(construct) for _ in range(number))
        self.runs.append((construct, text))
        return text

    def number(self, construct: str) -> str:
        """Return a new number of three digits or more."""
        self.made += 1
        text = str(1000 + 7 * self.made) if self.made > 120 else str(110 + 7 * self.made)
        self.constructs[text] = construct
        return text

    def _word(self, construct: str) -> str:
        self.made += 1
        place, syllables = self.made * 7919 % _SIZE**3, []
        for _ in range(3):
            place, letters = divmod(place, _SIZE)
            syllables.append(_CONSONANTS[letters // len(_VOWELS)] + _VOWELS[letters % len(_VOWELS)])
        word = "".join(syllables)
        self.constructs[word] = construct
        return word

    def of(self, token: str) -> str:
        """Return the construct of a lost token; "other" for signs, units and marks."""
        return self.constructs.get(token, f"other ({token})")


Block = tuple[str, int]
"""The name of a construct, and a number that chooses a variant of it."""


def drawn_documents(constructs: Sequence[str], number: int) -> list[list[Block]]:
    """Return random documents, always the same."""
    found: list[list[Block]] = []
    block = st.tuples(st.sampled_from(sorted(constructs)), st.integers(0, 5))

    @settings(
        max_examples=number,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(block, min_size=2, max_size=MOST_BLOCKS))
    def collect(blocks: list[Block]) -> None:
        found.append(blocks)

    collect()
    return found


Writer = Callable[[list[Block], Words], bytes]
Maker = Callable[[Any, Words, int], None]
