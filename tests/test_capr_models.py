"""What every architecture promises, and what each of CAPR does; an architecture in the registry cannot escape."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import numpy as np
import pytest
import torch
from torch import Tensor

import auscult.models.capr
import auscult.models.ckhqa
from auscult.documents import Section, build_document
from auscult.errors import ConfigError, DataError, ModelError
from auscult.evaluation.contenders import open_contenders
from auscult.evaluation.encoder_scorer import EncoderScorer
from auscult.models import is_scorer, load_model, load_scorer
from auscult.models.backbone import PASSAGE_MARK, QUERY_MARK, open_backbone, pool
from auscult.models.capr.base import CaprConfig, PassageRanker, PassageText, passage_text, query_text
from auscult.models.capr.bi import BiEncoder
from auscult.models.capr.cross import CrossEncoder
from auscult.models.capr.encoder import BiDocumentEncoder
from auscult.models.capr.interchange import open_sentence_transformer
from auscult.models.capr.long_towers import LongTowers
from auscult.models.capr.persistence import load, save
from auscult.models.capr.poly import PolyEncoder
from auscult.models.capr.registry import ARCHITECTURES, create
from auscult.models.capr.scorer import CaprScorer
from auscult.models.knowledge_vectors import save as save_vectors
from auscult.queries import Query
from auscult.search import Searcher, build_index
from auscult.search.explain import explain
from small_knowledge import small_vectors
from tiny_bert import LAYERS, WORDS, same_weights, save_tiny_bert

TOLERANCE = 1e-4
PACKAGES = (auscult.models.capr, auscult.models.ckhqa)
LONG = {"stretch": 80, "window": 4, "max_passage_tokens": 70}
KNOWING = {"knowledge": "$SMALL_KNOWLEDGE", "joint_dim": 12}
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
}
every_variant = pytest.mark.parametrize("variant", VARIANTS)


@pytest.fixture(scope="module")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_bert(tmp_path_factory.mktemp("bert") / "backbone")


@pytest.fixture(autouse=True, scope="module")
def _knowledge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("graph") / "vectors"
    save_vectors(small_vectors(), folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SMALL_KNOWLEDGE", str(folder))
        yield


def make(variant: str, backbone: Path, **settings: object) -> PassageRanker:
    kind, own = VARIANTS[variant]
    torch.manual_seed(1)
    return create(kind, str(backbone), {**own, **settings}).eval()


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


def test_every_architecture_in_the_package_is_registered_and_tested():
    found = set()
    for package, module in ((each, own) for each in PACKAGES for own in iter_modules(each.__path__)):
        content = import_module(f"{package.__name__}.{module.name}")
        found |= {each for _, each in inspect.getmembers(content, inspect.isclass) if issubclass(each, PassageRanker)}
    concrete = {each for each in found if not inspect.isabstract(each)}
    assert {each.ranker for each in ARCHITECTURES.values()} == concrete
    assert all(kind == each.ranker.kind for kind, each in ARCHITECTURES.items())
    assert {kind for kind, _ in VARIANTS.values()} == set(ARCHITECTURES)


@every_variant
@pytest.mark.parametrize("batch_size", [1, 4, 100])
def test_company_order_and_batches_never_change_a_score(variant: str, backbone: Path, batch_size: int):
    ranker = make(variant, backbone)
    asked = passages(9)
    alone = torch.cat([scores_of(ranker, "asthma ; signs", [each]) for each in asked])
    ranker.batch_size = batch_size
    close(scores_of(ranker, "asthma ; signs", asked), alone)
    close(scores_of(ranker, "asthma ; signs", asked[::-1]).flip(0), alone)
    assert alone.dtype == torch.float32
    assert alone.unique().numel() > 6


@every_variant
def test_training_scores_are_the_scores_that_are_ranked_by(variant: str, backbone: Path):
    ranker = make(variant, backbone)
    queries, asked = texts(4, seed=3, longest=6), passages(7)
    rows = torch.tensor([[0, 3, 6], [1, 1, 2], [5, 4, 0], [6, 2, 3]])
    lists = ranker.score_lists(queries, asked, rows)
    assert lists.shape == rows.shape
    # Poly keeps states in half precision.
    for query, own, scored in zip(queries, rows, lists, strict=True):
        close(scored.detach(), scores_of(ranker, query, asked)[own], 1e-2 if ranker.kind == "poly" else TOLERANCE)


@every_variant
def test_gradients_reach_every_parameter(variant: str, backbone: Path):
    ranker = make(variant, backbone).train()
    rows = all_rows(6, 8)
    weights = torch.randn(rows.shape, generator=torch.Generator().manual_seed(0))
    (ranker.score_lists(texts(6, seed=4, longest=8), passages(8), rows) * weights).sum().backward()
    trained = {name: each for name, each in ranker.named_parameters() if each.requires_grad}
    # What a Longformer's last layer projects for local tokens does not reach its first token, which is global.
    last = f".layer.{LAYERS - 1}.attention.self."
    local = [f"{last}{role}." for role in ("query", "key", "value")] if isinstance(ranker, LongTowers) else []
    assert [name for name, each in trained.items() if each.grad is None] == []
    without = [
        name
        for name, each in trained.items()
        if not each.grad.abs().sum() > 0 and not any(part in name for part in local)
    ]
    assert {name for name in trained if name.startswith("head")} or isinstance(ranker, BiEncoder)
    # Zeros times U: without an entity it learns nothing.
    assert without == (["head.fusion.knowledge.weight"] if variant == "ck-no-entity" else [])
    frozen = {name for name, each in ranker.named_parameters() if not each.requires_grad}
    words_only = getattr(ranker.config, "context", "") == "words"
    assert all("pooler" in name or (words_only and "word_embeddings" not in name) for name in frozen)


@every_variant
@pytest.mark.parametrize("chunk", [1, 3, 50])
def test_chunks_change_neither_scores_nor_gradients(variant: str, backbone: Path, chunk: int):
    ranker = make(variant, backbone)
    queries, asked, rows = (
        texts(5, seed=5, longest=8),
        passages(7),
        torch.tensor([[0, 1, 2, 6]] * 3 + [[3, 4, 5, 0]] * 2),
    )
    found = []
    for size in (None, chunk):
        ranker.zero_grad()
        scores = ranker.score_lists(queries, asked, rows, chunk=size)
        torch.nn.functional.cross_entropy(scores, torch.zeros(5, dtype=torch.long)).backward()
        gradients = {name: each.grad for name, each in ranker.named_parameters() if each.grad is not None}
        found.append((scores.detach(), gradients))
    (scores, gradients), (chunked_scores, chunked_gradients) = found
    close(chunked_scores, scores, 1e-5)
    assert set(gradients) == set(chunked_gradients)
    for name, gradient in gradients.items():
        close(chunked_gradients[name], gradient, 1e-5)


@every_variant
def test_chunks_hold_the_activations_of_one_chunk(variant: str, backbone: Path):
    ranker = make(variant, backbone)
    queries, asked = texts(4, seed=5, longest=8), passages(16)

    def held(chunk: int | None) -> int:
        total = 0

        def count(tensor: Tensor) -> Tensor:
            nonlocal total
            total += tensor.numel()
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
            ranker.score_lists(queries, asked, all_rows(4, 16), chunk=chunk)
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
def test_a_saved_model_has_the_same_weights_and_scores(variant: str, backbone: Path, tmp_path: Path):
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


def test_a_model_replaces_another_of_its_folder(backbone: Path, tmp_path: Path):
    save(make("bi", backbone), tmp_path)
    fingerprint = save(make("cross", backbone), tmp_path)
    assert load(tmp_path).fingerprint == fingerprint
    assert load(tmp_path).ranker.kind == "cross"


@pytest.mark.parametrize("file", ["head.safetensors", "passages/model.safetensors", "queries/tokenizer.json"])
@pytest.mark.parametrize("damage", ["changed", "gone"])
def test_a_damaged_folder_is_refused(backbone: Path, tmp_path: Path, file: str, damage: str):
    save(make("poly", backbone), tmp_path)
    path = tmp_path / file
    if damage == "gone":
        path.unlink()
    else:
        content = path.read_bytes()
        path.write_bytes(content[:-3] + b"  \n")
    with pytest.raises(ModelError, match=r"copy the model again"):
        load(tmp_path)


def test_another_version_of_the_format_is_refused(backbone: Path, tmp_path: Path):
    save(make("cross", backbone), tmp_path)
    settings = json.loads((tmp_path / "model.json").read_text())
    (tmp_path / "model.json").write_text(json.dumps(settings | {"format": 99}))
    with pytest.raises(ModelError, match="format 99"):
        load(tmp_path)


def test_bad_settings_are_refused(backbone: Path):
    for kind, settings, named in [
        ("siamese", {}, "architecture"),
        ("bi", {"codes": 3}, "codes"),
        ("bi", {"document_share": -1.0}, "document_share"),
        ("bi", {"pooling": "max"}, "pooling"),
        ("poly", {"codes": 0}, "code"),
        ("poly", {"temperature": 0.0}, "temperature"),
        ("cross", {"cosine": True}, "cosine"),
        ("cross", {"max_query_tokens": 1}, "max_query_tokens"),
    ]:
        with pytest.raises(ConfigError, match=named):
            create(kind, str(backbone), settings)
    with pytest.raises(ModelError, match="Hugging Face"):
        create("bi", str(backbone / "nowhere"))


# Bi-encoder


def states(folder: Path, text: str, limit: int = 40) -> Tensor:
    opened = open_backbone(str(folder)).eval()
    with torch.no_grad():
        return opened(opened.tokenize([text], max_tokens=limit))[0]


def test_bi_is_the_dot_product_of_first_tokens(backbone: Path):
    ranker = make("bi", backbone)
    expected = states(backbone, "asthma ; signs")[0] @ states(backbone, "people feel pain")[0]
    close(scores_of(ranker, "asthma ; signs", [PassageText("people feel pain")]), expected.view(1))


def test_bi_with_cosine_and_means_is_what_sentence_transformers_have(backbone: Path):
    ranker = make("bi-mean-cosine", backbone, temperature=7.0)
    query, passage = states(backbone, "asthma").mean(dim=0), states(backbone, "people feel pain").mean(dim=0)
    expected = 7 * torch.cosine_similarity(query, passage, dim=0)
    close(scores_of(ranker, "asthma", [PassageText("people feel pain")]), expected.view(1))


def test_marks_tell_a_shared_encoder_what_it_reads(backbone: Path):
    ranker = make("bi-shared", backbone)
    assert isinstance(ranker, BiEncoder)
    assert ranker.queries is ranker.passages
    tokenizer = ranker.passages.tokenizer
    read = ranker.passages.tokenize([f"{QUERY_MARK} gout"], max_tokens=8)["input_ids"][0].tolist()
    assert tokenizer.convert_ids_to_tokens(read) == ["[CLS]", QUERY_MARK, "gout", "[SEP]"]
    assert PASSAGE_MARK in tokenizer.get_vocab()
    same = "asthma gout"
    assert not torch.allclose(ranker.query_vectors([same]), ranker.keep([PassageText(same)]))
    plain = make("bi-shared", backbone, mark=False)
    assert isinstance(plain, BiEncoder)
    close(plain.query_vectors([same]).detach(), plain.keep([PassageText(same)]))
    assert QUERY_MARK not in plain.passages.tokenizer.get_vocab()


def test_two_encoders_are_trained_apart(backbone: Path):
    ranker = make("bi", backbone)
    apart, shared = (sum(each.numel() for each in made.parameters()) for made in (ranker, make("bi-shared", backbone)))
    assert apart > 1.9 * shared
    assert ranker.backbones()["queries"] is not ranker.backbones()["passages"]


def test_documents_share_their_mean():
    config = ARCHITECTURES["bi"].config
    for cosine in (False, True):
        ranker = BiEncoder.__new__(BiEncoder)
        torch.nn.Module.__init__(ranker)
        ranker.config = config(document_share=0.5, cosine=cosine)
        kept = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
        shared = ranker.share_documents(kept, torch.tensor([0, 0, 1]))
        expected = torch.tensor([[1.25, 0.25], [0.25, 1.25], [0.9, 1.2]])
        close(shared, torch.nn.functional.normalize(expected, dim=1) if cosine else expected, 1e-6)


# Poly-encoder


@pytest.mark.parametrize("cosine", [False, True])
@pytest.mark.parametrize("codes", [None, 3])
def test_poly_is_equation_2_token_by_token(backbone: Path, codes: int | None, cosine: bool):
    """The formulas of grundmann2021 and humeau2020 in loops over plain numbers."""
    ranker = make("poly", backbone, codes=codes, cosine=cosine)
    assert isinstance(ranker, PolyEncoder)
    learned = ranker.head.weight if codes is None else ranker.head.codes
    with torch.no_grad():
        learned.copy_(torch.randn(learned.shape, generator=torch.Generator().manual_seed(2)) / 4)
    matrix = learned.tolist()
    query = states(backbone, "asthma ; signs")[0].tolist()
    if cosine:
        query = [value / math.sqrt(dot(query, query)) for value in query]
    asked = passages(4)
    expected = []
    for passage in asked:
        tokens = states(backbone, passage.text).tolist()
        if codes is None:
            weights = softmax(
                [sum(q * dot(row, token) for q, row in zip(query, matrix, strict=True)) for token in tokens]
            )
            vector = mixture(weights, tokens)
        else:
            found = [mixture(softmax([dot(code, token) for token in tokens]), tokens) for code in matrix]
            vector = mixture(softmax([dot(query, each) for each in found]), found)
        length = math.sqrt(dot(vector, vector)) if cosine else 1.0
        expected.append((ranker.config.temperature if cosine else 1.0) * dot(query, vector) / length)
    lists = ranker.score_lists(["asthma ; signs"], asked, all_rows(1, 4))[0]
    close(lists.detach(), torch.tensor(expected))


@pytest.mark.parametrize("scale", [None, 2.0])
def test_attention_begins_as_the_unit_matrix_times_its_scale(backbone: Path, scale: float | None):
    ranker = make("poly", backbone, attention_scale=scale)
    assert isinstance(ranker, PolyEncoder)
    with torch.no_grad():
        query = ranker.query_vectors(["asthma ; signs"])
        close(ranker.head.asked(query), query * (scale or 1 / math.sqrt(query.shape[1])))


def dot(left: list[float], right: list[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


def softmax(logits: list[float]) -> list[float]:
    powers = [math.exp(logit - max(logits)) for logit in logits]
    return [power / sum(powers) for power in powers]


def mixture(weights: list[float], vectors: list[list[float]]) -> list[float]:
    return [dot(weights, list(column)) for column in zip(*vectors, strict=True)]


def test_poly_keeps_tokens_in_half_precision_without_padding(backbone: Path):
    asked = [PassageText("gout"), PassageText("people feel pain and fever")]
    kept = make("poly", backbone).keep(asked)
    assert [tuple(each.shape) for each in kept] == [(3, 16), (7, 16)]
    assert {each.dtype for each in kept} == {torch.float16}
    assert [tuple(each.shape) for each in make("poly-codes", backbone).keep(asked)] == [(3, 16), (3, 16)]


# Cross-encoder


def test_cross_reads_the_pair(backbone: Path):
    ranker = make("cross", backbone)
    assert isinstance(ranker, CrossEncoder)
    opened = open_backbone(str(backbone)).eval()
    fields = opened.tokenizer("gout", "people feel pain", return_tensors="pt")
    words = ["[CLS]", "gout", "[SEP]", "people", "feel", "pain", "[SEP]"]
    assert opened.tokenizer.convert_ids_to_tokens(fields["input_ids"][0].tolist()) == words
    with torch.no_grad():
        expected = ranker.head(opened(dict(fields))[0, 0])
    close(scores_of(ranker, "gout", [PassageText("people feel pain")]), expected)


def test_cross_reads_only_what_is_asked(backbone: Path, monkeypatch: pytest.MonkeyPatch):
    ranker = make("cross", backbone)
    assert isinstance(ranker, CrossEncoder)
    read: list[int] = []
    whole = ranker.pairs.forward
    monkeypatch.setattr(ranker.pairs, "forward", lambda batch: read.append(len(batch["input_ids"])) or whole(batch))
    ranker.score_lists(["gout", "asthma"], passages(9), torch.tensor([[0, 8], [3, 3]]), chunk=3)
    assert sum(read) == 4
    assert max(read) <= 3


def test_a_long_query_leaves_place_for_the_passage(backbone: Path):
    ranker = make("cross", backbone)
    long = "gout " * 200
    scores = scores_of(ranker, long, [PassageText("people feel pain"), PassageText("a gene causes it")])
    assert scores[0] != scores[1]
    opened = open_backbone(str(backbone))
    assert opened.cut("gout asthma, signs", 3) == "gout asthma,"
    assert opened.cut("", 3) == ""


# As scorers and encoders


def collection():
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


@every_variant
@pytest.mark.parametrize("precision", ["float32", "bf16"])
def test_scorers_score_what_was_prepared(variant: str, backbone: Path, precision: str):
    ranker = make(variant, backbone, **({"document_share": 0.0} if variant == "bi-mean-cosine" else {}))
    scorer = CaprScorer(ranker.train(), precision=precision)  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="prepare"):
        scorer.score(QUERY, ["a#1"])
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
    with pytest.raises(DataError, match="x#1"):
        scorer.score(QUERY, ["x#1"])
    with pytest.raises(DataError, match="twice"):
        scorer.prepare([*documents, *documents])


def test_queries_are_read_as_entity_and_aspects():
    assert query_text(QUERY) == "asthma ; signs"
    assert query_text(Query(query_id="", entity="", text="what is it")) == "what is it"


def test_an_index_ranks_as_the_bi_encoder_does(backbone: Path):
    ranker = make("bi-mean-cosine", backbone)
    assert isinstance(ranker, BiEncoder)
    encoder = BiDocumentEncoder(ranker)
    rows = encoder.encode_documents(collection())
    assert [len(each) for each in rows] == [3, 6]
    np.testing.assert_allclose(np.linalg.norm(np.concatenate(rows), axis=1), 1.0, atol=1e-5)
    names = ["a#1", "a#2", "g#1"]
    direct, through = CaprScorer(ranker), EncoderScorer(encoder)
    for scorer in (direct, through):
        scorer.prepare(collection())
    expected = direct.score(QUERY, names) / ranker.config.temperature
    np.testing.assert_allclose(through.score(QUERY, names), expected, atol=1e-5)
    assert encoder.encode_documents([]) == []


def test_an_index_of_a_bi_encoder_is_searched_and_explained(backbone: Path, tmp_path: Path):
    save(make("bi-mean-cosine", backbone), tmp_path / "model")
    model = str(tmp_path / "model")
    build_index(collection(), load_model(model), tmp_path / "index", model_path=model)
    searcher = Searcher.open(tmp_path / "index")
    hits = searcher.search(QUERY, 3)
    curves = explain(searcher, QUERY, hits[0].doc_id)
    scorer = load_scorer(model)
    scorer.prepare(collection())
    expected = scorer.score(QUERY, [hit.passage_id for hit in hits]) / CaprConfig().temperature
    np.testing.assert_allclose([hit.score for hit in hits], expected, atol=1e-3)
    for hit in hits:
        # Sentence vectors are stored in half precision.
        np.testing.assert_allclose([each.score for each in hit.sentences], hit.score, atol=1e-3)
    assert curves.best is not None
    assert curves.passages[curves.best].passage_id == hits[0].passage_id
    assert curves.combined[curves.passages[curves.best].first] == pytest.approx(hits[0].score, abs=1e-3)


def test_models_are_opened_by_what_they_are(backbone: Path, tmp_path: Path):
    save(make("bi-mean-cosine", backbone), tmp_path / "bi", name="mine")
    encoder = load_model(str(tmp_path / "bi"))
    assert isinstance(encoder, BiDocumentEncoder)
    assert encoder.fingerprint == load(tmp_path / "bi").fingerprint
    save(make("bi", backbone), tmp_path / "dot")
    with pytest.raises(ModelError, match="cosine: true"):
        load_model(str(tmp_path / "dot"))
    save(make("cross", backbone), tmp_path / "cross")
    with pytest.raises(ModelError, match="bi-encoder"):
        load_model(str(tmp_path / "cross"))
    for name in ("bi", "dot", "cross"):
        assert is_scorer(str(tmp_path / name))
        scorer = load_scorer(str(tmp_path / name))
        scorer.prepare(collection())
        assert np.isfinite(scorer.score(QUERY, ["a#1", "g#1"])).all()


def test_contenders_are_opened_with_their_track(backbone: Path, tmp_path: Path):
    training = {"track": "zero-shot", "corpora": [{"name": "wikisection", "split": "train"}]}
    save(make("poly", backbone), tmp_path / "poly", name="mine", training=training)
    (contender,) = open_contenders(str(tmp_path / "poly"), "medquad")
    assert (contender.scorer.name, contender.track) == ("mine", "zero-shot")
    assert contender.training == training
    save(make("bi-mean-cosine", backbone), tmp_path / "bi")
    (bare,) = open_contenders(str(tmp_path / "bi" / "passages"), "medquad")
    assert (bare.scorer.name, bare.track, len(bare.fingerprint)) == ("passages", "untrained", 64)


@pytest.mark.parametrize("kept", ["poly", "bi/passages"])
def test_contenders_compute_in_the_precision_asked_for(kept: str, backbone: Path, tmp_path: Path):
    save(make("poly", backbone), tmp_path / "poly", training={"track": "zero-shot"})
    save(make("bi-mean-cosine", backbone), tmp_path / "bi")
    scores = {}
    for precision in ("float32", "bf16"):
        (contender,) = open_contenders(str(tmp_path / kept), "medquad", precision=precision)
        assert contender.precision == precision
        contender.scorer.prepare(collection())
        scores[precision] = contender.scorer.score(QUERY, ["a#1", "g#1"])
    assert not np.array_equal(scores["bf16"], scores["float32"])
    np.testing.assert_allclose(scores["bf16"], scores["float32"], atol=0.05 * np.abs(scores["float32"]).max())


# sentence-transformers


@pytest.mark.parametrize("variant", ["bi", "bi-shared", "bi-mean-cosine"])
def test_a_saved_encoder_opens_again_as_a_sentence_transformer(variant: str, backbone: Path, tmp_path: Path):
    ranker = make(variant, backbone, max_query_tokens=9, max_passage_tokens=30)
    save(ranker, tmp_path)
    opened = open_sentence_transformer(str(tmp_path / "passages")).eval()
    assert isinstance(ranker, BiEncoder)
    asked = passages(5)
    assert torch.equal(opened.keep(asked), ranker.keep(asked))
    if variant != "bi-shared":
        opened = open_sentence_transformer(str(tmp_path / "queries")).eval()
    queries = texts(3, seed=9, longest=5 if variant == "bi-shared" else 20)
    with torch.no_grad():
        close(opened.query_vectors(queries), ranker.query_vectors(queries), 1e-6)


def test_what_is_no_sentence_transformer_is_refused(backbone: Path, tmp_path: Path):
    with pytest.raises(ModelError, match="sentence-transformers"):
        open_sentence_transformer(str(tmp_path))
    save(make("bi", backbone), tmp_path)
    passages_folder = tmp_path / "passages"
    (passages_folder / "1_Pooling" / "config.json").write_text('{"pooling_mode": "lasttoken"}')
    with pytest.raises(ModelError, match="lasttoken"):
        open_sentence_transformer(str(passages_folder))
    modules = json.loads((passages_folder / "modules.json").read_text())
    dense = {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"}
    (passages_folder / "modules.json").write_text(json.dumps([*modules, dense]))
    with pytest.raises(ModelError, match="Dense"):
        open_sentence_transformer(str(passages_folder))


@pytest.mark.parametrize("variant", ["bi", "bi-shared", "bi-mean-cosine"])
def test_the_package_gives_the_same_vectors(variant: str, backbone: Path, tmp_path: Path):
    package = pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    ranker = make(variant, backbone, max_query_tokens=9, max_passage_tokens=30)
    assert isinstance(ranker, BiEncoder)
    save(ranker, tmp_path)
    asked, queries = texts(6, seed=8), texts(4, seed=9, longest=5)
    tower = package.SentenceTransformer(str(tmp_path / "passages"), device="cpu")
    kept = ranker.keep([PassageText(text) for text in asked]).numpy()
    np.testing.assert_allclose(tower.encode(asked), kept, atol=1e-5)
    np.testing.assert_allclose(tower.encode_document(asked), kept, atol=1e-5)
    assert tower.similarity_fn_name == ("cosine" if ranker.config.cosine else "dot")
    if not ranker.config.shared:
        tower = package.SentenceTransformer(str(tmp_path / "queries"), device="cpu")
        queries = texts(4, seed=9)
    with torch.no_grad():
        np.testing.assert_allclose(tower.encode_query(queries), ranker.query_vectors(queries).numpy(), atol=1e-5)


def test_what_the_package_saves_is_opened(backbone: Path, tmp_path: Path):
    package = pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    save(make("bi-mean-cosine", backbone, max_passage_tokens=30), tmp_path / "ours")
    model = package.SentenceTransformer(str(tmp_path / "ours" / "passages"), device="cpu")
    model.save(str(tmp_path / "theirs"))
    opened = open_sentence_transformer(str(tmp_path / "theirs")).eval()
    asked = texts(6, seed=8)
    np.testing.assert_allclose(
        opened.keep([PassageText(text) for text in asked]).numpy(), model.encode(asked), atol=1e-5
    )


def test_pooling_leaves_padding_out():
    given = torch.tensor([[[1.0], [3.0], [100.0]]])
    assert pool(given, torch.tensor([[1, 1, 0]]), "mean").tolist() == [[2.0]]
    assert pool(given, torch.tensor([[1, 1, 0]]), "cls").tolist() == [[1.0]]


def test_a_scorer_runs_where_it_is_fastest_and_scores_the_same(tmp_path: Path, backbone: Path) -> None:
    if not torch.cuda.is_available():
        pytest.skip("no GPU that torch can use")
    asked = [passage.passage_id for document in collection() for passage in document.passages]
    for variant in VARIANTS:
        here = CaprScorer(make(variant, backbone))
        save(here.ranker, tmp_path / variant, training={})
        there = load_scorer(str(tmp_path / variant))
        assert isinstance(there, CaprScorer)
        assert {each.device.type for each in there.ranker.parameters()} == {"cuda"}
        here.prepare(collection())
        there.prepare(collection())
        np.testing.assert_allclose(there.score(QUERY, asked), here.score(QUERY, asked), atol=1e-3, err_msg=variant)
