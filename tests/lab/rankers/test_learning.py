"""Every neural ranker learns a matching task that the overlap of words says nothing about.

Twelve things have two names, one used in queries and one in passages, with neighbouring word vectors and no word in
common. A query's wrong passages speak of other things, and repeat its filler word as often as the right one does.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch

from auscult_lab.modules.vocabulary import Vocabulary, build_vocabulary
from auscult_lab.modules.word_vectors import PlainTable
from auscult_lab.rankers.base import Ranker
from auscult_lab.rankers.registry import RANKERS
from auscult_lab.training.losses import hinge_loss
from rankers import lay_out, make_ranker

DIM, THINGS, FILLERS, CANDIDATES = 24, 12, 20, 8
ASKED = [f"{a}{b}sk" for a in "bcdf" for b in "aei"]
TOLD = [f"{a}{b}lm" for a in "ghjp" for b in "ouy"]
FILLER = [f"{a}{b}nt" for a in "rstvw" for b in "aeio"]
# Smaller than the papers', so that the test takes seconds.
SETTINGS: dict[str, object] = {"max_passage_words": 12, "gru_dim": 64, "attention_dim": 64, "filters": 32}
STEPS, BATCH, ENOUGH = 2000, 16, 0.98
# Those that take four seconds and more.
SLOW = {"arc-i", "arc-ii", "duet", "har", "har-simple", "har-wca", "mv-lstm", "position-mlp"}


def vocabulary() -> Vocabulary:
    """Vectors of the two names of a thing have a cosine near 0.9, all others near 0."""
    rng = np.random.default_rng(0)
    things = np.linalg.qr(rng.standard_normal((DIM, DIM)))[0][:THINGS]
    near = things + 0.45 * rng.standard_normal((THINGS, DIM)) / np.sqrt(DIM)
    fillers = rng.standard_normal((FILLERS, DIM)) / np.sqrt(DIM)
    words = [*ASKED, *TOLD, *FILLER]
    table = PlainTable(words, np.concatenate([things, near, fillers]).astype(np.float32))
    # Every word in two of the passages, so that idf says nothing either.
    return build_vocabulary([words, words], table)


def draw(rng: np.random.Generator, ids: dict[str, int]) -> tuple[list[int], list[list[list[int]]]]:
    """A query, and its candidates: the right passage first."""
    thing = rng.integers(THINGS)
    filler = FILLER[rng.integers(FILLERS)]
    others = rng.permutation([other for other in range(THINGS) if other != thing])[: CANDIDATES - 1]
    query = [ids[ASKED[thing]], ids[filler]]
    passages = []
    for subject in (thing, *others):
        words = [TOLD[subject], filler, *(FILLER[number] for number in rng.integers(FILLERS, size=4))]
        order = rng.permutation(len(words))
        passages.append([[ids[words[place]] for place in order[:3]], [ids[words[place]] for place in order[3:]]])
    return query, passages


def test_shared_words_alone_rank_at_chance():
    """The share of queries whose right passage has more words in common than every wrong one."""
    known = vocabulary()
    ids = {word: row for row, word in enumerate(known.words, start=1)}
    rng = np.random.default_rng(9)
    hits = 0
    for _ in range(300):
        query, passages = draw(rng, ids)
        overlap = [sum(passage.count(word) for word in query for passage in each) for each in passages]
        hits += overlap[0] > max(overlap[1:])
    assert hits / 300 <= 1 / CANDIDATES


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.slow] if kind in SLOW else []) for kind in RANKERS]
)
def test_every_ranker_learns_to_match(kind: str):
    known = vocabulary()
    ids = {word: row for row, word in enumerate(known.words, start=1)}
    ranker = make_ranker(kind, known, seed=1, **SETTINGS)
    optimizer = torch.optim.Adam([each for each in ranker.parameters() if each.requires_grad], lr=2e-3)
    rng = np.random.default_rng(2)
    for step in range(STEPS):
        if step % 50 == 0 and first_places(ranker, ids, seed=step, questions=100) >= ENOUGH:
            break
        ranker.train()
        optimizer.zero_grad()
        hinge_loss(score(ranker, [draw(rng, ids) for _ in range(BATCH)]), margin=1.0).backward()
        optimizer.step()
    assert first_places(ranker, ids, seed=99_999, questions=400) >= 0.95


def score(ranker: Ranker, drawn: list[tuple[list[int], list[list[list[int]]]]]) -> torch.Tensor:
    """Scores (queries, candidates)."""
    queries = [query for query, passages in drawn for _ in passages]
    passages = [each for _, passages in drawn for each in passages]
    scores: torch.Tensor = ranker(*lay_out(ranker, queries, passages))
    return scores.view(len(drawn), CANDIDATES)


def first_places(ranker: Ranker, ids: dict[str, int], *, seed: int, questions: int) -> float:
    """The share of new queries whose right passage scores above every wrong one (R@1)."""
    rng = np.random.default_rng([7, seed])
    ranker.eval()
    with torch.no_grad():
        scores = score(ranker, [draw(rng, ids) for _ in range(questions)])
    return (scores[:, :1] > scores[:, 1:]).all(dim=1).float().mean().item()
