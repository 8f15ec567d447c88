"""What CK-HQA can learn with a graph's vectors and cannot without: words that nothing but the graph relates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from auscult_lab.encoders.base import PassageText
from auscult_lab.encoders.ck.ranker import CkConfig, CkRanker
from auscult_lab.graphs.knowledge_vectors import KnowledgeVectors
from auscult_lab.modules.backbone import open_backbone
from tiny_bert import WORDS, save_tiny_bert

PAIRS, HELD_OUT, CANDIDATES, DIM = 160, 60, 8, 16
CHANCE = 1 / CANDIDATES


def words(number: int, rng: np.random.Generator) -> list[str]:
    """Made-up words of four letters, which a tokenizer spells."""
    drawn: dict[str, None] = {}
    while len(drawn) < number:
        drawn["".join(rng.choice(list("bcdfghjklmnpqrstvwxz"), 4))] = None
    return list(drawn)


def related(*, shuffled: bool = False) -> tuple[list[str], list[str], KnowledgeVectors]:
    """Diseases, treatments, and vectors in which s + r is about o, as TransE's are; or o is another's treatment."""
    rng = np.random.default_rng(0)
    named = words(2 * PAIRS, rng)
    diseases, treatments = named[:PAIRS], named[PAIRS:]
    subjects, relation = rng.normal(size=(PAIRS, DIM)), 0.3 * rng.normal(size=DIM)
    objects = subjects + relation + 0.05 * rng.normal(size=(PAIRS, DIM))
    if shuffled:
        objects = np.roll(objects, 1, axis=0)
    vectors = np.concatenate([subjects, objects])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids = tuple(f"X:{name}" for name in named)
    names = tuple((name,) for name in named)
    return diseases, treatments, KnowledgeVectors(ids, names, vectors.astype(np.float32), ("treated by",), vectors[:1])


def recall_of_unseen(folder: Path, vectors: KnowledgeVectors | None, **settings: object) -> float:
    """R@1 over pairs that training has not seen, each among eight candidates."""
    diseases, treatments, _ = related()
    rng = np.random.default_rng(1)
    passages = [
        PassageText(" ".join([*rng.choice(WORDS, 3), treatment, *rng.choice(WORDS, 3)])) for treatment in treatments
    ]
    queries = [f"treatment of {disease}" for disease in diseases]
    torch.manual_seed(0)
    ranker = CkRanker(CkConfig(**settings), open_backbone(str(folder)), vectors)
    head = [{"params": ranker.head.parameters()}]
    body = [{"params": [weights for weights in ranker.pairs.parameters() if weights.requires_grad], "lr": 2e-5}]
    optimiser = torch.optim.Adam(head + body, lr=1e-2)
    seen = PAIRS - HELD_OUT
    ranker.train()
    for _ in range(150):
        rows = rng.choice(seen, 16, replace=False)
        # Each one's answer, and the answer of another.
        asked = torch.from_numpy(np.stack([rows, np.roll(rows, 1)], axis=1))
        right, wrong = ranker.score_lists([queries[row] for row in rows], passages, asked).unbind(1)
        optimiser.zero_grad()
        (1 - right + wrong).clamp(min=0).mean().backward()
        optimiser.step()
    ranker.eval()
    kept = ranker.keep(passages)
    right_first = 0
    for row in range(seen, PAIRS):
        others = rng.choice([other for other in range(seen, PAIRS) if other != row], CANDIDATES - 1, replace=False)
        scores = ranker.score_kept(queries[row], [kept[candidate] for candidate in (row, *others)])
        right_first += int(scores.argmax() == 0 and (scores == scores[0]).sum() == 1)
    return right_first / HELD_OUT


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_bert(tmp_path_factory.mktemp("bert") / "backbone")


SUMMED = {"joint_dim": 32}
APART = {"knowledge": "here", "fusion": "matrix"}


@pytest.mark.parametrize(
    "fusion", [pytest.param(SUMMED, id="sum"), pytest.param(APART, id="matrix", marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("head", ["knrm", "pacrr", "drmm-tks"])
def test_only_vectors_relate_a_question_to_its_answer(folder: Path, head: str, fusion: dict[str, object]):
    *_, vectors = related()
    assert recall_of_unseen(folder, vectors, head=head, **fusion) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("head", ["knrm", "drmm-tks"])
def test_missing_or_shuffled_vectors_leave_answers_to_chance(folder: Path, head: str):
    # Of 60 questions, a guess finds 22 or more (0.37) once in 300,000 times.
    assert recall_of_unseen(folder, None, head=head, **SUMMED) < 3 * CHANCE
    *_, shuffled = related(shuffled=True)
    assert recall_of_unseen(folder, shuffled, head=head, **SUMMED) < 3 * CHANCE
