"""Training: labels, substitution, examples, and whole small trainings that are killed and go on."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from typer.testing import CliRunner

from auscult.cli.all_commands import app
from auscult.concepts import KnowledgeBase, MentionLinker
from auscult.documents.building import build_document
from auscult.documents.document import Section
from auscult.encoders import load_model
from auscult.errors import ConfigError
from auscult_lab.cdv.bloom_training import aspect_descriptions, entity_descriptions
from auscult_lab.cdv.data import DocumentExamples, collate
from auscult_lab.cdv.experiment import CdvExperiment
from auscult_lab.cdv.objective import common_headings, passage_means, retrieval_quality
from auscult_lab.cdv.persistence import load
from auscult_lab.cdv.spaces import AverageSpace
from auscult_lab.families.table import read_experiment, train
from auscult_lab.modules.word_vectors import AveragedWords, SubwordTable
from auscult_lab.training import loop
from auscult_lab.training.batches import DocumentBatches, place_measures, wrong_ahead
from auscult_lab.training.data import TrainingData, gather, mentions_words, name_pool, replace_words
from auscult_lab.training.experiment_files import experiments_in
from auscult_lab.training.folder import restart
from auscult_lab.training.labels import label_documents, title_words
from places import ROOT
from small_experiment import settings


def asthma():
    return build_document(
        doc_id="a", title="Asthma (lung)",
        sections=[
            Section(heading="Signs and symptoms", text="Asthma makes breathing hard. It may follow a heart attack."),
            Section(heading="", text="Nothing is said here."),
        ],
    )  # fmt: skip


def gout():
    return build_document(doc_id="g", title="Gout", sections=[Section(heading="Causes", text="Uric acid causes gout.")])


def test_labels_come_from_title_mentions_and_headings(ontology: Path):
    knowledge = KnowledgeBase.from_files([ontology])
    (labelled,) = label_documents([asthma()], knowledge, MentionLinker(knowledge))
    assert labelled.title is not None
    assert (labelled.title.key, labelled.title.name) == ("DOID:2841", "Asthma")
    assert [[label.key for label in labels] for labels in labelled.mentions] == [[], ["DOID:1"], []]
    assert labelled.aspects == (("signs", "symptoms"), ())
    assert labelled.passage_of == (0, 0, 1)
    (plain,) = label_documents([asthma()], None, None)
    assert plain.title is not None
    assert plain.title.key == "title:asthma"
    assert title_words("(only)") == "(only)"


def test_substitution_replaces_the_whole_name_only():
    sentence = ["the", "heart", "attack", "of", "a", "heart", "patient"]
    assert replace_words(sentence, ["heart", "attack"], ["gout"]) == ["the", "gout", "of", "a", "heart", "patient"]
    assert mentions_words([sentence], ["heart", "attack"])
    assert not mentions_words([sentence], ["attack", "heart"])
    assert not mentions_words([sentence], [])


def test_excluded_names_are_never_drawn(ontology: Path):
    pool = name_pool(KnowledgeBase.from_files([ontology]), excluded=["Heart Attack", "GOUT"])
    rng = random.Random(0)
    drawn = {" ".join(pool.draw(rng)) for _ in range(200)}
    assert drawn == {"asthma", "bronchial asthma", "myocardial infarction"}


def test_passage_means_leave_out_unlabelled_passages():
    rows = torch.tensor([[1.0, 0.0], [3.0, 0.0], [9.0, 9.0], [0.0, 5.0]])
    means = passage_means(rows, torch.tensor([0, 0, -1, 1]), 2)
    assert means.tolist() == [[2.0, 0.0], [0.0, 5.0]]


def examples(documents, *, pool=None, substitute=0.0) -> DocumentExamples:
    table = SubwordTable(
        np.random.default_rng(0).normal(size=(50, 6)).astype(np.float32), min_n=4, max_n=5, hash_count=1
    )
    space = AverageSpace(table, np.zeros(6, np.float32))
    given = {"name": "e", "track": "zero-shot", "corpora": [{"name": "nhs"}], "validation": {"corpora": ["nhs"]},
             "targets": {"kind": "average"}, "labels": {"substitute": substitute}}  # fmt: skip
    data = TrainingData(documents, [], None, pool, [])
    spaces = {"entity": space, "aspect": space}
    return DocumentExamples(CdvExperiment.model_validate(given), data, AveragedWords(table), spaces)


def test_examples_hold_targets_of_title_and_heading(ontology: Path):
    documents = list(label_documents([asthma()], None, None))
    made = examples(documents)
    example = made[0, 0]
    space = made._spaces["entity"]
    np.testing.assert_allclose(example.targets["entity"], np.tile(space.embed(["Asthma"]), (3, 1)), atol=1e-6)
    aspect = space.embed(["signs", "symptoms"]).mean(axis=0)
    np.testing.assert_allclose(example.targets["aspect"][:2], np.tile(aspect, (2, 1)), atol=1e-6)
    assert np.isnan(example.targets["aspect"][2]).all()
    assert example.passages.tolist() == [0, 0, -1]
    batch = collate([example, made[0, 0]])
    assert batch.queries.shape == (2, 12)
    assert sorted(batch.passages.tolist()) == [-1, -1, 0, 0, 1, 1]
    assert batch.labels.tolist() == [0, 0]


def test_input_statistics_are_those_of_all_sentences():
    made = examples(list(label_documents([asthma()], None, None)))
    inputs = made[0, 0].inputs
    plain_mean, plain_deviation = made.input_statistics(flags=False)
    assert plain_mean[-5:].tolist() == [0.0] * 5
    assert plain_deviation[-5:].tolist() == [1.0] * 5
    mean, deviation = made.input_statistics(flags=True)
    assert torch.equal(mean[:-5], plain_mean[:-5])
    np.testing.assert_allclose(mean, inputs.mean(axis=0), atol=1e-6)
    np.testing.assert_allclose(deviation, inputs.std(axis=0), atol=1e-5)


def test_substituted_examples_change_text_and_label_together(ontology: Path):
    documents = list(label_documents([asthma()], None, None))
    pool = name_pool(KnowledgeBase.from_files([ontology]), excluded=["asthma"])
    plain, changed = examples(documents), examples(documents, pool=pool, substitute=1.0)
    one, two = plain[0, 0], changed[0, 0]
    assert not np.allclose(one.inputs[0], two.inputs[0])
    np.testing.assert_array_equal(one.inputs[1], two.inputs[1])
    assert not np.allclose(one.targets["entity"], two.targets["entity"])
    np.testing.assert_array_equal(changed[0, 0].inputs, two.inputs)
    assert any(not np.allclose(changed[epoch, 0].inputs, two.inputs) for epoch in range(1, 6))


def test_held_out_entities_are_in_no_training_corpus(corpus: Path, ontology: Path, tmp_path: Path):
    again = tmp_path / "again.jsonl"
    again.write_text(corpus.read_text(encoding="utf-8").replace('"id": "', '"id": "second-'), encoding="utf-8")
    fields = settings(corpus, ontology)
    fields["corpora"] = [{"name": str(again)}, {"name": str(corpus)}]
    data = gather(CdvExperiment.model_validate(fields), lambda _: None)
    held = {item.title.name for item in data.held_out}
    assert len(held) == len(data.held_out) == 2
    assert not held & {item.title.name for item in data.documents}
    assert len(data.documents) == 12
    assert len(data.texts) == 16


def test_validation_asks_only_for_common_headings(ontology: Path):
    documents = list(label_documents([asthma(), asthma()], None, None))
    assert common_headings(documents, 2) == {("signs", "symptoms")}
    assert common_headings(documents, 3) == frozenset()


def test_a_diverged_model_ranks_last():
    nan = float("nan")
    for scores, ahead in (([nan, nan, nan], 2), ([nan, 1.0, 0.0], 2), ([1.0, nan, 0.0], 1), ([1.0, 1.0, 0.0], 1)):
        assert wrong_ahead(np.array(scores, dtype=np.float32), [True, False, False]) == ahead
    held_out = list(label_documents([asthma(), gout()], None, None))

    class Diverged:
        def encode_queries(self, queries):
            return np.full((len(queries), 4), nan, dtype=np.float32)

    vectors = [np.full((len(each.passage_of), 4), nan, dtype=np.float32) for each in held_out]
    reached = retrieval_quality(Diverged(), held_out, common_headings(held_out, 1), vectors)
    assert reached == place_measures([1, 1])


def test_share_shrinks_training_but_not_held_out_documents(corpus: Path, ontology: Path):
    def ids(share: float) -> tuple[list[str], list[str], int]:
        fields = settings(corpus, ontology, share=share)
        data = gather(CdvExperiment.model_validate(fields), lambda _: None)
        trained, held = ([item.document.doc_id for item in items] for items in (data.documents, data.held_out))
        return trained, held, len(data.texts)

    whole, half = ids(1.0), ids(0.5)
    assert len(half[0]) == round(0.5 * len(whole[0]))
    assert {*half[0]} < {*whole[0]}
    assert half[1:] == whole[1:]
    assert half == ids(0.5)


def test_calibration_maximizes_held_out_retrieval_and_is_saved(corpus: Path, ontology: Path, tmp_path: Path):
    fields = settings(corpus, ontology)
    fields["targets"] = {"kind": "average"}
    fields["validation"] = {"corpora": [str(corpus)], "documents": 4, "calibrate": True}
    experiment = CdvExperiment.model_validate(fields)
    outcome = train(experiment, tmp_path / "run")
    encoder = load(outcome.model)
    assert encoder.entity_weight == outcome.record["entity_weight"]
    assert encoder.document_share == outcome.record["document_share"]
    data = gather(experiment, lambda _: None)
    asked_for = common_headings(data.documents, 1)
    reached = retrieval_quality(encoder, data.held_out, asked_for)
    assert reached == pytest.approx(outcome.record["validation_calibrated"])
    for encoder.entity_weight, encoder.document_share in ((1.0, 0.0), (4.0, 0.0), (1.0, 2.0)):
        assert retrieval_quality(encoder, data.held_out, asked_for)["RR"] <= reached["RR"] + 1e-6


def test_batches_cover_documents_once_and_reshuffle_each_epoch():
    batches = DocumentBatches(list(range(1, 24)), batch_documents=4, seed=1)
    first = list(batches)
    assert sorted(row for batch in first for _, row in batch) == list(range(23))
    assert len(batches) == len(first) == 6
    batches.set_epoch(1)
    second = list(batches)
    assert [[row for _, row in batch] for batch in first] != [[row for _, row in batch] for batch in second]
    assert {epoch for batch in second for epoch, _ in batch} == {1}


def test_descriptions_gather_names_definitions_leads_and_headings(ontology: Path):
    knowledge = KnowledgeBase.from_files([ontology])
    labelled = list(label_documents([asthma()], knowledge, None))
    entities = entity_descriptions(labelled, knowledge, max_sentences=1)
    assert ("DOID:2841", "A bronchial disease with narrowing of the airways.") in entities
    assert ("DOID:2841", "Asthma makes breathing hard.") in entities
    assert ("DOID:2841", "It may follow a heart attack.") not in entities
    aspects = aspect_descriptions(labelled)
    assert ("symptoms", "symptoms") in aspects
    assert ("signs", "It may follow a heart attack.") in aspects


@pytest.mark.parametrize(
    ("targets", "changes"),
    [
        ("bloom", {}),
        ("bloom", {"network": {"lstm_dim": 8, "discourse_dim": 8, "tasks": ["entity"]}}),
        ("average", {"loss": "cosine", "contrast": {"weight": 1.0}, "labels": {"substitute": 0.5},
                     "network": {"lstm_dim": 8, "discourse_dim": 8, "standardize": "sentences",
                                 "normalisation": "layer"},
                "sentences": {"frequency_weighted": True}}),
        ("average", {"loss": "cosine", "network": {"lstm_dim": 8, "discourse_dim": 8, "tasks": ["aspect"]}}),
    ],
)  # fmt: skip
def test_every_kind_trains_and_its_loss_falls(targets, changes, corpus: Path, ontology: Path, tmp_path: Path):
    fields = settings(corpus, ontology, **changes)
    fields["targets"] = {"kind": targets, "bloom": {"epochs": 1, "batch_size": 16}}
    fields["training"] = {"epochs": 12, "batch_documents": 3, "accelerator": "cpu", "patience": None}
    outcome = train(CdvExperiment.model_validate(fields), tmp_path / "run")
    losses = [epoch["loss"] for epoch in outcome.record["history"]]
    assert len(losses) == 12
    assert losses[-1] < losses[0]
    encoder = load_model(str(outcome.model))
    assert set(encoder.parts) == set(changes.get("network", {}).get("tasks", ["entity", "aspect"]))


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_an_interrupted_training_ends_as_an_uninterrupted_one(
    dropout: float, corpus: Path, ontology: Path, tmp_path: Path, monkeypatch
):
    network = {"lstm_dim": 8, "discourse_dim": 8, "dropout": dropout}
    fields = settings(corpus, ontology, labels={"substitute": 0.5}, network=network)
    fields["targets"] = {"kind": "average"}
    experiment = CdvExperiment.model_validate(fields)
    whole = train(experiment, tmp_path / "whole")

    class KilledError(Exception):
        pass

    # Word vectors differ a little from training to training; here the epochs are compared.
    shutil.copytree(tmp_path / "whole" / "words", tmp_path / "killed" / "words")
    real = loop._Module.on_train_epoch_end

    def dies(self):
        if self.current_epoch == 2:
            raise KilledError
        real(self)

    monkeypatch.setattr(loop._Module, "on_train_epoch_end", dies)
    with pytest.raises(KilledError):
        train(experiment, tmp_path / "killed")
    kept = torch.load(tmp_path / "killed" / "checkpoints" / "last.ckpt", weights_only=True)
    assert kept["epoch"] == 1
    assert not (tmp_path / "killed" / "model").exists()
    monkeypatch.setattr(loop._Module, "on_train_epoch_end", real)
    resumed = train(experiment, tmp_path / "killed")
    assert [e["epoch"] for e in resumed.record["history"]] == [0, 1, 2]
    for one, two in zip(whole.record["history"], resumed.record["history"], strict=True):
        assert one["loss"] == pytest.approx(two["loss"], abs=1e-5)
        assert one["validation_RR"] == pytest.approx(two["validation_RR"], abs=1e-5)
    best = max(whole.record["history"], key=lambda e: e["validation_RR"])
    assert whole.record["validation"]["validation_RR"] == best["validation_RR"]
    one, two = load(whole.model).network.state_dict(), load(resumed.model).network.state_dict()
    for key, value in one.items():
        torch.testing.assert_close(value, two[key], atol=1e-6, rtol=1e-5)


def test_every_epoch_requests_its_own_examples(corpus: Path, ontology: Path, tmp_path: Path, monkeypatch):
    seen_keys: list[tuple[int, int]] = []
    real = DocumentExamples.__getitem__
    monkeypatch.setattr(DocumentExamples, "__getitem__", lambda self, key: seen_keys.append(key) or real(self, key))
    fields = settings(corpus, ontology)
    fields["targets"] = {"kind": "average"}
    train(CdvExperiment.model_validate(fields), tmp_path / "run")
    assert [epoch for epoch, _ in seen_keys] == [0] * 6 + [1] * 6 + [2] * 6
    for epoch in range(3):
        assert sorted(row for number, row in seen_keys if number == epoch) == list(range(6))


@pytest.mark.slow
def test_two_processes_train_together_and_one_speaks(corpus: Path, ontology: Path, tmp_path: Path):
    fields = settings(corpus, ontology)
    fields["targets"] = {"kind": "average"}
    fields["training"] = {**fields["training"], "devices": 2, "batch_documents": 2}  # type: ignore[dict-item]
    file, out = tmp_path / "small.yaml", tmp_path / "out"
    file.write_text(yaml.safe_dump(fields), encoding="utf-8")
    command = [sys.executable, "-m", "auscult.cli.main", "train", str(file), "--out", str(out), "--no-progress"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    assert "MEMBER: 2/2" in done.stderr
    assert done.stdout.splitlines() == [str(out / "model")]
    assert load_model(str(out / "model")).dim == 16


def test_finished_training_is_reused_and_other_settings_refused(corpus: Path, ontology: Path, tmp_path: Path):
    fields = settings(corpus, ontology)
    fields["targets"] = {"kind": "average"}
    train(CdvExperiment.model_validate(fields), tmp_path / "run")
    said: list[str] = []
    train(CdvExperiment.model_validate(fields), tmp_path / "run", say=said.append)
    assert said == [f"already trained: {tmp_path / 'run' / 'model'}"]
    with pytest.raises(ConfigError, match="other settings"):
        train(CdvExperiment.model_validate({**fields, "seed": 2}), tmp_path / "run")
    # As a version wrote it that had one setting less.
    described = tmp_path / "run" / "experiment.json"
    older = json.loads(described.read_text())
    assert older["training"].pop("weight_decay") == CdvExperiment.model_validate(fields).training.weight_decay
    described.write_text(json.dumps(older))
    train(CdvExperiment.model_validate(fields), tmp_path / "run", say=said.append)
    assert len(said) == 2
    described.write_text(json.dumps({**older, "unheard_of": 1}))
    with pytest.raises(ConfigError, match="other settings"):
        train(CdvExperiment.model_validate(fields), tmp_path / "run")
    (tmp_path / "precious").mkdir()
    with pytest.raises(ConfigError, match="training folder"):
        restart(tmp_path / "precious")
    restart(tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_command_trains_and_bad_files_are_named(corpus: Path, ontology: Path, tmp_path: Path):
    fields = settings(corpus, ontology)
    fields["targets"] = {"kind": "average"}
    file = tmp_path / "small.yaml"
    file.write_text(yaml.safe_dump(fields), encoding="utf-8")
    done = CliRunner().invoke(app, ["train", str(file), "--out", str(tmp_path / "out"), "--no-progress"])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "model" / "weights.safetensors").is_file()
    file.write_text(yaml.safe_dump({**fields, "trianing": {}, "seed": "many"}), encoding="utf-8")
    with pytest.raises(ConfigError, match=r"seed.*trianing|trianing.*seed"):
        read_experiment(file)
    with pytest.raises(ConfigError, match="readable YAML"):
        read_experiment(tmp_path / "absent.yaml")


def test_validation_needs_a_listed_corpus_and_enough_documents(corpus: Path, ontology: Path, tmp_path: Path):
    fields = settings(corpus, ontology, validation={"corpora": ["elsewhere"], "documents": 2})
    with pytest.raises(ValueError, match="none of 'corpora'"):
        CdvExperiment.model_validate(fields)
    fields = settings(corpus, ontology, validation={"corpora": [str(corpus)], "documents": 8})
    with pytest.raises(ConfigError, match="hold some out"):
        train(CdvExperiment.model_validate(fields), tmp_path / "run")


SHIPPED = [path for path in experiments_in(ROOT / "experiments") if path.suffix == ".yaml"]


@pytest.mark.parametrize("file", SHIPPED, ids=lambda f: f.stem)
def test_shipped_experiments_are_valid_and_match_file_names(file: Path):
    experiment = read_experiment(file)
    assert experiment.name == file.stem
    if experiment.track == "zero-shot":
        assert not any("medquad" in corpus.name for corpus in (*experiment.corpora, *experiment.word_vectors.texts))
