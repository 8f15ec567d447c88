"""What every document encoder promises: CDV of every kind, bi-encoders, sentence-transformers, the shipped model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from architectures import VARIANTS, make
from auscult.documents import Document, build_document
from auscult.encoders import SENTENCE_TRANSFORMER, SHIPPED, kind_of, load_model
from auscult.encoders.contract import DocumentEncoder
from auscult.encoders.general.encoder import GeneralEncoder
from auscult.encoders.registry import kinds as all_kinds
from auscult.understanding import Query
from auscult_engines.bulk import BulkEncoder
from auscult_lab.cdv import persistence as cdv
from auscult_lab.cdv.encoder import CdvEncoder, PooledTransformer
from auscult_lab.cdv.network import CdvConfig, CdvNetwork
from auscult_lab.encoders import persistence as encoders
from auscult_lab.encoders.bi import BiEncoder
from auscult_lab.encoders.scorer import BiDocumentEncoder
from auscult_lab.modules.word_vectors import FLAGS
from classes import classes_with
from random_cdv import documents, make_encoder
from small_general import make_general, save_general

QUERIES = [
    Query("", "asthma", ("Signs and symptoms",)),
    Query("", "heart attack", ("causes", "treatment"), entity_id="DOID:1"),
    Query("", "chronic wheezing", ("symptoms",), text="What are signs of it?"),
]
BI = [name for name, (kind, settings) in VARIANTS.items() if kind.endswith("bi") and settings.get("cosine")]


def _transformer(backbone: Path) -> CdvEncoder:
    spaces = make_encoder("average").spaces
    sentences = PooledTransformer(str(backbone))
    torch.manual_seed(2)
    config = CdvConfig(input_dim=sentences.dim + FLAGS, lstm_dim=9, discourse_dim=8, target_dim=12, unit_halves=True)
    return CdvEncoder(CdvNetwork(config), sentences, spaces, name="cdv-transformer")


def _bi(variant: str, backbone: Path) -> BiDocumentEncoder:
    ranker = make(variant, backbone)
    assert isinstance(ranker, BiEncoder)
    return BiDocumentEncoder(ranker)


CDV: dict[str, Callable[[Path], Any]] = {
    "cdv-average": lambda _: make_encoder("average"),
    "cdv-bloom": lambda _: make_encoder("bloom"),
    **{
        f"cdv-{kind}-{task}": lambda _, kind=kind, task=task: make_encoder(kind, (task,))
        for kind in ("average", "bloom")
        for task in ("entity", "aspect")
    },
    "cdv-transformer": _transformer,
    "cdv": lambda _: load_model("cdv"),
}
GENERAL = "general"
ENCODERS = CDV | {
    GENERAL: lambda _: make_general(),
    **{name: lambda backbone, name=name: _bi(name, backbone) for name in BI},
}
LOADED = [name for name in SHIPPED if name not in CDV]
"""Encoders that are read from disk as they are, and never written by themselves."""
every_encoder = pytest.mark.parametrize("name", [*ENCODERS, *LOADED, SENTENCE_TRANSFORMER])


def save(encoder: Any, folder: Path, **record: object) -> str:
    if isinstance(encoder, GeneralEncoder):
        return save_general(folder, training=record)
    if isinstance(encoder, CdvEncoder):
        return cdv.save(encoder, folder, training=record)
    return encoders.save(encoder.ranker, folder, training=record)


def opened(name: str, backbone: Path, folder: Path) -> Any:
    """As a user has it: a bare folder of sentence-transformers is one that a bi-encoder was saved in."""
    if name == SENTENCE_TRANSFORMER:
        save(_bi(BI[0], backbone), folder / "bi")
        return load_model(str(folder / "bi" / "passages"))
    if name in LOADED:
        return load_model(name)
    return ENCODERS[name](backbone)


@pytest.fixture
def encoder(name: str, backbone: Path, tmp_path: Path) -> Any:
    return opened(name, backbone, tmp_path)


def test_no_encoder_escapes(backbone: Path, tmp_path: Path) -> None:
    made = {name: make(backbone) for name, make in ENCODERS.items()}
    hands_on = {BulkEncoder}  # what an encoder read elsewhere: tests/ingest/test_bulk.py
    assert {type(each) for each in made.values()} == classes_with("encode_documents", "encode_queries") - hands_on
    for name, each in made.items():
        save(each, tmp_path / name)
    kinds = {kind_of(str(tmp_path / name)).name for name in made}
    assert kinds | {SENTENCE_TRANSFORMER} == {kind.name for kind in all_kinds().values() if kind.encoder}


@every_encoder
def test_rows_are_unit_and_one_a_sentence(encoder: Any) -> None:
    assert isinstance(encoder, DocumentEncoder)
    given = documents()
    for document, matrix in zip(given, encoder.encode_documents(given), strict=True):
        assert (matrix.shape, matrix.dtype) == ((len(document.sentences), encoder.dim), np.float32)
        np.testing.assert_allclose(np.linalg.norm(matrix, axis=1), 1.0, atol=1e-5)
    asked = encoder.encode_queries(QUERIES)
    assert (asked.shape, asked.dtype) == ((len(QUERIES), encoder.dim), np.float32)
    np.testing.assert_allclose(np.linalg.norm(asked, axis=1), 1.0, atol=1e-5)


@every_encoder
def test_parts_divide_the_columns(encoder: Any) -> None:
    columns = [column for part in encoder.parts.values() for column in range(encoder.dim)[part]]
    assert columns == (list(range(encoder.dim)) if encoder.parts else [])
    assert set(encoder.parts) <= {"entity", "aspect", "question"}


@every_encoder
def test_nothing_has_no_rows(encoder: Any) -> None:
    empty = build_document(doc_id="e", title="Empty", sections=[])
    first, second = encoder.encode_documents([empty, documents(1)[0]])
    assert first.shape == (0, encoder.dim)
    assert len(second)
    assert encoder.encode_documents([]) == []
    assert encoder.encode_queries([]).shape == (0, encoder.dim)


@every_encoder
def test_batch_order_size_and_content_never_change_vectors(encoder: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    given = documents(9)
    alone = [encoder.encode_documents([document])[0] for document in given]
    query_vectors = np.concatenate([encoder.encode_queries([query]) for query in QUERIES])
    backwards = encoder.encode_documents(given[::-1])[::-1]
    np.testing.assert_allclose(encoder.encode_queries(QUERIES[::-1])[::-1], query_vectors, atol=1e-5)
    monkeypatch.setattr("auscult_lab.cdv.encoder._BATCH_STEPS", 30)
    for holder in (getattr(encoder, "ranker", None), getattr(encoder, "sentences", None)):
        if hasattr(holder, "batch_size"):
            monkeypatch.setattr(holder, "batch_size", 2)
    small = encoder.encode_documents(given)
    np.testing.assert_allclose(encoder.encode_queries(QUERIES), query_vectors, atol=1e-5)
    for one, two, three in zip(alone, backwards, small, strict=True):
        np.testing.assert_allclose(one, two, atol=1e-5)
        np.testing.assert_allclose(one, three, atol=1e-5)


@every_encoder
def test_mean_of_sentence_cosines_is_one_inner_product(encoder: Any) -> None:
    """Eq. 13 and 14 against design's identity, from the decoded vectors as the paper writes it."""
    document = documents(1)[0]
    vectors = encoder.encode_documents([document])[0].astype(np.float64)
    for query in encoder.encode_queries(QUERIES).astype(np.float64):
        cosines = [query @ row / (np.linalg.norm(query) * np.linalg.norm(row)) for row in vectors]
        whole = query @ vectors.mean(axis=0)
        assert np.mean(cosines) == pytest.approx(whole, abs=1e-6)
        if encoder.parts:
            halves = sum(query[part] @ vectors.mean(axis=0)[part] for part in encoder.parts.values())
            assert halves == pytest.approx(whole, abs=1e-9)


