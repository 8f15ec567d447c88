"""CDV: masks, shapes, the one-inner-product identity, persistence, and parity with torch's own bidirectional LSTM."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from auscult.concepts import normalise_name
from auscult.documents.building import Section, build_document
from auscult.errors import ConfigError, ModelError
from auscult.models import load_model
from auscult.models.cdv.bloom import BloomConfig, BloomEncoder, bloom_bits
from auscult.models.cdv.encoder import CdvEncoder
from auscult.models.cdv.network import CdvConfig, CdvNetwork
from auscult.models.cdv.persistence import fingerprint, load, save
from auscult.models.cdv.sentences import FLAGS, AveragedWords, structural_flags
from auscult.models.cdv.spaces import AverageSpace, BloomSpace
from auscult.models.modules.recurrent import BidirectionalLstm, pack, unpack
from auscult.models.word_vectors import SubwordTable
from auscult.queries import Query

WORDS = [
    "asthma", "kidney", "heart", "attack", "causes", "symptoms", "treatment", "of", "the", "and", "wheezing", "cough",
    "pain", "blood", "gene", "rare",
]  # fmt: skip


def documents(count: int = 7, seed: int = 0):
    rng = np.random.default_rng(seed)
    made = []
    for number in range(count):
        sections = [
            Section(
                heading=str(rng.choice(["Symptoms", "Causes and treatment", "Abstract"])),
                text="\n".join(
                    " ".join(rng.choice(WORDS, size=rng.integers(3, 9))).capitalize() + "."
                    for _ in range(rng.integers(1, 6))
                ),
            )
            for _ in range(rng.integers(1, 5))
        ]
        made.append(build_document(doc_id=f"d{number}", title=f"{WORDS[number]} disease", sections=sections))
    return made


def subwords(dim: int = 12) -> SubwordTable:
    table = np.random.default_rng(3).normal(size=(200, dim)).astype(np.float32)
    return SubwordTable(table, min_n=4, max_n=5, hash_count=2)


def make_encoder(kind: str, tasks: tuple[str, ...] = ("entity", "aspect")) -> CdvEncoder:
    torch.manual_seed(1)
    vectors = subwords()
    sentences = AveragedWords(vectors, {"the": 0.1, "of": 0.05} if kind == "average" else None)
    config = CdvConfig(
        input_dim=sentences.dim + FLAGS, lstm_dim=9, discourse_dim=8, target_dim=12, tasks=tasks,
        bounded=kind == "bloom", unit_halves=kind == "average",
    )  # fmt: skip
    spaces = {}
    names = {normalise_name("chronic wheezing"): "DOID:1", normalise_name("Wheezing, chronic"): "DOID:1"}
    for task in tasks:
        if kind == "average":
            spaces[task] = AverageSpace(vectors, np.full(12, 0.1, np.float32))
        else:
            bloom = BloomEncoder(BloomConfig(word_dim=12, lstm_dim=12, dense_dim=10, bits=64))
            spaces[task] = BloomSpace(bloom, vectors, {"DOID:1": np.full(12, 0.5, np.float32)}, names)
    return CdvEncoder(CdvNetwork(config), sentences, spaces, name=f"cdv-{kind}")


KINDS = pytest.mark.parametrize("kind", ["average", "bloom"])


def test_the_lstm_equals_the_librarys_bidirectional_lstm_on_packed_input():
    torch.manual_seed(0)
    ours, theirs = BidirectionalLstm(5, 4), nn.LSTM(5, 4, bidirectional=True, batch_first=True)
    for name, value in ours.forwards.named_parameters():
        theirs.get_parameter(name).data.copy_(value.data)
    for name, value in ours.backwards.named_parameters():
        theirs.get_parameter(f"{name}_reverse").data.copy_(value.data)
    inputs = pack([torch.randn(n, 5) for n in (3, 7, 1, 7, 2)])
    expected, (ends, _) = theirs(inputs)
    torch.testing.assert_close(ours(inputs).data, expected.data)
    for mine, reference in zip(ours.end_states(inputs), ends, strict=True):
        torch.testing.assert_close(mine, reference)


@KINDS
def test_rows_are_unit_and_one_per_sentence(kind: str):
    encoder, given = make_encoder(kind), documents()
    for document, matrix in zip(given, encoder.encode_documents(given), strict=True):
        assert matrix.shape == (len(document.sentences), encoder.dim)
        assert matrix.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(matrix, axis=1), 1.0, atol=1e-5)


@KINDS
def test_company_order_and_batch_size_never_change_a_vector(kind: str, monkeypatch: pytest.MonkeyPatch):
    encoder, given = make_encoder(kind), documents(9)
    alone = [encoder.encode_documents([document])[0] for document in given]
    backwards = encoder.encode_documents(given[::-1])[::-1]
    monkeypatch.setattr("auscult.models.cdv.encoder._BATCH_STEPS", 30)
    small = encoder.encode_documents(given)
    for one, two, three in zip(alone, backwards, small, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-5)
        np.testing.assert_allclose(one, three, atol=1e-5)


@KINDS
def test_mean_of_sentence_cosines_is_one_inner_product(kind: str):
    """Eq. 13 and 14 against design's identity, from the decoded vectors as the paper writes it."""
    encoder, document = make_encoder(kind), documents(1)[0]
    query = Query(query_id="", entity="asthma", aspects=("signs and symptoms",))
    vectors = encoder.encode_documents([document])[0].astype(np.float64)
    asked = encoder.encode_queries([query])[0].astype(np.float64)
    cosines = [asked @ row / (np.linalg.norm(asked) * np.linalg.norm(row)) for row in vectors]
    assert np.mean(cosines) == pytest.approx(asked @ vectors.mean(axis=0), abs=1e-6)
    halves = sum(asked[part] @ vectors.mean(axis=0)[part] for part in encoder.parts.values())
    assert halves == pytest.approx(asked @ vectors.mean(axis=0), abs=1e-9)


