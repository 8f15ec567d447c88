"""CK-HQA against its formulas in loops: states, long passages, entities of wordpieces, fusion, cosines, heads."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import AutoModel, ElectraConfig, ElectraModel

from auscult.errors import ConfigError, ModelError
from auscult_lab.encoders.base import PassageText
from auscult_lab.encoders.ck import knowledge as linkers
from auscult_lab.encoders.ck.context import lay_out, layer_states
from auscult_lab.encoders.ck.heads import CkTrans
from auscult_lab.encoders.ck.knowledge import UNKNOWN, KnowledgeEncoder
from auscult_lab.encoders.ck.ranker import CkConfig, CkRanker
from auscult_lab.encoders.persistence import load, save
from auscult_lab.encoders.registry import create
from auscult_lab.graphs.build import KnowledgeExperiment, train
from auscult_lab.graphs.knowledge_vectors import save as save_vectors
from auscult_lab.graphs.linking import EntitySpan, NgramLinker
from auscult_lab.graphs.transe import TransEConfig
from auscult_lab.modules.backbone import open_backbone
from knowledge_graphs import ambiguous_graph
from small_knowledge import small_vectors
from tiny_bert import LAYERS, save_tiny_bert

QUERY = "signs of asthma"
PASSAGE = "people with fever often feel pain, and gout comes slowly."
LONG = "people with asthma often feel pain and fever. a gene germ causes gout, " * 6


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_bert(tmp_path_factory.mktemp("bert") / "backbone")


def make(folder: Path, *, knows: bool = False, **settings: object) -> CkRanker:
    torch.manual_seed(1)
    config = CkConfig(**{"max_passage_tokens": 200, "joint_dim": 12, **settings})
    return CkRanker(config, open_backbone(str(folder)), small_vectors() if knows else None).eval()


def read_parts(folder: Path, query: str, parts: list[list[int]]) -> tuple[list[Tensor], list[Tensor], Tensor]:
    """What the library's own model says of each part: by layer, query states and passage states; and of [CLS]."""
    model, tokenizer = AutoModel.from_pretrained(folder).eval(), open_backbone(str(folder)).tokenizer
    query_ids = tokenizer(query, add_special_tokens=False)["input_ids"]
    queries: list[list[Tensor]] = [[] for _ in range(LAYERS + 1)]
    passages: list[list[Tensor]] = [[] for _ in range(LAYERS + 1)]
    marks = []
    for part in parts:
        ids = [tokenizer.cls_token_id, *query_ids, tokenizer.sep_token_id, *part, tokenizer.sep_token_id]
        segments = [0] * (len(query_ids) + 2) + [1] * (len(part) + 1)
        with torch.no_grad():
            states = model(
                input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([segments]), output_hidden_states=True
            ).hidden_states
        for number, layer in enumerate(states):
            queries[number].append(layer[0, 1 : 1 + len(query_ids)])
            passages[number].append(layer[0, 2 + len(query_ids) : -1])
        marks.append(states[-1][0, 0])
    return (
        [torch.stack(each).mean(dim=0) for each in queries],
        [torch.cat(each) for each in passages],
        torch.stack(marks).mean(dim=0),
    )


def pieces(folder: Path, text: str) -> list[int]:
    ids: list[int] = open_backbone(str(folder)).tokenizer(text, add_special_tokens=False)["input_ids"]
    return ids


def cosines(query: list[list[float]], passage: list[list[float]]) -> list[list[float]]:
    def dot(left: list[float], right: list[float]) -> float:
        return sum(a * b for a, b in zip(left, right, strict=True))

    return [[dot(q, d) / math.sqrt(dot(q, q) * dot(d, d)) for d in passage] for q in query]


def fused(ranker: CkRanker, states: Tensor, rows: list[int]) -> list[list[float]]:
    """Algorithm 1 in loops over plain numbers."""
    fusion, knowledge = ranker.head.fusion, ranker.head.knowledge
    assert fusion is not None
    assert knowledge is not None
    q, u, b = fusion.context.weight.tolist(), fusion.knowledge.weight.tolist(), fusion.context.bias.tolist()
    vectors = [knowledge.table[row].tolist() for row in rows]
    return [
        [
            math.tanh(
                sum(w * x for w, x in zip(q[j], state, strict=True))
                + sum(w * x for w, x in zip(u[j], vector, strict=True))
                + b[j]
            )
            for j in range(len(b))
        ]
        for state, vector in zip(states.tolist(), vectors, strict=True)
    ]


