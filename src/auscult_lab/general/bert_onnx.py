"""A BERT in ONNX with 8-bit weights, written operator by operator, for ONNX Runtime on processors.

The library's own dynamic quantisation gives each activation of a batch one scale, so that a text's vector changes with
its company. Here every token has a scale of its own: the same text is read alike in any batch, and more exactly
(all-MiniLM-L6-v2: mean cosine .997 to single precision, against .993). Weights have a scale for each output, the table
of tokens one a row. What is fused is the runtime's own (`com.microsoft`): attention, GELU.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from auscult.errors import ModelError, naming_extra
from auscult.interfaces import FloatArray

_RUNTIME: Final = "com.microsoft"
_LARGEST: Final = 127
_LEAST: Final = 1e-9
_PARTS: Final = ("weight", "bias")


def bert_as_onnx(weights: Mapping[str, FloatArray], config: Mapping[str, Any], positions: int) -> bytes:
    """Return the content of an ONNX file: `input_ids`, `attention_mask` (texts, tokens) to `states`.

    Args:
        weights: Of a `BertModel`, by its names.
        config: Its configuration: `num_hidden_layers`, `num_attention_heads`, `hidden_size`, `layer_norm_eps`.
        positions: Tokens of the longest text it is to read.

    Returns:
        `states` are (texts, tokens, dim).

    Raises:
        ModelError: It is no BERT.
        MissingExtraError: The package `onnx` is not installed.
    """
    graph = _Graph()
    states = _states(graph, weights, config, positions)
    return graph.finished(states, "states", ["texts", "tokens", int(config["hidden_size"])])


def splade_as_onnx(
    weights: Mapping[str, FloatArray], config: Mapping[str, Any], positions: int, terms: npt.NDArray[np.int64]
) -> bytes:
    """Return the content of an ONNX file: `input_ids`, `attention_mask` (texts, tokens) to `weights`, (texts, terms).

    Args:
        weights: Of a `BertForMaskedLM` without the prefix "bert.", by its names; words in and out are tied.
        config: Its configuration.
        positions: Tokens of the longest text it is to read.
        terms: Rows of the vocabulary that are given, in order.

    Raises:
        ModelError: It is no BERT.
        MissingExtraError: The package `onnx` is not installed.
    """
    graph = _Graph()
    states = _states(graph, weights, config, positions)
    head = "cls.predictions.transform"
    states = graph.add("Gelu", graph.dense(states, *(weights[f"{head}.dense.{part}"] for part in _PARTS)),
                       domain=_RUNTIME)  # fmt: skip
    states = _norm(graph, config, weights, states, f"{head}.LayerNorm")
    words = weights["embeddings.word_embeddings.weight"]
    logits = graph.add("Relu", graph.dense(states, words[terms], weights["cls.predictions.bias"][terms]))
    there = graph.add("Cast", "attention_mask", to=graph.types.FLOAT)
    logits = graph.add("Mul", logits, graph.add("Unsqueeze", there, graph.constant(np.array([2]))))
    # The logarithm rises: the largest logit has the largest weight.
    largest = graph.add("ReduceMax", logits, graph.constant(np.array([1])), keepdims=0)
    found = graph.add("Log", graph.add("Add", largest, graph.constant(np.array(1, np.float32))))
    return graph.finished(found, "weights", ["texts", len(terms)])


def _norm(
    graph: _Graph,
    config: Mapping[str, Any],
    weights: Mapping[str, FloatArray],
    rows: str,
    name: str,
    skipped: str = "",
) -> str:
    gain, bias = (graph.constant(weights[f"{name}.{part}"]) for part in _PARTS)
    if skipped:
        rows = graph.add("Add", rows, skipped)
    return graph.add("LayerNormalization", rows, gain, bias, axis=-1, epsilon=float(config["layer_norm_eps"]))


def _states(graph: _Graph, weights: Mapping[str, FloatArray], config: Mapping[str, Any], positions: int) -> str:
    """Add a BERT to a graph, and return its last hidden states."""
    if config.get("model_type") != "bert":
        raise ModelError("a BERT", f"a {config.get('model_type')}", "take another encoder")
    norm = partial(_norm, graph, config, weights)

    def dense(rows: str, *names: str) -> str:
        weight, bias = (np.concatenate([weights[f"{name}.{part}"] for name in names]) for part in _PARTS)
        return graph.dense(rows, weight, bias)

    places = weights["embeddings.position_embeddings.weight"][:positions]
    places = places + weights["embeddings.token_type_embeddings.weight"][0]
    length = graph.add("Shape", "input_ids", start=1, end=2)
    first = graph.constant(np.array([0]))
    states = graph.add(
        "Add",
        graph.words("input_ids", weights["embeddings.word_embeddings.weight"]),
        graph.add("Slice", graph.constant(places), first, length, first),
    )
    states = norm(states, "embeddings.LayerNorm")
    mask = graph.add("Cast", "attention_mask", to=graph.types.INT32)
    for number in range(int(config["num_hidden_layers"])):
        layer = f"encoder.layer.{number}"
        attention = f"{layer}.attention"
        joined = dense(states, *(f"{attention}.self.{name}" for name in ("query", "key", "value")))
        query, key, value = graph.split(joined, 3)
        heads = int(config["num_attention_heads"])
        read = graph.add("MultiHeadAttention", query, key, value, "", mask, domain=_RUNTIME, num_heads=heads)
        states = norm(dense(read, f"{attention}.output.dense"), f"{attention}.output.LayerNorm", states)
        inner = graph.add("Gelu", dense(states, f"{layer}.intermediate.dense"), domain=_RUNTIME)
        states = norm(dense(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm", states)
    return states


class _Graph:
    """Operators and constants, in the order of their making."""

    def __init__(self) -> None:
        with naming_extra("onnx", "onnx"):
            import onnx
        self._onnx = onnx
        self.types = onnx.TensorProto
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def constant(self, value: npt.NDArray[Any]) -> str:
        name = f"constant{len(self._constants)}"
        self._constants.append(self._onnx.numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        name = f"{kind}{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(kind, list(inputs), [name], domain=domain, **attributes))
        return name

    def split(self, rows: str, parts: int) -> list[str]:
        names = [f"{rows}.{part}" for part in range(parts)]
        self._nodes.append(self._onnx.helper.make_node("Split", [rows], names, axis=-1, num_outputs=parts))
        return names

    def dense(self, rows: str, weight: FloatArray, bias: FloatArray) -> str:
        scales = np.maximum(np.abs(weight).max(axis=1), _LEAST) / _LARGEST
        rounded = self.constant(np.rint(weight / scales[:, None]).astype(np.int8).T)
        last = self.constant(np.array([-1]))
        peak = self.add("ReduceMax", self.add("Abs", rows), last, keepdims=1)
        peak = self.add("Max", peak, self.constant(np.array(_LEAST, np.float32)))
        # Tokens of a peak of 1, in unsigned steps around 128.
        step, middle = self.constant(np.array(1 / _LARGEST, np.float32)), self.constant(np.array(128, np.uint8))
        steps = self.add("QuantizeLinear", self.add("Div", rows, peak), step, middle)
        given = (steps, rounded, step, self.constant(scales.astype(np.float32)), middle)
        zeros = self.constant(np.zeros(len(weight), np.int8))
        found = self.add("MatMulIntegerToFloat", *given, zeros, domain=_RUNTIME)
        return self.add("Add", self.add("Mul", found, peak), self.constant(bias))

    def words(self, ids: str, table: FloatArray) -> str:
        scales = np.maximum(np.abs(table).max(axis=1, keepdims=True), _LEAST) / _LARGEST
        rounded = self.constant(np.rint(table / scales).astype(np.int8))
        rows = self.add("Cast", self.add("Gather", rounded, ids), to=self.types.FLOAT)
        return self.add("Mul", rows, self.add("Gather", self.constant(scales.astype(np.float32)), ids))

    def finished(self, rows: str, name: str, shape: list[str | int]) -> bytes:
        helper = self._onnx.helper
        self._nodes.append(helper.make_node("Identity", [rows], [name]))
        given = [
            helper.make_tensor_value_info(each, self.types.INT64, ["texts", "tokens"])
            for each in ("input_ids", "attention_mask")
        ]
        found = [helper.make_tensor_value_info(name, self.types.FLOAT, shape)]
        graph = helper.make_graph(self._nodes, "encoder", given, found, self._constants)
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid(_RUNTIME, 1)]
        content: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()
        return content
