"""What every architecture of CAPR and every variant promises; one in the registry cannot escape."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import numpy as np
import pytest
import torch
from torch import Tensor

import auscult_lab.encoders
import auscult_lab.encoders.ck
from architectures import (
    QUERY,
    TOLERANCE,
    VARIANTS,
    all_rows,
    close,
    collection,
    every_variant,
    make,
    passages,
    scores_of,
    texts,
)
from auscult_lab.encoders.base import PassageRanker, PassageText, passage_text, query_text
from auscult_lab.encoders.bi import BiEncoder
from auscult_lab.encoders.longformer import LongTowers
from auscult_lab.encoders.persistence import load, save
from auscult_lab.encoders.registry import ARCHITECTURES
from auscult_lab.encoders.scorer import CaprScorer
from tiny_bert import LAYERS, same_weights

PACKAGES = (auscult_lab.encoders, auscult_lab.encoders.ck)


def test_every_architecture_is_registered_and_tested():
    classes = set()
    for package in PACKAGES:
        for module in iter_modules(package.__path__):
            members = inspect.getmembers(import_module(f"{package.__name__}.{module.name}"), inspect.isclass)
            classes |= {member for _, member in members if issubclass(member, PassageRanker)}
    concrete = {member for member in classes if not inspect.isabstract(member)}
    assert {architecture.ranker for architecture in ARCHITECTURES.values()} == concrete
    assert all(kind == architecture.ranker.kind for kind, architecture in ARCHITECTURES.items())
    assert {kind for kind, _ in VARIANTS.values()} == set(ARCHITECTURES)


@every_variant
@pytest.mark.parametrize("batch_size", [1, 4, 100])
def test_company_order_and_batches_never_change_a_score(variant: str, backbone: Path, batch_size: int):
    ranker = make(variant, backbone)
    candidates = passages(9)
    alone = torch.cat([scores_of(ranker, "asthma ; signs", [each]) for each in candidates])
    ranker.batch_size = batch_size
    close(scores_of(ranker, "asthma ; signs", candidates), alone)
    close(scores_of(ranker, "asthma ; signs", candidates[::-1]).flip(0), alone)
    assert alone.dtype == torch.float32
    assert alone.unique().numel() > 6


@every_variant
def test_training_scores_equal_ranking_scores(variant: str, backbone: Path):
    ranker = make(variant, backbone)
    queries, candidates = texts(4, seed=3, longest=6), passages(7)
    rows = torch.tensor([[0, 3, 6], [1, 1, 2], [5, 4, 0], [6, 2, 3]])
    lists = ranker.score_lists(queries, candidates, rows)
    assert lists.shape == rows.shape
    # Poly keeps states in half precision.
    for query, own, scored in zip(queries, rows, lists, strict=True):
        close(scored.detach(), scores_of(ranker, query, candidates)[own], 1e-2 if ranker.kind == "poly" else TOLERANCE)


@every_variant
def test_gradients_reach_every_parameter(variant: str, backbone: Path):
    ranker = make(variant, backbone).train()
    rows = all_rows(6, 8)
    weights = torch.randn(rows.shape, generator=torch.Generator().manual_seed(0))
    (ranker.score_lists(texts(6, seed=4, longest=8), passages(8), rows) * weights).sum().backward()
    trained = {name: parameter for name, parameter in ranker.named_parameters() if parameter.requires_grad}
    # What a Longformer's last layer projects for local tokens does not reach its first token, which is global.
    last = f".layer.{LAYERS - 1}.attention.self."
    local = [f"{last}{role}." for role in ("query", "key", "value")] if isinstance(ranker, LongTowers) else []
    assert [name for name, parameter in trained.items() if parameter.grad is None] == []
    without = [
        name
        for name, parameter in trained.items()
        if not parameter.grad.abs().sum() > 0 and not any(part in name for part in local)
    ]
    assert {name for name in trained if name.startswith("head")} or isinstance(ranker, BiEncoder)
    # Zeros times U: without an entity it learns nothing.
    assert without == (["head.fusion.knowledge.weight"] if variant == "ck-no-entity" else [])
    frozen = {name for name, parameter in ranker.named_parameters() if not parameter.requires_grad}
    words_only = getattr(ranker.config, "context", "") == "words"
    assert all("pooler" in name or (words_only and "word_embeddings" not in name) for name in frozen)


@every_variant
@pytest.mark.parametrize("chunk", [1, 3, 50])
def test_chunks_change_neither_scores_nor_gradients(variant: str, backbone: Path, chunk: int):
    ranker = make(variant, backbone)
    queries, candidates, rows = (
        texts(5, seed=5, longest=8),
        passages(7),
        torch.tensor([[0, 1, 2, 6]] * 3 + [[3, 4, 5, 0]] * 2),
    )
    results = []
    for size in (None, chunk):
        ranker.zero_grad()
        scores = ranker.score_lists(queries, candidates, rows, chunk=size)
        torch.nn.functional.cross_entropy(scores, torch.zeros(5, dtype=torch.long)).backward()
        gradients = {name: each.grad for name, each in ranker.named_parameters() if each.grad is not None}
        results.append((scores.detach(), gradients))
    (scores, gradients), (chunked_scores, chunked_gradients) = results
    close(chunked_scores, scores, 1e-5)
    assert set(gradients) == set(chunked_gradients)
    for name, gradient in gradients.items():
        close(chunked_gradients[name], gradient, 1e-5)


@every_variant
def test_chunks_hold_the_activations_of_one_chunk(variant: str, backbone: Path):
    ranker = make(variant, backbone)
    queries, candidates = texts(4, seed=5, longest=8), passages(16)

    def held(chunk: int | None) -> int:
        total = 0

        def count(tensor: Tensor) -> Tensor:
            nonlocal total
            total += tensor.numel()
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
            ranker.score_lists(queries, candidates, all_rows(4, 16), chunk=chunk)
        return total

    assert held(2) < held(None) / 2


@every_variant
def test_evaluation_is_deterministic_and_training_drops_out(variant: str, backbone: Path):
    ranker = make(variant, backbone)
    call = (texts(3, seed=6), passages(5), all_rows(3, 5))
    assert torch.equal(ranker.score_lists(*call), ranker.score_lists(*call))
    ranker.train()
    # Words without context have no dropout.
    assert torch.equal(ranker.score_lists(*call), ranker.score_lists(*call)) is variant.startswith("ck-words")


@every_variant
def test_saved_model_keeps_weights_and_scores(variant: str, backbone: Path, tmp_path: Path):
    ranker = make(variant, backbone)
    fingerprint = save(ranker, tmp_path / "model", name="mine", training={"track": "adapted"})
    saved = load(tmp_path / "model")
    asked = passages(6)
    same_weights(saved.ranker, ranker)
    given, expected = (scores_of(each, "gout ; causes", asked) for each in (saved.ranker, ranker))
    # A Longformer's products depend on where in memory its weights lie.
    close(given, expected, tolerance=1e-5 if variant.startswith("long") else 0.0)
    assert (saved.name, saved.fingerprint, saved.training) == ("mine", fingerprint, {"track": "adapted"})
    assert saved.ranker.config == ranker.config
    assert sorted(path.name for path in (tmp_path / "model").iterdir()) == sorted(
        [*ranker.backbones(), *ranker.attachments(), "head.safetensors", "model.json"]
    )


@every_variant
def test_empty_and_long_texts_have_scores(variant: str, backbone: Path):
    ranker = make(variant, backbone)
    odd = [PassageText(""), PassageText("asthma " * 500), PassageText("\u0000 \U0001f600")]
    for query in ("", "gout " * 500):
        assert torch.isfinite(scores_of(ranker, query, odd)).all()
    assert scores_of(ranker, "gout", []).shape == (0,)


@every_variant
@pytest.mark.parametrize("precision", ["float32", "bf16"])
def test_scorers_score_what_was_prepared(variant: str, backbone: Path, precision: str):
    ranker = make(variant, backbone, **({"document_share": 0.0} if variant == "bi-mean-cosine" else {}))
    scorer = CaprScorer(ranker.train(), precision=precision)  # type: ignore[arg-type]
    scorer.prepare(collection())
    scores = scorer.score(QUERY, ["g#1", "a#1"])
    assert (scores.dtype, scores.shape) == (np.float32, (2,))
    documents = collection()
    around = ranker.surroundings
    asked = [passage_text(each, each.passages[0], surroundings=around) for each in documents[::-1]]
    expected = scores_of(ranker, query_text(QUERY), asked).numpy()
    if precision == "float32":
        np.testing.assert_allclose(scores, expected, atol=TOLERANCE, rtol=TOLERANCE)
    else:
        # A table of words is no transformer, and is read as it is.
        assert np.array_equal(scores, expected) == (getattr(ranker.config, "context", "") == "words")
        np.testing.assert_allclose(scores, expected, atol=0.05 * np.abs(expected).max())
