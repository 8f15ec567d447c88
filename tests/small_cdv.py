"""A CDV small enough to follow: ten words, drawn weights, and the places of three entities and three aspects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from auscult.encoders.contract import FloatArray
from auscult_lab.cdv.spaces import BloomConfig, BloomEncoder, BloomSpace
from cdv_by_hand import Vector

WORDS = ("wheezing", "cough", "pain", "heart", "rare", "gene", "gout", "asthma", "causes", "symptoms")
TABLE = dict(zip(WORDS, np.random.default_rng(5).normal(size=(len(WORDS), 4)).astype(np.float32), strict=True))


class Words:
    """Word vectors of ten words."""

    dim = 4

    def lookup(self, words: Sequence[str]) -> FloatArray:
        return np.array([TABLE.get(word, np.zeros(4)) for word in words], np.float32).reshape(len(words), 4)

    def state(self) -> tuple[Mapping[str, FloatArray], Mapping[str, object]]:
        return {}, {}


def drawn(module: nn.Module, seed: int) -> Any:
    """A module with weights so large that a missing tanh cannot hide."""
    chance = np.random.default_rng(seed)
    with torch.no_grad():
        for weight in module.parameters():
            weight.copy_(torch.from_numpy(chance.normal(scale=0.9, size=tuple(weight.shape))))
    return module.eval()


def read(text: str) -> list[Vector]:
    """The vectors of a text's known words."""
    return [TABLE[word].astype(np.float64) for word in text.lower().rstrip(".").split() if word in TABLE]


def bloom_encoder(bits: int = 20) -> BloomEncoder:
    return drawn(BloomEncoder(BloomConfig(word_dim=4, lstm_dim=3, dense_dim=5, bits=bits)), seed=1)


def table_space(known: Mapping[str, Sequence[float]]) -> BloomSpace:
    return BloomSpace(bloom_encoder(), Words(), {key: np.array(row, np.float32) for key, row in known.items()})


ENTITIES = {"DOID:2841": (1.0, 0.0, -1.0), "DOID:1": (0.0, 0.5, 0.2), "DOID:2": (-0.4, 0.1, 0.5)}
ASPECTS = {"signs": (0.5, 0.5, 0.0), "symptoms": (0.1, -0.5, 0.4), "causes": (0.0, 0.0, 0.9)}
