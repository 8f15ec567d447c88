"""HAR and its ablations: Eq. 1-20 of zhu2019 step by step, masks, layout, evidence and its figure."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from auscult.errors import ConfigError, DataError
from auscult_lab.evaluation.figures import draw_evidence
from auscult_lab.modules.attention import InnerAttention
from auscult_lab.modules.recurrent import BidirectionalGru
from auscult_lab.modules.vocabulary import Vocabulary, build_vocabulary
from auscult_lab.modules.word_vectors import PlainTable
from auscult_lab.rankers.base import Tokens, pad
from auscult_lab.rankers.har import Har, HarConfig, HarSimple, HarSimpleConfig, HarWca
from rankers import lay_out, make_ranker, small_vocabulary

WORDS = [f"word{number:02}" for number in range(40)]
QUERIES = [[3, 7, 1], [5], [2, 9, 11, 4, 8], [6, 30]]
PASSAGES = [
    [[1, 2, 3, 4], [5, 6]],
    [[8]],
    [[9, 10, 11, 12, 13, 14], [15], [16, 17, 18], [3, 7]],
    [[30, 31, 32, 33, 34], [35, 36, 37, 38, 39, 40]],
]
SENTENCES = {"gru_dim": 5, "attention_dim": 6, "max_sentence_words": 6, "max_sentences": 5}

Neural = Har | HarWca | HarSimple


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    table = np.random.default_rng(0).normal(size=(len(WORDS), 7)).astype(np.float32)
    return build_vocabulary([WORDS], PlainTable(WORDS, table))


@pytest.fixture(params=[Har, HarWca, HarSimple], ids=lambda each: each.kind)
def ranker(request: pytest.FixtureRequest, vocabulary: Vocabulary) -> Neural:
    return _make(request.param, vocabulary)


def _make(kind: type[Neural], vocabulary: Vocabulary) -> Neural:
    torch.manual_seed(1)
    if kind is HarSimple:
        return HarSimple(HarSimpleConfig(gru_dim=5, attention_dim=6), vocabulary).eval()
    return kind(HarConfig(**SENTENCES), vocabulary).eval()


def _batch(ranker: Neural) -> tuple[Tokens, Tokens]:
    queries = pad([ranker.lay_out_query(each) for each in QUERIES])
    return queries, pad([ranker.lay_out_passage(each) for each in PASSAGES])


# --- the equations, one example at a time ---


def _gru(cell: nn.GRU, vectors: Tensor) -> Tensor:
    state, states = torch.zeros(cell.hidden_size), []
    for vector in vectors:
        given = cell.weight_ih_l0 @ vector + cell.bias_ih_l0
        kept = cell.weight_hh_l0 @ state + cell.bias_hh_l0
        (reset_in, update_in, new_in), (reset, update, new) = given.chunk(3), kept.chunk(3)
        gate = torch.sigmoid(update_in + update)
        state = (1 - gate) * torch.tanh(new_in + torch.sigmoid(reset_in + reset) * new) + gate * state
        states.append(state)
    return torch.stack(states)


def _encode(encoder: BidirectionalGru, vectors: Tensor) -> Tensor:
    return torch.cat([_gru(encoder.forwards, vectors), _gru(encoder.backwards, vectors.flip(0)).flip(0)], dim=1)


def _inner(brick: InnerAttention, vectors: Tensor) -> tuple[Tensor, Tensor]:
    raw = [brick.weight.weight[0] @ torch.tanh(brick.hidden.weight @ vector) for vector in vectors]
    powers = [torch.exp(each) for each in raw]
    weights = torch.stack([each / sum(powers) for each in powers])
    return sum(weight * vector for weight, vector in zip(weights, vectors, strict=True)), weights


def _cross(ranker: Har, words: Tensor, query: Tensor) -> Tensor:
    weight = torch.cat([ranker.cross.text.weight[0], ranker.cross.query.weight[0], ranker.cross.product])
    similar = torch.stack([torch.stack([weight @ torch.cat([u, q, u * q]) for q in query]) for u in words])
    to_query = similar.softmax(dim=1) @ query
    to_text = (similar.softmax(dim=1) @ similar.softmax(dim=0).T) @ words
    return torch.cat([words, to_query, words * to_query, words * to_text], dim=1)


def _reference(ranker: Neural, query: list[int], passage: list[list[int]]) -> tuple[Tensor, list[Tensor]]:
    """The score of one pair, and the attention over query words, sentences and each sentence's words."""
    query_states = _encode(ranker.query_encoder, ranker.words.rows[query])
    pooled, query_weights = _inner(ranker.query_attention, query_states)
    if isinstance(ranker, HarSimple):
        words = _encode(ranker.passage_encoder, ranker.words.rows[[word for sentence in passage for word in sentence]])
        answer, weights = _inner(ranker.passage_attention, words)[0], [query_weights]
    else:
        encoded = [_encode(ranker.passage_encoder, ranker.words.rows[sentence]) for sentence in passage]
        if isinstance(ranker, Har):
            encoded = [_cross(ranker, states, query_states) for states in encoded]
        first = [_inner(ranker.levels.words, states) for states in encoded]
        answer, sentences = _inner(ranker.levels.sentences, torch.stack([vector for vector, _ in first]))
        weights = [query_weights, sentences, *(part for _, part in first)]
    similar = pooled * (ranker.narrow.weight @ answer + ranker.narrow.bias)
    layers = [layer for layer in ranker.score if isinstance(layer, nn.Linear)]
    for layer in layers[:-1]:
        similar = torch.relu(layer.weight @ similar + layer.bias)
    return (layers[-1].weight @ similar + layers[-1].bias)[0], weights


