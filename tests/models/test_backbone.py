"""Encoders that can be read, and how long a text they read."""

from __future__ import annotations

from pathlib import Path

import pytest
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

from auscult.errors import ModelError
from auscult.models.backbone import open_backbone

MARKS = {"cls_token": "<s>", "pad_token": "<pad>", "sep_token": "</s>", "unk_token": "<unk>"}
SMALL = {"vocab_size": 8, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}


def save_tokenizer(folder: Path, marks: dict[str, str] = MARKS) -> None:
    pieces = {word: row for row, word in enumerate(["<s>", "<pad>", "</s>", "<unk>", "gout", "asthma"])}
    words = Tokenizer(models.WordLevel(pieces, "<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=words, **marks).save_pretrained(folder)


def test_a_roberta_reads_texts_as_long_as_its_positions_behind_padding(tmp_path: Path):
    save_tokenizer(tmp_path)
    RobertaModel(RobertaConfig(**SMALL, max_position_embeddings=20, pad_token_id=1)).save_pretrained(tmp_path)
    backbone = open_backbone(str(tmp_path))
    assert backbone.limit == 18
    fields = backbone.tokenize(["gout " * 40], max_tokens=100)
    assert backbone(fields).shape == (1, 18, 16)


def test_a_bert_reads_as_many_tokens_as_it_has_positions(tmp_path: Path):
    save_tokenizer(tmp_path)
    BertModel(BertConfig(**SMALL, max_position_embeddings=20)).save_pretrained(tmp_path)
    backbone = open_backbone(str(tmp_path))
    assert backbone.limit == 20
    assert backbone(backbone.tokenize(["gout " * 40], max_tokens=100)).shape == (1, 20, 16)


def test_an_encoder_without_positions_of_its_own_is_refused(tmp_path: Path):
    save_tokenizer(tmp_path)
    T5Model(T5Config(vocab_size=8, d_model=16, d_ff=16, d_kv=8, num_layers=1, num_heads=2)).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=r"a table of positions.*'t5'"):
        open_backbone(str(tmp_path))


def test_an_encoder_without_padding_is_refused(tmp_path: Path):
    save_tokenizer(tmp_path, {"unk_token": "<unk>"})
    BertModel(BertConfig(**SMALL, max_position_embeddings=20)).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="several lengths"):
        open_backbone(str(tmp_path))
