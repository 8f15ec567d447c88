"""Pooled transformer sentences, on a tiny random BERT that the tests make and save."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from transformers import AutoModel

from auscult.documents.building import build_document
from auscult.documents.document import Section
from auscult.errors import ConfigError, ModelError
from auscult_lab.cdv.encoder import PooledTransformer
from auscult_lab.cdv.experiment import CdvExperiment
from auscult_lab.families.table import train
from small_experiment import settings
from tiny_bert import save_tiny_bert


@pytest.fixture(scope="module")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_bert(tmp_path_factory.mktemp("bert"), limit=24)


def document():
    text = "People with asthma often feel pain. Fever.\n" + "The signs come slowly and slowly and often " * 6
    return build_document(doc_id="d", title="Asthma", sections=[Section(heading="Symptoms", text=text)])


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_pooling_equals_the_librarys_own_states(backbone: Path, pooling: str):
    encoder = PooledTransformer(str(backbone), pooling=pooling)  # type: ignore[arg-type]
    text = "People with asthma"
    states = AutoModel.from_pretrained(backbone)(
        **encoder.backbone.tokenizer(text, return_tensors="pt")
    ).last_hidden_state[0]
    expected = states.mean(dim=0) if pooling == "mean" else states[0]
    np.testing.assert_allclose(encoder.encode_texts([text])[0], expected.detach().numpy(), atol=1e-5)


@pytest.mark.parametrize("batch_size", [1, 2, 64])
def test_batch_size_and_company_never_change_a_vector(backbone: Path, batch_size: int):
    given = document()
    alone = PooledTransformer(str(backbone), batch_size=1).encode(given)
    np.testing.assert_allclose(PooledTransformer(str(backbone), batch_size=batch_size).encode(given), alone, atol=1e-5)
    assert alone.shape == (len(given.sentences), 16)


def test_cut_sentences_are_counted(backbone: Path):
    encoder = PooledTransformer(str(backbone))
    encoder.encode(document())
    assert encoder.truncated == 1


def test_bad_names_and_poolings_are_refused(tmp_path: Path, backbone: Path):
    with pytest.raises(ModelError, match="Hugging Face encoder"):
        PooledTransformer(str(tmp_path / "nothing"))
    with pytest.raises(ConfigError, match="pooling"):
        PooledTransformer(str(backbone), pooling="max")  # type: ignore[arg-type]


def test_cdv_trains_on_a_transformer_and_opens_again(backbone: Path, corpus: Path, ontology: Path, tmp_path: Path):
    fields = settings(corpus, ontology, sentences={"kind": "transformer", "transformer": str(backbone)})
    outcome = train(CdvExperiment.model_validate(fields), tmp_path / "run")
    losses = [epoch["loss"] for epoch in outcome.record["history"]]
    assert losses[-1] < losses[0]
    from auscult.encoders import load_model

    vectors = load_model(str(outcome.model)).encode_documents([document()])[0]
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    with pytest.raises(ConfigError, match="substituted"):
        train(CdvExperiment.model_validate({**fields, "labels": {"substitute": 0.5}}), tmp_path / "other")