def test_scores_are_those_of_the_equations(ranker: Neural) -> None:
    with torch.no_grad():
        scores = ranker(*_batch(ranker))
        expected = torch.stack([_reference(ranker, *pair)[0] for pair in zip(QUERIES, PASSAGES, strict=True)])
    assert scores.std() > 1e-3
    torch.testing.assert_close(scores, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("kind", [Har, HarWca])
def test_evidence_equals_the_equations_attention_without_padding(
    kind: type[Har | HarWca], vocabulary: Vocabulary
) -> None:
    ranker = _make(kind, vocabulary).train()
    queries, passages = _batch(ranker)
    evidence = ranker.explain(queries, passages)
    assert ranker.training
    assert not evidence.sentences.requires_grad
    for row, (query, passage) in enumerate(zip(QUERIES, PASSAGES, strict=True)):
        _, (asked, sentences, *words) = _reference(ranker, query, passage)
        torch.testing.assert_close(evidence.query_words[row][: len(query)], asked)
        torch.testing.assert_close(evidence.sentences[row][: len(passage)], sentences)
        for place, (sentence, weights) in enumerate(zip(passage, words, strict=True)):
            torch.testing.assert_close(evidence.words[row, place, : len(sentence)], weights)
    present = passages.mask.any(dim=-1)
    assert not evidence.query_words[~queries.mask].any()
    assert not evidence.sentences[~present].any()
    assert not evidence.words[~passages.mask].any()
    torch.testing.assert_close(evidence.query_words.sum(dim=1), torch.ones(4))
    torch.testing.assert_close(evidence.sentences.sum(dim=1), torch.ones(4))
    torch.testing.assert_close(evidence.words.sum(dim=2), present.float())


# --- promises of every ranker ---


def _wider(tokens: Tokens) -> Tokens:
    margin = [side for _ in range(tokens.ids.dim() - 1) for side in (0, 3)]
    ids = nn.functional.pad(tokens.ids, margin)
    return Tokens(ids, ids != 0)


def test_padding_order_and_batch_size_change_no_score(ranker: Neural) -> None:
    queries, passages = _batch(ranker)
    order = torch.tensor([2, 0, 3, 1])
    with torch.no_grad():
        scores = ranker(queries, passages)
        padded = ranker(_wider(queries), _wider(passages))
        turned = ranker(queries[order], passages[order])
        alone = [
            ranker(pad([ranker.lay_out_query(query)]), pad([ranker.lay_out_passage(passage)]))
            for query, passage in zip(QUERIES, PASSAGES, strict=True)
        ]
    torch.testing.assert_close(padded, scores, atol=1e-5, rtol=0)
    torch.testing.assert_close(turned, scores[order], atol=1e-5, rtol=0)
    torch.testing.assert_close(torch.cat(alone), scores, atol=1e-5, rtol=0)


def test_every_trained_parameter_gets_a_gradient(ranker: Neural) -> None:
    torch.manual_seed(3)
    ranker.train()(*_batch(ranker)).square().sum().backward()
    bare = [name for name, each in ranker.named_parameters() if each.requires_grad and not each.grad.abs().sum() > 0]
    assert bare == []
    assert not ranker.words.rows.requires_grad


def test_word_vectors_can_be_trained(vocabulary: Vocabulary) -> None:
    ranker = Har(HarConfig(**SENTENCES, train_words=True), vocabulary).eval()
    ranker(*_batch(ranker)).square().sum().backward()
    reached = ranker.words.rows.grad.abs().sum(dim=1) > 0
    used = torch.zeros_like(reached)
    used[
        [word for each in [*QUERIES, *(sentence for passage in PASSAGES for sentence in passage)] for word in each]
    ] = 1
    assert torch.equal(reached, used)


def test_dropout_works_in_training_only(ranker: Neural) -> None:
    batch = _batch(ranker)
    with torch.no_grad():
        assert torch.equal(ranker(*batch), ranker(*batch))
        ranker.train()
        assert not torch.equal(ranker(*batch), ranker(*batch))


def test_tied_dropout_uses_one_mask_for_both_texts(vocabulary: Vocabulary) -> None:
    ranker = Har(HarConfig(**SENTENCES, dropout=0.0, reading_dropout=0.5, tied_dropout=True), vocabulary).train()
    read = []
    ranker.word_dropout.register_forward_hook(lambda _, given, made: read.append((given[0], made)))
    batch = _batch(ranker)
    ranker(*batch)
    ranker(*batch)
    masks = [(made / given).nan_to_num(1.0).flatten(0, -2) for given, made in read if given.abs().sum() > 0]
    assert len(masks) == 4
    # Within one pass words of passages and queries have one mask; the next pass draws another.
    kept = [mask[mask.ne(1).any(dim=1)][0] for mask in masks]
    assert torch.equal(kept[0], kept[1])
    assert torch.equal(kept[2], kept[3])
    assert not torch.equal(kept[0], kept[2])
    assert {*kept[0].tolist()} == {0.0, 2.0}


def test_without_input_dropout_training_and_scoring_read_alike(vocabulary: Vocabulary) -> None:
    ranker = Har(HarConfig(**SENTENCES, dropout=0.0, reading_dropout=0.0), vocabulary)
    batch = _batch(ranker)
    with torch.no_grad():
        assert torch.equal(ranker.train()(*batch), ranker.eval()(*batch))


def _share_of_answers_first(kind: str, vocabulary: Vocabulary, **settings: object) -> float:
    """Of pairs of passages, one with the query's words among others, how many models without training put first."""
    rng = np.random.default_rng(0)
    ahead = []
    for seed in range(40):
        ranker = make_ranker(kind, vocabulary, seed, **settings).eval()
        words = (rng.permutation(len(vocabulary.words)) + 1).tolist()
        query, answer, other = words[:3], [*words[3:7], *words[:3], *words[7:9]], words[12:21]
        right, wrong = ranker(*lay_out(ranker, [query, query], [[answer[:5], answer[5:]], [other[:5], other[5:]]]))
        ahead.append(bool(right > wrong))
    return float(np.mean(ahead))


@pytest.mark.parametrize("kind", [Har.kind, HarWca.kind, HarSimple.kind])
def test_likeness_start_ranks_answers_first_without_training(kind: str) -> None:
    vocabulary = small_vocabulary()
    assert _share_of_answers_first(kind, vocabulary, likeness=True) >= 0.9
    # By random weights it is a guess.
    assert 0.2 <= _share_of_answers_first(kind, vocabulary) <= 0.8


def test_likeness_start_attends_to_the_query_word(vocabulary: Vocabulary) -> None:
    ranker = make_ranker(Har.kind, vocabulary, likeness=True)
    assert isinstance(ranker, Har)
    query, passage = lay_out(ranker, [[5]], [[[1, 2, 3], [4, 5, 6], [7, 8, 9]]])
    found = ranker.explain(query, passage)
    assert found.words[0, 1].argmax() == 1


def test_kept_passages_match_as_fresh_ones(ranker: Neural) -> None:
    queries, passages = _batch(ranker)
    rows = torch.tensor([3, 1, 1, 0, 2, 3])
    query_rows = torch.tensor([0, 1, 2, 3, 3, 1])
    with torch.no_grad():
        kept = ranker.encode_passage(passages)
        scores = ranker.match(queries[query_rows], kept[rows])
        fresh = ranker(queries[query_rows], passages[rows])
    torch.testing.assert_close(scores, fresh, atol=1e-6, rtol=0)


def test_texts_without_words_get_a_score(ranker: Neural) -> None:
    queries = pad([ranker.lay_out_query(query) for query in ([], [4])])
    passages = pad([ranker.lay_out_passage(passage) for passage in ([], [[]])])
    scores = ranker(queries, passages)
    assert torch.isfinite(scores).all()
    scores.sum().backward()
    assert all(weights.grad is None or torch.isfinite(weights.grad).all() for weights in ranker.parameters())


# --- layout and settings ---


def test_long_sentences_are_split_and_passages_cut(vocabulary: Vocabulary) -> None:
    ranker = Har(HarConfig(max_sentence_words=3, max_sentences=4, gru_dim=2), vocabulary)
    sentences = [[1, 2, 3, 4, 5, 6, 7], [], [8], [9, 10, 11, 12]]
    laid_out = ranker.lay_out_passage(sentences)
    assert laid_out.tolist() == [[1, 2, 3], [4, 5, 6], [7, 0, 0], [8, 0, 0]]
    assert [tuple(each) for each in ranker.pieces(sentences)] == [(0, 0, 3), (0, 3, 6), (0, 6, 7), (2, 0, 1)]
    short = Har(HarConfig(max_sentence_words=3, max_passage_words=8, gru_dim=2), vocabulary)
    assert short.lay_out_passage([[1, 2], [3, 4, 5, 6], [7, 8, 9], [10]]).tolist() == [
        [1, 2, 0],
        [3, 4, 5],
        [6, 0, 0],
        [7, 8, 0],
    ]


def test_defaults_are_those_of_section_5_3(vocabulary: Vocabulary) -> None:
    ranker = Har(HarConfig(), vocabulary)
    assert len(ranker.lay_out_query(list(range(1, 31)))) == 15
    assert ranker.lay_out_passage([[1] * 16] * 30).shape == (20, 15)
    assert ranker.narrow.weight.shape == (300, 1200)
    assert ranker.levels.words.hidden.weight.shape == (300, 1200)
    assert sum(isinstance(each, nn.Linear) for each in ranker.score) == 3


def test_a_score_network_has_layers(vocabulary: Vocabulary) -> None:
    with pytest.raises(ConfigError, match="score_layers"):
        Har(HarConfig(score_layers=0), vocabulary)


# --- the figure ---


def test_evidence_is_drawn(tmp_path: Path) -> None:
    query = [("which", 0.1), ("test", 0.6), ("costs", 0.1), ("$5", 0.1), ("or $6", 0.1)]
    sentences = [("A blood test finds it. " * 12, 0.75), ("It costs $5 or $6.", 0.25)]
    for file in ("evidence.png", "evidence.svg"):
        draw_evidence(tmp_path / "new" / file, query, sentences, title="HAR", note="3 of 5 sentences not read")
    assert (tmp_path / "new" / "evidence.png").read_bytes().startswith(b"\x89PNG")
    svg = (tmp_path / "new" / "evidence.svg").read_text()
    assert ">test</text>" in svg
    assert "It costs $5 or $6." in svg
    assert "3 of 5 sentences not read" in svg
    assert " 75 %" in svg
    # The heaviest query word and the heaviest sentence have the full colours.
    assert "#6ba6eb" in svg
    assert "#f28073" in svg
    draw_evidence(tmp_path / "again.svg", query, sentences, title="HAR", note="3 of 5 sentences not read")
    assert (tmp_path / "again.svg").read_text() == svg


@pytest.mark.parametrize(
    ("query", "sentences"), [([], [("a", 1.0)]), ([("a", 1.0)], []), ([("a", -1.0)], [("b", 1.0)])]
)
def test_evidence_that_cannot_be_drawn(
    query: list[tuple[str, float]], sentences: list[tuple[str, float]], tmp_path: Path
) -> None:
    with pytest.raises(DataError):
        draw_evidence(tmp_path / "evidence.png", query, sentences)
    assert not list(tmp_path.iterdir())
