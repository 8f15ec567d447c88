"""What a model's training and ranking take, foreseen from measured rates; for the plan, not for the report.

Rates were measured on two cores of an Intel Xeon with passages of about 150 words (benchmarks/results); they grow with
the passages, and are shown to the user as what they are: rough.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

_WORDS = 150.0
_LONGEST, _SHORTEST = 2.0, 0.2


@dataclass(frozen=True, slots=True)
class Rate:
    """What a model costs on passages of 150 words.

    Attributes:
        learn_ms: Milliseconds to learn one question, with its answer and negatives, once.
        rank_us: Microseconds to score one passage.
        read_ms: Milliseconds to read one passage of the collection, once.
    """

    learn_ms: float = 0.0
    rank_us: float = 0.0
    read_ms: float = 0.0


RATES: Mapping[str, Rate] = MappingProxyType(
    {
        "bm25": Rate(rank_us=1, read_ms=0.1),
        "tfidf": Rate(rank_us=2, read_ms=0.1),
        "ql": Rate(rank_us=2, read_ms=0.1),
        "cdv": Rate(rank_us=0.1, read_ms=10),
        "general": Rate(rank_us=1, read_ms=30),
        "backbone": Rate(rank_us=0.1, read_ms=25),
        "drmm": Rate(learn_ms=4, rank_us=540, read_ms=0.3),
        "drmm-tks": Rate(learn_ms=8, rank_us=430, read_ms=0.3),
        "knrm": Rate(learn_ms=20, rank_us=630, read_ms=0.3),
        "match-pyramid": Rate(learn_ms=15, rank_us=400, read_ms=0.3),
        "pacrr": Rate(learn_ms=18, rank_us=540, read_ms=0.3),
        "conv-knrm": Rate(learn_ms=100, rank_us=5100, read_ms=0.3),
        "har": Rate(learn_ms=165, rank_us=7700, read_ms=0.3),
        "bi": Rate(learn_ms=200, rank_us=0.1, read_ms=25),
        "cross": Rate(learn_ms=700, rank_us=20_000, read_ms=0.3),
        "ck": Rate(learn_ms=900, rank_us=25_000, read_ms=0.3),
    }
)
"""By the names that plans use; of all general encoders one."""
WORD_VECTORS = Rate(read_ms=6)
"""Training word vectors on the passages, once for all rankers, where there are many."""


def foreseen(rate: Rate, *, words: float, learned: int = 0, passages: int = 0, ranked: int = 0) -> float:
    """Seconds that a model takes.

    Args:
        rate: Its.
        words: Mean number of words of a passage.
        learned: Questions that it learns, each counted as often as it is seen.
        passages: Of the collection.
        ranked: Pairs of question and passage that it scores.
    """
    factor = min(max(words / _WORDS, _SHORTEST), _LONGEST)
    return factor * (rate.learn_ms * learned / 1e3 + rate.rank_us * ranked / 1e6 + rate.read_ms * passages / 1e3)
