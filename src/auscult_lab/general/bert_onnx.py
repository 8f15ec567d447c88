"""A BERT in ONNX with 8-bit weights, written operator by operator, for ONNX Runtime on processors.

The library's dynamic quantisation has one scale for each activation of a batch, so that a text's vector depends on the
rest of its batch. Here every token has its own scale. A text's vector is the same in any batch, and more accurate
(all-MiniLM-L6-v2: mean cosine to single precision .997 instead of .993). Weights have a scale per output, the table of
tokens one per row. Attention and GELU are the runtime's fused operators (`com.microsoft`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from auscult.encoders.contract import FloatArray
from auscult.errors import ModelError
from auscult.telemetry import naming_extra

RUNTIME: Final = "com.microsoft"
"""Domain of the runtime's own operators."""
_LARGEST: Final = 127
_LEAST: Final = 1e-9
PARTS: Final = ("weight", "bias")
"""Names of the weights of a layer."""


def bert_as_onnx(weights: Mapping[str, FloatArray], config: Mapping[str, Any], positions: int) -> bytes:
    """Return the content of an ONNX file: `input_ids`, `attention_mask` (texts, tokens) to `states`.

    Args:
        weights: Weights of a `BertModel`, by its names.
        config: Its configuration: `num_hidden_layers`, `num_attention_heads`, `hidden_size`, `layer_norm_eps`.
        positions: Tokens of the longest text.

    Returns:
        `states` are (texts, tokens, dim).

    Raises:
        ModelError: The model is no BERT.
        MissingExtraError: The package `onnx` is not installed.
    """
    graph = OnnxGraph()
    states = add_bert(graph, weights, config, positions)
    return graph.to_bytes({"states": (states, ["texts", "tokens", int(config["hidden_size"])])})


def round_rows(rows: FloatArray) -> tuple[FloatArray, npt.NDArray[np.int8]]:
    """Return rows in 8 bits: a scale per row, (rows, 1), and integers."""
    scales = np.maximum(np.abs(rows).max(axis=1, keepdims=True), _LEAST) / _LARGEST
    return scales.astype(np.float32), np.rint(rows / scales).astype(np.int8)


def add_norm(
    graph: OnnxGraph,
    config: Mapping[str, Any],
    weights: Mapping[str, FloatArray],
    rows: str,
    name: str,
    skipped: str = "",
) -> str:
    """Add the layer normalization of a name, of rows and those that skipped a layer; return the node."""
    gain, bias = (graph.constant(weights[f"{name}.{part}"]) for part in PARTS)
    if skipped:
        rows = graph.add("Add", rows, skipped)
    return graph.add("LayerNormalization", rows, gain, bias, axis=-1, epsilon=float(config["layer_norm_eps"]))


