"""The equations of arnold2020 as loops over single vectors, written from the paper: what golden tests compare with.

Nothing here calls the code under test. Weights are what a module saves, by the library's names; an LSTM's gates stand
in them below each other, in the order input, forget, cell, output.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from torch import nn

Vector = npt.NDArray[np.float64]
Weights = Mapping[str, Vector]
_WORD = 0xFFFFFFFF


def weights_of(module: nn.Module) -> Weights:
    return {name: value.double().numpy() for name, value in module.state_dict().items()}


def murmur3(text: str, seed: int) -> int:
    """MurmurHash3_x86_32 (Appleby, public domain)."""
    data, state = text.encode(), seed
    for start in range(0, len(data), 4):
        block = data[start : start + 4]
        part = _turned(int.from_bytes(block, "little") * 0xCC9E2D51 & _WORD, 15) * 0x1B873593 & _WORD
        state ^= part
        if len(block) == 4:
            state = (_turned(state, 13) * 5 + 0xE6546B64) & _WORD
    state ^= len(data)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        state = (state ^ state >> shift) * factor & _WORD
    return state ^ state >> 16


def _turned(word: int, by: int) -> int:
    return (word << by | word >> (32 - by)) & _WORD


def bloom_code(identifier: str) -> Vector:
    """Section 5.2: 1,024 bits, k = 5."""
    code = np.zeros(1024)
    for seed in (0, 1, 2, 3, 4):
        code[murmur3(identifier, seed) % 1024] = 1.0
    return code


def sigmoid(values: Vector) -> Vector:
    return 1 / (1 + np.exp(-values))


def lstm(weights: Weights, name: str, inputs: Sequence[Vector]) -> list[Vector]:
    """States of one LSTM, step by step (hochreiter1997 with forget gates)."""
    size = weights[f"{name}.weight_hh_l0"].shape[1]
    state, cell, states = np.zeros(size), np.zeros(size), []
    for step in inputs:
        gates = weights[f"{name}.weight_ih_l0"] @ step + weights[f"{name}.bias_ih_l0"]
        gates = gates + weights[f"{name}.weight_hh_l0"] @ state + weights[f"{name}.bias_hh_l0"]
        enter, forget, new, leave = np.split(gates, 4)
        cell = sigmoid(forget) * cell + sigmoid(enter) * np.tanh(new)
        state = sigmoid(leave) * np.tanh(cell)
        states.append(state)
    return states


def both_ways(weights: Weights, name: str, inputs: Sequence[Vector]) -> tuple[list[Vector], list[Vector]]:
    """Forward and backward states of every step, both in the order of the steps."""
    return lstm(weights, f"{name}.forwards", inputs), lstm(weights, f"{name}.backwards", inputs[::-1])[::-1]


def embedding(weights: Weights, words: Sequence[Vector]) -> Vector:
    """ε(s) = (g→_T + g←_1) / 2 (Eq. 3, 4)."""
    forward, backward = both_ways(weights, "words", words)
    return (forward[-1] + backward[0]) / 2


def bit_probabilities(weights: Weights, words: Sequence[Vector]) -> Vector:
    """p(bloom(id) | s) (Eq. 2): section 5.2's dense tanh layer, then sigmoid outputs."""
    hidden = np.tanh(weights["dense.weight"] @ embedding(weights, words) + weights["dense.bias"])
    return sigmoid(weights["output.weight"] @ hidden + weights["output.bias"])


def dense_states(weights: Weights, sentences: Sequence[Vector]) -> list[Vector]:
    """W_he (h→_t ⊕ h←_t) + b_e, of every sentence (Eq. 11 before its tanh)."""
    forward, backward = both_ways(weights, "document", sentences)
    return [
        weights["discourse.weight"] @ np.concatenate([ahead, back]) + weights["discourse.bias"]
        for ahead, back in zip(forward, backward, strict=True)
    ]


def discourse_vectors(weights: Weights, sentences: Sequence[Vector]) -> list[Vector]:
    """δ_t (Eq. 11), at length 1 after the tanh (section 5.2's normalisation, as the published code has it)."""
    bent = [np.tanh(dense) for dense in dense_states(weights, sentences)]
    return [each / np.sqrt((each * each).sum()) for each in bent]


def linear(weights: Weights, task: str, discourse: Vector) -> Vector:
    """W_δε δ_t + b_ε, or the same of α (Eq. 12 before its tanh)."""
    return weights[f"decoders.{task}.weight"] @ discourse + weights[f"decoders.{task}.bias"]


def decoded(weights: Weights, sentences: Sequence[Vector]) -> list[tuple[Vector, Vector]]:
    """ε̂_t and α̂_t of every sentence (Eq. 12)."""
    return [
        (np.tanh(linear(weights, "entity", each)), np.tanh(linear(weights, "aspect", each)))
        for each in discourse_vectors(weights, sentences)
    ]


def cosine(first: Vector, second: Vector) -> float:
    """Eq. 13."""
    return float(sum(first * second) / (np.sqrt(sum(first * first)) * np.sqrt(sum(second * second))))


def passage_score(query: Vector, sentences: Sequence[Vector]) -> float:
    """Eq. 14: the mean of the cosines of a passage's sentences, one after the other."""
    total = 0.0
    for sentence in sentences:
        total += cosine(query, sentence)
    return total / len(sentences)
