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

from auscult.documents.building import build_document
from auscult.documents.document import Section
from auscult.encoders import load_model
from auscult.errors import ConfigError, ModelError
from auscult.understanding import Query
from auscult_lab.cdv.network import CdvConfig, CdvNetwork
from auscult_lab.cdv.persistence import load, save
from auscult_lab.cdv.spaces import BloomConfig, BloomEncoder, bloom_bits
from auscult_lab.modules.recurrent import BidirectionalLstm, like, pack, unpack
from auscult_lab.modules.word_vectors import AveragedWords, structural_flags
from random_cdv import documents, make_encoder, subwords

KINDS = pytest.mark.parametrize("kind", ["average", "bloom"])


def test_lstm_equals_torch_bidirectional_lstm_on_packed_input():
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


def test_orders_follow_their_data_to_a_device():
    """Sorting on a GPU fails with an order on the processor."""
    packed = pack([torch.ones(2, 3), torch.ones(4, 3)])
    moved = like(packed, packed.data.to("meta"))
    assert moved.sorted_indices.device == moved.unsorted_indices.device == moved.data.device
    assert moved.batch_sizes.device.type == "cpu"


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


def test_entity_weight_scales_the_entity_half_and_persists(tmp_path: Path):
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
def test_document_share_pulls_entity_halves_together_not_aspects(kind: str, tmp_path: Path):
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


def test_concepts_use_the_table_or_else_their_mention():
    space = make_encoder("bloom").spaces["entity"]
    np.testing.assert_array_equal(space.place("DOID:1", "asthma"), np.full(12, 0.5, np.float32))
    np.testing.assert_array_equal(space.place("DOID:2", "asthma"), space.embed(["asthma"])[0])
    np.testing.assert_array_equal(space.place("Q35869", "Wheezing, chronic"), np.full(12, 0.5, np.float32))


def test_half_precision_stays_close_and_is_smaller(tmp_path: Path):
    encoder, given = make_encoder("average"), documents()
    save(encoder, tmp_path / "full")
    save(encoder, tmp_path / "half", half=True)
    halves = load(tmp_path / "half").encode_documents(given)
    for one, two in zip(encoder.encode_documents(given), halves, strict=True):
        assert (one * two).sum(axis=1).min() > 0.999
    sizes = [(tmp_path / name / "weights.safetensors").stat().st_size for name in ("full", "half")]
    assert sizes[1] < 0.6 * sizes[0]


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


def test_bloom_codes_differ_with_at_most_k_bits():
    codes = [bloom_bits(f"Q{n}", bits=1024, hashes=5) for n in range(50)]
    assert all(1 <= code.sum() <= 5 for code in codes)
    assert all((one != two).any() for one, two in pairwise(codes))
    np.testing.assert_array_equal(codes[3], bloom_bits("Q3", bits=1024, hashes=5))


def test_bloom_embedding_is_the_mean_of_end_states():
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
