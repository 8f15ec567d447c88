"""The re-ranker: what is opened scores as what was trained, and every pair by itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from auscult.encoders import kind_of, load_model, load_reranker
from auscult.encoders.reranker import Pair, Reranker, label, pair
from auscult.errors import ModelError
from auscult_lab.reranker.data import Example, batch_of
from auscult_lab.reranker.objective import RerankerNetwork
from small_reranker import save_reranker, small_network

QUESTION = "symptoms of gout"
PASSAGES = [
    (label("gout", "signs"), "people with gout often feel pain and fever"),
    ("", "signs of asthma come slowly"),
    (label("asthma", ""), "a gene causes it " * 30),
    ("", ""),
]


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> RerankerNetwork:
    return small_network(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="module")
def reranker(network: RerankerNetwork, tmp_path_factory: pytest.TempPathFactory) -> Reranker:
    return save_reranker(tmp_path_factory.mktemp("reranker") / "model", network)


def test_what_is_opened_scores_as_what_was_trained(network: RerankerNetwork, reranker: Reranker) -> None:
    tokenizer = network.backbone.tokenizer

    def tokens(text: str) -> list[int]:
        ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    marks = tokenizer.cls_token_id, tokenizer.sep_token_id
    pairs = [pair(marks, tokens(QUESTION), tokens(told), tokens(text), reranker.window) for told, text in PASSAGES]
    assert [len(each.ids) <= reranker.window for each in pairs] == [True] * 4
    batch = batch_of([Example(pairs, [True, False, False, False])], 4)
    with torch.no_grad():
        expected = network(batch)[0].numpy()
    scores = reranker.score(QUESTION, PASSAGES)
    assert np.ptp(expected) > 1
    # Eight bits of weights by chance, which are larger than what is learned.
    np.testing.assert_allclose(scores, expected, atol=0.1 * np.ptp(expected))


def test_neither_order_nor_company_changes_a_score(reranker: Reranker) -> None:
    found = reranker.score(QUESTION, PASSAGES)
    alone = [float(reranker.score(QUESTION, [each])[0]) for each in PASSAGES]
    np.testing.assert_allclose(found, alone, atol=1e-4)
    np.testing.assert_allclose(reranker.score(QUESTION, PASSAGES[::-1]), found[::-1], atol=1e-4)
    assert reranker.score(QUESTION, []).shape == (0,)


def test_a_pair_is_cut_in_the_passage() -> None:
    assert pair((1, 2), [5, 6], [7], [8, 9, 10, 11], 8) == Pair([1, 5, 6, 2, 7, 8, 9, 2], 2)


def test_what_is_none_or_damaged_is_refused(network: RerankerNetwork, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="the shipped model 'reranker'"):
        load_reranker()
    folder = tmp_path / "model"
    save_reranker(folder, network)
    assert kind_of(str(folder)).name == "reranker"
    with pytest.raises(ModelError, match="a model of kind"):
        load_model(str(folder))
    (folder / "tokenizer.json").write_bytes(b"{}")
    with pytest.raises(ModelError, match="files as they were saved"):
        load_reranker(str(folder))
