"""A BERT in ONNX with 8-bit weights, written operator by operator, for ONNX Runtime on processors.

The library's dynamic quantisation has one scale for each activation of a batch, so that a text's vector depends on the
rest of its batch. Here every token has its own scale. A text's vector is the same in any batch, and more accurate
(all-MiniLM-L6-v2: mean cosine to single precision .997 instead of .993). Weights have a scale per output, the table of
tokens one per row. Attention and GELU are the runtime's fused operators (`com.microsoft`).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from auscult.encoders.contract import FloatArray
from auscult.errors import ModelError
from auscult.telemetry import naming_extra

_RUNTIME: Final = "com.microsoft"
_LARGEST: Final = 127
_LEAST: Final = 1e-9
_PARTS: Final = ("weight", "bias")


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
    graph = _Graph()
    states = _states(graph, weights, config, positions)
    return graph.finished({"states": (states, ["texts", "tokens", int(config["hidden_size"])])})


def splade_as_onnx(
    weights: Mapping[str, FloatArray],
    config: Mapping[str, Any],
    positions: int,
    terms: npt.NDArray[np.int64],
    near: npt.NDArray[np.integer] | None = None,
) -> bytes:
    """Return the content of an ONNX file: `input_ids` of one text, (1, tokens), to its terms and their weights.

    The last layer has a row for each word of the vocabulary, and most results are 0. With `near`, only the rows near
    the text's tokens are computed.

    Args:
        weights: Weights of a `BertForMaskedLM` without the prefix "bert.", by its names; words in and out are tied.
        config: Its configuration.
        positions: Tokens of the longest text.
        terms: Rows of the vocabulary that can be terms, in order.
        near: For each token of the vocabulary, places in `terms` of those near it, (vocabulary, some); None to compute
            all.

    Returns:
        Outputs `terms`, int64 places in the argument `terms`, ascending; and `weights`, float32, 0 for terms that the
        text does not have.

    Raises:
        ModelError: The model is no BERT.
        MissingExtraError: The package `onnx` is not installed.
    """
    graph = _Graph()
    states = _term_states(graph, weights, config, positions)
    words = weights["embeddings.word_embeddings.weight"][terms]
    bias = graph.constant(weights["cls.predictions.bias"][terms].astype(np.float32))
    scales, rounded = _rounded(words)
    if near is None:
        wanted = graph.constant(np.arange(len(terms)))
    else:
        # Marking places and listing the marks is several times as fast as sorting.
        flat = graph.constant(np.array([-1]))
        ids = graph.add("Reshape", "input_ids", flat)
        places = graph.add(
            "Cast", graph.add("Gather", graph.constant(near.astype(np.uint16)), ids), to=graph.types.INT64
        )
        places = graph.add("Reshape", places, flat)
        marks = graph.add("Expand", graph.constant(np.array([True])), graph.add("Shape", places))
        marked = graph.add("ScatterElements", graph.constant(np.zeros(len(terms), np.bool_)), places, marks, axis=0)
        wanted = graph.add("Reshape", graph.add("NonZero", marked), flat)
    rows = graph.add("Cast", graph.add("Gather", graph.constant(rounded), wanted), to=graph.types.FLOAT)
    logits = graph.add("MatMul", rows, graph.add("Transpose", states, perm=[1, 0]))
    # The logarithm is increasing, so the largest logit has the largest weight.
    largest = graph.add("ReduceMax", logits, graph.constant(np.array([-1])), keepdims=0)
    scaled = graph.add("Mul", largest, graph.add("Gather", graph.constant(scales[:, 0]), wanted))
    positive = graph.add("Relu", graph.add("Add", scaled, graph.add("Gather", bias, wanted)))
    term_weights = graph.add("Log", graph.add("Add", positive, graph.constant(np.array(1, np.float32))))
    return graph.finished({"terms": (wanted, ["terms"]), "weights": (term_weights, ["terms"])}, masked=False)


def splade_states_as_onnx(weights: Mapping[str, FloatArray], config: Mapping[str, Any], positions: int) -> bytes:
    """Return the content of an ONNX file: `input_ids` of one text, (1, tokens), to the inputs of the last layer.

    Args:
        weights: See `splade_as_onnx`.
        config: Its configuration.
        positions: Tokens of the longest text.

    Returns:
        `states` are (tokens, dim); the logits of a token are its state times all words, and their bias.

    Raises:
        ModelError: The model is no BERT.
        MissingExtraError: The package `onnx` is not installed.
    """
    graph = _Graph()
    states = _term_states(graph, weights, config, positions)
    return graph.finished({"states": (states, ["tokens", int(config["hidden_size"])])}, masked=False)


def _term_states(graph: _Graph, weights: Mapping[str, FloatArray], config: Mapping[str, Any], positions: int) -> str:
    """Add a masked language model without its last layer, and return the states of one text, (tokens, dim)."""
    states = _states(graph, weights, config, positions, masked=False)
    states = graph.add("Reshape", states, graph.constant(np.array([-1, int(config["hidden_size"])])))
    head = "cls.predictions.transform"
    inner = graph.dense(states, *(weights[f"{head}.dense.{part}"] for part in _PARTS))
    return _norm(graph, config, weights, graph.add("Gelu", inner, domain=_RUNTIME), f"{head}.LayerNorm")


def _rounded(rows: FloatArray) -> tuple[FloatArray, npt.NDArray[np.int8]]:
    """Return rows in 8 bits: a scale per row, (rows, 1), and integers."""
    scales = np.maximum(np.abs(rows).max(axis=1, keepdims=True), _LEAST) / _LARGEST
    return scales.astype(np.float32), np.rint(rows / scales).astype(np.int8)


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


def _states(
    graph: _Graph, weights: Mapping[str, FloatArray], config: Mapping[str, Any], positions: int, *, masked: bool = True
) -> str:
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
    mask = graph.add("Cast", "attention_mask", to=graph.types.INT32) if masked else ""
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
    """Operators and constants, in the order of creation."""

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
        scales, steps_of_weights = _rounded(weight)
        rounded = self.constant(steps_of_weights.T)
        last = self.constant(np.array([-1]))
        peak = self.add("ReduceMax", self.add("Abs", rows), last, keepdims=1)
        peak = self.add("Max", peak, self.constant(np.array(_LEAST, np.float32)))
        # Tokens scaled to a maximum of 1, as unsigned integers around 128.
        step, middle = self.constant(np.array(1 / _LARGEST, np.float32)), self.constant(np.array(128, np.uint8))
        steps = self.add("QuantizeLinear", self.add("Div", rows, peak), step, middle)
        given = (steps, rounded, step, self.constant(scales[:, 0]), middle)
        zeros = self.constant(np.zeros(len(weight), np.int8))
        found = self.add("MatMulIntegerToFloat", *given, zeros, domain=_RUNTIME)
        return self.add("Add", self.add("Mul", found, peak), self.constant(bias))

    def words(self, ids: str, table: FloatArray) -> str:
        scales, rounded = _rounded(table)
        rows = self.add("Cast", self.add("Gather", self.constant(rounded), ids), to=self.types.FLOAT)
        return self.add("Mul", rows, self.add("Gather", self.constant(scales), ids))

    def finished(self, outputs: Mapping[str, tuple[str, list[str | int]]], *, masked: bool = True) -> bytes:
        """Return the file's content; `outputs` has by name the node of each output, and its shape."""
        helper = self._onnx.helper
        inputs = [
            helper.make_tensor_value_info(each, self.types.INT64, ["texts", "tokens"])
            for each in ("input_ids", "attention_mask")[: 1 + masked]
        ]
        results = []
        for name, (rows, shape) in outputs.items():
            self._nodes.append(helper.make_node("Identity", [rows], [name]))
            kind = self.types.INT64 if name == "terms" else self.types.FLOAT
            results.append(helper.make_tensor_value_info(name, kind, shape))
        graph = helper.make_graph(self._nodes, "encoder", inputs, results, self._constants)
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid(_RUNTIME, 1)]
        content: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()
        return content
