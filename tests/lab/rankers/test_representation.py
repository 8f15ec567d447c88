"""ARC-I, ARC-II, DSSM, C-DSSM, MV-LSTM and Duet: padding never tells, and the arithmetic is that of the papers.

The second half computes each score again for one pair, without batches, padding or masks, in plain loops.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from auscult.errors import ConfigError
from auscult_lab.modules.letter_grams import LetterGrams, letter_grams
from auscult_lab.modules.vocabulary import Vocabulary, build_vocabulary
from auscult_lab.modules.word_vectors import PlainTable
from auscult_lab.rankers.arc import ArcI, ArcIConfig, ArcII, ArcIIConfig
from auscult_lab.rankers.base import PADDING, Ranker, Tokens, pad
from auscult_lab.rankers.dssm import Cdssm, CdssmConfig, Dssm, DssmConfig
from auscult_lab.rankers.duet import Duet, DuetConfig
from auscult_lab.rankers.mv_lstm import MvLstm, MvLstmConfig

WORDS = ["asthma", "cough", "fever", "heart", "inhaler", "kidney", "liver", "pain", "rash", "stroke", "treat", "valve"]
QUERIES = ([3], [1, 5, 2], [4, 4, 7, 9, 12, 1], [2, 11])
PASSAGES = ([3, 1, 2, 8, 9, 10, 11, 12, 4, 6, 5], [7], [1, 4, 7, 4, 9], [5, 11])
SIZES = {"max_query_words": 7, "max_passage_words": 13}


def vocabulary() -> Vocabulary:
    table = np.random.default_rng(3).normal(size=(len(WORDS), 6)).astype(np.float32)
    return build_vocabulary([WORDS, WORDS[:5], WORDS[3:8]], PlainTable(WORDS, table))


def make(name: str) -> Ranker:
    """A small ranker with every weight, biases too, drawn at random: a bias over padding would then show."""
    known = vocabulary()
    rankers: dict[str, Ranker] = {
        "arc-i": ArcI(ArcIConfig(maps=(5, 4), hidden=6, train_words=True, **SIZES), known),
        "arc-ii": ArcII(ArcIIConfig(maps=(5, 4, 3), hidden=6, train_words=True, **SIZES), known),
        "dssm": Dssm(DssmConfig(sizes=(8, 7, 5), **SIZES), known),
        "cdssm": Cdssm(CdssmConfig(maps=8, size=5, **SIZES), known),
        "mv-lstm tensor": MvLstm(MvLstmConfig(state=4, slices=3, hidden=6, **SIZES), known),
        "mv-lstm bilinear": MvLstm(MvLstmConfig(state=4, similarity="bilinear", hidden=6, **SIZES), known),
        "mv-lstm cosine": MvLstm(MvLstmConfig(state=4, similarity="cosine", hidden=6, **SIZES), known),
        "duet": Duet(DuetConfig(maps=6, grams=40, pool=4, stride=2, **SIZES), known),
    }
    ranker = rankers[name]
    generator = torch.Generator().manual_seed(8)
    with torch.no_grad():
        for parameter in ranker.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.4)
    return ranker.eval()


NAMES = ["arc-i", "arc-ii", "dssm", "cdssm", "mv-lstm tensor", "mv-lstm bilinear", "mv-lstm cosine", "duet"]
each_ranker = pytest.mark.parametrize("name", NAMES)


def batch(texts: tuple[list[int], ...]) -> Tokens:
    return pad([torch.tensor(text) for text in texts])


def wider(text: Tokens, columns: int) -> Tokens:
    more = nn.functional.pad(text.ids, (0, columns), value=PADDING)
    return Tokens(more, more != PADDING)


def scores_one_by_one(ranker: Ranker) -> Tensor:
    return torch.cat(
        [ranker(batch((query,)), batch((passage,))) for query, passage in zip(QUERIES, PASSAGES, strict=True)]
    )


@each_ranker
def test_padding_and_batch_size_never_change_a_score(name: str) -> None:
    ranker = make(name)
    query, passage = batch(QUERIES), batch(PASSAGES)
    with torch.no_grad():
        alone = scores_one_by_one(ranker)
        assert alone.shape == (4,)
        assert alone.std() > 1e-3, "scores that are all the same would pass any test of sameness"
        torch.testing.assert_close(ranker(query, passage), alone, atol=1e-5, rtol=0)
        for columns in (1, 2, 9):
            padded = ranker(wider(query, columns), wider(passage, columns + 1))
            torch.testing.assert_close(padded, alone, atol=1e-5, rtol=0)
        order = torch.tensor([2, 0, 3, 1])
        torch.testing.assert_close(ranker(query[order], passage[order]), alone[order], atol=1e-5, rtol=0)


@each_ranker
def test_every_parameter_gets_a_gradient(name: str) -> None:
    ranker = make(name)
    ranker(batch(QUERIES), batch(PASSAGES)).square().sum().backward()
    for parameter, weights in ranker.named_parameters():
        assert weights.grad is not None, parameter
        assert weights.grad.abs().sum() > 0, parameter


@each_ranker
def test_texts_of_one_or_no_word_stay_finite(name: str) -> None:
    ranker = make(name)
    scores = ranker(batch(([1], [2], [])), batch(([3], [2], [4, 5])))
    scores.sum().backward()
    assert torch.isfinite(scores).all()
    assert all(torch.isfinite(weights.grad).all() for weights in ranker.parameters() if weights.grad is not None)


@each_ranker
def test_words_added_later_are_read(name: str) -> None:
    ranker = make(name)
    ranker.add_words(["coughing", "feverish", "zzz"])
    first = len(WORDS) + 1
    with torch.no_grad():
        scores = ranker(batch(([first], [first + 2])), batch(([1, first], [first + 1, 2])))
        known = ranker(batch(([1], [1])), batch(([1, 1], [1, 2])))
    assert torch.isfinite(scores).all()
    assert not torch.allclose(scores, known)


def test_letter_grams_mark_the_ends_of_words() -> None:
    assert letter_grams("good", range(3, 4)) == ["#go", "goo", "ood", "od#"]
    assert letter_grams("a", range(1, 3)) == ["a", "#a", "a#"]
    assert letter_grams("", range(1, 4)) == []


def test_later_words_use_the_letter_grams_of_training() -> None:
    grams = LetterGrams(vocabulary(), 5)
    before = grams.weights.shape
    grams.add_words(["coughing", "zzz"])
    bags = grams.bags(torch.tensor([[len(WORDS) + 1], [len(WORDS) + 2]]))
    known = [gram for gram in letter_grams("coughing", range(3, 4)) if gram in {"#co", "cou", "oug", "ugh"}]
    expected = sum(grams.weights[grams._rows[gram]] for gram in known)
    torch.testing.assert_close(bags[0], expected)
    assert not bags[1].any()
    assert grams.weights.shape == before


def test_only_the_commonest_grams_are_kept() -> None:
    grams = LetterGrams(vocabulary(), 2, shortest=1, longest=1, most=3)
    passages = [WORDS, WORDS[:5], WORDS[3:8]]
    held = Counter(letter for word in WORDS for letter in word for passage in passages if word in passage)
    assert len(grams._rows) == 3
    assert "e" in grams._rows
    assert held["e"] == max(held[letter] for letter in held)


def test_pooled_windows_are_a_multiple_of_the_stride() -> None:
    with pytest.raises(ConfigError, match="multiple of 'stride'"):
        DuetConfig(pool=5, stride=2)


def test_an_unknown_similarity_is_refused() -> None:
    with pytest.raises(ConfigError, match="tensor, bilinear, cosine"):
        MvLstm(MvLstmConfig(similarity="euclid"), vocabulary())


# The same scores, one pair at a time, in plain loops.


def dense(layers: nn.Module, values: Tensor, activation) -> Tensor:
    linear = [layer for layer in layers.modules() if isinstance(layer, nn.Linear)]
    for layer in linear[:-1]:
        values = activation(layer.weight @ values + layer.bias)
    return linear[-1].weight @ values + linear[-1].bias


def halve(maps: list[Tensor]) -> list[Tensor]:
    return [torch.stack(maps[at : at + 2]).amax(0) for at in range(0, len(maps), 2)]


def lay(maps: list[Tensor], places: int) -> Tensor:
    size = len(maps[0])
    return torch.cat([*maps, torch.zeros((places - len(maps)) * size)])


def window(vectors: list[Tensor], at: int, weight: Tensor) -> Tensor:
    """Weights (maps, dim, 3) times the three vectors from a place on; there is nothing beyond the end."""
    products = [weight[:, :, step] @ vectors[at + step] for step in range(3) if at + step < len(vectors)]
    return torch.stack(products).sum(0)


def arc_i(ranker: ArcI, query: list[int], passage: list[int]) -> Tensor:
    read = []
    for text, places in ((query, 2), (passage, 4)):
        maps = [ranker.words.rows[word] for word in text]
        for layer in ranker.convolutions:
            weight, bias = layer.convolution.weight, layer.convolution.bias
            maps = halve([torch.relu(window(maps, at, weight) + bias) for at in range(len(maps))])
        read.append(lay(maps, places))
    return dense(ranker.compare, torch.cat(read), torch.relu)


def arc_ii(ranker: ArcII, query: list[int], passage: list[int]) -> Tensor:
    q, p = ([ranker.words.rows[word] for word in text] for text in (query, passage))
    first, second = ranker.query.convolution, ranker.passage.convolution
    left = [window(q, at, first.weight) for at in range(len(q))]
    right = [window(p, at, second.weight) for at in range(len(p))]
    grid = pool_squares(
        {(i, j): torch.relu(a + b + first.bias) for i, a in enumerate(left) for j, b in enumerate(right)}
    )
    for layer in ranker.convolutions:
        weight, bias = layer.convolution.weight, layer.convolution.bias
        grid = pool_squares({(i, j): torch.relu(square(grid, i, j, weight) + bias) for i, j in grid})
    flat = torch.zeros(3, 1, 2)
    for (i, j), maps in grid.items():
        flat[:, i, j] = maps
    return dense(ranker.judge, flat.flatten(), torch.relu)


def square(grid: dict[tuple[int, int], Tensor], i: int, j: int, weight: Tensor) -> Tensor:
    steps = [(a, b) for a in range(3) for b in range(3) if (i + a, j + b) in grid]
    return torch.stack([weight[:, :, a, b] @ grid[i + a, j + b] for a, b in steps]).sum(0)


def pool_squares(grid: dict[tuple[int, int], Tensor]) -> dict[tuple[int, int], Tensor]:
    pooled: dict[tuple[int, int], Tensor] = {}
    for (i, j), maps in grid.items():
        at = i // 2, j // 2
        pooled[at] = torch.maximum(pooled[at], maps) if at in pooled else maps
    return pooled


def counts(grams: LetterGrams, word: int, lengths: range) -> Tensor:
    """The gram counts of one word, as a whole vector."""
    vector = torch.zeros(len(grams.weights))
    spelt = vocabulary().words[word - 1]
    marked = f"#{spelt}#"
    for length in lengths:
        for at in range(len(marked) - length + 1):
            if (row := grams._rows.get(marked[at : at + length])) is not None:
                vector[row] += 1
    return vector


def hashed(grams: LetterGrams, text: list[int], lengths: range) -> list[Tensor]:
    """W applied to the count vectors of three words around each word of a text."""
    weights = grams.weights.view(len(grams.weights), 3, -1)
    maps = []
    for at in range(len(text)):
        steps = [step for step in range(3) if 0 <= at + step - 1 < len(text)]
        maps.append(sum(counts(grams, text[at + step - 1], lengths) @ weights[:, step] for step in steps))
    return maps


def cosine(left: Tensor, right: Tensor) -> Tensor:
    return (left @ right / (left.norm() * right.norm())).reshape(1)


def dssm(ranker: Dssm, query: list[int], passage: list[int]) -> Tensor:
    read = []
    for text in (query, passage):
        bag = sum(counts(ranker.grams, word, range(3, 4)) for word in text)
        first = torch.tanh(bag @ ranker.grams.weights + ranker.bias)
        read.append(torch.tanh(dense(ranker.layers, first, torch.tanh)))
    return 10 * cosine(*read)


def cdssm(ranker: Cdssm, query: list[int], passage: list[int]) -> Tensor:
    read = []
    for text in (query, passage):
        maps = [torch.tanh(each + ranker.bias) for each in hashed(ranker.grams, text, range(3, 4))]
        read.append(torch.tanh(dense(ranker.meaning, torch.stack(maps).amax(0), torch.tanh)))
    return 10 * cosine(*read)


def lstm_states(cell: nn.LSTM, vectors: list[Tensor]) -> list[Tensor]:
    size = cell.hidden_size
    state, memory, states = torch.zeros(size), torch.zeros(size), []
    for vector in vectors:
        gates = cell.weight_ih_l0 @ vector + cell.bias_ih_l0 + cell.weight_hh_l0 @ state + cell.bias_hh_l0
        enter, forget, new, out = gates.split(size)
        memory = torch.sigmoid(forget) * memory + torch.sigmoid(enter) * torch.tanh(new)
        state = torch.sigmoid(out) * torch.tanh(memory)
        states.append(state)
    return states


def mv_lstm(ranker: MvLstm, query: list[int], passage: list[int]) -> Tensor:
    read = []
    for text in (query, passage):
        vectors = [ranker.words.rows[word] for word in text]
        ahead = lstm_states(ranker.reader.forwards, vectors)
        back = lstm_states(ranker.reader.backwards, vectors[::-1])[::-1]
        read.append([torch.cat(both) for both in zip(ahead, back, strict=True)])
    kind, kept = ranker.config.similarity, []
    for slice_ in range(3 if kind == "tensor" else 1):
        values = []
        for u in read[0]:
            for v in read[1]:
                if kind == "cosine":
                    values.append(float(cosine(u, v)))
                    continue
                value = u @ ranker.tensor[slice_] @ v + ranker.bias[slice_]
                if kind == "tensor":
                    value = value + ranker.query_part.weight[slice_] @ u + ranker.passage_part.weight[slice_] @ v
                    value = value.clamp(min=0)
                values.append(float(value))
        kept += (sorted(values, reverse=True)[:5] + [0.0] * 5)[:5]
    return dense(ranker.judge, torch.tensor(kept), torch.relu)


def duet(ranker: Duet, query: list[int], passage: list[int]) -> Tensor:
    local, distributed, lengths = ranker.local, ranker.distributed, range(1, 6)
    rows = []
    for word in query:
        at = torch.tensor([float(word == other) for other in passage] + [0.0] * (13 - len(passage)))
        rows.append(torch.tanh(local.places.weight @ at + local.places.bias))
    exact = dense(local.judge, lay(rows, 7), torch.tanh)
    maps = [torch.tanh(each + distributed.query_bias) for each in hashed(distributed.query_grams, query, lengths)]
    layer = distributed.query_layer
    wanted = torch.tanh(layer.weight @ torch.stack(maps).amax(0) + layer.bias)
    maps = [torch.tanh(each + distributed.passage_bias) for each in hashed(distributed.passage_grams, passage, lengths)]
    layer, products = distributed.passage_layer, []
    for at in range(0, len(maps), 2):
        part = torch.stack(maps[at : at + 4]).amax(0)
        products.append(wanted * torch.tanh(layer.weight @ part + layer.bias))
    return exact + dense(distributed.judge, lay(products, 7), torch.tanh)


BY_HAND = {"arc-i": arc_i, "arc-ii": arc_ii, "dssm": dssm, "cdssm": cdssm, "duet": duet}


@each_ranker
def test_scores_equal_the_formulas_in_plain_loops(name: str) -> None:
    ranker = make(name)
    by_hand = BY_HAND.get(name, mv_lstm)
    with torch.no_grad():
        expected = torch.cat(
            [by_hand(ranker, query, passage) for query, passage in zip(QUERIES, PASSAGES, strict=True)]
        )
        torch.testing.assert_close(ranker(batch(QUERIES), batch(PASSAGES)), expected, atol=1e-4, rtol=1e-4)
