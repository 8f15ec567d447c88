"""The re-ranker: what is opened scores as what was trained, and every pair by itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from auscult.encoders import kind_of, load_model, load_reranker
from auscult.encoders.reranker import Excerpt, Pair, Reranker, chosen, label, pair
from auscult.errors import ModelError
from small_reranker import save_reranker, small_network
from study.shipped.reranker.network import Padded, RerankerNetwork

QUESTION = "symptoms of gout"
PASSAGES = [
    Excerpt(label("gout", "signs"), ["people with gout often feel pain", "and fever"], [0.2, 0.1]),
    Excerpt("", ["signs of asthma come slowly"], [0.0], "people with asthma cough"),
    Excerpt(label("asthma", ""), ["a gene causes it " * 6] * 5, [0.0, 0.1, 0.2, 0.4, 0.3]),
    Excerpt("", [], []),
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
    pairs = [
        pair(
            marks,
            tokens(QUESTION),
            tokens(each.context),
            tokens(each.label),
            chosen([*map(tokens, each.sentences)], each.scores, reranker.most),
        )
        for each in PASSAGES
    ]
    with torch.no_grad():
        scores, marks_of = network(Padded.of(pairs))
    expected = scores.numpy()
    read = reranker.read(QUESTION, PASSAGES)
    assert np.ptp(expected) > 1
    # Eight bits of weights by chance, which are larger than what is learned.
    np.testing.assert_allclose([each.log_odds for each in read], expected, atol=0.1 * np.ptp(expected))
    assert [[*each.sentences] for each in read] == [[*each.sentences] for each in pairs]
    for each, own in zip(read, marks_of.numpy(), strict=True):
        np.testing.assert_allclose([*each.sentences.values()], own[: len(each.sentences)], atol=0.15 * np.ptp(expected))


def test_neither_order_nor_company_changes_a_score(reranker: Reranker) -> None:
    found = [each.log_odds for each in reranker.read(QUESTION, PASSAGES)]
    alone = [reranker.read(QUESTION, [each])[0].log_odds for each in PASSAGES]
    np.testing.assert_allclose(found, alone, atol=1e-4)
    turned = [each.log_odds for each in reranker.read(QUESTION, PASSAGES[::-1])]
    np.testing.assert_allclose(turned, found[::-1], atol=1e-4)
    assert reranker.read(QUESTION, []) == []


def test_the_nearest_sentences_and_the_first_are_read() -> None:
    sentences = [[1] * 3, [2] * 4, [3] * 4, [4] * 4]
    assert chosen(sentences, [0.0, 0.1, 0.9, 0.3], 9) == {0: [1] * 3, 2: [3] * 4, 3: [4] * 2}
    assert chosen(sentences, [0.0, 0.1, 0.9, 0.3], 4) == {2: [3] * 4}
    assert chosen([], [], 9) == {}


def test_a_pair_names_the_tokens_of_sentences() -> None:
    read = {0: [8, 9], 3: [10]}
    alone = Pair([1, 5, 6, 2, 7, 8, 9, 10, 2], 2, 4, {0: (5, 7), 3: (7, 8)})
    assert pair((1, 2), [5, 6], [], [7], read) == alone
    in_context = Pair([1, 5, 6, 2, 4, 2, 7, 8, 9, 10, 2], 2, 6, {0: (7, 9), 3: (9, 10)})
    assert pair((1, 2), [5, 6], [4], [7], read) == in_context


def test_what_is_none_or_damaged_is_refused(network: RerankerNetwork, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    save_reranker(folder, network)
    assert kind_of(str(folder)).name == "reranker"
    with pytest.raises(ModelError, match="a model of kind"):
        load_model(str(folder))
    (folder / "tokenizer.json").write_bytes(b"{}")
    with pytest.raises(ModelError, match="files as they were saved"):
        load_reranker(str(folder))
