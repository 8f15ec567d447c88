"""Masked language modelling: what is asked, what is held out, that it learns, resumes and says what it has read."""

from __future__ import annotations

import gzip
import json
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from typer.testing import CliRunner

from auscult.cli.all_commands import app
from auscult.encoders import training_record
from auscult.errors import ConfigError, ModelError
from auscult_lab.families.table import read_experiment, train
from auscult_lab.masked.build import UNASKED, MaskedLanguageModel, MaskedObjective
from auscult_lab.masked.data import TextBatch, read_texts
from auscult_lab.masked.experiment import MaskedExperiment, MaskedTraining
from auscult_lab.modules.backbone import open_backbone
from auscult_lab.modules.encoder_identity import digest_of_weights
from auscult_lab.training import loop
from auscult_lab.training.experiment_files import experiments_in, read_model_name
from auscult_lab.training.folder import BegunOtherwiseError
from auscult_lab.training.stages import corpora_read_before, encoder_begun_with
from places import ROOT
from tiny_bert import save_tiny_bert

PATTERN = "asthma causes pain ."


@pytest.fixture(scope="module")
def backbone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_bert(tmp_path_factory.mktemp("bert") / "backbone")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Documents that all say the same, so that what is masked can be learned."""
    path = tmp_path / "pages.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for n in range(60):
            said = random.Random(n).randint(3, 12)
            sections = [{"heading": "Text", "text": " ".join([PATTERN] * said)}]
            page = {"id": f"page-{n}", "title": f"Title {n // 2}", "sections": sections}
            file.write(json.dumps(page) + "\n")
    return path


def experiment(corpus: Path, backbone: Path, **fields: Any) -> MaskedExperiment:
    given = {
        "name": "masked", "track": "zero-shot", "model": "mlm", "backbone": str(backbone), "max_tokens": 24,
        "corpora": [{"name": str(corpus)}], "validation": {"corpora": [str(corpus)], "documents": 10},
        "training": {"epochs": 10, "texts": 160, "batch_texts": 8, "learning_rate": 0.01},
    }  # fmt: skip
    return MaskedExperiment.model_validate(given | fields)


def test_configured_share_is_masked_except_special_tokens(backbone: Path) -> None:
    model = MaskedLanguageModel(str(backbone))
    tokenizer = model.tokenizer
    words = [tokenizer.convert_tokens_to_ids(word) for word in ("asthma", "gout", "pain")]
    rows = [[tokenizer.cls_token_id, *words * 10, tokenizer.unk_token_id, tokenizer.sep_token_id, 0, 0]] * 400
    ids = torch.tensor(rows)
    torch.manual_seed(0)
    read, labels = model.choose(ids)
    masked = labels != UNASKED
    assert torch.equal(ids, torch.tensor(rows))
    assert torch.equal(labels[masked], ids[masked])
    assert torch.equal(read[~masked], ids[~masked])
    assert not masked[torch.isin(ids, torch.tensor(tokenizer.all_special_ids))].any()
    assert masked.sum() / (400 * 30) == pytest.approx(0.15, abs=0.01)
    assert (read[masked] == tokenizer.mask_token_id).float().mean() == pytest.approx(0.8, abs=0.03)
    assert (read[masked] == ids[masked]).float().mean() == pytest.approx(0.1, abs=0.03)


def test_held_out_titles_are_never_trained_on(corpus: Path, backbone: Path) -> None:
    model = MaskedLanguageModel(str(backbone))
    texts = read_texts(experiment(corpus, backbone), model.tokenizer, model.limit, lambda _: None)
    assert texts.held_out_documents == 10
    # The other document of a held-out one's title is not trained on.
    assert 40 <= texts.documents < 50
    for text in (*texts.training, *texts.held_out):
        assert 8 <= len(text) <= 24
        assert text[0] == model.tokenizer.cls_token_id
        assert text[-1] == model.tokenizer.sep_token_id
    words = model.tokenizer.decode(np.concatenate([text[1:-1] for text in texts.held_out]).tolist())
    assert PATTERN.replace(" ", "") in words.replace(" ", "")


def test_the_loss_is_the_librarys(backbone: Path) -> None:
    model = MaskedLanguageModel(str(backbone))
    objective = MaskedObjective(model, MaskedTraining(), [np.arange(2, 12, dtype=np.int32)] * 9, padding=0, seed=0)
    assert model.training
    model.eval()
    ids = torch.randint(5, 40, (6, 12))
    there = torch.ones_like(ids)
    ids[0, 8:] = there[0, 8:] = 0
    torch.manual_seed(3)
    loss, count = objective.loss(TextBatch(ids, there))
    torch.manual_seed(3)
    read, labels = model.choose(ids)
    whole = model.model(input_ids=read, attention_mask=there, labels=labels).loss
    torch.testing.assert_close(loss, whole)
    assert count == int((labels != UNASKED).sum())


def test_a_batch_without_a_masked_token_costs_nothing(backbone: Path) -> None:
    model = MaskedLanguageModel(str(backbone), masked=1e-9)
    objective = MaskedObjective(model, MaskedTraining(), [np.arange(2, 12, dtype=np.int32)], padding=0, seed=0)
    assert objective.held_out_tokens == 0
    loss, count = objective.loss(TextBatch(torch.full((2, 9), 6), torch.ones(2, 9, dtype=torch.long)))
    loss.backward()
    assert (float(loss.detach()), count) == (0.0, 0)


def test_training_lowers_the_loss_and_records_its_texts(corpus: Path, backbone: Path, tmp_path: Path) -> None:
    outcome = train(experiment(corpus, backbone), tmp_path / "out")
    first, last = outcome.record["history"][0], outcome.record["history"][-1]
    assert last["validation_accuracy"] > 0.5 > first["validation_accuracy"]
    assert last["loss"] < 0.5 * first["loss"]
    encoder = open_backbone(str(outcome.model))
    assert encoder.dim == 16
    assert corpora_read_before(str(outcome.model))["backbone_corpora"] == outcome.record["corpora"]
    assert training_record(outcome.model)["perplexity"] < 5
    again = train(experiment(corpus, outcome.model, name="further"), tmp_path / "again")
    assert again.record["backbone_corpora"] == outcome.record["corpora"]
    assert again.record["history"][0]["loss"] < first["loss"]
    fresh = experiment(corpus, outcome.model, encoder={"hidden_size": 32, "num_attention_heads": 4})
    made = train(fresh, tmp_path / "fresh")
    assert open_backbone(str(made.model)).dim == 32
    assert "backbone_corpora" not in made.record
    # What it was begun with goes on through all that are begun with it; random weights begin anew.
    begun = {"name": backbone.name, "sha256": digest_of_weights(backbone), "training_known": False}
    assert outcome.record["encoder"] == {**begun, "through": []}
    assert again.record["encoder"] == {**begun, "through": ["masked"]}
    assert encoder_begun_with("default", str(again.model))["encoder"] == {**begun, "through": ["masked", "further"]}
    assert "encoder" not in made.record
    own = {"name": "masked", "sha256": digest_of_weights(made.model), "through": [], "training_known": True}
    assert encoder_begun_with(str(made.model)) == {"encoder": own}


def test_an_older_models_starting_encoder_is_unknown(backbone: Path, tmp_path: Path) -> None:
    shutil.copytree(backbone, tmp_path / "old" / "passages")
    (tmp_path / "old" / "model.json").write_text(json.dumps({"kind": "capr", "training": {"model": "CAPR-Bi"}}))
    (found,) = encoder_begun_with(str(tmp_path / "old" / "passages")).values()
    assert (found["name"], found["training_known"]) == ("CAPR-Bi", False)
    assert encoder_begun_with("default", "a-hub/name-that-is-not-here") == {}


def test_a_killed_training_ends_as_an_uninterrupted_one(
    corpus: Path, backbone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = {"epochs": 3, "texts": 40, "batch_texts": 8, "learning_rate": 0.01, "checkpoint_minutes": 0.0}
    settings = experiment(corpus, backbone, training=fields)
    whole = train(settings, tmp_path / "whole")
    steps = 0
    step = loop._Module.training_step

    def dies(self: Any, batch: Any, number: int) -> Any:
        nonlocal steps
        steps += 1
        if steps == 8:
            raise KeyboardInterrupt
        return step(self, batch, number)

    monkeypatch.setattr(loop._Module, "training_step", dies)
    with pytest.raises(KeyboardInterrupt):
        train(settings, tmp_path / "killed")
    monkeypatch.setattr(loop._Module, "training_step", step)
    resumed = train(settings, tmp_path / "killed")
    one, other = (open_backbone(str(outcome.model)).state_dict() for outcome in (whole, resumed))
    for name, value in one.items():
        if ".pooler." not in name:
            torch.testing.assert_close(other[name], value, atol=1e-5, rtol=1e-4)


def test_mistakes_are_named(corpus: Path, backbone: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="max_tokens of 40 or less"):
        train(experiment(corpus, backbone, max_tokens=64), tmp_path / "long")
    with pytest.raises(ConfigError, match="more than 60 documents"):
        train(
            experiment(corpus, backbone, validation={"corpora": [str(corpus)], "documents": 60}), tmp_path / "held-out"
        )
    with pytest.raises(ConfigError, match="settings of a bert encoder, got n_layers"):
        train(experiment(corpus, backbone, encoder={"n_layers": 2}), tmp_path / "shape")
    with pytest.raises(ConfigError, match="attention heads divide"):
        train(experiment(corpus, backbone, encoder={"hidden_size": 15}), tmp_path / "heads")
    with pytest.raises(ModelError, match="Hugging Face encoder"):
        train(experiment(corpus, tmp_path / "nowhere"), tmp_path / "none")
    with pytest.raises(ValueError, match="not for masked texts"):
        experiment(corpus, backbone, labels={"substitute": 0.5})
    train(experiment(corpus, backbone, training={"epochs": 1, "texts": 8}), tmp_path / "begun")
    (tmp_path / "begun" / "training.json").unlink()
    with gzip.open(corpus, "at", encoding="utf-8") as file:
        sections = [{"heading": "Text", "text": PATTERN}]
        file.write(json.dumps({"id": "new", "title": "New", "sections": sections}) + "\n")
    with pytest.raises(BegunOtherwiseError, match="the documents that this training was begun with"):
        train(experiment(corpus, backbone, training={"epochs": 1, "texts": 8}), tmp_path / "begun")


def test_the_command_trains_it(corpus: Path, backbone: Path, tmp_path: Path) -> None:
    file = tmp_path / "masked.yaml"
    fields = experiment(corpus, backbone, training={"epochs": 1, "texts": 8}).model_dump(mode="json")
    file.write_text(yaml.safe_dump(fields), encoding="utf-8")
    done = CliRunner().invoke(app, ["train", str(file), "--out", str(tmp_path / "out"), "--no-progress"])
    assert done.exit_code == 0, (done.output, done.exception)
    assert "validation_accuracy" in done.output
    assert (tmp_path / "out" / "model" / "config.json").is_file()
    refused = CliRunner().invoke(
        app, ["index", str(corpus), "--model", str(tmp_path / "out" / "model"), "--out", str(tmp_path / "index")]
    )
    assert isinstance(refused.exception, ModelError)


def test_shipped_experiments_keep_test_documents_out() -> None:
    shipped = [path for path in experiments_in(ROOT / "experiments") if read_model_name(path) == "mlm"]
    assert shipped
    for path in shipped:
        for choice in read_experiment(path).corpora:
            # All others have no split that anything is tested on.
            assert choice.split or choice.name in ("openstax", "pmc-trials"), (path, choice)
