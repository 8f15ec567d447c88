"""CDV against arnold2020 itself: Eq. 2 to 4 and 7 to 14 by loops in NumPy (`cdv_by_hand`).

`test_cdv.py` holds what should be true of any weights; this file holds what the numbers are.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from auscult.documents.building import build_document
from auscult.documents.document import Section
from auscult.index import IndexWriter, PassageIndex
from auscult.understanding import Query
from auscult_lab.cdv.encoder import CdvEncoder
from auscult_lab.cdv.network import CdvConfig, CdvNetwork
from auscult_lab.cdv.spaces import BloomConfig, bloom_bits
from auscult_lab.modules.recurrent import pack
from auscult_lab.modules.word_vectors import FLAGS, AveragedWords
from auscult_lab.scorers.encoder_scorer import EncoderScorer
from cdv_by_hand import (
    Vector,
    bit_probabilities,
    bloom_code,
    decoded,
    dense_states,
    discourse_vectors,
    embedding,
    linear,
    murmur3,
    passage_score,
    weights_of,
)
from small_cdv import ASPECTS, ENTITIES, Words, bloom_encoder, drawn, read, table_space


def test_sizes_are_those_of_section_5_2() -> None:
    assert BloomConfig() == BloomConfig(word_dim=128, lstm_dim=128, dense_dim=128, bits=1024, hashes=5, dropout=0.5)
    given = CdvConfig(input_dim=7)
    assert (given.lstm_dim, given.discourse_dim, given.target_dim, given.dropout) == (512, 256, 128, 0.0)
    assert (given.bounded, given.normalisation, given.standardize, given.unit_halves) == (True, "l2", False, False)


@pytest.mark.parametrize("identifier", ["Q1047", "DOID:2841", "symptoms", "title:gout", ""])
def test_bloom_code_sets_the_bits_of_five_hashes(identifier: str) -> None:
    # The hash itself, as its author's test vectors have it.
    assert (murmur3("", 1), murmur3("test", 0), murmur3("Hello, world!", 0)) == (0x514E28B7, 0xBA6BD213, 0xC0363E43)
    settings = BloomConfig()
    code = bloom_bits(identifier, bits=settings.bits, hashes=settings.hashes)
    assert np.flatnonzero(code).tolist() == np.flatnonzero(bloom_code(identifier)).tolist()
    assert set(code.tolist()) == {0.0, 1.0}


def test_bloom_encoder_predicts_bits_through_a_tanh_layer() -> None:
    encoder, texts = bloom_encoder(), ["rare heart pain", "gout", "wheezing cough"]
    packed = pack([torch.tensor(np.array(read(text)), dtype=torch.float32) for text in texts])
    weights = weights_of(encoder)
    for mine, found, text in zip(encoder.embed(packed), encoder(packed), texts, strict=True):
        np.testing.assert_allclose(mine.detach(), embedding(weights, read(text)), atol=1e-6)
        np.testing.assert_allclose(found.detach(), bit_probabilities(weights, read(text)), atol=1e-6)


def test_discourse_and_decoding_follow_equations_11_and_12() -> None:
    network = drawn(CdvNetwork(CdvConfig(input_dim=4, lstm_dim=3, discourse_dim=5, target_dim=3)), seed=3)
    documents = [read("rare heart pain gout"), read("cough"), read("wheezing gene asthma causes symptoms gout pain")]
    weights = weights_of(network)
    # Alone, so that rows come in the order of sentences.
    for sentences in documents:
        packed = pack([torch.tensor(np.array(sentences), dtype=torch.float32)])
        discourse = network.discourse_vectors(packed).detach().numpy()
        np.testing.assert_allclose(discourse, np.array(discourse_vectors(weights, sentences)), atol=1e-6)
        found = {task: rows.detach().numpy() for task, rows in network(packed).items()}
        for row, (entity, aspect) in enumerate(decoded(weights, sentences)):
            np.testing.assert_allclose(found["entity"][row], entity, atol=1e-6)
            np.testing.assert_allclose(found["aspect"][row], aspect, atol=1e-6)


DOCUMENT = build_document(
    doc_id="d", title="Asthma", source="hand",
    sections=[
        Section(heading="Symptoms", text="Wheezing and cough. Pain in the heart.", passage_id="p1"),
        Section(heading="", text="", passage_id="empty"),
        Section(heading="Causes", text="A rare gene causes asthma.\n- Gout", passage_id="p2"),
        Section(heading="", text="Cough.", passage_id="p3"),
    ],
)  # fmt: skip
SENTENCES = ["Wheezing cough", "Pain heart", "rare gene causes asthma", "Gout", "Cough"]
PASSAGES = {"p1": slice(0, 2), "p2": slice(2, 4), "p3": slice(4, 5)}
# Begin and end of document, begin and end of paragraph, list item.
STRUCTURE = [(1, 0, 1, 0, 0), (0, 0, 0, 1, 0), (0, 0, 1, 1, 0), (0, 0, 1, 1, 1), (0, 1, 1, 1, 0)]
QUERY = Query("q", "Asthma", ("Causes", "pain"), entity_id="DOID:2841")


def network_inputs() -> list[Vector]:
    """σ_avg(s) (Eq. 8) ⊕ flags (section 4.1.2)."""
    means = [sum(read(sentence)) / len(read(sentence)) for sentence in SENTENCES]
    return [np.concatenate([mean, flags]) for mean, flags in zip(means, STRUCTURE, strict=True)]


def make_encoder(**changes: Any) -> CdvEncoder:
    network = CdvNetwork(CdvConfig(input_dim=4 + FLAGS, lstm_dim=4, discourse_dim=5, target_dim=3, **changes))
    spaces = {"entity": table_space(ENTITIES), "aspect": table_space(ASPECTS)}
    return CdvEncoder(drawn(network, seed=4), AveragedWords(Words()), spaces, name="by hand", fingerprint="0" * 64)


def query_halves(encoder: CdvEncoder) -> tuple[Vector, Vector]:
    """ε_Q and α_Q as they are: a known entity, and the mean of a known aspect and one of unseen words (Eq. 5, 16)."""
    pain = embedding(weights_of(encoder.spaces["aspect"].encoder), read("pain"))
    return np.array(ENTITIES["DOID:2841"]), (np.array(ASPECTS["causes"]) + pain) / 2


def check_scores(encoder: CdvEncoder, expected: Mapping[str, float], folder: Path) -> None:
    """Every way in which the code scores passages, against the scores by the equations."""
    scorer = EncoderScorer(encoder)
    scorer.prepare([DOCUMENT])
    np.testing.assert_allclose(scorer.score(QUERY, list(expected)), list(expected.values()), atol=1e-6)
    with IndexWriter(folder, encoder) as writer:
        writer.add([DOCUMENT])
        writer.commit()
    index = PassageIndex.open(folder)
    rows, scores = index.search(encoder.encode_queries([QUERY])[0])
    found = {index.reader.passage_id(row): score for row, score in zip(rows.tolist(), scores.tolist(), strict=True)}
    assert found == pytest.approx(dict(expected), abs=1e-6)


def test_passage_score_is_mean_cosine_of_decoded_sentences(tmp_path: Path) -> None:
    """Eq. 7 to 14 from words to scores: one inner product of unit vectors against cosines of what they were made of."""
    encoder = make_encoder()
    assert [DOCUMENT.slice(sentence) for sentence in DOCUMENT.sentences][2:4] == [
        "A rare gene causes asthma.",
        "- Gout",
    ]
    query = np.concatenate(query_halves(encoder))
    sentences = [np.concatenate(halves) for halves in decoded(weights_of(encoder.network), network_inputs())]
    # None of them is of unit length, so that a score made of them is not made of what the code made of them.
    assert all(abs(np.linalg.norm(vector) - 1) > 0.05 for vector in (query, *sentences))
    expected = {passage: passage_score(query, sentences[rows]) for passage, rows in PASSAGES.items()}
    assert max(expected.values()) - min(expected.values()) > 0.05
    check_scores(encoder, expected, tmp_path / "index")


def test_cdv_departures_follow_their_settings(tmp_path: Path) -> None:
    """Layer normalisation before the tanh, scaled inputs, linear decoders, unit halves, weight and share."""
    encoder = make_encoder(bounded=False, normalisation="layer", standardize=True, unit_halves=True)
    encoder.entity_weight, encoder.document_share = 3.0, 0.7
    mean, scale = np.linspace(-0.4, 0.4, 9), np.linspace(0.5, 2.0, 9)
    encoder.network.fit_inputs(torch.from_numpy(mean), torch.from_numpy(scale))
    weights = weights_of(encoder.network)
    entities, aspects = [], []
    for dense in dense_states(weights, [(row - mean) / scale for row in network_inputs()]):
        centred = dense - dense.mean()
        level = centred / np.sqrt((centred * centred).mean() + 1e-5)
        discourse = np.tanh(level * weights["layer_norm.weight"] + weights["layer_norm.bias"])
        entities.append(unit(linear(weights, "entity", discourse)))
        aspects.append(unit(linear(weights, "aspect", discourse)))
    shared = [own + 0.7 * sum(entities) / len(entities) for own in entities]
    sentences = [np.concatenate([unit(entity), aspect]) for entity, aspect in zip(shared, aspects, strict=True)]
    entity, aspect = query_halves(encoder)
    query = np.concatenate([3 * unit(entity), unit(aspect)])
    expected = {passage: passage_score(query, sentences[rows]) for passage, rows in PASSAGES.items()}
    check_scores(encoder, expected, tmp_path / "index")


def unit(vector: Vector) -> Vector:
    return vector / np.sqrt(sum(vector * vector))
