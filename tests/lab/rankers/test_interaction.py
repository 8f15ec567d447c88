"""Rankers over interaction matrices: promises on masks and gradients, and parity with plain per-example arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from auscult.errors import ConfigError
from auscult_lab.modules import interaction
from auscult_lab.modules.interaction import bin_numbers, dynamic_max_pool, k_max, soft_counts
from auscult_lab.modules.vocabulary import Vocabulary, build_vocabulary
from auscult_lab.modules.word_vectors import PlainTable
from auscult_lab.rankers.base import Ranker, Tokens, pad
from auscult_lab.rankers.drmm import Anmm, AnmmConfig, Drmm, DrmmConfig, DrmmTks, DrmmTksConfig, DrmmTksHead
from auscult_lab.rankers.knrm import ConvKnrm, ConvKnrmConfig, Knrm, KnrmConfig, KnrmHead
from auscult_lab.rankers.match_pyramid import MatchPyramid, MatchPyramidConfig, Pacrr, PacrrConfig, PacrrHead
from auscult_lab.rankers.scorer import load, save

WORDS = tuple(f"word{number:02}" for number in range(40))
DIM = 12


@pytest.fixture(scope="module")
def vocabulary() -> Vocabulary:
    table = np.random.default_rng(1).normal(size=(len(WORDS), DIM)).astype(np.float32)
    # Word n is in n + 1 passages, so that every word has an idf of its own.
    return build_vocabulary([WORDS[start:] for start in range(len(WORDS))], PlainTable(WORDS, table))


MODELS: dict[str, Callable[[Vocabulary], Ranker]] = {
    "knrm": lambda v: Knrm(KnrmConfig(), v),
    "knrm, padding counted": lambda v: Knrm(KnrmConfig(log_plus_one=True, count_padding=True), v),
    "drmm": lambda v: Drmm(DrmmConfig(), v),
    "drmm, vector gate": lambda v: Drmm(DrmmConfig(gate="vector"), v),
    "drmm-tks": lambda v: DrmmTks(DrmmTksConfig(), v),
    "drmm-tks, idf gate": lambda v: DrmmTks(DrmmTksConfig(gate="idf"), v),
    "anmm": lambda v: Anmm(AnmmConfig(), v),
    "anmm, trained words": lambda v: Anmm(AnmmConfig(train_words=True), v),
    "match-pyramid": lambda v: MatchPyramid(MatchPyramidConfig(), v),
    "match-pyramid, cosine": lambda v: MatchPyramid(MatchPyramidConfig(similarity="cosine"), v),
    "match-pyramid, identity": lambda v: MatchPyramid(MatchPyramidConfig(similarity="identity"), v),
    "conv-knrm": lambda v: ConvKnrm(ConvKnrmConfig(), v),
    "pacrr": lambda v: Pacrr(PacrrConfig(), v),
    "pacrr, trained words": lambda v: Pacrr(PacrrConfig(train_words=True), v),
    "pacrr, dense": lambda v: Pacrr(PacrrConfig(reader="dense"), v),
}


@pytest.fixture(params=list(MODELS))
def model(request: pytest.FixtureRequest, vocabulary: Vocabulary) -> Ranker:
    torch.manual_seed(3)
    return MODELS[request.param](vocabulary).eval()


def texts(*lengths: int, seed: int = 5) -> list[Tensor]:
    chance = torch.Generator().manual_seed(seed)
    return [torch.randint(1, len(WORDS) + 1, (length,), generator=chance) for length in lengths]


QUERIES = texts(4, 1, 7, 2, 5, 1)
PASSAGES = texts(23, 9, 1, 40, 2, 1, seed=6)


def singly(model: Ranker) -> Tensor:
    return torch.cat([model(pad([query]), pad([passage])) for query, passage in zip(QUERIES, PASSAGES, strict=True)])


def more_padding(tokens: Tokens, columns: int) -> Tokens:
    ids = nn.functional.pad(tokens.ids, (0, columns))
    return Tokens(ids, ids != 0)


def test_padding_changes_no_score(model: Ranker):
    query, passage = pad(QUERIES), pad(PASSAGES)
    expected = model(query, passage)
    assert len(set(expected.tolist())) >= 4
    torch.testing.assert_close(model(more_padding(query, 3), passage), expected, atol=1e-5, rtol=0)
    torch.testing.assert_close(model(query, more_padding(passage, 17)), expected, atol=1e-5, rtol=0)


def test_batch_scores_equal_those_of_single_examples(model: Ranker):
    batch = model(pad(QUERIES), pad(PASSAGES))
    assert batch.shape == (len(QUERIES),)
    torch.testing.assert_close(batch, singly(model), atol=1e-5, rtol=0)


def test_every_trained_parameter_gets_a_gradient(model: Ranker):
    model.train()
    # Longer texts than elsewhere: a window that sees nothing but padding has no gradient, and rightly so.
    lengths = [9] * 16
    scores = model(pad(texts(*lengths)), pad(texts(*(30 for _ in lengths), seed=8)))
    (scores * torch.linspace(-1, 1, len(lengths))).sum().backward()
    trained = {name: parameter.grad for name, parameter in model.named_parameters() if parameter.requires_grad}
    assert trained
    for name, gradient in trained.items():
        assert gradient is not None, name
        assert gradient.isfinite().all(), name
        assert gradient.abs().sum() > 0, name


def test_one_word_texts_score_and_train(model: Ranker):
    query, same, other = (pad([torch.tensor([word])]) for word in (3, 3, 4))
    scores = torch.cat([model(query, same), model(query, other)])
    assert scores.isfinite().all()
    assert scores[0] != scores[1]
    scores.sum().backward()
    assert all(p.grad is None or p.grad.isfinite().all() for p in model.parameters())


def test_a_text_without_words_gets_a_finite_score(model: Ranker):
    nothing = pad([torch.tensor([], dtype=torch.long)])
    assert model(nothing, pad(PASSAGES[:1])).isfinite().all()
    assert model(pad(QUERIES[:1]), nothing).isfinite().all()


# Parity: each architecture again, one example at a time, without batches, padding or masks.


def cosine(left: np.ndarray, right: np.ndarray) -> float:
    return float(left @ right / max(np.linalg.norm(left) * np.linalg.norm(right), 1e-12))


def softmax(values: list[float]) -> list[float]:
    powers = [math.exp(value) for value in values]
    return [power / sum(powers) for power in powers]


def weights(layer: nn.Module) -> tuple[np.ndarray, np.ndarray]:
    return layer.weight.detach().double().numpy(), layer.bias.detach().double().numpy()


def vectors(model: Ranker, ids: Tensor) -> np.ndarray:
    return model.words.rows.detach().double().numpy()[ids.numpy()]


def check(model: Ranker, score: Callable[[Tensor, Tensor], float], tolerance: float = 2e-5) -> None:
    expected = [score(query, passage) for query, passage in zip(QUERIES, PASSAGES, strict=True)]
    np.testing.assert_allclose(model(pad(QUERIES), pad(PASSAGES)).detach(), expected, atol=tolerance, rtol=0)


def scaled_log(count: float) -> float:
    return 0.01 * math.log(max(count, 1e-10))


def kernel_features(left: np.ndarray, right: np.ndarray, log: Callable[[float], float] = scaled_log) -> list[float]:
    features = []
    for centre, width in [(1.0, 1e-3), *((0.9 - 0.2 * number, 0.1) for number in range(10))]:
        total = 0.0
        for word in left:
            count = sum(math.exp(-((cosine(word, other) - centre) ** 2) / (2 * width**2)) for other in right)
            total += log(count)
        features.append(total)
    return features


def test_knrm_is_its_formula(vocabulary: Vocabulary):
    model = Knrm(KnrmConfig(), vocabulary)
    weight, bias = weights(model.head.score)
    check(model, lambda q, p: weight[0] @ kernel_features(vectors(model, q), vectors(model, p)) + bias[0])


def test_knrm_counts_padding_as_matchzoo_does(vocabulary: Vocabulary):
    config = KnrmConfig(log_plus_one=True, count_padding=True, max_query_words=8, max_passage_words=45)
    model = Knrm(config, vocabulary)
    weight, bias = weights(model.head.score)
    padding = model.padding.detach().double().numpy()[None]

    def filled(text: Tensor, length: int) -> np.ndarray:
        return np.concatenate([vectors(model, text), padding.repeat(length - len(text), axis=0)])

    # Counts that are not scaled are a hundred times as large, and so are their errors.
    check(
        model,
        lambda q, p: weight[0] @ kernel_features(filled(q, 8), filled(p, 45), math.log1p) + bias[0],
        tolerance=2e-3,
    )


def test_unknown_words_can_be_one_word(vocabulary: Vocabulary):
    known, first, second = (pad([torch.tensor([word])]) for word in (1, len(WORDS) + 1, len(WORDS) + 2))
    for one_unknown in (True, False):
        model = Knrm(KnrmConfig(one_unknown=one_unknown), vocabulary)
        model.add_words(["unheard", "unseen"])
        same, other, strange = (model(first, passage) for passage in (first, second, known))
        assert same.equal(other) == one_unknown
        assert not same.equal(strange)


def test_matchzoos_knrm_is_opened_as_saved(vocabulary: Vocabulary, tmp_path: Path):
    model = Knrm(KnrmConfig(log_plus_one=True, count_padding=True, one_unknown=True), vocabulary).eval()
    save(model, vocabulary, tmp_path / "model", name="knrm")
    opened = load(tmp_path / "model").ranker
    assert opened.config == model.config
    query, passage = pad(QUERIES), pad(PASSAGES)
    torch.testing.assert_close(opened(query, passage), model(query, passage), rtol=0, atol=0)


def ngrams(words: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    rows = []
    for start in range(len(words)):
        total = bias.copy()
        for offset in range(weight.shape[2]):
            if start + offset < len(words):
                total += weight[:, :, offset] @ words[start + offset]
        rows.append(np.maximum(total, 0))
    return np.array(rows)


def test_conv_knrm_is_its_formula(vocabulary: Vocabulary):
    model = ConvKnrm(ConvKnrmConfig(), vocabulary)
    weight, bias = weights(model.score)
    filters = [weights(ngram.convolution) for ngram in model.ngrams]

    def score(query: Tensor, passage: Tensor) -> float:
        left = [ngrams(vectors(model, query), *parts) for parts in filters]
        right = [ngrams(vectors(model, passage), *parts) for parts in filters]
        return weight[0] @ np.concatenate([kernel_features(a, b) for a in left for b in right]) + bias[0]

    # Among the kernels is one of width 0.001, which turns the seventh digit of a cosine into the fourth of a count.
    check(model, score, tolerance=5e-5)


def perceptron(layers: nn.Sequential, values: np.ndarray) -> float:
    for layer in layers:
        if isinstance(layer, nn.Linear):
            weight, bias = weights(layer)
            values = np.tanh(weight @ values + bias)
    return values.item()


def gate(model: Ranker, layer: nn.Module, query: Tensor, of: str) -> list[float]:
    weight = layer.weight.weight.detach().double().numpy()[0]
    if of == "idf":
        return softmax([float(weight[0] * model.idf.idf[word]) for word in query])
    return softmax([float(weight @ vector) for vector in vectors(model, query)])


@pytest.mark.parametrize("of", ["idf", "vector"])
def test_drmm_is_its_formula(vocabulary: Vocabulary, of: str):
    model = Drmm(DrmmConfig(gate=of), vocabulary)

    def score(query: Tensor, passage: Tensor) -> float:
        total = 0.0
        for share, word, left in zip(gate(model, model.gate, query, of), query, vectors(model, query), strict=True):
            counts = np.zeros(30)
            for other, right in zip(passage, vectors(model, passage), strict=True):
                exact = bool(word == other)
                counts[29 if exact else math.floor((cosine(left, right) + 1) / (2 / 29))] += 1
            total += share * perceptron(model.layers, np.log(counts + 1))
        return total

    check(model, score)


@pytest.mark.parametrize("of", ["idf", "vector"])
def test_drmm_tks_is_its_formula(vocabulary: Vocabulary, of: str):
    model = DrmmTks(DrmmTksConfig(gate=of), vocabulary)

    def score(query: Tensor, passage: Tensor) -> float:
        total = 0.0
        for share, left in zip(gate(model, model.head.gate, query, of), vectors(model, query), strict=True):
            found = sorted((cosine(left, right) for right in vectors(model, passage)), reverse=True)
            kept = [*found[:10], *[0.0] * (10 - len(found))]
            total += share * perceptron(model.head.layers, np.array(kept))
        return total

    check(model, score)


def test_anmm_is_its_formula(vocabulary: Vocabulary):
    model = Anmm(AnmmConfig(), vocabulary)
    value_weights = model.bin_weights.weight.detach().double().numpy()[0]

    def score(query: Tensor, passage: Tensor) -> float:
        total = 0.0
        shares = gate(model, model.attention, query, "vector")
        for share, word, left in zip(shares, query, vectors(model, query), strict=True):
            match = 0.0
            for other, right in zip(passage, vectors(model, passage), strict=True):
                value = cosine(left, right)
                match += value * value_weights[599 if word == other else math.floor((value + 1) / (2 / 599))]
            total += share / (1 + math.exp(-match))
        return total

    check(model, score)


def convolve(image: np.ndarray, weight: np.ndarray, bias: np.ndarray, before: int) -> np.ndarray:
    """Maps of (channels, rows, columns); a window begins `before` cells up and left of the cell that it belongs to."""
    filters, _, side, _ = weight.shape
    _, rows, columns = image.shape
    maps = np.zeros((filters, rows, columns))
    for row in range(rows):
        for column in range(columns):
            total = bias.copy()
            for a in range(side):
                for b in range(side):
                    i, j = row + a - before, column + b - before
                    if 0 <= i < rows and 0 <= j < columns:
                        total += weight[:, :, a, b] @ image[:, i, j]
            maps[:, row, column] = total
    return maps


@pytest.mark.parametrize("similarity", ["dot", "cosine", "identity"])
def test_match_pyramid_is_its_formula(vocabulary: Vocabulary, similarity: str):
    model = MatchPyramid(MatchPyramidConfig(similarity=similarity, hidden=16), vocabulary)
    compare = {"dot": lambda a, b: a @ b, "cosine": cosine, "identity": lambda a, b: float(a == b)}[similarity]

    def score(query: Tensor, passage: Tensor) -> float:
        counted = similarity == "identity"
        left, right = (ids.numpy() if counted else vectors(model, ids) for ids in (query, passage))
        image = np.array([[[compare(a, b) for b in right] for a in left]])
        maps = np.maximum(convolve(image, *weights(model.first.convolution), before=0), 0)
        (height, width), (rows, columns) = maps.shape[1:], (6, 20)
        pooled = np.zeros((8, rows, columns))
        for a in range(rows):
            for b in range(columns):
                inside = maps[
                    :,
                    math.floor(a * height / rows) : math.ceil((a + 1) * height / rows),
                    math.floor(b * width / columns) : math.ceil((b + 1) * width / columns),
                ]
                pooled[:, a, b] = inside.max(axis=(1, 2))
        maps = np.maximum(convolve(pooled, *weights(model.second[0]), before=1), 0)
        halved = [[[m[2 * i : 2 * i + 2, 2 * j : 2 * j + 2].max() for j in range(10)] for i in range(3)] for m in maps]
        (first, first_bias), (last, last_bias) = weights(model.score[0]), weights(model.score[2])
        return (last @ np.maximum(first @ np.array(halved).ravel() + first_bias, 0) + last_bias).item()

    check(model, score)


def signals_of_pacrr(model: Pacrr, query: Tensor, passage: Tensor) -> np.ndarray:
    """What PACRR's head reads of each query word, by its formula: (query words, 10)."""
    left, right = vectors(model, query), vectors(model, passage)
    image = np.array([[[cosine(a, b) for b in right] for a in left]])
    maps = [image[0]]
    for side, window in zip((2, 3), model.head.windows, strict=True):
        maps.append(np.maximum(convolve(image, *weights(window), before=(side - 1) // 2), 0).max(axis=0))
    shares = softmax([float(model.idf.idf[word]) for word in query])
    best = [[[*sorted(m[row], reverse=True)[:3], 0.0, 0.0][:3] for m in maps] for row in range(len(query))]
    return np.array([[*np.ravel(row), share] for row, share in zip(best, shares, strict=True)])


def test_dense_pacrr_is_its_formula(vocabulary: Vocabulary):
    model = Pacrr(PacrrConfig(reader="dense", query_words=4), vocabulary)
    layers = [weights(layer) for layer in model.head.reader if isinstance(layer, torch.nn.Linear)]

    def score(query: Tensor, passage: Tensor) -> float:
        signals = signals_of_pacrr(model, query, passage)[:4]
        read = np.concatenate([signals.ravel(), np.zeros(40 - signals.size)])
        for weight, bias in layers[:-1]:
            read = np.maximum(weight @ read + bias, 0)
        weight, bias = layers[-1]
        return float((weight @ read + bias).item())

    check(model, score)


def test_pacrr_is_its_formula(vocabulary: Vocabulary):
    model = Pacrr(PacrrConfig(), vocabulary)
    reader = {name: value.detach().double().numpy() for name, value in model.head.reader.named_parameters()}

    def score(query: Tensor, passage: Tensor) -> float:
        output = cell = 0.0
        for signals in signals_of_pacrr(model, query, passage):
            gates = reader["weight_ih_l0"] @ signals + reader["weight_hh_l0"][:, 0] * output
            into, forget, new, out = gates + reader["bias_ih_l0"] + reader["bias_hh_l0"]
            cell = cell / (1 + math.exp(-forget)) + math.tanh(new) / (1 + math.exp(-into))
            output = math.tanh(cell) / (1 + math.exp(-out))
        return output

    check(model, score)


# Bricks.


def test_heads_take_several_matrices():
    torch.manual_seed(0)
    similarities = torch.rand(3, 4, 5, 9) * 2 - 1
    query, passage = torch.arange(5) < torch.tensor([[5], [3], [1]]), torch.arange(9) < torch.tensor([[9], [2], [7]])
    idf = torch.rand(3, 5)
    heads = {
        "knrm": (KnrmHead(KnrmConfig(), 4), ()),
        "drmm-tks": (DrmmTksHead(DrmmTksConfig(), 1, 4), (idf.unsqueeze(-1),)),
        "pacrr": (PacrrHead(PacrrConfig(), 4), (idf,)),
        "pacrr, dense": (PacrrHead(PacrrConfig(reader="dense", query_words=4), 4), (idf,)),
    }
    spoilt = similarities.masked_fill(~(query.unsqueeze(2) & passage.unsqueeze(1)).unsqueeze(1), 0.9)
    for name, (head, known) in heads.items():
        scores = head(similarities, query, passage, *known)
        assert scores.shape == (3,), name
        torch.testing.assert_close(head(spoilt, query, passage, *known), scores, msg=name)
        for number in range(4):
            changed = similarities.clone()
            changed[:, number] *= 0.5
            assert not torch.allclose(head(changed, query, passage, *known), scores), (name, number)


@pytest.mark.parametrize("block", [1 << 16, 10])
def test_soft_counts_and_gradient_follow_the_formula(monkeypatch: pytest.MonkeyPatch, block: int):
    monkeypatch.setattr(interaction, "_BLOCK", block)
    values = (torch.rand(2, 3, 5, dtype=torch.double) * 2 - 1).requires_grad_()
    centres, widths = (0.9, 0.1, -0.5), (0.3, 0.1, 0.1)
    plain = torch.exp(-((values.unsqueeze(-1) - torch.tensor(centres)) ** 2) / (2 * torch.tensor(widths) ** 2)).sum(-2)
    torch.testing.assert_close(soft_counts(values, centres, widths), plain)
    assert torch.autograd.gradcheck(lambda x: soft_counts(x, centres, widths), values)


def test_k_max_ignores_padding_and_fills_with_zeros():
    values = torch.tensor([[-0.5, -0.2, 9.0, 9.0], [0.1, 0.4, 0.3, 0.2]])
    mask = torch.tensor([[True, True, False, False], [True, True, True, True]])
    torch.testing.assert_close(k_max(values, mask, 3), torch.tensor([[-0.2, -0.5, 0.0], [0.4, 0.3, 0.2]]))
    assert k_max(values, mask, 6).tolist()[0] == pytest.approx([-0.2, -0.5, 0, 0, 0, 0])


def test_dynamic_pooling_sees_an_examples_own_cells_only():
    maps = torch.full((1, 1, 4, 6), 99.0)
    maps[0, 0, :2, :3] = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    query, passage = (torch.arange(4) < 2)[None], (torch.arange(6) < 3)[None]
    pooled = dynamic_max_pool(maps, query, passage, (2, 2))
    assert pooled.tolist() == [[[[2.0, 3.0], [5.0, 6.0]]]]


def test_exact_matches_have_a_bin_of_their_own():
    values = torch.tensor([-1.0, -0.51, -0.5, 0.0, 0.49, 0.999, 1.0 - 1e-7, 1.0])
    assert bin_numbers(values, 5).tolist() == [0, 0, 1, 2, 2, 3, 4, 4]


@pytest.mark.parametrize(
    "make",
    [
        lambda: DrmmConfig(gate="weather"),  # type: ignore[arg-type]
        lambda: DrmmConfig(bins=1),
        lambda: DrmmTksConfig(gate="weather"),  # type: ignore[arg-type]
        lambda: DrmmTksConfig(top_k=0),
        lambda: AnmmConfig(bins=0),
        lambda: MatchPyramidConfig(similarity="weather"),  # type: ignore[arg-type]
        lambda: MatchPyramidConfig(grid=(3, 10)),
        lambda: PacrrConfig(top_k=0),
        lambda: PacrrConfig(query_words=0),
        lambda: PacrrConfig(reader="weather"),  # type: ignore[arg-type]
    ],
)
def test_settings_that_make_no_network_are_refused(make: Callable[[], object]):
    with pytest.raises(ConfigError, match="expected"):
        make()