def add_bert(
    graph: OnnxGraph,
    weights: Mapping[str, FloatArray],
    config: Mapping[str, Any],
    positions: int,
    *,
    masked: bool = True,
) -> str:
    """Add a BERT to a graph, and return the node of its last hidden states.

    Args:
        graph: The graph.
        weights: See `bert_as_onnx`.
        config: Its configuration.
        positions: Tokens of the longest text.
        masked: Whether texts have padding, which `attention_mask` tells.

    Raises:
        ModelError: The model is no BERT.
    """
    if config.get("model_type") != "bert":
        raise ModelError("a BERT", f"a {config.get('model_type')}", "take another encoder")
    norm = partial(add_norm, graph, config, weights)

    def dense(rows: str, *names: str) -> str:
        weight, bias = (np.concatenate([weights[f"{name}.{part}"] for name in names]) for part in PARTS)
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
    mask = graph.add("Cast", "attention_mask", to=graph.types.INT32) if masked else ""
    for number in range(int(config["num_hidden_layers"])):
        layer = f"encoder.layer.{number}"
        attention = f"{layer}.attention"
        joined = dense(states, *(f"{attention}.self.{name}" for name in ("query", "key", "value")))
        query, key, value = graph.split(joined, 3)
        heads = int(config["num_attention_heads"])
        read = graph.add("MultiHeadAttention", query, key, value, "", mask, domain=RUNTIME, num_heads=heads)
        states = norm(dense(read, f"{attention}.output.dense"), f"{attention}.output.LayerNorm", states)
        inner = graph.add("Gelu", dense(states, f"{layer}.intermediate.dense"), domain=RUNTIME)
        states = norm(dense(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm", states)
    return states


class OnnxGraph:
    """Operators and constants, in the order of creation."""

    def __init__(self) -> None:
        with naming_extra("onnx", "onnx"):
            import onnx
        self._onnx = onnx
        self.types = onnx.TensorProto
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def constant(self, value: npt.NDArray[Any]) -> str:
        """Add a constant and return its name."""
        name = f"constant{len(self._constants)}"
        self._constants.append(self._onnx.numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def add(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add an operator and return the name of its output."""
        name = f"{kind}{len(self._nodes)}"
        self._nodes.append(self._onnx.helper.make_node(kind, list(inputs), [name], domain=domain, **attributes))
        return name

    def split(self, rows: str, parts: int) -> list[str]:
        """Split the last axis into parts of one size, and return their names."""
        names = [f"{rows}.{part}" for part in range(parts)]
        self._nodes.append(self._onnx.helper.make_node("Split", [rows], names, axis=-1, num_outputs=parts))
        return names

    def dense(self, rows: str, weight: FloatArray, bias: FloatArray) -> str:
        """Add a dense layer with weights in 8 bits, and return its output."""
        scales, steps_of_weights = round_rows(weight)
        rounded = self.constant(steps_of_weights.T)
        last = self.constant(np.array([-1]))
        peak = self.add("ReduceMax", self.add("Abs", rows), last, keepdims=1)
        peak = self.add("Max", peak, self.constant(np.array(_LEAST, np.float32)))
        # Tokens scaled to a maximum of 1, as unsigned integers around 128.
        step, middle = self.constant(np.array(1 / _LARGEST, np.float32)), self.constant(np.array(128, np.uint8))
        steps = self.add("QuantizeLinear", self.add("Div", rows, peak), step, middle)
        given = (steps, rounded, step, self.constant(scales[:, 0]), middle)
        zeros = self.constant(np.zeros(len(weight), np.int8))
        found = self.add("MatMulIntegerToFloat", *given, zeros, domain=RUNTIME)
        return self.add("Add", self.add("Mul", found, peak), self.constant(bias))

    def words(self, ids: str, table: FloatArray) -> str:
        """Add the rows of a table that ids name, and return them."""
        scales, rounded = round_rows(table)
        rows = self.add("Cast", self.add("Gather", self.constant(rounded), ids), to=self.types.FLOAT)
        return self.add("Mul", rows, self.add("Gather", self.constant(scales), ids))

    def to_bytes(
        self, outputs: Mapping[str, tuple[str, list[str | int]]], *, integers: Collection[str] = (), masked: bool = True
    ) -> bytes:
        """Return the file's content.

        Args:
            outputs: By name the node of each output, and its shape.
            integers: Names of outputs that are int64; others are float32.
            masked: Whether `attention_mask` is an input beside `input_ids`.
        """
        helper = self._onnx.helper
        inputs = [
            helper.make_tensor_value_info(each, self.types.INT64, ["texts", "tokens"])
            for each in ("input_ids", "attention_mask")[: 1 + masked]
        ]
        results = []
        for name, (rows, shape) in outputs.items():
            self._nodes.append(helper.make_node("Identity", [rows], [name]))
            kind = self.types.INT64 if name in integers else self.types.FLOAT
            results.append(helper.make_tensor_value_info(name, kind, shape))
        graph = helper.make_graph(self._nodes, "encoder", inputs, results, self._constants)
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid(RUNTIME, 1)]
        content: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()
        return content
