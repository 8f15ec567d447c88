"""Longformers: stretched encoders keep their states; passages are read with surroundings, masked at the end."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from torch import Tensor
from transformers import (
    AutoModel,
    DistilBertConfig,
    DistilBertModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaModel,
)

from auscult.errors import ConfigError, ModelError
from auscult_lab.encoders.base import PassageRanker, PassageText
from auscult_lab.encoders.build import set_dropout
from auscult_lab.encoders.longformer import (
    GLOBAL,
    OWN,
    LongBackbone,
    LongBiEncoder,
    LongPolyEncoder,
    LongTowers,
    _fit,
    stretch,
)
from auscult_lab.encoders.persistence import load, save
from auscult_lab.encoders.registry import create
from auscult_lab.modules.backbone import Backbone, open_backbone
from tiny_bert import WORDS, same_weights, save_tiny_bert

BEFORE, AFTER = "the signs of gout come slowly", "fever and pain often causes gout"
LONG_KINDS = {"long-bi": "bi", "long-poly": "poly"}


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="module")
def roberta(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Positions of a RoBERTa begin behind that of padding, which is not 0."""
    folder = tmp_path_factory.mktemp("roberta")
    pieces = ["<s>", "<pad>", "</s>", "<unk>", *WORDS]
    words = Tokenizer(models.WordLevel({word: row for row, word in enumerate(pieces)}, "<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    marks = dict(zip(("cls_token", "pad_token", "sep_token", "unk_token"), pieces, strict=False))
    PreTrainedTokenizerFast(tokenizer_object=words, model_max_length=40, **marks).save_pretrained(folder)
    torch.manual_seed(0)
    config = RobertaConfig(
        vocab_size=len(pieces), hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=42, initializer_range=0.3, type_vocab_size=1,
    )  # fmt: skip
    RobertaModel(config).save_pretrained(folder)
    return folder


def text(words: int, seed: int = 0) -> str:
    return " ".join(np.random.default_rng(seed).choice(WORDS, words))


def states(backbone: Backbone, given: list[str], **masks: Tensor) -> Tensor:
    with torch.no_grad():
        return backbone.eval()(backbone.tokenize(given, max_tokens=backbone.limit) | masks)


def make(kind: str, backbone: Path, **settings: object) -> LongTowers:
    torch.manual_seed(1)
    made = create(kind, str(backbone), {"window": 8, "stretch": 120, "max_passage_tokens": 120, **settings}).eval()
    assert isinstance(made, LongTowers)
    return made


def score(ranker: PassageRanker, *passages: PassageText) -> Tensor:
    return ranker.score_kept("gout ; causes", ranker.keep(passages))


# The converter


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_a_text_inside_the_window_keeps_its_states(kind: str, request: pytest.FixtureRequest):
    short = open_backbone(str(request.getfixturevalue(kind)))
    long = stretch(short, max_tokens=100, window=48)
    given = [text(20), text(5, seed=1)]
    before, after = states(short, given), states(long, given)
    there = short.tokenize(given, max_tokens=40)["attention_mask"].bool()
    assert there.sum() < there.numel()
    torch.testing.assert_close(after[there], before[there], atol=1e-4, rtol=0)


@pytest.mark.parametrize("kind", ["bert", "roberta"])
def test_global_tokens_see_what_the_short_encoder_saw(kind: str, request: pytest.FixtureRequest):
    """With every token global, the copied projections make full attention, however small the window is."""
    short = open_backbone(str(request.getfixturevalue(kind)))
    long = stretch(short, max_tokens=100, window=4)
    given = [text(36)]
    everywhere = torch.ones_like(short.tokenize(given, max_tokens=40)["input_ids"])
    torch.testing.assert_close(states(long, given, **{GLOBAL: everywhere}), states(short, given), atol=1e-4, rtol=0)
    assert not torch.allclose(states(long, given), states(short, given), atol=1e-2)


def test_positions_are_repeated_to_the_end(bert: Path):
    short = open_backbone(str(bert))
    long = stretch(short, max_tokens=100, window=8)
    assert (short.limit, long.limit) == (40, 100)
    old = short.model.embeddings.position_embeddings.weight
    new = long.model.embeddings.position_embeddings.weight
    for position in (0, 39, 40, 99):
        assert torch.equal(new[1 + position], old[position % 40])
    assert torch.isfinite(states(long, [text(99)])).all()
    assert states(long, [text(300)]).shape[1] == 100


@pytest.mark.parametrize("local", [range(9, 100), range(20, 50), ()], ids=["most", "a passage", "none"])
def test_the_librarys_own_forward_gives_the_same_states(local: Sequence[int], bert: Path, tmp_path: Path):
    """A saved stretched encoder is any Longformer: `AutoModel` opens it, and `LongBackbone` says nothing else."""
    long = stretch(open_backbone(str(bert)), max_tokens=100, window=8)
    long.save(tmp_path)
    opened = AutoModel.from_pretrained(tmp_path).eval()
    assert opened.config.model_type == "longformer"
    fields = long.tokenize([text(70), text(9)], max_tokens=100)
    there = fields["attention_mask"].bool()
    everywhere = fields["attention_mask"].clone()
    everywhere[:, [each for each in local if each < everywhere.shape[1]]] = 0
    theirs = opened(**fields, global_attention_mask=everywhere).last_hidden_state[there]
    ours = long.eval()(fields | {GLOBAL: everywhere})[there]
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=0)
    gradients = [
        torch.autograd.grad(states.square().sum(), model.embeddings.parameters())
        for states, model in ((ours, long.model), (theirs, opened))
    ]
    torch.testing.assert_close(*gradients, atol=1e-4, rtol=1e-4)
    again = LongBackbone(open_backbone(str(tmp_path)), window=8)
    assert again.limit == 100
    same_weights(again, long)
    torch.testing.assert_close(states(again, [text(70)]), states(long, [text(70)]), atol=1e-5, rtol=0)


def test_stretching_leaves_the_short_encoder_alone(bert: Path):
    short = open_backbone(str(bert))
    before = states(short, [text(9)])
    stretch(short, max_tokens=100, window=8).model.embeddings.word_embeddings.weight.data.zero_()
    assert torch.equal(states(short, [text(9)]), before)
    assert short.limit == 40


def test_an_encoder_that_cannot_be_stretched_is_refused(bert: Path):
    short = open_backbone(str(bert))
    other = DistilBertModel(DistilBertConfig(vocab_size=30, dim=8, n_layers=1, n_heads=1, hidden_dim=8))
    with pytest.raises(ModelError, match="distilbert"):
        stretch(Backbone(other, short.tokenizer))
    with pytest.raises(ConfigError, match="own 40"):
        stretch(short, max_tokens=40)
    for window in (2, 7):
        with pytest.raises(ConfigError, match="even window"):
            stretch(short, window=window)
    with pytest.raises(ModelError, match="a Longformer"):
        LongBackbone(short)
    with pytest.raises(ConfigError, match="attention"):
        create("long-bi", str(bert), {"attention": "everything"})


# Passages with their surroundings


@pytest.mark.parametrize("kind", LONG_KINDS)
def test_short_passages_score_as_in_the_short_architecture(kind: str, bert: Path):
    long = make(kind, bert, window=80)
    torch.manual_seed(1)
    short = create(LONG_KINDS[kind], str(bert)).eval()
    asked = [PassageText(text(20)), PassageText(text(6, seed=2))]
    # Poly keeps states in half precision.
    torch.testing.assert_close(score(long, *asked), score(short, *asked), atol=1e-4, rtol=1e-3)


@pytest.mark.parametrize("attention", ["surroundings", "passage", "first"])
@pytest.mark.parametrize("kind", LONG_KINDS)
def test_surroundings_change_scores_and_can_be_disabled(kind: str, attention: str, bert: Path):
    given, alone = PassageText(text(9), BEFORE, AFTER), PassageText(text(9))
    ranker = make(kind, bert, attention=attention)
    changes = (score(ranker, given) - score(ranker, alone)).abs()
    assert changes > 1e-3
    for other in (PassageText(text(9), BEFORE), PassageText(text(9), "", AFTER)):
        assert (score(ranker, other) - score(ranker, given)).abs() > 1e-4
    without = make(kind, bert, attention=attention, surroundings=False)
    assert without.surroundings == 0
    assert torch.equal(score(without, given), score(without, alone))


def test_the_kinds_of_attention_differ(bert: Path):
    given = PassageText(text(20), BEFORE, AFTER)
    scores = {kind: score(make("long-bi", bert, attention=kind), given).item() for kind in ("surroundings", "first")}
    scores["passage"] = score(make("long-bi", bert, attention="passage"), given).item()
    assert len({round(each, 4) for each in scores.values()}) == 3


def test_tokens_have_the_roles_of_the_paper(bert: Path):
    ranker = make("long-bi", bert, shared=True)
    fields = ranker._tokenize([PassageText("asthma pain", "gout", "fever slowly"), PassageText("gene")])
    rows = fields["input_ids"]
    tokens = ranker.passages.tokenizer.convert_ids_to_tokens(rows[0].tolist())
    assert tokens == ["[CLS]", "gout", "[PASSAGE]", "asthma", "pain", "fever", "slowly", "[SEP]"]
    assert fields[OWN][0].tolist() == [1, 0, 1, 1, 1, 0, 0, 1]
    assert fields[GLOBAL][0].tolist() == [0, 1, 0, 0, 0, 1, 1, 0]
    assert fields["attention_mask"][1].tolist() == [1] * 4 + [0] * 4
    assert not fields[GLOBAL][1].any()
    (_, states_, mask) = next(ranker.read_passages([PassageText("asthma pain", "gout", "fever slowly")]))
    assert states_.shape == (1, 5, 16)
    assert mask.tolist() == [[1, 1, 1, 1, 1]]


def test_the_last_layer_sees_only_the_passage(bert: Path):
    """A change of the surroundings' states before the last layer reaches nothing that is read."""
    ranker = make("long-poly", bert)
    *_, last = ranker.passages.model.encoder.layer
    passage = PassageText(text(9), BEFORE, AFTER)
    own = ranker._tokenize([passage])[OWN][0].bool()

    def disturbed(hidden: Tensor, rows: Tensor) -> Tensor:
        changed = hidden.clone()
        changed[:, : len(own)][:, rows] += 5.0
        return changed

    def read(rows: Tensor) -> Tensor:
        handle = last.register_forward_pre_hook(lambda _, given: (disturbed(given[0], rows), *given[1:]))
        try:
            with torch.no_grad():
                return next(ranker.read_passages([passage]))[1]
        finally:
            handle.remove()

    nothing = torch.zeros_like(own)
    torch.testing.assert_close(read(~own), read(nothing), atol=1e-6, rtol=0)
    assert not torch.allclose(read(own), read(nothing), atol=1e-2)


def test_spare_room_is_shared_by_both_sides():
    before, after = list(range(10)), list(range(20, 30))
    assert _fit(before, after, 0) == ([], [])
    assert _fit(before, after, 5) == ([8, 9], [20, 21, 22])
    assert _fit(before, after[:1], 5) == ([6, 7, 8, 9], [20])
    assert _fit([], after, 5) == ([], [20, 21, 22, 23, 24])
    assert _fit(before, after, 100) == (before, after)


def test_passages_with_surroundings_are_cut_to_the_limit(bert: Path):
    ranker = make("long-bi", bert, max_passage_tokens=50)
    assert ranker.surroundings == 200
    fields = ranker._tokenize([PassageText(text(500), BEFORE, AFTER), PassageText(text(10), text(90), text(90))])
    assert fields["input_ids"].shape == (2, 50)
    assert fields[OWN].sum(dim=1).tolist() == [50, 12]
    assert torch.isfinite(score(ranker, PassageText(text(5000)))).all()


@pytest.mark.parametrize("kind", LONG_KINDS)
def test_batching_and_chunking_change_no_score_or_gradient(kind: str, bert: Path):
    ranker = make(kind, bert)
    passages = [PassageText(text(4 * n + 1, seed=n), text(n, seed=n), text(9 - n, seed=n)) for n in range(9)]
    alone = torch.cat([score(ranker, passage) for passage in passages])
    torch.testing.assert_close(score(ranker, *passages), alone, atol=1e-4, rtol=1e-4)
    rows = torch.arange(9).repeat(2, 1)
    results = []
    for chunk in (None, 2):
        ranker.zero_grad()
        lists = ranker.score_lists(["gout", "asthma ; signs"], passages, rows, chunk=chunk)
        lists.square().mean().backward()
        results.append(
            (
                lists.detach(),
                {name: weights.grad for name, weights in ranker.named_parameters() if weights.requires_grad},
            )
        )
    torch.testing.assert_close(results[0], results[1], atol=1e-4, rtol=1e-3)
    idle = {name for name, gradient in results[0][1].items() if gradient is None or not gradient.any()}
    # Where only the first token is read, which is global, the last layer's projections of local tokens are not.
    towers = ("passages", "queries") if kind == "long-bi" else ("queries",)
    parts = [f"{name}.{kind}" for name in ("query", "key", "value") for kind in ("weight", "bias")]
    local = {f"{tower}.model.encoder.layer.1.attention.self.{part}" for tower in towers for part in parts}
    assert {name for name in idle if not name.endswith("key.bias")} == {
        name for name in local if not name.endswith("key.bias")
    }


@pytest.mark.parametrize("kind", LONG_KINDS)
def test_saved_long_model_keeps_weights_and_scores(kind: str, bert: Path, tmp_path: Path):
    ranker = make(kind, bert, shared=kind == "long-bi", cosine=True)
    passages = [PassageText(text(30), BEFORE, AFTER), PassageText(text(60, seed=1), AFTER)]
    expected = score(ranker, *passages)
    save(ranker, tmp_path)
    opened = load(tmp_path).ranker
    assert isinstance(opened, LongBiEncoder | LongPolyEncoder)
    assert opened.config == ranker.config
    same_weights(opened, ranker)
    torch.testing.assert_close(score(opened, *passages), expected, atol=1e-5, rtol=0)


def test_a_longformer_is_taken_as_it_is(bert: Path, tmp_path: Path):
    stretch(open_backbone(str(bert)), max_tokens=90, window=16).save(tmp_path)
    ranker = make("long-bi", tmp_path, stretch=4096)
    assert ranker.passages.limit == 90
    assert ranker.passages.window == 8


def test_half_precision_scores_stay_close(bert: Path):
    ranker = make("long-bi", bert, cosine=True)
    asked = [PassageText(text(30), BEFORE, AFTER), PassageText(text(60, seed=1), AFTER)]
    exact = score(ranker, *asked)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        half = score(ranker, *asked)
    torch.testing.assert_close(half, exact, atol=0.5, rtol=0)
    assert half.dtype == torch.float32


@pytest.mark.parametrize("kind", LONG_KINDS)
def test_a_dropout_of_zero_reaches_the_attention(kind: str, bert: Path):
    """Its share of dropout is a number there, and no module."""
    ranker = create(kind, str(bert), {"window": 4, "stretch": 64})
    set_dropout(ranker, 0.0)
    texts, rows = [PassageText(text(6, seed)) for seed in range(2)], torch.tensor([[0, 1]])
    told = [ranker.train(training).score_lists(["gout"], texts, rows).detach() for training in (True, False)]
    torch.testing.assert_close(*told)