@KINDS
def test_context_reaches_across_the_document(kind: str):
    encoder = make_encoder(kind)
    first, last = documents(2)
    changed = build_document(
        doc_id="x", title="x", sections=[Section(heading=p.heading, text=first.slice(p)) for p in first.passages]
        + [Section(heading="More", text="Entirely different closing words about kidneys.")],
    )  # fmt: skip
    before, after = encoder.encode_documents([first, changed])
    assert np.abs(before[0] - after[0]).max() > 1e-6
    assert last.doc_id == "d1"


def test_a_document_without_sentences_gives_no_rows():
    encoder = make_encoder("average")
    empty = build_document(doc_id="e", title="Empty", sections=[])
    assert encoder.encode_documents([empty, documents(1)[0]])[0].shape == (0, encoder.dim)
    assert encoder.encode_queries([]).shape == (0, encoder.dim)


@KINDS
def test_missing_halves_do_not_count(kind: str):
    encoder = make_encoder(kind)
    only_entity, only_aspect, nothing = encoder.encode_queries(
        [Query("", "asthma"), Query("", "", ("symptoms",)), Query("", "", ())]
    )
    assert not only_entity[encoder.parts["aspect"]].any()
    assert not only_aspect[encoder.parts["entity"]].any()
    assert not nothing.any()
    assert np.linalg.norm(only_entity) == pytest.approx(1.0, abs=1e-5)