@pytest.mark.parametrize("name", ENCODERS)
def test_a_saved_encoder_is_the_same_encoder(encoder: Any, tmp_path: Path) -> None:
    written = save(encoder, tmp_path / "m", seed=1)
    again = load_model(str(tmp_path / "m"))
    given: list[Document] = documents()
    for one, two in zip(encoder.encode_documents(given), again.encode_documents(given), strict=True):
        np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(encoder.encode_queries(QUERIES), again.encode_queries(QUERIES), atol=1e-6)
    assert again.fingerprint == written
    assert len(written) == 64
    assert dict(again.parts) == dict(encoder.parts)
    assert (again.name, again.dim) == (encoder.name, encoder.dim)


@every_encoder
def test_fingerprint_covers_weights_but_not_the_training_record(
    name: str, encoder: Any, backbone: Path, tmp_path: Path
) -> None:
    def identity(place: str, **record: object) -> str:
        if name == SENTENCE_TRANSFORMER:
            save(encoder, tmp_path / place, **record)
            fingerprint: str = load_model(str(tmp_path / place / "passages")).fingerprint
            return fingerprint
        return save(encoder, tmp_path / place, **record)

    one, same = identity("a", date="then"), identity("b", date="now")
    if isinstance(encoder, GeneralEncoder):
        assert one == same != save_general(tmp_path / "c", seed=1, training={"date": "then"})
        return
    network = encoder.network if isinstance(encoder, CdvEncoder) else encoder.ranker
    with torch.no_grad():
        next(iter(network.parameters())).add_(0.1)
    assert one == same != identity("c", date="then")
