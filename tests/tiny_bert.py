"""A tiny random BERT with a tokenizer, saved as Hugging Face saves one, so that tests need no pre-trained model."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn
from transformers import BertConfig, BertModel, BertTokenizerFast

LAYERS = 2
WORDS = [
    "people", "with", "asthma", "gout", "often", "feel", "pain", "and", "fever", "the", "signs", "of", "come", "slowly",
    "a", "gene", "germ", "causes", "it", "symptoms", "treatment",
]  # fmt: skip


def save_tiny_bert(folder: Path, *, limit: int = 40, seed: int = 0, width: int = 16) -> Path:
    """Two layers of sixteen numbers, or more; every letter is a token, and some words are one."""
    folder.mkdir(parents=True, exist_ok=True)
    letters = "abcdefghijklmnopqrstuvwxyz"
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = [*marks, *WORDS, *letters, *".,;", *(f"##{letter}" for letter in letters)]
    (folder / "vocab.txt").write_text("\n".join(dict.fromkeys(pieces)), encoding="utf-8")
    # Not by `vocab_file`, which version 5 of the library does not read: all words would be unknown.
    tokenizer = BertTokenizerFast.from_pretrained(folder, model_max_length=limit)
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=width, num_hidden_layers=LAYERS, num_attention_heads=2,
        intermediate_size=2 * width, max_position_embeddings=limit, initializer_range=0.3,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def same_weights(one: nn.Module, other: nn.Module) -> None:
    """Both have equal weights, to the last bit.

    Their scores need not have: libraries choose how to multiply by where in memory a matrix lies.
    """
    left, right = one.state_dict(), other.state_dict()
    assert left.keys() == right.keys()
    assert all(torch.equal(value, right[name]) for name, value in left.items())
