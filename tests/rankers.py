"""Small vocabularies and texts for tests of neural rankers."""

from __future__ import annotations

import dataclasses

import numpy as np
import torch

from auscult_lab.modules.vocabulary import Vocabulary, build_vocabulary
from auscult_lab.modules.word_vectors import PlainTable
from auscult_lab.rankers.base import Ranker, Tokens, pad
from auscult_lab.rankers.registry import RANKERS

WORDS = [f"{first}{second}" for first in ("asthma", "gout", "fever", "pain", "gene") for second in "abcdefgh"]


def small_vocabulary(dim: int = 12, seed: int = 0) -> Vocabulary:
    """Forty words with random vectors; the last eight stand in no passage."""
    rng = np.random.default_rng(seed)
    table = PlainTable(WORDS, rng.standard_normal((len(WORDS), dim)).astype(np.float32))
    passages = [list(rng.choice(WORDS[:32], 10)) for _ in range(20)]
    return build_vocabulary(passages, table, queries=[WORDS])


def make_ranker(kind: str, vocabulary: Vocabulary, seed: int = 0, **settings: object) -> Ranker:
    """A ranker of a kind with its default settings but for those given that it has."""
    made = RANKERS[kind]
    known = {field.name for field in dataclasses.fields(made.config())}
    torch.manual_seed(seed)
    return made.ranker(made.config(**{key: value for key, value in settings.items() if key in known}), vocabulary)


def lay_out(ranker: Ranker, queries: list[list[int]], passages: list[list[list[int]]]) -> tuple[Tokens, Tokens]:
    """Queries and passages (sentences of word ids) as one batch."""
    return (
        pad([ranker.lay_out_query(query) for query in queries]),
        pad([ranker.lay_out_passage(passage) for passage in passages]),
    )


def random_texts(rng: np.random.Generator, count: int, words: int) -> tuple[list[list[int]], list[list[list[int]]]]:
    """Queries of 1 to 6 words, and passages of 1 to 5 sentences of 1 to 9 words."""
    queries = [rng.integers(1, words + 1, rng.integers(1, 7)).tolist() for _ in range(count)]
    passages = [
        [rng.integers(1, words + 1, rng.integers(1, 10)).tolist() for _ in range(rng.integers(1, 6))]
        for _ in range(count)
    ]
    return queries, passages