def test_the_entity_weight_shifts_the_score_between_the_halves_and_is_saved(tmp_path: Path):
    encoder = make_encoder("average")
    query = Query("", "asthma", ("symptoms",))
    plain = encoder.encode_queries([query])[0]
    encoder.entity_weight = 3.0
    weighted = encoder.encode_queries([query])[0]
    lengths = [float(np.linalg.norm(weighted[part])) for part in encoder.parts.values()]
    assert lengths[0] == pytest.approx(3 * lengths[1], rel=1e-5)
    assert np.linalg.norm(weighted) == pytest.approx(1.0, abs=1e-6)
    for part in encoder.parts.values():
        cosine = plain[part] @ weighted[part] / (np.linalg.norm(plain[part]) * np.linalg.norm(weighted[part]))
        assert cosine == pytest.approx(1.0, abs=1e-5)
    save(encoder, tmp_path / "m")
    np.testing.assert_allclose(load(tmp_path / "m").encode_queries([query])[0], weighted, atol=1e-6)


@KINDS
def test_the_document_share_draws_entity_halves_together_and_leaves_aspects(kind: str, tmp_path: Path):
    encoder, document = make_encoder(kind), documents(1)[0]
    plain = encoder.encode_documents([document])[0]
    encoder.document_share = 2.0
    shared = encoder.encode_documents([document])[0]
    np.testing.assert_allclose(np.linalg.norm(shared, axis=1), 1.0, atol=1e-5)

    def spread(rows, part):
        half = rows[:, encoder.parts[part]]
        half = half / np.linalg.norm(half, axis=1, keepdims=True)
        return float((1 - half @ half.T).mean())

    assert spread(shared, "entity") < 0.5 * spread(plain, "entity")
    assert spread(shared, "aspect") == pytest.approx(spread(plain, "aspect"), abs=1e-5)
    save(encoder, tmp_path / "m")
    np.testing.assert_allclose(load(tmp_path / "m").encode_documents([document])[0], shared, atol=1e-6)


def test_several_aspects_are_averaged_and_headings_preprocessed():
    encoder = make_encoder("average")
    joined, listed = encoder.encode_queries(
        [Query("", "asthma", ("Signs and symptoms",)), Query("", "asthma", ("signs", "symptoms"))]
    )
    np.testing.assert_allclose(joined, listed, atol=1e-6)


def test_a_known_concept_uses_its_table_and_an_unknown_one_its_mention():
    space = make_encoder("bloom").spaces["entity"]
    np.testing.assert_array_equal(space.place("DOID:1", "asthma"), np.full(12, 0.5, np.float32))
    np.testing.assert_array_equal(space.place("DOID:2", "asthma"), space.embed(["asthma"])[0])
    np.testing.assert_array_equal(space.place("Q35869", "Wheezing, chronic"), np.full(12, 0.5, np.float32))


@pytest.mark.parametrize("tasks", [("entity",), ("aspect",), ("entity", "aspect")])
@KINDS
def test_saved_models_are_the_same_model(kind: str, tasks: tuple[str, ...], tmp_path: Path):
    encoder, given = make_encoder(kind, tasks), documents()
    written = save(encoder, tmp_path / "m", training={"seed": 1})
    opened = load_model(str(tmp_path / "m"))
    queries = [Query("", "asthma", ("symptoms",), entity_id="DOID:1"), Query("", "heart attack")]
    for one, two in zip(encoder.encode_documents(given), opened.encode_documents(given), strict=True):
        np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(encoder.encode_queries(queries), opened.encode_queries(queries), atol=1e-6)
    assert opened.fingerprint == written == fingerprint(tmp_path / "m")
    assert set(opened.parts) == set(tasks)


def test_half_precision_stays_close_and_is_smaller(tmp_path: Path):
    encoder, given = make_encoder("average"), documents()
    save(encoder, tmp_path / "full")
    save(encoder, tmp_path / "half", half=True)
    halves = load(tmp_path / "half").encode_documents(given)
    for one, two in zip(encoder.encode_documents(given), halves, strict=True):
        assert (one * two).sum(axis=1).min() > 0.999
    sizes = [(tmp_path / name / "weights.safetensors").stat().st_size for name in ("full", "half")]
    assert sizes[1] < 0.6 * sizes[0]


