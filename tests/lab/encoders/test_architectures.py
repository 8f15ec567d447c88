"""What each architecture of CAPR does: formulas by loops, folders, and what opens them. `contracts` holds the rest."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from architectures import QUERY, VARIANTS, all_rows, close, collection, make, passages, scores_of, texts
from auscult.encoders import kind_of, load_model
from auscult.errors import ConfigError, ModelError
from auscult.ingest.building import build_index
from auscult.search import Searcher, SearchOptions
from auscult.search.explain import explain
from auscult.understanding import Query
from auscult_lab.encoders.base import CaprConfig, PassageText, query_text
from auscult_lab.encoders.bi import BiEncoder
from auscult_lab.encoders.cross import CrossEncoder
from auscult_lab.encoders.interchange import open_sentence_transformer
from auscult_lab.encoders.persistence import load, save
from auscult_lab.encoders.poly import PolyEncoder
from auscult_lab.encoders.registry import ARCHITECTURES, create
from auscult_lab.encoders.scorer import BiDocumentEncoder, CaprScorer
from auscult_lab.evaluation.contenders import open_contenders
from auscult_lab.modules.backbone import PASSAGE_MARK, QUERY_MARK, open_backbone, pool
from auscult_lab.opening import load_scorer
from auscult_lab.scorers.encoder_scorer import EncoderScorer
from needs import Needs


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


def test_bi_mean_cosine_scores_cosine_of_mean_states(backbone: Path):
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
    passage_texts = passages(4)
    expected = []
    for passage in passage_texts:
        tokens = states(backbone, passage.text).tolist()
        if codes is None:
            weights = softmax(
                [sum(q * dot(row, token) for q, row in zip(query, matrix, strict=True)) for token in tokens]
            )
            vector = mixture(weights, tokens)
        else:
            mixtures = [mixture(softmax([dot(code, token) for token in tokens]), tokens) for code in matrix]
            vector = mixture(softmax([dot(query, mixed) for mixed in mixtures]), mixtures)
        length = math.sqrt(dot(vector, vector)) if cosine else 1.0
        expected.append((ranker.config.temperature if cosine else 1.0) * dot(query, vector) / length)
    lists = ranker.score_lists(["asthma ; signs"], passage_texts, all_rows(1, 4))[0]
    close(lists.detach(), torch.tensor(expected))


@pytest.mark.parametrize("scale", [None, 2.0])
def test_attention_starts_as_the_scaled_identity_matrix(backbone: Path, scale: float | None):
    ranker = make("poly", backbone, attention_scale=scale)
    assert isinstance(ranker, PolyEncoder)
    with torch.no_grad():
        query = ranker.query_vectors(["asthma ; signs"])
        close(ranker.head.project(query), query * (scale or 1 / math.sqrt(query.shape[1])))


def dot(left: list[float], right: list[float]) -> float:
    return sum(a * b for a, b in zip(left, right, strict=True))


def softmax(logits: list[float]) -> list[float]:
    powers = [math.exp(logit - max(logits)) for logit in logits]
    return [power / sum(powers) for power in powers]


def mixture(weights: list[float], vectors: list[list[float]]) -> list[float]:
    return [dot(weights, list(column)) for column in zip(*vectors, strict=True)]


def test_poly_keeps_tokens_in_half_precision_without_padding(backbone: Path):
    passage_texts = [PassageText("gout"), PassageText("people feel pain and fever")]
    token_states = make("poly", backbone).keep(passage_texts)
    assert [tuple(states.shape) for states in token_states] == [(3, 16), (7, 16)]
    assert {states.dtype for states in token_states} == {torch.float16}
    assert [tuple(states.shape) for states in make("poly-codes", backbone).keep(passage_texts)] == [(3, 16), (3, 16)]


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


def test_cross_reads_only_the_requested_pairs(backbone: Path, monkeypatch: pytest.MonkeyPatch):
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


def test_bi_encoder_index_encodes_the_question_text(backbone: Path):
    ranker = make("bi-mean-cosine", backbone)
    assert isinstance(ranker, BiEncoder)
    asked = Query("q", "asthma", ("signs",), text="how do I know that I have asthma")
    vectors = BiDocumentEncoder(ranker).encode_queries([asked, QUERY])
    expected = ranker.query_vectors([asked.text, "asthma ; signs"], size=2).detach().numpy()
    np.testing.assert_allclose(vectors, expected, atol=1e-5)


def test_bi_encoder_index_is_searched_and_explained(backbone: Path, tmp_path: Path):
    save(make("bi-mean-cosine", backbone), tmp_path / "model")
    model = str(tmp_path / "model")
    build_index(collection(), load_model(model), tmp_path / "index", model_path=model)
    searcher = Searcher.open(tmp_path / "index")
    hits = searcher.search(QUERY, 3, SearchOptions(scoring="model"))
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


def test_models_are_opened_by_their_kind(backbone: Path, tmp_path: Path):
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
        assert kind_of(str(tmp_path / name)).scorer is not None
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
def test_contenders_compute_in_the_chosen_precision(kept: str, backbone: Path, tmp_path: Path):
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
def test_saved_encoder_opens_as_a_sentence_transformer(variant: str, backbone: Path, tmp_path: Path):
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


def test_a_folder_without_sentence_transformer_is_refused(backbone: Path, tmp_path: Path):
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
    import sentence_transformers as package

    ranker = make(variant, backbone, max_query_tokens=9, max_passage_tokens=30)
    assert isinstance(ranker, BiEncoder)
    save(ranker, tmp_path)
    passage_texts, queries = texts(6, seed=8), texts(4, seed=9, longest=5)
    tower = package.SentenceTransformer(str(tmp_path / "passages"), device="cpu")
    kept = ranker.keep([PassageText(text) for text in passage_texts]).numpy()
    np.testing.assert_allclose(tower.encode(passage_texts), kept, atol=1e-5)
    np.testing.assert_allclose(tower.encode_document(passage_texts), kept, atol=1e-5)
    assert tower.similarity_fn_name == ("cosine" if ranker.config.cosine else "dot")
    if not ranker.config.shared:
        tower = package.SentenceTransformer(str(tmp_path / "queries"), device="cpu")
        queries = texts(4, seed=9)
    with torch.no_grad():
        np.testing.assert_allclose(tower.encode_query(queries), ranker.query_vectors(queries).numpy(), atol=1e-5)


def test_a_model_saved_by_the_package_opens(backbone: Path, tmp_path: Path):
    import sentence_transformers as package

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


def test_scorer_uses_the_gpu_with_equal_scores(tmp_path: Path, backbone: Path, needs: Needs) -> None:
    needs.gpu()
    passage_ids = [passage.passage_id for document in collection() for passage in document.passages]
    for variant in VARIANTS:
        on_cpu = CaprScorer(make(variant, backbone))
        save(on_cpu.ranker, tmp_path / variant, training={})
        on_gpu = load_scorer(str(tmp_path / variant))
        assert isinstance(on_gpu, CaprScorer)
        assert {weights.device.type for weights in on_gpu.ranker.parameters()} == {"cuda"}
        on_cpu.prepare(collection())
        on_gpu.prepare(collection())
        np.testing.assert_allclose(
            on_gpu.score(QUERY, passage_ids), on_cpu.score(QUERY, passage_ids), atol=1e-3, err_msg=variant
        )
