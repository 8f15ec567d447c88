"""Encoders that can be read, and how long a text they read."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import (
    BertConfig,
    BertModel,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaModel,
    T5Config,
    T5Model,
)
from transformers.utils import logging

from auscult.errors import ModelError
from auscult_lab.modules.backbone import open_backbone

MARKS = {"cls_token": "<s>", "pad_token": "<pad>", "sep_token": "</s>", "unk_token": "<unk>"}
SMALL = {"vocab_size": 8, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}


def save_tokenizer(folder: Path, marks: dict[str, str] = MARKS) -> None:
    pieces = {word: row for row, word in enumerate(["<s>", "<pad>", "</s>", "<unk>", "gout", "asthma"])}
    words = Tokenizer(models.WordLevel(pieces, "<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=words, **marks).save_pretrained(folder)


def test_opening_and_saving_draw_no_bars_into_logs(tmp_path: Path, capfd: pytest.CaptureFixture[str]):
    save_tokenizer(tmp_path)
    RobertaModel(RobertaConfig(**SMALL, max_position_embeddings=20, pad_token_id=1)).save_pretrained(tmp_path)
    capfd.readouterr()
    open_backbone(str(tmp_path)).save(tmp_path / "again")
    assert capfd.readouterr().err == ""
    assert logging.is_progress_bar_enabled()


def test_opening_switches_cudnn_attention_off(tmp_path: Path):
    save_tokenizer(tmp_path)
    BertModel(BertConfig(**SMALL)).save_pretrained(tmp_path)
    torch.backends.cuda.enable_cudnn_sdp(True)
    open_backbone(str(tmp_path))
    assert not torch.backends.cuda.cudnn_sdp_enabled()


def test_roberta_limit_excludes_positions_up_to_padding(tmp_path: Path):
    save_tokenizer(tmp_path)
    RobertaModel(RobertaConfig(**SMALL, max_position_embeddings=20, pad_token_id=1)).save_pretrained(tmp_path)
    backbone = open_backbone(str(tmp_path))
    assert backbone.limit == 18
    fields = backbone.tokenize(["gout " * 40], max_tokens=100)
    assert backbone(fields).shape == (1, 18, 16)


def test_bert_limit_is_its_number_of_positions(tmp_path: Path):
    save_tokenizer(tmp_path)
    BertModel(BertConfig(**SMALL, max_position_embeddings=20)).save_pretrained(tmp_path)
    backbone = open_backbone(str(tmp_path))
    assert backbone.limit == 20
    assert backbone(backbone.tokenize(["gout " * 40], max_tokens=100)).shape == (1, 20, 16)


def test_encoder_without_a_position_table_is_refused(tmp_path: Path):
    save_tokenizer(tmp_path)
    T5Model(T5Config(vocab_size=8, d_model=16, d_ff=16, d_kv=8, num_layers=1, num_heads=2)).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=r"a table of positions.*'t5'"):
        open_backbone(str(tmp_path))


def test_an_encoder_without_padding_is_refused(tmp_path: Path):
    save_tokenizer(tmp_path, {"unk_token": "<unk>"})
    BertModel(BertConfig(**SMALL, max_position_embeddings=20)).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="several lengths"):
        open_backbone(str(tmp_path))


class Command:
    """What a pickle may hold: a command that is run when it is read."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def __reduce__(self):
        return os.mkdir, (str(self.place),)


def test_weights_in_a_pickle_are_refused_unread(backbone: Path, tmp_path: Path):
    folder = shutil.copytree(backbone, tmp_path / "encoder")
    (folder / "model.safetensors").unlink()
    torch.save({"weights": Command(tmp_path / "run")}, folder / "pytorch_model.bin")
    with pytest.raises(ModelError, match=r"weights as safetensors, got .* with a pickle of them; have them written"):
        open_backbone(str(folder))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("model.safetensors", "version https://git-lfs.github.com/spec/v1"),
        ("config.json", "{"),
        ("tokenizer.json", "{"),
        ("config.json", '{"model_type": "bert", "hidden_size": 32, "num_attention_heads": 2}'),
    ],
)
def test_a_damaged_encoder_is_named(file: str, content: str, backbone: Path, tmp_path: Path):
    folder = shutil.copytree(backbone, tmp_path / "encoder")
    (folder / file).write_text(content)
    with pytest.raises(ModelError, match=r"encoder' \(.*\); give a folder saved with save_pretrained"):
        open_backbone(str(folder))


def test_misspelt_path_is_not_taken_for_hub_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("models").mkdir()
    Path("model.txt").touch()
    for path in ("models/bert", "./bert", str(tmp_path / "bert"), "a/b/bert"):
        with pytest.raises(ModelError, match=rf"got '{path}', where there is no folder; correct the path"):
            open_backbone(path)
    with pytest.raises(ModelError, match=r"got 'model.txt', which is a file"):
        open_backbone("model.txt")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(ModelError, match=r"'nobody-called/it-so', which is no folder here, nor opens from the hub"):
        open_backbone("nobody-called/it-so")
