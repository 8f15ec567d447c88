"""CDV with a fine-tuned transformer: two stages, each kept on disk, on a tiny random BERT."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.nn.utils.rnn import PackedSequence

from auscult.documents.building import build_document
from auscult.documents.document import Section
from auscult.encoders import load_model, training_record
from auscult.errors import ConfigError, ModelError
from auscult_lab.cdv.data import DocumentExamples, collate
from auscult_lab.cdv.encoder import CdvEncoder, PooledTransformer
from auscult_lab.cdv.experiment import CdvExperiment
from auscult_lab.cdv.network import CdvConfig, CdvNetwork
from auscult_lab.cdv.objective import JointNetwork
from auscult_lab.cdv.persistence import fingerprint, load, save
from auscult_lab.cdv.spaces import AverageSpace
from auscult_lab.families.table import train
from auscult_lab.modules.backbone import open_backbone
from auscult_lab.modules.recurrent import pack
from auscult_lab.modules.word_vectors import SubwordTable, structural_flags
from auscult_lab.training import loop
from auscult_lab.training.batches import DocumentBatches
from auscult_lab.training.data import gather
from small_experiment import settings
from tiny_bert import save_tiny_bert

TUNING = {
    "epochs": 4, "batch_documents": 3, "learning_rate": 2e-3, "network_learning_rate": 2e-3, "chunk": 5,
    "patience": None,
}  # fmt: skip


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_bert(tmp_path_factory.mktemp("bert"))


def fields(corpus: Path, ontology: Path, bert: Path, **changes: object) -> dict[str, object]:
    sentences = {"kind": "transformer", "transformer": str(bert), "fine_tune": TUNING}
    return {**settings(corpus, ontology, sentences=sentences), "targets": {"kind": "average"}, **changes}


def experiment(corpus: Path, ontology: Path, bert: Path, **changes: object) -> CdvExperiment:
    return CdvExperiment.model_validate(fields(corpus, ontology, bert, **changes))


def document():
    text = "People with asthma often feel pain. Fever.\n" + "The signs come slowly and slowly and often. " * 3
    return build_document(doc_id="d", title="Asthma", sections=[Section(heading="Symptoms", text=text)])


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return open_backbone(str(folder)).state_dict()


def test_both_stages_train_and_the_model_reloads_equal(corpus: Path, ontology: Path, bert: Path, tmp_path: Path):
    outcome = train(experiment(corpus, ontology, bert), tmp_path)
    losses = [epoch["loss"] for epoch in outcome.record["history"]]
    assert len(losses) == 4
    assert losses[-1] < losses[0]
    frozen = load(tmp_path / "frozen")
    assert outcome.record["frozen"]["history"] == training_record(tmp_path / "frozen")["history"]
    assert isinstance(frozen.sentences, PooledTransformer)
    assert (frozen.sentences.name_or_path, frozen.sentences.pooling) == (str(bert), "mean")
    before, after = weights(bert), weights(outcome.model / "sentences")
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert {name for name in before if "pooler" not in name} - changed <= {
        name for name in before if "key.bias" in name
    }
    assert not {name for name in changed if "pooler" in name}
    assert not torch.equal(load(outcome.model).network.discourse.weight, frozen.network.discourse.weight)
    assert outcome.record["parameters"] > sum(each.numel() for name, each in after.items() if "pooler" not in name)
    opened, again = load(outcome.model), load_model(str(outcome.model))
    assert isinstance(opened.sentences, PooledTransformer)
    assert opened.sentences.pooling == "cls"
    vectors = opened.encode_documents([document()])[0]
    assert np.array_equal(vectors, again.encode_documents([document()])[0])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert not np.allclose(vectors, frozen.encode_documents([document()])[0], atol=1e-2)


def test_frozen_stage_equals_training_without_fine_tuning(corpus: Path, ontology: Path, bert: Path, tmp_path: Path):
    train(experiment(corpus, ontology, bert), tmp_path / "two")
    # Word vectors differ a little from training to training.
    (tmp_path / "one").mkdir()
    (tmp_path / "two" / "words").rename(tmp_path / "one" / "words")
    plain = {"kind": "transformer", "transformer": str(bert)}
    outcome = train(experiment(corpus, ontology, bert, sentences=plain), tmp_path / "one")
    assert not (tmp_path / "one" / "frozen").exists()
    one, two = load(outcome.model), load(tmp_path / "two" / "frozen")
    assert np.array_equal(one.encode_documents([document()])[0], two.encode_documents([document()])[0])


@pytest.mark.parametrize("killed_in", ["epoch", "checkpoint"])
def test_resuming_a_killed_second_stage_reproduces_the_model(
    corpus: Path, ontology: Path, bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, killed_in: str
):
    # A checkpoint after every step; standardised, so that statistics are to be kept as well.
    tuning = {**TUNING, "checkpoint_minutes": 0.0, "batch_documents": 2, "epochs": 2}
    sentences = {"kind": "transformer", "transformer": str(bert), "fine_tune": tuning}
    network = {"lstm_dim": 8, "discourse_dim": 8, "standardize": "sentences"}
    settings = experiment(corpus, ontology, bert, sentences=sentences, network=network)
    whole = train(settings, tmp_path / "whole")

    class KilledError(Exception):
        pass

    (tmp_path / "killed").mkdir()
    (tmp_path / "whole" / "words").rename(tmp_path / "killed" / "words")
    epoch_end, step = loop._Module.on_train_epoch_end, loop._Module.training_step
    stages: list[str] = []

    def dies_in_epoch(self: loop._Module) -> None:
        if self.current_epoch == 1 and isinstance(self.network, JointNetwork):
            raise KilledError
        epoch_end(self)

    def dies_in_step(self: loop._Module, batch: object, number: int) -> torch.Tensor:
        if self.current_epoch == 1 and number == 2 and isinstance(self.network, JointNetwork):
            raise KilledError
        return step(self, batch, number)

    with monkeypatch.context() as patch:
        if killed_in == "epoch":
            patch.setattr(loop._Module, "on_train_epoch_end", dies_in_epoch)
        else:
            patch.setattr(loop._Module, "training_step", dies_in_step)
        with pytest.raises(KilledError):
            train(settings, tmp_path / "killed")
    assert (tmp_path / "killed" / "frozen" / "model.json").is_file()
    assert not (tmp_path / "killed" / "model").exists()
    resumed = train(settings, tmp_path / "killed", say=stages.append)
    assert not [line for line in stages if line.startswith("epoch 0")]
    for one, two in zip(whole.record["history"], resumed.record["history"], strict=True):
        assert one["loss"] == pytest.approx(two["loss"], abs=1e-5)
        assert one["validation_RR"] == pytest.approx(two["validation_RR"], abs=1e-5)
    one, two = weights(whole.model / "sentences"), weights(resumed.model / "sentences")
    for name, value in one.items():
        torch.testing.assert_close(two[name], value, atol=1e-6, rtol=1e-5)
    before, after = load(whole.model).network.state_dict(), load(resumed.model).network.state_dict()
    for name, value in before.items():
        torch.testing.assert_close(after[name], value, atol=1e-6, rtol=1e-5)


def test_half_precision_trains_much_alike(corpus: Path, ontology: Path, bert: Path, tmp_path: Path):
    losses = []
    for precision in ("float32", "bf16"):
        sentences = {"kind": "transformer", "transformer": str(bert), "fine_tune": {**TUNING, "precision": precision}}
        if losses:
            (tmp_path / "float32" / "words").rename(tmp_path / "words")
            (tmp_path / precision).mkdir()
            (tmp_path / "words").rename(tmp_path / precision / "words")
        outcome = train(experiment(corpus, ontology, bert, sentences=sentences), tmp_path / precision)
        losses.append([epoch["loss"] for epoch in outcome.record["history"]])
    assert losses[1] == pytest.approx(losses[0], rel=0.05)
    assert losses[1] != losses[0]
    assert weights(outcome.model / "sentences")["model.embeddings.word_embeddings.weight"].dtype == torch.float32


def joint(bert: Path, chunk: int, pooling: str = "cls") -> JointNetwork:
    torch.manual_seed(0)
    network = CdvNetwork(CdvConfig(input_dim=21, lstm_dim=8, discourse_dim=8, target_dim=4))
    backbone = open_backbone(str(bert))
    return JointNetwork(backbone, network, pooling=pooling, max_tokens=20, chunk=chunk).eval()  # type: ignore[arg-type]


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_training_reads_what_the_model_reads(bert: Path, pooling: str):
    given = document()
    network = joint(bert, chunk=2, pooling=pooling)
    flags = pack([torch.from_numpy(structural_flags(given))])
    inputs = network.inputs(flags, [given.slice(sentence) for sentence in given.sentences])
    encoder = PooledTransformer(network.sentences, pooling=pooling)  # type: ignore[arg-type]
    np.testing.assert_allclose(inputs.data[:, :16].detach(), encoder.encode(given, max_tokens=20), atol=1e-5)
    assert torch.equal(inputs.data[:, 16:], flags.data)


def test_chunks_save_fewer_numbers_and_change_no_gradient(bert: Path):
    texts = [
        "asthma",
        "gout and fever",
        "people often feel pain",
        "the signs of gout",
        "it causes pain",
        "a gene",
        "fever",
    ]
    flags = PackedSequence(torch.zeros(7, 5), torch.ones(7, dtype=torch.long))
    gradients, saved_sizes = [], []
    for chunk in (100, 2):
        network = joint(bert, chunk)
        total = 0

        def count(tensor: torch.Tensor) -> torch.Tensor:
            nonlocal total
            total += tensor.numel()
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(count, lambda tensor: tensor):
            loss = network.inputs(flags, texts).data.square().sum()
        saved_sizes.append(total)
        loss.backward()
        trained = [weights for weights in network.sentences.parameters() if weights.requires_grad]
        assert all(weights.grad is not None for weights in trained)
        gradients.append([weights.grad for weights in trained])
    torch.testing.assert_close(gradients[0], gradients[1], atol=1e-4, rtol=1e-4)


def test_example_texts_follow_the_order_of_packed_rows(corpus: Path, ontology: Path, bert: Path):
    settings = experiment(corpus, ontology, bert)
    data = gather(settings, lambda _: None)
    table = SubwordTable(np.ones((50, 6), dtype=np.float32), min_n=4, max_n=5, hash_count=1)
    space = AverageSpace(table, np.zeros(6, np.float32))
    examples = DocumentExamples(settings, data, None, {"entity": space, "aspect": space}, max_sentences=3)
    batch = collate([examples[0, row] for row in (0, 1, 2)])
    # Of documents of one length, a packed layout has every first sentence before every second.
    assert len(batch.texts) == len(batch.inputs.data) == 9
    documents = [data.documents[row].document for row in (0, 1, 2)]
    first = {document.slice(document.sentences[0]) for document in documents}
    assert set(batch.texts[:3]) == first
    order = batch.inputs.sorted_indices
    assert order is not None
    assert batch.texts[:3] == [documents[row].slice(documents[row].sentences[0]) for row in order.tolist()]
    assert batch.inputs.data.shape == (9, 5)


def test_resumed_batches_are_the_rest_of_the_epoch():
    whole, rest = (DocumentBatches(list(range(1, 24)), batch_documents=4, seed=1) for _ in range(2))
    rest.resume(0, 2)
    assert list(rest) == list(whole)[2:]
    for batches in (whole, rest):
        batches.set_epoch(1)
    assert list(rest) == list(whole)


def own(bert: Path) -> CdvEncoder:
    network = joint(bert, chunk=4)
    return CdvEncoder(network.documents, PooledTransformer(network.sentences, pooling="cls"), {}, name="mine")


def test_own_transformer_is_saved_replaced_and_verified(bert: Path, tmp_path: Path):
    first = own(bert)
    identity = save(first, tmp_path)
    with torch.no_grad():
        first.sentences.backbone.model.embeddings.word_embeddings.weight.add_(1.0)  # type: ignore[attr-defined]
    assert save(first, tmp_path) != identity
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.json", "sentences", "weights.safetensors"]
    opened = load(tmp_path)
    assert np.array_equal(opened.encode_documents([document()])[0], first.encode_documents([document()])[0])
    assert opened.fingerprint == fingerprint(tmp_path)
    damaged = tmp_path / "sentences" / "model.safetensors"
    damaged.write_bytes(damaged.read_bytes()[:-4] + b"\x00\x01\x02\x03")
    with pytest.raises(ModelError, match="damaged"):
        load(tmp_path)
    named = CdvEncoder(first.network, PooledTransformer(str(bert)), {}, name="named")
    save(named, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.json", "weights.safetensors"]


def test_fine_tuning_needs_a_transformer_and_expands_variables(
    corpus: Path, ontology: Path, bert: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with pytest.raises(ValueError, match="needs kind 'transformer'"):
        experiment(corpus, ontology, bert, sentences={"kind": "average", "fine_tune": TUNING})
    sentences = {"kind": "transformer", "transformer": "$SOME_ENCODER"}
    settings = experiment(corpus, ontology, bert, sentences=sentences)
    monkeypatch.delenv("SOME_ENCODER", raising=False)
    with pytest.raises(ConfigError, match="SOME_ENCODER"):
        train(settings, tmp_path / "none")
    monkeypatch.setenv("SOME_ENCODER", str(bert))
    assert train(settings, tmp_path / "some").model.is_dir()