def expected_matrices(ranker: CkRanker, folder: Path, parts: list[list[int]], entities: list[list[int]]) -> np.ndarray:
    queries, passages, _ = read_parts(folder, QUERY, parts)
    matrices = []
    for query, passage in zip(queries, passages, strict=True):
        if ranker.knowledge is None:
            matrices.append(cosines(query.tolist(), passage.tolist()))
        else:
            matrices.append(cosines(fused(ranker, query, entities[0]), fused(ranker, passage, entities[1])))
    return np.array(matrices)


@pytest.mark.parametrize("knows", [False, True])
def test_interaction_matrices_equal_the_papers_formulas(folder: Path, knows: bool):
    ranker = make(folder, knows=knows)
    if ranker.head.fusion is not None:
        torch.nn.init.normal_(ranker.head.fusion.context.bias)
    interactions = ranker.interactions(QUERY, PASSAGE)
    # signs of asthma | people with fever often feel pain , and gout comes slowly . ("comes" is "come" and a letter)
    entities = [[0, 0, 1], [0, 0, 3, 0, 0, 3, 0, 0, 2, 0, 0, 0, 0]]
    ids = pieces(folder, PASSAGE)
    assert len(ids) == len(entities[1])
    assert interactions.matrices.shape == (LAYERS + 1, 3, len(ids))
    np.testing.assert_allclose(interactions.matrices, expected_matrices(ranker, folder, [ids], entities), atol=1e-5)
    assert interactions.query == ("signs", "of", "asthma")
    assert interactions.query_entities == (("", "", "asthma") if knows else ("", "", ""))
    assert [name for name in interactions.passage_entities if name] == (["fever", "fever", "gout"] if knows else [])
    np.testing.assert_allclose(interactions.view("mean"), interactions.matrices.mean(axis=0))
    np.testing.assert_array_equal(interactions.view("last"), interactions.matrices[-1])


def test_words_are_the_backbones_table(folder: Path):
    ranker = make(folder, context="words", cls=False)
    table = ranker.pairs.words.weight.detach()
    expected = cosines(table[pieces(folder, QUERY)].tolist(), table[pieces(folder, PASSAGE)].tolist())
    np.testing.assert_allclose(ranker.interactions(QUERY, PASSAGE).matrices, [expected], atol=1e-5)


def test_word_matches_itself_fully_in_training_too(folder: Path):
    ranker = make(folder, context="words", cls=False, head="drmm-tks").train()
    layout = lay_out([(ranker._query("asthma"), ranker._query("gout asthma"))], ranker.pairs)
    similarities, _ = ranker.head.compare(ranker._states(layout), layout)
    assert float(similarities.detach().max()) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("head", ["knrm", "pacrr", "drmm-tks"])
