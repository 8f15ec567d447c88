"""SPLADE in ONNX with 8-bit weights (formal2021), from the operators of `auscult_lab.general.bert_onnx`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from auscult.encoders.contract import FloatArray
from auscult_lab.general.bert_onnx import PARTS, RUNTIME, OnnxGraph, add_bert, add_norm, round_rows


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
    graph = OnnxGraph()
    states = _add_term_states(graph, weights, config, positions)
    words = weights["embeddings.word_embeddings.weight"][terms]
    bias = graph.constant(weights["cls.predictions.bias"][terms].astype(np.float32))
    scales, rounded = round_rows(words)
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
    outputs: dict[str, tuple[str, list[str | int]]] = {
        "terms": (wanted, ["terms"]),
        "weights": (term_weights, ["terms"]),
    }
    return graph.to_bytes(outputs, integers=["terms"], masked=False)


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
    graph = OnnxGraph()
    states = _add_term_states(graph, weights, config, positions)
    return graph.to_bytes({"states": (states, ["tokens", int(config["hidden_size"])])}, masked=False)


def _add_term_states(
    graph: OnnxGraph, weights: Mapping[str, FloatArray], config: Mapping[str, Any], positions: int
) -> str:
    """Add a masked language model without its last layer, and return the states of one text, (tokens, dim)."""
    states = add_bert(graph, weights, config, positions, masked=False)
    states = graph.add("Reshape", states, graph.constant(np.array([-1, int(config["hidden_size"])])))
    head = "cls.predictions.transform"
    inner = graph.dense(states, *(weights[f"{head}.dense.{part}"] for part in PARTS))
    return add_norm(graph, config, weights, graph.add("Gelu", inner, domain=RUNTIME), f"{head}.LayerNorm")
