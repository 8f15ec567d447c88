"""Every architecture in small: variants on a tiny BERT, texts of its words, and a collection to search."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from auscult.documents import Document, Section, build_document
from auscult.understanding import Query
from auscult_lab.encoders.base import PassageRanker, PassageText
from auscult_lab.encoders.registry import create
from tiny_bert import WORDS

TOLERANCE = 1e-4
LONG = {"stretch": 80, "window": 4, "max_passage_tokens": 70}
KNOWING = {"knowledge": "beside the backbone", "joint_dim": 12}
APART = {"knowledge": "beside the backbone", "fusion": "matrix"}
VARIANTS = {
    "bi": ("bi", {}),
    "bi-shared": ("bi", {"shared": True}),
    "bi-mean-cosine": ("bi", {"pooling": "mean", "cosine": True, "document_share": 0.3}),
    "poly": ("poly", {}),
    "poly-shared-cosine": ("poly", {"shared": True, "cosine": True}),
    "poly-codes": ("poly", {"codes": 3, "pooling": "mean"}),
    "long-bi": ("long-bi", LONG),
    "long-poly": ("long-poly", LONG | {"attention": "first"}),
    "cross": ("cross", {}),
    "cross-mean": ("cross", {"pooling": "mean"}),
    "ck": ("ck", {}),
    "ck-b-pacrr": ("ck", {"head": "pacrr", "cls": False}),
    "ck-words": ("ck", {"head": "drmm-tks", "context": "words", "cls": False}),
    "ck-knowledge": ("ck", {"head": "drmm-tks", **KNOWING}),
    "ck-b-knowledge": ("ck", {"cls": False, "train_knowledge": True, **KNOWING}),
    "ck-pacrr-knowledge": ("ck", {"head": "pacrr", "activation": "logistic", **KNOWING}),
    "ck-no-entity": ("ck", {"linker": "none", **KNOWING}),
    "ck-words-knowledge": ("ck", {"context": "words", "cls": False, **KNOWING}),
    "ck-matrix": ("ck", APART),
    "ck-pacrr-matrix": ("ck", {"head": "pacrr", "train_knowledge": True, **APART}),
    "ck-words-matrix": ("ck", {"head": "drmm-tks", "context": "words", "cls": False, **APART}),
}
every_variant = pytest.mark.parametrize("variant", VARIANTS)


def make(variant: str, backbone: Path, **settings: object) -> PassageRanker:
    """One of the variants on the tiny BERT of the fixture `backbone`, beside which `knowledge` lies."""
    kind, own = VARIANTS[variant]
    knowledge = {"knowledge": str(backbone.parent / "knowledge")} if "knowledge" in own else {}
    torch.manual_seed(1)
    return create(kind, str(backbone), {**own, **knowledge, **settings}).eval()


def texts(number: int, seed: int, longest: int = 50) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, rng.integers(1, longest))) for _ in range(number)]


def passages(number: int, seed: int = 0) -> list[PassageText]:
    return [PassageText(text) for text in texts(number, seed)]


def all_rows(queries: int, number: int) -> Tensor:
    return torch.arange(number).expand(queries, number)


def scores_of(ranker: PassageRanker, query: str, asked: list[PassageText]) -> Tensor:
    return ranker.score_kept(query, ranker.keep(asked))


def close(given: Tensor, expected: Tensor, tolerance: float = TOLERANCE) -> None:
    torch.testing.assert_close(given, expected, atol=tolerance, rtol=tolerance)


def collection() -> list[Document]:
    return [
        build_document(
            doc_id="a",
            title="Asthma",
            sections=[
                Section("Signs", "People with asthma often feel pain. The signs come slowly.", "a#1"),
                Section("Causes", "A gene causes it.", "a#2"),
            ],
        ),
        build_document(doc_id="g", title="Gout", sections=[Section("Signs", "Gout and fever. " * 6, "g#1")]),
    ]


QUERY = Query(query_id="", entity="asthma", aspects=("signs",))