@pytest.mark.parametrize("knows", [False, True])
def test_word_table_may_be_narrower_than_the_layers(tmp_path: Path, head: str, knows: bool):
    tokenizer = open_backbone(str(save_tiny_bert(tmp_path / "bert"))).tokenizer
    sizes = {"embedding_size": 16, "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 32}
    torch.manual_seed(0)
    electra = ElectraModel(ElectraConfig(vocab_size=len(tokenizer), num_hidden_layers=1, **sizes))
    electra.save_pretrained(tmp_path / "electra")
    tokenizer.save_pretrained(tmp_path / "electra")
    config = CkConfig(head=head, context="words", cls=False, max_passage_tokens=20)
    ranker = CkRanker(config, open_backbone(str(tmp_path / "electra")), small_vectors() if knows else None).eval()
    save(ranker, tmp_path / "model", name="narrow")
    opened = load(tmp_path / "model").ranker
    texts = [PassageText(PASSAGE), PassageText("asthma")]
    scores = ranker.score_kept(QUERY, ranker.keep(texts))
    assert torch.equal(opened.score_kept(QUERY, opened.keep(texts)), scores)
    assert scores.isfinite().all()


@pytest.mark.parametrize("knows", [False, True])
def test_a_long_passage_is_read_in_equal_parts(folder: Path, knows: bool):
    ranker = make(folder, knows=knows)
    ids = pieces(folder, LONG)
    room = 40 - 3 - 3
    number = math.ceil(len(ids) / room)
    assert number >= 3
    lengths = [len(ids) // number + (row < len(ids) % number) for row in range(number)]
    ends = np.cumsum(lengths)
    parts = [ids[end - length : end] for end, length in zip(ends, lengths, strict=True)]
    text = open_backbone(str(folder))
    names = [text.tokenizer.decode([each]) for each in ids]
    known = {"asthma": 1, "gout": 2, "fever": 3, "pain": 3, "gene": 4, "germ": 4}
    entities = [[0, 0, 1], [known.get(name, 0) for name in names]]
    interactions = ranker.interactions(QUERY, LONG)
    np.testing.assert_allclose(interactions.matrices, expected_matrices(ranker, folder, parts, entities), atol=1e-5)
    # The score is the head's of these matrices, and of the mean of the parts' [CLS].
    _, _, mark = read_parts(folder, QUERY, parts)
    given = torch.from_numpy(interactions.matrices).unsqueeze(0)
    masks = torch.ones(1, 3, dtype=torch.bool), torch.ones(1, len(ids), dtype=torch.bool)
    with torch.no_grad():
        expected = ranker.head.ranking(given, *masks, context=mark.unsqueeze(0))
    assert interactions.score == pytest.approx(float(expected), abs=1e-4)
    assert float(ranker.score_kept(QUERY, ranker.keep([PassageText(LONG)]))) == pytest.approx(
        interactions.score, abs=1e-5
    )


def test_without_attention_parts_make_no_difference(folder: Path, tmp_path: Path):
    wide = save_tiny_bert(tmp_path, limit=500)
    short, whole = (make(encoder, context="words", cls=False, knows=True) for encoder in (folder, wide))
    whole.load_state_dict(
        {name: weights for name, weights in short.state_dict().items() if "position" not in name}, strict=False
    )
    passages = [PassageText(LONG), PassageText(PASSAGE), PassageText(LONG[:90])]
    laid = lay_out([(short.keep(passages)[1][:, :3], states) for states in short.keep(passages)], short.pairs)
    assert laid.counts.tolist()[0] >= 3
    assert laid.counts.tolist()[1:] == [1.0, 1.0]
    torch.testing.assert_close(
        short.score_kept(QUERY, short.keep(passages)),
        whole.score_kept(QUERY, whole.keep(passages)),
        atol=1e-5,
        rtol=1e-5,
    )


def test_batching_with_a_long_passage_changes_no_states(folder: Path):
    backbone = open_backbone(str(folder)).eval()
    query, fits = (torch.tensor([pieces(folder, text)] * 2) for text in (QUERY, PASSAGE))
    long = torch.tensor([pieces(folder, LONG)] * 2)
    together, alone = lay_out([(query, long), (query, fits)], backbone), lay_out([(query, fits)], backbone)
    assert together.split
    assert not alone.split
    with torch.no_grad():
        for many, one in zip(layer_states(backbone, together), layer_states(backbone, alone), strict=True):
            torch.testing.assert_close(together.of_query(many)[1], alone.of_query(one)[0], atol=1e-5, rtol=1e-5)
            torch.testing.assert_close(together.of_mark(many)[1], alone.of_mark(one)[0], atol=1e-5, rtol=1e-5)
            torch.testing.assert_close(
                together.of_passage(many)[1, : fits.shape[1]], alone.of_passage(one)[0], atol=1e-5, rtol=1e-5
            )


# Knowledge


class Spans:
    """A linker of given spans that counts the texts it is asked about."""

    def __init__(self, *spans: EntitySpan) -> None:
        self.spans = list(spans)
        self.asked: list[str] = []

    def link(self, text: str) -> list[EntitySpan]:
        self.asked.append(text)
        return self.spans


def test_wordpieces_of_a_mention_get_its_entity():
    text = "ab cd-ef gh"
    encoder = KnowledgeEncoder(
        small_vectors(), Spans(EntitySpan(3, 8, "X:2"), EntitySpan(9, 10, "X:0"), EntitySpan(10, 11, "Y:9"))
    )
    offsets = [(0, 1), (1, 2), (3, 5), (5, 6), (6, 7), (7, 8), (9, 11)]
    assert encoder.align(text, offsets) == [0, 0, 3, 3, 3, 3, 1]
    assert encoder.align(text, []) == []
    vectors = encoder(torch.tensor([[UNKNOWN, 3]]))
    assert vectors[0, 0].abs().sum() == 0
    np.testing.assert_array_equal(vectors[0, 1].numpy(), small_vectors().vectors[2])


def test_marks_punctuation_and_padding_have_no_entity(folder: Path):
    ranker = make(folder, knows=True)
    asked = ranker.keep([PassageText("gout, gene germ. nephritis"), PassageText("gout")])
    assert ranker.pairs.tokenizer.convert_ids_to_tokens(asked[0][0].tolist())[:5] == ["gout", ",", "gene", "germ", "."]
    assert asked[0][1].tolist() == [2, 0, 4, 4] + [0] * (asked[0].shape[1] - 4)
    laid = lay_out([(asked[1], each) for each in asked], ranker.pairs)
    assert laid.entities[1].tolist() == [0, 2, 0, 2] + [0] * (laid.ids.shape[1] - 4)
    assert laid.mask[1].sum() == 5
    assert laid.query_entities.tolist() == [[2], [2]]


def test_a_mention_of_many_pieces_is_one_entity(folder: Path):
    torch.manual_seed(0)
    ranker = CkRanker(CkConfig(), open_backbone(str(folder)), small_vectors([("nephritis",), ("gout",)])).eval()
    found = ranker.interactions("Nephritis?", "of nephritis")
    assert len(found.query) == 10
    assert found.query_entities == ("nephritis",) * 9 + ("",)
    assert found.passage_entities == ("",) + ("nephritis",) * 9


def test_a_text_is_linked_once(folder: Path):
    ranker = make(folder, knows=True)
    assert ranker.head.knowledge is not None
    linker = ranker.head.knowledge.linker = Spans()
    asked = [PassageText(PASSAGE), PassageText("gout"), PassageText(PASSAGE)]
    for _ in range(2):
        ranker.score_kept(QUERY, ranker.keep(asked))
        ranker.score_lists([QUERY], asked, torch.tensor([[0, 1, 2]]))
    assert sorted(linker.asked) == sorted([PASSAGE, "gout", QUERY])


def test_names_across_the_cut_are_linked_whole(folder: Path):
    whole, cut = (make(folder, knows=True, max_passage_tokens=limit) for limit in (30, 4))
    (read,), (first,) = (ranker.keep([PassageText("people with a gene germ")]) for ranker in (whole, cut))
    assert first.shape == (2, 4)
    assert read[1, 3] > 0
    assert torch.equal(first, read[:, :4])


def test_ambiguous_names_resolve_as_in_the_graph(folder: Path, tmp_path: Path):
    graph = ambiguous_graph()
    model = TransEConfig(dim=4, epochs=1, batch=32)
    trained = train(graph, KnowledgeExperiment(graph="small", graph_sha256="", model=model), tmp_path / "training")
    ranker = create("ck", str(folder), {"knowledge": str(trained.model)})
    assert ranker.head.knowledge is not None
    linker, expected = ranker.head.knowledge.linker, NgramLinker.from_graph(graph)
    names = sorted({name for each in graph.names for name in each})
    assert [linker.link(name) for name in names] == [expected.link(name) for name in names]
    first = NgramLinker(graph.names, graph.entities)
    assert any(first.link(name) != expected.link(name) for name in names)


def test_vectors_stay_unless_they_are_trained(folder: Path):
    for trained in (False, True):
        config = CkConfig(knowledge="here", train_knowledge=trained, joint_dim=5, max_passage_tokens=30)
        torch.manual_seed(0)
        ranker = CkRanker(config, open_backbone(str(folder)), small_vectors())
        assert ranker.head.knowledge is not None
        before = ranker.head.knowledge.table.detach().clone()
        optimiser = torch.optim.Adam([each for each in ranker.parameters() if each.requires_grad], 1e-2)
        asked = [PassageText("asthma"), PassageText("gout")]
        ranker.score_lists(["gout"], asked, torch.tensor([[0, 1]])).diff().sum().backward()
        optimiser.step()
        changed = (ranker.head.knowledge.table != before).any(dim=1).tolist()
        assert changed == ([False, True, True, False, False] if trained else [False] * 5)


@pytest.mark.parametrize("activation", ["tanh", "logistic"])
def test_fusion_is_algorithm_1(activation: str):
    torch.manual_seed(0)
    fusion = CkTrans((7, 2.0), (4, 1.0), 3, activation)
    torch.nn.init.normal_(fusion.context.bias)
    context, knowledge = torch.randn(2, 5, 7), torch.randn(2, 5, 4)
    expected = context @ fusion.context.weight.T + knowledge @ fusion.knowledge.weight.T + fusion.context.bias
    expected = expected.tanh() if activation == "tanh" else 1 / (1 + (-expected).exp())
    torch.testing.assert_close(fusion(context, fusion.project(knowledge)), expected, atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("joint", [8, 40, 200])
def test_context_and_knowledge_begin_alike(joint: int):
    torch.manual_seed(0)
    fusion = CkTrans((64, 3.0), (100, 1.0), joint, "tanh")
    for layer, dim, length in ((fusion.context, 64, 3.0), (fusion.knowledge, 100, 1.0)):
        given = torch.nn.functional.normalize(torch.randn(500, dim), dim=1) * length
        assert float(layer(given).detach().square().mean().sqrt()) == pytest.approx(0.5, rel=0.05)


@pytest.mark.parametrize(("joint", "least", "most"), [(64, 0.98, 1.0), (20, 0.4, 0.9)])
def test_context_wide_joint_layer_keeps_cosines(joint: int, least: float, most: float):
    torch.manual_seed(0)
    fusion = CkTrans((64, 4.0), (100, 1.0), joint, "tanh")
    # States that share a direction, so that cosines differ.
    given = torch.nn.functional.normalize(torch.randn(200, 64) + 0.5, dim=1) * 4
    with torch.no_grad():
        after = fusion(given, torch.zeros(joint))
    cells = [torch.nn.functional.normalize(each, dim=1) for each in (given, after)]
    before, now = ((each @ each.T)[torch.triu_indices(200, 200, 1).unbind()] for each in cells)
    assert least < float(torch.corrcoef(torch.stack([before, now]))[0, 1]) < most


# Linkers


class Everything:
    """Links every word to one entity."""

    def link(self, text: str) -> list[EntitySpan]:
        return [EntitySpan(match.start(), match.end(), "X:1") for match in re.finditer(r"\w+", text)]


def test_control_has_the_fusion_layer_without_entities(folder: Path):
    control, knowing = (make(folder, knows=True, knowledge="here", linker=name) for name in ("none", "ngram"))
    assert {name: weights.shape for name, weights in control.head.named_parameters()} == {
        name: weights.shape for name, weights in knowing.head.named_parameters()
    }
    interactions = control.interactions(QUERY, PASSAGE)
    assert not any((*interactions.query_entities, *interactions.passage_entities))
    ids = pieces(folder, PASSAGE)
    nothing = [[0] * 3, [0] * len(ids)]
    np.testing.assert_allclose(interactions.matrices, expected_matrices(control, folder, [ids], nothing), atol=1e-5)


def test_entities_compared_apart_have_their_own_matrix(folder: Path):
    """Names that one text alone is linked by leave words as they are: the layers' cosines are those without a graph."""
    apart = make(folder, knows=True, knowledge="here", fusion="matrix", joint_dim=None)
    interactions, without = apart.interactions(QUERY, PASSAGE), make(folder).interactions(QUERY, PASSAGE)
    np.testing.assert_allclose(interactions.matrices, without.matrices, atol=1e-6)
    assert without.entity_matrix is None
    vectors = np.concatenate([np.zeros((1, small_vectors().vectors.shape[1])), small_vectors().vectors])
    vectors[1:] /= np.linalg.norm(vectors[1:], axis=1, keepdims=True)
    # asthma in the query; fever, fever and gout in the passage
    asked, read = [0, 0, 1], [0, 0, 3, 0, 0, 3, 0, 0, 2, 0, 0, 0, 0]
    assert interactions.entity_matrix is not None
    np.testing.assert_allclose(interactions.entity_matrix, vectors[asked] @ vectors[read].T, atol=1e-6)
    assert apart.head.fusion is None
    assert apart.config.joint_dim is None


@pytest.mark.parametrize("head", ["knrm", "pacrr", "drmm-tks"])
def test_half_linked_word_matches_itself_apart_not_summed(folder: Path, head: str):
    """The word is linked to its entity in one of the two texts alone."""
    config = {"head": head, "context": "words", "cls": False, "joint_dim": None, "knows": True, "knowledge": "here"}
    alike = []
    for fusion in ("sum", "matrix"):
        ranker = make(folder, fusion=fusion, **config)
        asthma = ranker._query("asthma")
        unlinked = asthma.clone()
        unlinked[1] = UNKNOWN
        layout = lay_out([(asthma, unlinked)], ranker.pairs)
        with torch.no_grad():
            similarities, _ = ranker.head.compare(ranker._states(layout), layout)
        alike.append(similarities[0, :, 0, 0].tolist())
    in_sum, apart = alike
    assert in_sum[0] < 0.9
    assert apart == pytest.approx([1.0, 0.0], abs=1e-6)


def test_custom_linker_is_used_and_saved_by_name(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    config = CkConfig(knowledge="here", linker="everything")
    torch.manual_seed(1)
    ranker = CkRanker(config, open_backbone(str(folder)), small_vectors(), linker=Everything()).eval()
    before = ranker.interactions(QUERY, PASSAGE)
    assert before.query_entities == ("gout",) * 3
    save(ranker, tmp_path)
    with pytest.raises(ModelError, match=r"expected a linker \(ngram, none\), got 'everything'; register it first"):
        load(tmp_path)
    monkeypatch.setattr(linkers, "LINKERS", dict(linkers.LINKERS))
    linkers.register("everything", lambda vectors: Everything())
    opened = load(tmp_path).ranker
    assert isinstance(opened, CkRanker)
    assert opened.config.linker == "everything"
    np.testing.assert_array_equal(opened.interactions(QUERY, PASSAGE).matrices, before.matrices)
    with pytest.raises(ConfigError, match="new name"):
        linkers.register("everything", lambda vectors: Everything())


def test_custom_linker_needs_its_own_name(folder: Path):
    with pytest.raises(ConfigError, match=r"name of its own .*'ngram'"):
        CkRanker(CkConfig(knowledge="here"), open_backbone(str(folder)), small_vectors(), linker=Everything())


def test_unknown_linker_fails_before_anything_is_read(folder: Path, tmp_path: Path):
    save_vectors(small_vectors(), tmp_path)
    with pytest.raises(ModelError, match="'tagme'"):
        create("ck", str(folder), {"knowledge": str(tmp_path), "linker": "tagme"})


# Settings and folders


def test_joint_layer_defaults_to_the_context_width(folder: Path, tmp_path: Path):
    for said, expected in ((None, 16), (9, 9)):
        ranker = make(folder, knows=True, joint_dim=said)
        assert ranker.head.fusion is not None
        assert tuple(ranker.head.fusion.context.weight.shape) == (expected, 16)
        save(ranker, tmp_path / str(said))
        assert json.loads((tmp_path / str(said) / "model.json").read_text())["config"]["joint_dim"] == expected
        assert load(tmp_path / str(said)).ranker.config == ranker.config


def test_a_saved_model_needs_nothing_outside_its_folder(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    graph = tmp_path / "graph"
    save_vectors(small_vectors(), graph)
    monkeypatch.setenv("GRAPH", str(graph))
    ranker = create("ck", str(folder), {"knowledge": "$GRAPH", "joint_dim": 9}).eval()
    save(ranker, tmp_path / "model")
    told = (tmp_path / "model" / "model.json").read_text()
    assert str(tmp_path) not in told
    assert "GRAPH" not in told
    assert json.loads(told)["config"]["knowledge"] == "knowledge"
    graph.rename(tmp_path / "elsewhere")
    monkeypatch.delenv("GRAPH")
    monkeypatch.chdir(tmp_path)
    opened = load(tmp_path / "model").ranker
    assert isinstance(opened, CkRanker)
    assert opened.config == ranker.config
    before, after = (each.interactions(QUERY, PASSAGE) for each in (ranker, opened))
    np.testing.assert_array_equal(before.matrices, after.matrices)
    assert (before.score, before.passage_entities) == (after.score, after.passage_entities)
    damaged = next(path for path in (tmp_path / "model" / "knowledge").iterdir() if path.stat().st_size > 9)
    damaged.write_bytes(damaged.read_bytes()[:-1] + b"\x00")
    with pytest.raises(ModelError):
        load(tmp_path / "model")


def test_trained_vectors_are_saved(folder: Path, tmp_path: Path):
    config = CkConfig(knowledge="here", train_knowledge=True)
    ranker = CkRanker(config, open_backbone(str(folder)), small_vectors()).eval()
    assert ranker.head.knowledge is not None
    with torch.no_grad():
        ranker.head.knowledge.table[1:] *= torch.tensor([[2.0], [0.5], [3.0], [-1.0]])
    save(ranker, tmp_path)
    opened = load(tmp_path).ranker
    assert isinstance(opened, CkRanker)
    np.testing.assert_array_equal(
        opened.interactions("gout", PASSAGE).matrices, ranker.interactions("gout", PASSAGE).matrices
    )


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"head": "dssm"}, "head"),
        ({"head": "pacrr", "head_settings": {"kernels": 3}}, "kernels"),
        ({"head": "drmm-tks", "head_settings": {"gate": "idf"}}, "gate"),
        ({"head": "drmm-tks", "head_settings": {"top_k": 0}}, "top_k"),
        ({"context": "sentences"}, "context"),
        ({"context": "words"}, "cls"),
        ({"activation": "relu"}, "activation"),
        ({"fusion": "matrix"}, "knowledge"),
        ({"fusion": "concatenation", "knowledge": "here"}, "fusion"),
        ({"fusion": "matrix", "knowledge": "here", "joint_dim": 8}, "joint_dim"),
        ({"joint_dim": 0}, "joint_dim"),
        ({"train_knowledge": True}, "knowledge"),
        ({"linker": "none"}, "knowledge"),
        ({"cosine": True}, "cosine"),
        ({"pooling": "mean"}, "pooling"),
        ({"max_query_tokens": 2}, "max_query_tokens"),
        ({"knowledge": "$NO_SUCH_VARIABLE/x"}, "NO_SUCH_VARIABLE"),
    ],
)
def test_bad_settings_are_refused(folder: Path, settings: dict[str, object], named: str):
    with pytest.raises(ConfigError, match=named):
        create("ck", str(folder), settings)


def test_a_folder_without_vectors_is_refused(folder: Path, tmp_path: Path):
    with pytest.raises(ModelError):
        create("ck", str(folder), {"knowledge": str(tmp_path / "nowhere")})


def test_heads_have_the_configured_sizes(folder: Path):
    few, many = (
        sum(each.numel() for each in make(folder, head="drmm-tks", head_settings=settings).head.parameters())
        for settings in ({"top_k": 2, "hidden": [3]}, {"top_k": 20, "hidden": [30, 9]})
    )
    assert few < many


@pytest.mark.parametrize("head", ["knrm", "pacrr", "drmm-tks"])
def test_cls_joins_the_last_hidden_layer(folder: Path, head: str):
    """Moving the state of [CLS] moves the score by the weights that the last layer has for it."""
    ranker = make(folder, head=head)
    ranking = ranker.head.ranking
    last = {"knrm": lambda: ranking.score, "pacrr": lambda: ranking.combine, "drmm-tks": lambda: ranking.layers[-2]}
    weights = last[head]().weight[0, -16:].detach()
    given = torch.rand(1, LAYERS + 1, 2, 5) * 2 - 1
    masks = torch.ones(1, 2, dtype=torch.bool), torch.ones(1, 5, dtype=torch.bool)
    told = {"knrm": (), "pacrr": (torch.zeros(1, 2),), "drmm-tks": (torch.randn(1, 2, 16),)}[head]
    start, step = torch.randn(1, 16), torch.randn(1, 16)
    with torch.no_grad():
        before, after = (ranking(given, *masks, *told, context=each) for each in (start, start + step))
    if head == "drmm-tks":
        # One hidden state a query token, of which tanh makes what the gate weighs; both are in (-1, 1).
        assert (float(after) - float(before)) * float(step @ weights) > 0
    else:
        assert float(after - before) == pytest.approx(float(step @ weights), abs=1e-5)