def test_fingerprint_knows_weights_but_not_the_training_record(tmp_path: Path):
    one = save(make_encoder("average"), tmp_path / "a", training={"date": "then"})
    same = save(make_encoder("average"), tmp_path / "b", training={"date": "now"})
    other = make_encoder("average")
    with torch.no_grad():
        other.network.discourse.bias.add_(0.1)
    assert one == same != save(other, tmp_path / "c")


def test_damaged_folders_are_refused_in_one_sentence(tmp_path: Path):
    save(make_encoder("average"), tmp_path / "m")
    (tmp_path / "m" / "weights.safetensors").write_bytes(b"not safetensors")
    with pytest.raises(ModelError, match="whole CDV model folder"):
        load(tmp_path / "m")
    other = make_encoder("bloom")
    save(other, tmp_path / "other")
    save(make_encoder("average"), tmp_path / "m")
    shutil.copy(tmp_path / "other" / "weights.safetensors", tmp_path / "m" / "weights.safetensors")
    with pytest.raises(ModelError, match="other or damaged weights"):
        load(tmp_path / "m")
    settings = json.loads((tmp_path / "m" / "model.json").read_text())
    (tmp_path / "m" / "model.json").write_text(json.dumps({**settings, "format": 99}))
    with pytest.raises(ModelError, match="format"):
        load(tmp_path / "m")
    with pytest.raises(ModelError, match=r"folder with a model\.json"):
        load_model(str(tmp_path / "nowhere"))


def test_flags_mark_document_paragraph_and_list():
    document = build_document(
        doc_id="f",
        title="F",
        sections=[Section(heading="H", text="One here. Two here.\n- An item\nLast one.")],
    )
    flags = structural_flags(document)
    assert flags[0].tolist()[:1] == [1.0]
    assert flags[-1].tolist()[1] == 1.0
    assert flags[:, 4].tolist() == [0.0, 0.0, 1.0, 0.0]
    assert flags[0, 2] == 1.0
    assert flags[0, 3] == 0.0
    assert flags[1, 3] == 1.0


def test_averages_ignore_order_and_unknown_plain_words():
    averaged = AveragedWords(subwords())
    one, two = averaged.encode_tokens([["heart", "attack"], ["attack", "heart"]])
    np.testing.assert_allclose(one, two, atol=1e-6)
    assert not averaged.encode_tokens([[]]).any()
    expected = averaged.vectors.lookup(["heart", "attack"]).mean(axis=0)
    np.testing.assert_allclose(one, expected, atol=1e-6)


def test_bloom_codes_have_up_to_k_bits_and_differ():
    codes = [bloom_bits(f"Q{n}", bits=1024, hashes=5) for n in range(50)]
    assert all(1 <= code.sum() <= 5 for code in codes)
    assert all((one != two).any() for one, two in pairwise(codes))
    np.testing.assert_array_equal(codes[3], bloom_bits("Q3", bits=1024, hashes=5))


def test_bloom_embedding_is_the_mean_of_the_two_end_states():
    encoder = BloomEncoder(BloomConfig(word_dim=6, lstm_dim=5, dense_dim=4, bits=16)).eval()
    texts = [torch.randn(n, 6) for n in (4, 1, 6)]
    states = unpack(encoder.words(pack(texts)))
    expected = torch.stack([(s[-1, :5] + s[0, 5:]) / 2 for s in states])
    torch.testing.assert_close(encoder.embed(pack(texts)), expected)
    assert encoder(pack(texts)).shape == (3, 16)


def test_gradients_reach_every_parameter():
    network = CdvNetwork(CdvConfig(input_dim=6, lstm_dim=5, discourse_dim=4, target_dim=3))
    decoded = network(pack([torch.randn(n, 6) for n in (4, 2)]))
    sum(output.square().sum() for output in decoded.values()).backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in network.parameters())


def test_unknown_tasks_are_refused():
    with pytest.raises(ConfigError, match="tasks"):
        CdvConfig(input_dim=4, tasks=("entity", "weather"))
